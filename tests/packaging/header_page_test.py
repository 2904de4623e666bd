#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual page that is made of gdrapi.h has all of it.

Usage: header_page_test.py REPOSITORY [unittest's arguments]
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path()  # set from the command line
HEADER = "gdrcopy/library/gdrapi.h"


def made():
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "gdrapi.3"
        subprocess.run([sys.executable, "-B", REPOSITORY / "packaging/man/from_header.py", REPOSITORY / HEADER,
                        "a summary", page], check=True)
        return page.read_text()


class ThePage(unittest.TestCase):
    def test_it_has_a_head(self):
        self.assertRegex(made(), r'\n\.TH GDRAPI 3 \d{4}-\d\d-\d\d "barmap [\d.]+" "Library functions"\n\.SH NAME\ngdrapi \\- a summary\n')

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
