#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual pages have what ``barmap --help`` lists, and nothing else.

Usage: man_test.py PROGRAM PAGE [unittest's arguments]
"""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import program_help

PROGRAM = ""  # both set from the command line
PAGE = Path()
HELP = {"-h", "--help"}  # in no synopsis
SECTIONS = {"name", "synopsis", "description", "options", "exit status", "examples", "see also"}
OPTION = re.compile(r"(?<![\w-])(--?[a-z][\w-]*)")


def sections(text, level):
    """The text of each section by its heading."""
    parts = re.split(rf"^\.{level} (.*)$", text, flags=re.M)
    return {name.strip('"').lower(): body for name, body in zip(parts[1::2], parts[2::2])}


def plain(text):
    return re.sub(r"\\f.", "", text).replace("\\-", "-")


def described(text):
    """The options that have an entry: those in the line after each .TP."""
    entries = re.findall(r"^\.TP\n(.*)$", plain(text), flags=re.M)
    return {option for entry in entries for option in OPTION.findall(entry.replace(",", " "))}


def differences(pages, program):
    """What the pages, by name, lack or have too much, a sentence for each."""
    problems = []
    whole = sections(pages["barmap"], "SH")
    problems += [f"{option} of barmap is missing"
                 for option in program_help.options(program) - described(whole["options"])]
    listed = program_help.subcommands(program)
    told = re.findall(r"^\.BR barmap-(\w+) \(1\)$", plain(whole["subcommands"]), flags=re.M)
    own = [name.partition("-")[2] for name in pages if name.startswith("barmap-")]
    if not sorted(told) == sorted(own) == sorted(listed):
        problems.append(f"barmap.1 has {told}, there are pages of {own}, the program has {listed}")
    for name in set(own) & set(listed):
        parts = sections(pages[f"barmap-{name}"], "SH")
        problems += [f"{name}: {each} is missing" for each in SECTIONS - set(parts)]
        synopsis = set(OPTION.findall(plain(parts.get("synopsis", ""))))
        entries = described(parts.get("options", ""))
        options = program_help.options(program, name)
        problems += [f"{name}: {each} is missing in the synopsis" for each in options - HELP - synopsis]
        problems += [f"{name}: there is no {each}" for each in synopsis - options]
        problems += [f"{name}: {each} is not described" for each in options - entries]
        problems += [f"{name}: {each} is described, but not there" for each in entries - options]
        examples = plain(parts.get("examples", ""))
        if f"barmap {name}" not in examples:
            problems.append(f"{name}: no example uses it")
        for line in re.findall(rf"^.*barmap {name}\b[^|&]*", examples, flags=re.M):
            for each in set(OPTION.findall(line.partition(" -- ")[0])) - options:
                problems.append(f"{name}: an example uses {each}, which is not there")
    return problems


def read_pages():
    return {path.stem: path.read_text() for path in PAGE.parent.glob("barmap*.1")}


class ThePages(unittest.TestCase):
    def test_they_have_what_the_program_has(self):
        self.assertEqual([], differences(read_pages(), PROGRAM))

    def test_what_is_missing_is_found(self):
        pages = read_pages()
        for page, gone in (("barmap-lat", "[\\fB\\-\\-compare\\fR]"), ("barmap-lat", ".B \\-\\-json\n"),
                           ("barmap", ".BR barmap\\-stress (1)\n"), ("barmap", ".B \\-\\-version\n"),
                           ("barmap-check", ".B \\-\\-all\\-devices\n"), ("barmap-bw", ".SH EXIT STATUS\n"),
                           ("barmap-info", ".SH EXAMPLES\n")):
            with self.subTest(gone):
                self.assertIn(gone, pages[page])
                changed = {**pages, page: pages[page].replace(gone, "", 1)}
                self.assertNotEqual([], differences(changed, PROGRAM))
        for page in pages:
            with self.subTest(page):
                if page != "barmap":
                    rest = {name: text for name, text in pages.items() if name != page}
                    self.assertNotEqual([], differences(rest, PROGRAM))

    def test_what_is_too_much_is_found(self):
        pages = read_pages()
        compare = "[\\fB\\-\\-compare\\fR]"
        more = {**pages, "barmap-lat": pages["barmap-lat"].replace(compare, compare + " \\-\\-fast")}
        self.assertEqual(["lat: there is no --fast"], differences(more, PROGRAM))
        more = {**pages, "barmap-lat": pages["barmap-lat"].replace("barmap lat ", "barmap lat \\-\\-fast ")}
        self.assertEqual({"lat: an example uses --fast, which is not there"}, set(differences(more, PROGRAM)))

    def test_exit_codes_are_the_program_s(self):
        asked = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True)
        codes = set(re.findall(r"(?<![\w-])(\d+) [a-z]|with (\d+) if", asked.stdout.partition("Exit codes:")[2]))
        codes = {one or two for one, two in codes}
        status = sections(read_pages()["barmap"], "SH")["exit status"]
        self.assertEqual(codes, set(re.findall(r"^\.TP\n(\d+)$", status, flags=re.M)))

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_mandoc_has_nothing_to_say(self):
        for page in PAGE.parent.glob("*.[13]"):
            said = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page],
                                  capture_output=True, text=True)
            self.assertEqual("", said.stdout + said.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    PAGE = Path(sys.argv.pop(1))
    unittest.main()
