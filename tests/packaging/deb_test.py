#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""packaging/deb/debian: what Debian's reviewers look at, without a build.

Usage: deb_test.py REPOSITORY [unittest's arguments]
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "layout"))
import rooms  # noqa: E402

ROOT = Path()  # set from the command line


def stanzas(name):
    """The fields of each stanza of a control file."""
    text = re.sub("(?m)^#.*\n", "", (ROOT / "packaging/deb/debian" / name).read_text())
    return [dict(re.findall(r"^([\w-]+):[ \n]*(.*(?:\n .*)*)", each, flags=re.M)) for each in text.split("\n\n")]


def names(dependencies):
    return {re.match(r"\s*([a-z0-9+.-]+)", each)[1] for each in dependencies.split(",")}


class Control(unittest.TestCase):
    def test_what_needs_nvidia_s_module_is_in_contrib(self):
        source, *packages = stanzas("control")
        sections = {each["Package"]: each.get("Section", source["Section"]) for each in packages}
        module = {name for name in sections if name in ("barmap-dkms", "barmap-module-config")}
        self.assertEqual(module, {name for name, section in sections.items() if section.startswith("contrib/")})
        self.assertIn("\nSection: contrib/kernel\n", (ROOT / "packaging/kmod/build-deb").read_text())
        self.assertFalse(source["Section"].startswith("contrib"))

    def test_rpm_has_the_same_packages(self):
        _, *packages = stanzas("control")
        spec = (ROOT / "packaging/rpm/barmap.spec").read_text()
        named = {name if whole else f"barmap-{name}"
                 for whole, name in re.findall(r"^%package (-n )?([\w.-]+)$", spec, flags=re.M)}
        self.assertEqual({re.sub("-dev$", "-devel", each["Package"]) for each in packages},
                         {"barmap-tools", *named})  # the spec's own package, barmap

    @unittest.skipUnless(shutil.which("dpkg-checkbuilddeps"), "dpkg-dev is not installed")
    def test_nanobind_is_a_build_dependency_unless_it_is_given(self):
        def missing(profiles):
            with tempfile.TemporaryDirectory() as system:  # on which nothing is installed
                (Path(system) / "status").touch()
                return subprocess.run(["dpkg-checkbuilddeps", f"--admindir={system}", "-P", profiles,
                                       ROOT / "packaging/deb/debian/control"], capture_output=True, text=True,
                                      env={**os.environ, "LC_ALL": "C"}, check=False).stderr
        self.assertIn("nanobind-dev (>= 2.8)", missing("nocheck"))
        self.assertNotIn("nanobind", missing("pkg.barmap.nanobind"))
        self.assertIn("libgtest-dev", missing("pkg.barmap.nanobind"))
        self.assertNotIn("libgtest-dev", missing("nocheck"))

    def test_rules_use_no_network(self):
        self.assertNotRegex((ROOT / "packaging/deb/debian/rules").read_text(), r"\bpip\b|\bcurl\b|\bwget\b|\bgit\b")


class Tests(unittest.TestCase):
    def commands(self, target, **variables):
        return subprocess.run(["make", "--dry-run", "--file", ROOT / "packaging/deb/debian/rules", target,
                               *(f"{name}={value}" for name, value in variables.items())],
                              capture_output=True, text=True, cwd=ROOT, check=True).stdout

    @unittest.skipUnless(Path("/usr/share/dpkg/default.mk").exists(), "dpkg-dev is not installed")
    def test_a_build_runs_those_that_need_no_gpu(self):
        done = self.commands("override_dh_auto_test")
        (labels,) = re.findall(r"--label-regex '\^\((.*)\)\$'", done)
        listed = " ".join(each.read_text() for each in (path for room in rooms.CODE for path in (ROOT / room).rglob("CMakeLists.txt")))
        for label in labels.split("|"):
            self.assertRegex(listed, rf"LABELS {label}\b")
        self.assertIn("barmap check", done)
        configured = {options: self.commands("override_dh_auto_configure", DEB_BUILD_OPTIONS=options)
                      for options in ("", "nocheck")}
        self.assertEqual([1, 0], [each.count("-DBARMAP_TESTS=ON") for each in configured.values()])

    def test_autopkgtest_uses_the_packages(self):
        _, *packages = stanzas("control")
        made = {each["Package"] for each in packages}
        (test,) = stanzas("tests/control")
        program = ROOT / "packaging/deb/debian/tests" / test["Tests"]
        self.assertTrue(os.access(program, os.X_OK))
        for file in re.findall(r"\btests/[\w/*.]+", program.read_text()):
            self.assertTrue(list(ROOT.glob(file)), file)
        self.assertEqual({"barmap-tools", "barmap-sim", "libbarmap-dev", "libgdrapi-dev", "libvkgdr-dev",
                          "python3-barmap", "python3-barmap-compat"}, names(test["Depends"]) & made)
        self.assertEqual({"g++", "man-db", "pkg-config"}, names(test["Depends"]) - made)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
