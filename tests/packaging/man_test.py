#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual page has what ``barmap --help`` lists, and nothing else.

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
HELP = {"-h", "--help"}  # said once, for every subcommand
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


def differences(page, program):
    """What the page lacks or has too much, a sentence for each."""
    problems = []
    parts = sections(page, "SH")
    shared = described(parts["shared options"])
    chapters = sections(parts["subcommands"], "SS")
    listed = program_help.subcommands(program)
    if sorted(chapters) != sorted(listed):
        problems.append(f"the page has {sorted(chapters)}, the program {sorted(listed)}")
    missing = program_help.options(program) - shared
    problems += [f"{option} of barmap is missing" for option in missing]
    for name in set(chapters) & set(listed):
        synopsis = set(OPTION.findall(plain(chapters[name].partition("\n.PP\n")[0])))
        options = program_help.options(program, name) - HELP
        problems += [f"{name}: {each} is missing in the synopsis" for each in options - synopsis]
        problems += [f"{name}: there is no {each}" for each in synopsis - options]
        own = described(chapters[name])
        problems += [f"{name}: {each} is not described" for each in options - own - shared]
        problems += [f"{name}: {each} is described, but not there" for each in own - options]
    return problems


class ThePage(unittest.TestCase):
    def test_it_has_what_the_program_has(self):
        self.assertEqual([], differences(PAGE.read_text(), PROGRAM))

    def test_a_missing_option_is_found(self):
        page = PAGE.read_text()
        for gone in ("\\fB\\-\\-compare\\fR", "\\fB\\-\\-json\\fR", ".SS stress\n",
                     ".B \\-\\-all\\-devices\n", ".B \\-\\-version\n"):
            with self.subTest(gone):
                self.assertIn(gone, page)
                self.assertNotEqual([], differences(page.replace(gone, "", 1), PROGRAM))

    def test_an_option_too_many_is_found(self):
        page = PAGE.read_text().replace("[\\fB\\-\\-compare\\fR]", "[\\fB\\-\\-compare\\fR] \\-\\-fast")
        self.assertEqual(["lat: there is no --fast"], differences(page, PROGRAM))

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
