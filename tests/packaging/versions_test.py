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
    "gdrcopy/driver/dkms.conf": r'PACKAGE_VERSION="([\d.]+)"',
    "packaging/conda/recipe.yaml": r'^  version: "([\d.]+)"',
    "packaging/deb/debian/barmap-dkms.install": r"usr/src/barmap-([\d.]+)$",
    "packaging/deb/debian/changelog": r"\Abarmap \(([\d.]+)-\d",
    "packaging/man/barmap.3": r'"barmap ([\d.]+)"',
    "packaging/man/barmap-signal.3": r'"barmap ([\d.]+)"',
    "gdrcopy/programs/gdrcopy_sanity.1": r'"barmap ([\d.]+)"',
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

    def test_the_headers_are_the_project_s(self):
        (version,) = found("CMakeLists.txt", r"^project\(barmap VERSION ([\d.]+)")
        parts = found("core/include/barmap/export.hpp", r"^#define BARMAP_VERSION_\w+ (\d+)$")
        self.assertEqual(version, ".".join(parts))

    def test_packages_are_named_for_the_soname(self):
        (interface,) = found("CMakeLists.txt", r"^set\(BARMAP_SOVERSION (\d+)\)")
        name = f"libbarmap{interface}"
        self.assertEqual([name], found("packaging/deb/debian/control", r"^Package: (libbarmap\d+)$"))
        self.assertEqual([name], found("packaging/rpm/barmap.spec", r"^%package -n (libbarmap\d+)$"))

    def test_programs_need_the_nodes_of_the_library_and_no_particular_version(self):
        symbols = "packaging/deb/debian/libbarmap1.symbols"
        self.assertEqual(["libbarmap.so.1 libbarmap1 #MINVER#"], found(symbols, r"^lib.*"))
        self.assertEqual([], found(symbols, r"^\| .*"))
        self.assertEqual(found("core/src/libbarmap.map", r"^(BARMAP_\S+) \{"), found(symbols, r"^ \(symver\)(\S+) \S+$"))

    def test_nanobind_is_the_same_everywhere(self):
        pinned = found("packaging/deb/nanobind.txt", r"^nanobind==(\S+)")
        self.assertEqual(pinned[:1], found("packaging/wheel/backend.txt", r"^nanobind==([\d.]+)")[:1])
        self.assertEqual(pinned[:1], found("packaging/rpm/barmap.spec", r"^%global nanobind_version (\S+)$"))

    def test_what_pip_fetches_has_its_sum(self):
        lists = {path: (ROOT / path).read_text() for path in
                 ("packaging/deb/nanobind.txt", "packaging/wheel/backend.txt", "packaging/wheel/tools.txt")}
        for path, text in lists.items():
            for entry in re.sub(r"^#.*\n", "", text, flags=re.M).replace("\\\n", " ").splitlines():
                with self.subTest(path, entry=entry):
                    self.assertRegex(entry, r"^[a-z-]+==[\w.]+(; [^#]+?)?( +--hash=sha256:[0-9a-f]{64})+$")
        fetches = [call for path in sorted((ROOT / "packaging").rglob("build"))
                   for call in re.findall(r"pip\b.* (?:install|download) [^\\\n]*(?:\\\n[^\\\n]*)*", path.read_text())]
        self.assertEqual(4, len(fetches))
        for call in fetches:
            with self.subTest(call):
                self.assertIn("--require-hashes", call)
                self.assertIn("--requirement ", call)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1))
    unittest.main()
