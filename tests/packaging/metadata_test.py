#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What wheels say of themselves: the licences of all parts, and the project's addresses.

The build backends write it where they are installed (scikit-build-core, hatchling).
Usage: metadata_test.py REPOSITORY [unittest's arguments]
"""

import email
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path()  # set from the command line
ADDRESSES = {"BARMAP_HOMEPAGE": "https://home.invalid", "BARMAP_GIT": "https://git.invalid/barmap.git",
             "BARMAP_RELEASES": "https://files.invalid/0.1", "BARMAP_EMAIL": "someone@mail.invalid"}
URLS = ["Homepage, https://home.invalid", "Repository, https://git.invalid/barmap.git",
        "Download, https://files.invalid/0.1"]


def project(path):
    """The fields of text and lists of text of a pyproject.toml; Python before 3.11 has no parser."""
    text = (ROOT / path).read_text()
    fields = dict(re.findall(r'^([\w-]+) = "(.*)"$', text, flags=re.M))
    lists = {name: re.findall('"(.*?)"', each) for name, each in re.findall(r"^([\w-]+) = \[(.*)\]$", text, flags=re.M)}
    return {**fields, **lists}


def bill():
    loader = importlib.machinery.SourceFileLoader("sbom", str(ROOT / "packaging/sbom"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("sbom", loader))
    loader.exec_module(module)
    return module


class Licences(unittest.TestCase):
    def test_the_expression_has_those_of_all_that_is_compiled_in(self):
        parts = {licence for _, licence, *_ in bill().INCLUDED} - {"Apache-2.0 OR MIT"}  # of which MIT is chosen
        self.assertEqual({"MIT", *parts}, set(project("pyproject.toml")["license"].split(" AND ")))

    def test_the_texts_are_there(self):
        for path, names in (("pyproject.toml", ["LICENSE", "packaging/third-party.txt"]),
                            ("python/compat/pyproject.toml", ["LICENSE"])):
            with self.subTest(path):
                self.assertEqual(names, project(path)["license-files"])
                for name in names:
                    self.assertTrue(((ROOT / path).parent / name).is_file(), name)
        self.assertEqual("MIT", project("python/compat/pyproject.toml")["license"])


class Metadata(unittest.TestCase):
    """As the backend writes it, in a copy of what it reads."""

    def written(self, path, call):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        copy = Path(holder.name) / "copy"
        for name in ("CMakeLists.txt", "LICENSE", "packaging/third-party.txt", "docs/python.md", "python/barmap",
                     "python/compat", "pyproject.toml"):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, copy / name)
        subprocess.run([ROOT / "packaging/addresses", copy / path], env={**os.environ, **ADDRESSES}, check=True)
        subprocess.run([sys.executable, "-B", "-c", f"{call}({holder.name!r})"], cwd=(copy / path).parent, check=True,
                       capture_output=True)
        (written,) = Path(holder.name).glob("*.dist-info")
        return email.message_from_string((written / "METADATA").read_text()), written

    @unittest.skipUnless(importlib.util.find_spec("scikit_build_core"), "scikit-build-core is not installed")
    def test_barmap(self):
        fields, folder = self.written("pyproject.toml",
                                      "import scikit_build_core.build as b; b.prepare_metadata_for_build_wheel")
        self.assertEqual(project("pyproject.toml")["license"], fields["License-Expression"])
        self.assertEqual(URLS, fields.get_all("Project-URL"))
        self.assertEqual("barmap authors <someone@mail.invalid>", fields["Maintainer-Email"])
        for name in fields.get_all("License-File"):
            self.assertEqual((ROOT / name).read_bytes(), (folder / "licenses" / name).read_bytes())

    @unittest.skipUnless(importlib.util.find_spec("hatchling"), "hatchling is not installed")
    def test_compat(self):
        fields, _ = self.written("python/compat/pyproject.toml",
                                 "import hatchling.build as b; b.prepare_metadata_for_build_wheel")
        self.assertEqual("MIT", fields["License-Expression"])
        self.assertEqual(URLS, fields.get_all("Project-URL"))
        self.assertEqual(["LICENSE"], fields.get_all("License-File"))


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
