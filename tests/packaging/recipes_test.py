#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recipes for conda-forge and Spack: those of a release name its archive, and no package of conda's has
both the library and what collides with gdrcopy's.

Usage: recipes_test.py REPOSITORY [unittest's arguments]
"""

import ast
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path()  # set from the command line
ADDRESSES = {"BARMAP_HOMEPAGE": "https://home.invalid", "BARMAP_GIT": "https://git.invalid/barmap.git",
             "BARMAP_RELEASES": "https://files.invalid/0.1/", "BARMAP_EMAIL": "someone@mail.invalid"}


class Recipes(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.archive = self.folder / "barmap-0.1.0.tar.gz"
        self.archive.write_bytes(b"sources")
        self.sum = hashlib.sha256(b"sources").hexdigest()

    def write(self, **variables):
        return subprocess.run([ROOT / "packaging/recipes", self.archive, self.folder], capture_output=True, text=True,
                              env={**os.environ, **ADDRESSES, **variables}, check=False)

    def test_conda_s_names_the_archive(self):
        self.assertEqual(0, self.write().returncode)
        text = (self.folder / "conda/recipe.yaml").read_text()
        self.assertIn("\nsource:\n  url: https://files.invalid/0.1/barmap-0.1.0.tar.gz\n"
                      f"  sha256: {self.sum}\n\n", text)
        self.assertNotIn("../..", text)

    def test_spack_s_names_the_archive(self):
        self.assertEqual(0, self.write().returncode)
        tree = ast.parse((self.folder / "spack/packages/barmap/package.py").read_text())
        (package,) = (each for each in tree.body if isinstance(each, ast.ClassDef))
        values = {each.targets[0].id: each.value.value for each in package.body if isinstance(each, ast.Assign)}
        self.assertEqual({"homepage": "https://home.invalid", "git": "https://git.invalid/barmap.git",
                          "url": "https://files.invalid/0.1/barmap-0.1.0.tar.gz"}, values)
        versions = {call.args[0].value: {word.arg: word.value.value for word in call.keywords}
                    for call in ast.walk(package)
                    if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "version"}
        self.assertEqual({"main": {"branch": "main"}, "0.1.0": {"sha256": self.sum}}, versions)
        self.assertNotIn("pathlib", ast.dump(tree))

    def test_without_the_address_there_are_none(self):
        done = self.write(BARMAP_RELEASES="")
        self.assertEqual((77, "no recipes: BARMAP_RELEASES is not set\n"), (done.returncode, done.stdout))
        self.assertFalse((self.folder / "conda").exists())

    def test_conda_s_dropins_are_a_package_of_their_own(self):
        text = (ROOT / "packaging/conda/recipe.yaml").read_text()
        outputs = {re.search("name: (.*)", each)[1]: each for each in text.split("  - package:\n")[1:]}
        self.assertEqual({"libbarmap", "barmap-dropins", "barmap"}, set(outputs))
        self.assertIn("--install build/conda --component Unspecified\n", outputs["libbarmap"])
        self.assertIn("--install build/conda --component dropins\n", outputs["barmap-dropins"])
        for name, each in outputs.items():
            with self.subTest(name):
                own = name == "barmap-dropins"
                self.assertEqual(own, "gdrcopy <0" in each)
                self.assertEqual(own, bool(re.search("- (gdrapi|vkgdr|gdrcopy_sanity|gdrapi.h)$", each, flags=re.M)))


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
