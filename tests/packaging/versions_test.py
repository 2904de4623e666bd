#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every package has the version of the project, and what is pinned is pinned alike.

Usage: versions_test.py REPOSITORY [unittest's arguments]
"""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path()  # set from the command line
PLACES = {
    "kernel/dkms.conf": r'PACKAGE_VERSION="([\d.]+)"',
    "packaging/conda/recipe.yaml": r'^  version: "([\d.]+)"',
    "packaging/deb/debian/barmap-dkms.install": r"usr/src/barmap-([\d.]+)$",
    "packaging/deb/debian/changelog": r"\Abarmap \(([\d.]+)-\d",
    "packaging/man/barmap.1": r'"barmap ([\d.]+)"',
    "packaging/man/gdrcopy_sanity.1": r'"barmap ([\d.]+)"',
    "packaging/rpm/barmap.spec": r"^Version: +([\d.]+)$",
    "packaging/spack/packages/barmap/package.py": r'version\("([\d.]+)"',
    "python/compat/pyproject.toml": r'^version = "([\d.]+)"',
    "tests/packaging/dkms.sh": r"barmap/([\d.]+)",
}


def found(path, pattern):
    return re.findall(pattern, (ROOT / path).read_text(), flags=re.M)


class Versions(unittest.TestCase):
    def test_they_are_the_project_s(self):
        (version,) = found("CMakeLists.txt", r"^project\(barmap VERSION ([\d.]+)")
        for path, pattern in PLACES.items():
            with self.subTest(path):
                self.assertEqual({version}, set(found(path, pattern)))
        for page in (ROOT / "packaging/man").glob("barmap-*.1"):
            with self.subTest(page.name):
                self.assertEqual([version], found(page, r'"barmap ([\d.]+)"'))

    def test_packages_are_named_for_the_soname(self):
        (interface,) = found("CMakeLists.txt", r"^set\(BARMAP_SOVERSION (\d+)\)")
        name = f"libbarmap{interface}"
        self.assertEqual([name], found("packaging/deb/debian/control", r"^Package: (libbarmap\d+)$"))
        self.assertEqual([name], found("packaging/rpm/barmap.spec", r"^%package -n (libbarmap\d+)$"))

    def test_nanobind_is_the_same_everywhere(self):
        pinned = found("packaging/deb/nanobind.txt", r"^nanobind==(\S+)")
        self.assertEqual(pinned, found("packaging/wheel/constraints.txt", r"^nanobind==(\S+)"))


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1))
    unittest.main()
