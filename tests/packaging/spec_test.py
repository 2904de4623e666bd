#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""packaging/rpm/barmap.spec: what rpm reads in it, for kernels of several distributions.

Usage: spec_test.py REPOSITORY [unittest's arguments]
"""

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path()  # set from the command line


def asked(*options):
    return subprocess.run(["rpmspec", "--query", *options, ROOT / "packaging/rpm/barmap.spec"],
                          capture_output=True, text=True, check=True).stdout.splitlines()


@unittest.skipUnless(shutil.which("rpmspec"), "rpm is not installed")
class Spec(unittest.TestCase):
    def test_a_module_requires_the_kernel_it_is_for(self):
        for kernel in ("5.14.0-503.11.1.el9_5.x86_64", "6.11.4-301.fc41.x86_64"):
            with self.subTest(kernel):
                self.assertIn(f"kernel-uname-r = {kernel}",
                              asked("--requires", "--define", f"barmap_kernel {kernel}"))

    def test_it_requires_none_that_no_rpm_can_be(self):
        required = asked("--requires", "--define", "barmap_kernel 6.1.0-56-cloud-amd64")
        self.assertFalse([each for each in required if each.startswith("kernel-uname-r")])

    def test_a_module_changes_nothing_in_the_other_packages(self):
        shown = ("--queryformat", r"%{NAME}\n[%{REQUIRES}\n][%{PREUN}\n][%{POSTIN}\n]")
        with_module = asked(*shown, "--define", "barmap_kernel 6.11.4-301.fc41.x86_64")
        self.assertEqual(asked(*shown), with_module[:with_module.index("kmod-barmap-6.11.4-301.fc41.x86_64")])


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
