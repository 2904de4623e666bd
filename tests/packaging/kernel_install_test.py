#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make -C gdrcopy/driver install and uninstall. The kernel's headers are a stand-in, which makes an empty module.

Usage: kernel_install_test.py REPOSITORY [unittest's arguments]
"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path()  # set from the command line
RULES = "usr/lib/udev/rules.d/60-gdrdrv.rules"


class Install(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        shutil.copytree(ROOT / "gdrcopy/driver", self.folder / "kernel")
        (self.folder / "headers").mkdir()
        (self.folder / "headers/Makefile").write_text("modules:\n\ttouch $(M)/gdrdrv.ko\n")

    def make(self, goal, kernel):
        made = subprocess.run(["make", "-C", self.folder / "kernel", goal, f"KVER={kernel}", "NVIDIA_SRC_DIR=",
                               f"KDIR={self.folder / 'headers'}", f"DESTDIR={self.folder / 'root'}"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(0, made.returncode, made.stderr)

    def installed(self):
        root = self.folder / "root"
        return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}

    def test_uninstall_removes_what_install_has_made(self):
        module = "lib/modules/{}/updates/gdrdrv.ko".format
        self.make("install", "6.1.0-1")
        self.make("install", "6.12.0-1")
        self.assertEqual({module("6.1.0-1"), module("6.12.0-1"), RULES}, self.installed())
        self.make("uninstall", "6.1.0-1")
        self.assertEqual({module("6.12.0-1"), RULES}, self.installed())
        self.make("uninstall", "6.12.0-1")
        self.assertEqual(set(), self.installed())

    def test_uninstall_needs_no_headers(self):
        self.make("install", "6.1.0-1")
        shutil.rmtree(self.folder / "headers")
        self.make("uninstall", "6.1.0-1")
        self.assertEqual(set(), self.installed())


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
