#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What scripts/demo and scripts/test say, and that they install nothing where that is not wanted.

The package manager and CMake are stand-ins. Usage: scripts_test.py REPOSITORY [unittest's arguments]
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path()  # set from the command line


class Scripts(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        shutil.copytree(ROOT / "scripts", self.folder / "scripts")
        self.stand_in("bin/dpkg-query", 'case "$4" in *-dev) exit 1 ;; *) printf installed ;; esac')
        self.stand_in("bin/sudo", 'exec "$@"')
        self.stand_in("bin/apt-get", f'echo "$*" >> {self.folder}/apt.log')
        self.stand_in("bin/cmake", 'for i in $(seq 200); do echo "line $i"; done')
        self.stand_in("build/release/bin/barmap", 'echo "barmap $*"')

    def stand_in(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def run_script(self, name, *arguments):
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        return subprocess.run([self.folder / "scripts" / name, *arguments], capture_output=True,
                              text=True, env={**os.environ, "PATH": path}, check=False)

    def installed(self):
        log = self.folder / "apt.log"
        return log.read_text() if log.exists() else ""

    def test_missing_packages_are_listed_and_not_installed(self):
        for name in ("demo", "test"):
            with self.subTest(name):
                refused = self.run_script(name, "--no-install")
                self.assertEqual(1, refused.returncode)
                self.assertIn("libfmt-dev", refused.stderr)
                self.assertNotIn("g++", refused.stderr)
                self.assertEqual(("", ""), (refused.stdout, self.installed()))

    def test_packages_are_named_before_they_are_installed(self):
        done = self.run_script("packages", "g++", "libfmt-dev")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("libfmt-dev", self.installed())
        for words in ("are installed now", "  libfmt-dev\n", "--no-install"):
            self.assertIn(words, done.stderr)

    def test_optional_packages_are_only_mentioned(self):
        done = self.run_script("packages", "--no-install", "--optional", "libamdhip64-dev")
        self.assertEqual(0, done.returncode)
        self.assertIn("libamdhip64-dev", done.stderr)
        self.assertEqual("", self.installed())

    def test_the_demo_shows_no_build_log(self):
        done = self.run_script("demo", "--sizes", "8")
        self.assertEqual((0, "barmap demo --sizes 8\n"), (done.returncode, done.stdout))
        self.assertNotIn("line 1", done.stderr)
        self.assertEqual(400, len((self.folder / "build/demo.log").read_text().splitlines()))

    def test_a_failed_build_shows_its_end(self):
        self.stand_in("bin/cmake", 'for i in $(seq 200); do echo "line $i"; done; exit 1')
        done = self.run_script("demo")
        self.assertEqual((1, ""), (done.returncode, done.stdout))
        self.assertIn("line 200\n", done.stderr)
        self.assertNotIn("line 100\n", done.stderr)
        self.assertIn("build/demo.log", done.stderr)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
