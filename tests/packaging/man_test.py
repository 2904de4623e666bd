#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual pages that the build makes of the program's --help have all of it.

Usage: man_test.py PROGRAM PAGES [unittest's arguments]
"""

import dataclasses
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "packaging/man"
sys.path.insert(0, str(SOURCES))
import from_help  # noqa: E402
import program_help  # noqa: E402

PROGRAM = ""  # both set from the command line
PAGES = Path()
OPTION = re.compile(r"(?<![\w-])(--?[a-z][\w-]*)")


def plain(text):
    return re.sub(r"\\f.|\\&", "", text).replace("\\-", "-")


def section(page, name):
    return re.split(r"^\.SH ", plain(page).partition(f"\n.SH {name}\n")[2], maxsplit=1, flags=re.M)[0]


class ThePages(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.helps = program_help.of_subcommands(PROGRAM)
        cls.pages = {path.name: path.read_text() for path in PAGES.glob("barmap*.1")}

    def test_there_is_one_for_each_subcommand(self):
        self.assertEqual({"barmap.1", *(f"barmap-{name}.1" for name in self.helps)}, set(self.pages))

    def test_nothing_of_help_is_lost(self):
        whole = program_help.text_of(PROGRAM)
        for words in ((), *((name,) for name in self.helps)):
            said = program_help.text_of(PROGRAM, *words) if words else whole
            with self.subTest(words):
                page = plain(self.pages["-".join(["barmap", *words]) + ".1"])
                typed = set(re.findall(r"^  (?:-\w,\s*)?(--[\w-]+)", said, flags=re.M))
                self.assertEqual(len(re.findall(r"^  --?\w.*$", said, flags=re.M)), len(typed))
                self.assertEqual(set(), typed - set(OPTION.findall(section(page, "OPTIONS"))))
                for code in re.findall(r"^  (\d+) [a-z]", said, flags=re.M):
                    self.assertIn(f".TP\n{code}\n", section(page, "EXIT STATUS"))

    def test_all_subcommands_are_listed(self):
        listed = section(self.pages["barmap.1"], "SUBCOMMANDS")
        self.assertEqual([f"barmap-{name}" for name in self.helps], re.findall(r"^\.BR (\S+) \(1\)$", listed, re.M))
        self.assertGreater(len(self.helps), 10)

    def test_examples_use_what_there_is(self):
        for page, text in self.pages.items():
            used = re.findall(r"\bbarmap ([a-z]\w*)([^|&\n]*)", section(text, "EXAMPLES"))
            own = page[len("barmap-"):-len(".1")]
            self.assertTrue(not own or own in dict(used), f"{page}: no example uses it")
            for name, words in used:
                there = {each for option in self.helps[name].options for each in option.names}
                self.assertEqual(set(), set(OPTION.findall(words.partition(" -- ")[0])) - there, page)

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_mandoc_has_nothing_to_say(self):
        for page in [*PAGES.glob("*.[13]"), *SOURCES.glob("*.[13]"), *SOURCES.parents[1].glob("gdrcopy/programs/*.1")]:
            said = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page],
                                  capture_output=True, text=True)
            self.assertEqual("", said.stdout + said.stderr)


class Sources(unittest.TestCase):
    """What a page cannot be made of is an error that names it."""

    def setUp(self):
        self.help = program_help.of(PROGRAM, "lat")
        self.source = (SOURCES / "barmap-lat.roff").read_text()

    def fails(self, says, source=None, **changes):
        with self.assertRaisesRegex(ValueError, says):
            from_help.page("barmap-lat", dataclasses.replace(self.help, **changes), source or self.source)

    def test_a_source_for_an_option_that_is_not_there(self):
        self.fails("--compaer is not in barmap lat --help", self.source.replace(".SH --compare", ".SH --compaer"))

    def test_an_option_without_text(self):
        silent = [dataclasses.replace(each, text="") if "--compare" in each.names else each
                  for each in self.help.options]
        self.fails("barmap lat --help: --compare has no text", options=silent)

    def test_a_part_that_is_missing(self):
        self.fails("no DESCRIPTION", self.source.replace(".SH DESCRIPTION", ".SH ENVIRONMENT"))
        self.fails("--compare is empty", re.sub(r"(\.SH --compare\n).*?(?=\.SH)", r"\1", self.source, flags=re.S))
        self.fails("text before the first", "lost\n" + self.source)
        self.fails("no exit code", exit_codes=[])
        self.fails("no example", examples=[])

    def test_help_as_other_versions_of_cli11_write_it(self):
        said = program_help.text_of(PROGRAM, "stress")
        later = re.sub(r"^(  --\S+ [^\s=]+)=(\S+)", r"\1 [\2] ", said, flags=re.M)
        self.assertNotEqual(said, later)
        without = [dataclasses.replace(each, head="") for each in program_help.parsed(said).options]
        self.assertEqual(without, [dataclasses.replace(each, head="") for each in program_help.parsed(later).options])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    PAGES = Path(sys.argv.pop(1))
    unittest.main()
