#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""packaging/addresses writes the project's addresses into every package's description, and invents none.

Usage: addresses_test.py REPOSITORY [unittest's arguments]
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path()  # set from the command line
ADDRESSES = {"BARMAP_HOMEPAGE": "https://home.invalid/", "BARMAP_GIT": "https://git.invalid/barmap.git",
             "BARMAP_RELEASES": "https://files.invalid/0.1", "BARMAP_EMAIL": "someone@mail.invalid"}
DESCRIPTIONS = ("packaging/deb/debian/control", "packaging/deb/debian/changelog", "packaging/deb/debian/copyright",
                "packaging/rpm/barmap.spec", "pyproject.toml", "packaging/conda/recipe.yaml",
                "packaging/spack/packages/barmap/package.py")
PLACEHOLDER = "barmap@example.org"


def called(*arguments, **variables):
    without = {name: value for name, value in os.environ.items() if name not in ADDRESSES}
    return subprocess.run([sys.executable, "-B", ROOT / "packaging/addresses", *arguments], capture_output=True,
                          text=True, env={**without, **variables}, check=False)


class Addresses(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.copies = [Path(shutil.copy(ROOT / each, holder.name)) for each in DESCRIPTIONS]

    def written(self, **variables):
        done = called(*self.copies, **variables)
        self.assertEqual(0, done.returncode, done.stderr)
        return {each.name: each.read_text() for each in self.copies}

    def test_every_description_names_them(self):
        text = self.written(**ADDRESSES)
        for line in ("Homepage: https://home.invalid", "Vcs-Git: https://git.invalid/barmap.git",
                     "Vcs-Browser: https://home.invalid", "Maintainer: barmap authors <someone@mail.invalid>"):
            self.assertIn(f"\n{line}\n", text["control"])
        self.assertIn(" <someone@mail.invalid>  ", text["changelog"])
        self.assertIn("\nSource: https://files.invalid/0.1\n", text["copyright"])
        self.assertIn("\nURL:            https://home.invalid\n", text["barmap.spec"])
        self.assertIn(" https://files.invalid/0.1/%{name}-%{version}.tar.gz\n", text["barmap.spec"])
        self.assertIn(" <someone@mail.invalid> - ", text["barmap.spec"])
        self.assertIn('\n[project.urls]\nHomepage = "https://home.invalid"\n'
                      'Repository = "https://git.invalid/barmap.git"\nDownload = "https://files.invalid/0.1"\n',
                      text["pyproject.toml"])
        self.assertIn('\nemail = "someone@mail.invalid"\n', text["pyproject.toml"])
        self.assertIn("\nabout:\n  homepage: https://home.invalid\n  repository: https://git.invalid/barmap.git\n",
                      text["recipe.yaml"])
        self.assertIn('\n    homepage = "https://home.invalid"\n    git = "https://git.invalid/barmap.git"\n',
                      text["package.py"])
        for name, each in text.items():
            self.assertNotIn(PLACEHOLDER, each, name)

    def test_without_any_nothing_changes(self):
        before = {each.name: each.read_text() for each in self.copies}
        self.assertEqual(before, self.written())
        for name, text in before.items():
            self.assertNotRegex(text, r"(?m)^(Homepage|Vcs-\w+|URL): |^\[project\.urls\]", name)

    def test_a_release_needs_each(self):
        self.assertEqual(0, called("--check", **ADDRESSES).returncode)
        for variable in ADDRESSES:
            with self.subTest(variable):
                refused = called("--check", **{**ADDRESSES, variable: ""})
                self.assertEqual((1, f"{variable} is not set\n"), (refused.returncode, refused.stderr))

    def test_what_is_no_address_is_refused(self):
        for variable, value in (("BARMAP_HOMEPAGE", "home"), ("BARMAP_GIT", 'https://git.invalid/"x"'),
                                ("BARMAP_RELEASES", "https://files.invalid/\nX: y"), ("BARMAP_EMAIL", "someone"),
                                ("BARMAP_EMAIL", PLACEHOLDER)):
            with self.subTest(variable, value=value):
                refused = called("--check", **{**ADDRESSES, variable: value})
                self.assertEqual(1, refused.returncode)
                self.assertIn(f"{variable} is no address: {value}", refused.stderr)

    def test_the_placeholder_is_where_it_is_replaced(self):
        found = subprocess.run(["git", "grep", "-l", "--fixed-strings", PLACEHOLDER, "--", "packaging", "*.toml"],
                               cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
        self.assertLessEqual(set(found), {*DESCRIPTIONS, "packaging/addresses"})

    def test_a_description_that_lacks_the_place_is_refused(self):
        control = self.copies[0]
        control.write_text(re.sub("Standards-Version.*\n", "", control.read_text()))
        refused = called(control, **ADDRESSES)
        self.assertEqual((1, "there is no line Standards-Version:\n"), (refused.returncode, refused.stderr))


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
