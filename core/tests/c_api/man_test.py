# SPDX-License-Identifier: MIT
"""A manual page has each function of a C header as it is declared, each status and each flag.

Usage: man_test.py HEADER[,HEADER] PAGE [unittest's arguments]
"""

import re
import sys
import unittest
from pathlib import Path

HEADER = PAGE = ""  # the texts; set from the command line


def declarations(header):
    found = re.findall(r"^BARMAP_API ([^;]*;)", header, re.M)
    return sorted(re.sub(r"\s+", " ", each) for each in found)


def synopsis(page):
    return sorted(re.findall(r"^\.B (.*;)$", page, re.M))


def enumerations(header):
    """The names in each enumeration."""
    return [re.findall(r"^ +(BARMAP_\w+) = \d+", body, re.M)
            for body in re.findall(r"^enum \w+ \{(.*?)^\};", header, re.M | re.S)]


def constants(header):
    return {name for names in enumerations(header) for name in names} - {"BARMAP_OK"}


class ThePage(unittest.TestCase):
    def test_each_function_as_declared(self):
        self.assertGreater(len(declarations(HEADER)), 20)
        self.assertEqual(declarations(HEADER), synopsis(PAGE))

    def test_each_function_is_described(self):
        described = set(re.findall(r'^\.TP\n\.BR? (barmap_\w+)(?: ", " (barmap_\w+))?$', PAGE, re.M))
        named = {name for pair in described for name in pair if name}
        self.assertEqual({re.search(r"(\w+)\(", each).group(1) for each in declarations(HEADER)}, named)

    def test_each_constant_is_described(self):
        self.assertEqual(len(re.findall(r"^enum ", HEADER, re.M)), len(enumerations(HEADER)))
        self.assertNotIn([], enumerations(HEADER))
        words = set(re.findall(r"BARMAP_\w+", PAGE))
        self.assertEqual(set(), constants(HEADER) - words)


if __name__ == "__main__":
    HEADER, PAGE = (
        "".join(Path(each).read_text() for each in sys.argv.pop(1).split(",")) for _ in range(2)
    )
    unittest.main()
