#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual page of gdrapi.h is what is made from the header, and has all of it.

Usage: header_page_test.py REPOSITORY [unittest's arguments]
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

REPOSITORY = Path()  # set from the command line
HEADER = "shims/gdrapi/gdrapi.h"
SUMMARY = "CPU mappings of GPU memory, with gdrcopy's interface"


def made(date="2026-01-01"):
    command = [sys.executable, "-B", REPOSITORY / "packaging/man/from_header.py", REPOSITORY / HEADER,
               "gdrapi", date, SUMMARY]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class ThePage(unittest.TestCase):
    def test_it_is_made_from_the_header(self):
        page = (REPOSITORY / "packaging/man/gdrapi.3").read_text()
        date = re.search(r"^\.TH \w+ 3 (\d{4}-\d\d-\d\d) ", page, re.M).group(1)
        self.assertEqual(made(date), page,
                         f'run packaging/man/from_header.py {HEADER} gdrapi DATE "{SUMMARY}"')

    def test_each_function_is_declared_and_described(self):
        header = (REPOSITORY / HEADER).read_text()
        page = made().replace("\\-", "-")
        names = set(re.findall(r"^[a-z_]+ (gdr_\w+)\(", header, re.M))
        self.assertGreater(len(names), 15)
        entries = re.findall(r"^\.TP\n\.B (.*)\n(.*)$", page, re.M)
        self.assertEqual(names, {name for each, _ in entries for name in each.split(", ")})
        self.assertEqual([], [each for each, text in entries if not text or text.startswith(".")])
        for name in names:
            self.assertEqual(1, len(re.findall(rf"^\.B \w+ {name}\(.*\);$", page, re.M)), name)

    def test_each_constant_is_there(self):
        header = (REPOSITORY / HEADER).read_text()
        constants = set(re.findall(r"^ +(GDR_\w+) = ", header, re.M))
        self.assertGreater(len(constants), 10)
        self.assertEqual(set(), constants - set(re.findall(r"GDR_\w+", made())))


if __name__ == "__main__":
    REPOSITORY = Path(sys.argv.pop(1))
    unittest.main()
