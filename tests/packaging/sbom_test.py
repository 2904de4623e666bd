#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The bill of materials names every file with its sum, and is the same for the same files.

Usage: sbom_test.py REPOSITORY [unittest's arguments]
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path()  # set from the command line


def write(folder, output, **variables):
    return subprocess.run([sys.executable, "-B", ROOT / "packaging/sbom", folder, output],
                          capture_output=True, text=True,
                          env={**{name: value for name, value in os.environ.items() if name != "BARMAP_RELEASES"},
                               **variables})


class BillOfMaterials(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "deb").mkdir()
        (self.folder / "deb/one.deb").write_bytes(b"one")
        (self.folder / "two.tar.gz").write_bytes(b"two")
        self.output = self.folder / "bill.spdx.json"

    def test_every_file_with_its_sum(self):
        self.assertEqual(0, write(self.folder, self.output).returncode)
        bill = json.loads(self.output.read_text())
        sums = {each["fileName"]: each["checksums"][1]["checksumValue"] for each in bill["files"]}
        self.assertEqual({"./deb/one.deb": hashlib.sha256(b"one").hexdigest(),
                          "./two.tar.gz": hashlib.sha256(b"two").hexdigest()}, sums)
        names = {each["name"] for each in bill["packages"]}
        # Python 3.9 has another one.
        self.assertEqual(set(re.findall(r"nanobind==([\d.]+)", (ROOT / "packaging/wheel/backend.txt").read_text())),
                         {each["versionInfo"] for each in bill["packages"] if each["name"] == "nanobind"})
        self.assertLess({"barmap", "nanobind", "fmt"}, names)
        identifiers = [each["SPDXID"] for each in bill["packages"] + bill["files"]]
        self.assertEqual(len(identifiers), len(set(identifiers)))
        related = {each["relatedSpdxElement"] for each in bill["relationships"]}
        self.assertLessEqual(related, set(identifiers))

    def test_it_says_where_they_can_be_downloaded(self):
        for address, told in ((None, "NONE"), ("https://files.invalid/0.1", "https://files.invalid/0.1")):
            with self.subTest(address):
                write(self.folder, self.output, **({"BARMAP_RELEASES": address} if address else {}))
                (own,) = (each for each in json.loads(self.output.read_text())["packages"] if each["name"] == "barmap")
                self.assertEqual(told, own["downloadLocation"])

    def test_the_same_files_give_the_same_bill(self):
        write(self.folder, self.output)
        first = self.output.read_bytes()
        write(self.folder, self.output)
        self.assertEqual(first, self.output.read_bytes())
        (self.folder / "two.tar.gz").write_bytes(b"three")
        write(self.folder, self.output)
        self.assertNotEqual(first, self.output.read_bytes())

    def test_licences_of_what_is_compiled_in_are_told(self):
        write(self.folder, self.output)
        told = (ROOT / "packaging/third-party.txt").read_text()
        for each in json.loads(self.output.read_text())["packages"]:
            # barmap's own, and declarations only
            if each["name"] not in ("barmap", "Vulkan-Headers"):
                self.assertIn(each["name"], told)
                self.assertIn(each["licenseDeclared"], told)

    def test_no_folder_is_refused(self):
        refused = write(self.folder / "nowhere", self.output)
        self.assertEqual(2, refused.returncode)
        self.assertIn("Usage", refused.stderr)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
