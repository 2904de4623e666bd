#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""packaging/rpm/barmap.spec: what rpm reads in it, for kernels of several distributions.

Usage: spec_test.py REPOSITORY [unittest's arguments]
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
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

    def test_licences_are_those_of_all_parts(self):
        told = dict(line.split(": ") for line in asked("--queryformat", r"%{NAME}: %{LICENSE}\n", "--define",
                                                       "barmap_kernel 6.11.4-301.fc41.x86_64"))
        compiled_in = {"barmap", "python3-barmap"}  # as packaging/third-party.txt, which both install, says
        module = {"barmap-dkms", "kmod-barmap-6.11.4-301.fc41.x86_64"}
        self.assertLess(compiled_in | module, set(told))
        for name, licence in told.items():
            with self.subTest(name):
                self.assertEqual("MIT AND BSD-3-Clause" if name in compiled_in else
                                 "MIT OR GPL-2.0-only" if name in module else "MIT", licence)

    def section(self, name, *options):
        parsed = subprocess.run(["rpmspec", "--parse", *options, ROOT / "packaging/rpm/barmap.spec"],
                                capture_output=True, text=True, check=True).stdout
        (found,) = re.findall(rf"^%{name}\n(.*?)^%[a-z]+\b(?!\()", parsed, flags=re.M | re.S)
        return found

    def test_flags_are_the_distribution_s(self):
        flags = [("CFLAGS", "build_cflags"), ("CXXFLAGS", "build_cxxflags"), ("LDFLAGS", "build_ldflags")]
        elsewhere = [word for _, macro in flags for word in ("--define", f"{macro} -D{macro}")]
        # rpm leaves out the line %build: it is a macro.
        build = self.section("prep", "--define", "_vendor redhat", *elsewhere)
        for variable, macro in flags:
            self.assertRegex(build, f'{variable}="-D{macro}"')
        self.assertNotRegex(build, "FORTIFY|-O[0-9]|relro|CMAKE_CXX_FLAGS")
        for harden in ("-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-Wl,-z,relro,-z,now"):
            self.assertIn(harden, self.section("prep", "--define", "_vendor debian"))

    def test_a_check_runs_what_was_built(self):
        check = self.section("check")
        for words in ("ctest ", "barmap sim -- build/main/bin/barmap check", "use_barmap.py"):
            self.assertIn(words, check)
        without = self.section("check", "--without", "tests")
        self.assertNotIn("ctest", without)
        self.assertIn("barmap check", without)


@unittest.skipUnless(shutil.which("rpmspec"), "rpm is not installed")
class Triggers(unittest.TestCase):
    """What happens to the module when NVIDIA's DKMS package comes and goes; dkms and modprobe are stand-ins."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        for kernel in ("6.1", "6.2"):
            (self.folder / f"modules/{kernel}/build").mkdir(parents=True)
        for name, text in (("dkms", '[ "$1" != status ] || case "$*" in *6.1) echo installed ;; esac'),
                           ("modprobe", "")):
            path = self.folder / name
            path.write_text(f'#!/bin/sh\necho "{name} $*" >> {self.folder}/log\n{text}\n')
            path.chmod(0o755)

    def ran(self, trigger, *numbers):
        parsed = subprocess.run(["rpmspec", "--parse", ROOT / "packaging/rpm/barmap.spec"], capture_output=True,
                                text=True, check=True).stdout
        (script,) = re.findall(rf"^%{trigger} dkms -- kmod-nvidia-latest-dkms, kmod-nvidia-open-dkms\n(.*?)^%[a-z]+\b",
                               parsed, flags=re.M | re.S)
        script = script.replace("/lib/modules", f"{self.folder}/modules")
        (self.folder / "log").write_text("")
        subprocess.run(["sh", "-eu", "-c", script, "sh", *numbers], check=True,
                       env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
        return [line for line in (self.folder / "log").read_text().splitlines() if "status" not in line]

    def test_the_module_is_built_again_where_it_was(self):
        build, install = self.ran("triggerin", "1", "1")
        for line, what in ((build, "build"), (install, "install")):
            self.assertRegex(line, f"^dkms {what} -m barmap -v [0-9.]+ -k 6.1 --force$")

    def test_the_module_is_unloaded_before_nvidia_s_goes(self):
        self.assertEqual(["modprobe --remove --quiet gdrdrv"], self.ran("triggerun", "1", "0"))
        self.assertEqual([], self.ran("triggerun", "1", "1"))  # an update


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
