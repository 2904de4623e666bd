#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What scripts/demo and scripts/test say, and that they install nothing where that is not wanted; and that
scripts/test runs all phases, whichever of them fails.

The package manager, CMake, CTest and the tests of the other languages are stand-ins. Usage: scripts_test.py REPOSITORY [unittest's arguments]
"""

import errno
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path()  # set from the command line


class InACopy(unittest.TestCase):
    """The scripts lie in a directory of their own, with stand-ins for the programs that they start."""

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

    def run_script(self, name, *arguments, stderr=subprocess.PIPE):
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        return subprocess.run([self.folder / "scripts" / name, *arguments], stdout=subprocess.PIPE,
                              stderr=stderr, text=True, env={**os.environ, "PATH": path}, check=False)

    def installed(self):
        log = self.folder / "apt.log"
        return log.read_text() if log.exists() else ""


def read_to_the_end(terminal):
    """What was written to a terminal whose other end is closed; one read may return a part."""
    parts = []
    try:
        while part := os.read(terminal, 65536):
            parts.append(part)
    except OSError as end:
        if end.errno != errno.EIO:
            raise
    return b"".join(parts)


class Scripts(InACopy):
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

    def test_the_demo_builds_only_what_it_runs(self):
        self.stand_in("bin/cmake", f'echo "$*" >> {self.folder}/cmake.log')
        self.assertEqual(0, self.run_script("demo").returncode)
        calls = (self.folder / "cmake.log").read_text().splitlines()
        self.assertRegex(calls[0], "^--preset release( -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)?$")
        self.assertEqual("--build --preset release --target barmap_tool barmap_sim", calls[1])

    def test_the_demo_tells_its_progress_on_a_terminal_and_wipes_it(self):
        self.stand_in("bin/cmake", 'for i in 1 2 3 4; do echo "[$i/4] Building"; sleep 0.3; done')
        terminal, other_end = pty.openpty()
        self.addCleanup(os.close, terminal)
        done = self.run_script("demo", stderr=other_end)
        os.close(other_end)
        told = read_to_the_end(terminal).decode()
        self.assertEqual((0, "barmap demo\n"), (done.returncode, done.stdout))
        self.assertRegex(told, r"\r\x1b\[Kbuilding barmap: 25 %, about \d+ s left\r")
        self.assertIn("building barmap: 100 %, about 0 s left\r", told)
        self.assertTrue(told.endswith("\r\x1b[K"), repr(told))

    def test_a_failed_build_shows_its_end(self):
        self.stand_in("bin/cmake", 'for i in $(seq 200); do echo "line $i"; done; exit 1')
        done = self.run_script("demo")
        self.assertEqual((1, ""), (done.returncode, done.stdout))
        self.assertIn("line 200\n", done.stderr)
        self.assertNotIn("line 100\n", done.stderr)
        self.assertIn("build/demo.log", done.stderr)


class Phases(InACopy):
    """scripts/test, whose phases do nothing but fail where a test wants it: $FAIL is a regular expression of
    the command lines that do."""

    def setUp(self):
        super().setUp()
        fail = f'echo "$line" >> {self.folder}/ran.log; ! echo "$line" | grep -qE "${{FAIL:-^$}}"'
        self.stand_in("bin/dpkg-query", "printf installed")
        self.stand_in("bin/clang++", "exit 0")
        self.stand_in("bin/cmake", f'line="cmake $* CXX=$CXX"; {fail}')
        # Its summary says how many tests failed, on standard output and in the file of --output-log.
        self.stand_in("bin/ctest", f"""line="ctest $*"; {fail}; status=$?
            while [ "$1" != --output-log ]; do shift; done
            log=$2
            while [ "$1" != --output-junit ]; do shift; done
            printf '%s' "${{JUNIT:-<testsuite/>}}" > "$2"
            case $status in 0) told="100% tests passed, 0 tests failed out of 9" ;;
            *) told="88% tests passed, 1 tests failed out of 9" ;; esac
            echo "$told" | tee "$log"
            echo "The following tests did not run:"
            exit $((status * 8))""")
        self.stand_in("build/asan/bin/contract_tests",
                      f'line="contract_tests $BARMAP_SIM $TEST_JOBS"; echo "skipped: a.b: no dma-buf"; {fail}')
        for name in ("python", "cross"):
            self.stand_in(f"tests/{name}/run.sh", f'line="{name} $*"; {fail}')
        for directory in ("unit", "tools"):
            self.stand_in(f"build/dev/tests/{directory}/CTestTestfile.cmake", "")

    def run_test(self, *arguments, fail="^$"):
        (self.folder / "ran.log").unlink(missing_ok=True)
        os.environ["FAIL"] = fail
        self.addCleanup(os.environ.pop, "FAIL", None)
        done = self.run_script("test", *arguments)
        self.ran = (self.folder / "ran.log").read_text()
        return done

    def test_all_phases_pass(self):
        done = self.run_test()
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertEqual("100% tests passed, 0 tests failed out of 9", done.stdout.splitlines()[-1])
        self.assertNotIn("FAILED", done.stdout)
        for tests in ("contract_tests 1 [1-9]", "ctest .*asan", "ctest .*tsan", "python", "cross", "ctest .*dev"):
            self.assertRegex(self.ran, f"(?m)^{tests}")
        self.assertRegex(self.ran, "--target .*tests/tools/all")
        self.assertNotIn("tests/unit/all", self.ran)
        self.assertRegex(self.ran, "--preset asan .* CXX=clang\\+\\+\n")
        self.assertRegex(self.ran, "--preset tsan .* CXX=\n")

    def test_without_clang_the_sanitizers_are_the_systems(self):
        self.stand_in("bin/clang++", "exit 1")  # as where its sanitizers are not installed
        done = self.run_test("asan")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertRegex(self.ran, "--preset asan .* CXX=\n")
        self.assertIn("skipped: asan: the build by clang: it or its sanitizers are not installed\n", done.stdout)

    def test_a_phase_whose_tests_fail_does_not_stop_the_others(self):
        phases = (("asan", "contract_tests 1"), ("asan", "ctest .*asan"), ("tsan", "ctest .*tsan .*threads"),
                  ("python", "python"), ("cross", "cross"), ("programs", "ctest .*dev"))
        for phase, tests in phases:
            with self.subTest(tests):
                done = self.run_test(fail=tests)
                self.assertEqual(1, done.returncode)
                *before, last = done.stdout.splitlines()
                self.assertIn("tests passed", last)
                self.assertEqual([f"FAILED: {phase}. To repeat it: scripts/test {phase}"],
                                 [line for line in before if line.startswith("FAILED")])
                for _, others in phases:
                    self.assertRegex(self.ran, f"(?m)^{others}")

    def test_a_failed_build_skips_only_the_tests_of_its_phase(self):
        done = self.run_test(fail="cmake --build --preset (asan|dev)|cmake --preset tsan")
        self.assertEqual(1, done.returncode)
        self.assertNotRegex(self.ran, "ctest .*(asan|tsan|dev)|cmake --build --preset tsan")
        self.assertRegex(self.ran, "(?m)^python")
        self.assertEqual(["asan", "tsan", "programs"],
                         [line.split()[-1] for line in done.stdout.splitlines() if "FAILED" in line])
        self.assertNotIn("tests passed", done.stdout.splitlines()[-1])  # of another phase

    def test_one_phase_is_repeated_with_the_tests_that_are_named(self):
        done = self.run_test("asan", "-R", "a ring", fail="ctest")
        self.assertEqual(1, done.returncode)
        self.assertRegex(self.ran, "(?m)^ctest .*--preset asan .*-R a ring$")
        self.assertNotRegex(self.ran, "tsan|python|cross|preset dev|-LE")
        self.assertNotIn("contract_tests", self.ran)
        self.assertIn("scripts/test asan '-R' 'a ring'\n", done.stdout)
        self.assertEqual("88% tests passed, 1 tests failed out of 9", done.stdout.splitlines()[-1])

    def test_what_failed_is_repeated_though_ctest_does_not_know_it(self):
        done = self.run_test("asan", "--rerun-failed", fail="contract_tests 1")
        self.assertEqual(1, done.returncode)
        self.assertRegex(self.ran, "(?m)^ctest .*--preset asan .*--rerun-failed$")

    def test_what_was_skipped_is_told_with_its_reason(self):
        by_googletest = "/x/t.cpp:3: Skipped\nno Vulkan &lt;here&gt;:\n  install it\n[  SKIPPED ] f.d (0 ms)\n"
        os.environ["JUNIT"] = f"""<testsuite>
            <testcase name="a" status="run"><system-out>: Skipped</system-out></testcase>
            <testcase name="f.d"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
                <system-out>{by_googletest}</system-out></testcase>
            <testcase name="f.e"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
                <system-out>{by_googletest}</system-out></testcase>
            <testcase name="docs"><skipped message="SKIP_RETURN_CODE=77"/>
                <system-out>first\nskipped: no doxygen here\n</system-out></testcase>
            <testcase name="quiet"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
            <testcase name="py"><skipped type="pytest.skip" message="no torch"/></testcase></testsuite>"""
        self.addCleanup(os.environ.pop, "JUNIT", None)
        self.stand_in("tests/cross/run.sh", "echo skipped: all of it: there is no emulator; exit 77")
        done = self.run_test(fail="ctest .*asan")
        told = [line for line in done.stdout.splitlines() if line.startswith("skipped: ")]
        for phase in ("asan", "programs"):
            for line in ("f.d and 1 more: no Vulkan <here>: install it", "docs: no doxygen here",
                         "quiet: without a reason", "py: no torch"):
                self.assertIn(f"skipped: {phase}: {line}", told)
        self.assertIn("skipped: tsan: f.d and 3 more: no Vulkan <here>: install it", told)
        self.assertIn("skipped: asan: a.b: no dma-buf", told)
        self.assertEqual(1, told.count("skipped: cross: all of it: there is no emulator"))
        self.assertIn("tests passed", done.stdout.splitlines()[-1])
        self.run_test("tsan")  # alone: what was skipped earlier is not told again
        self.assertEqual(0, self.run_script("test", "python").stdout.count("skipped: "))

    def test_quick_and_gpu_say_how_to_repeat_them(self):
        for mode in ("--quick", "--gpu"):
            with self.subTest(mode):
                done = self.run_test(mode, fail="ctest")
                self.assertEqual(1, done.returncode)
                self.assertIn(f"To repeat it: scripts/test {mode}\n", done.stdout)
                self.assertIn("tests passed", done.stdout.splitlines()[-1])

    def test_without_a_cross_compiler_nothing_has_failed(self):
        self.stand_in("tests/cross/run.sh", "exit 77")
        self.assertEqual(0, self.run_script("test", "cross").returncode)

    def test_an_unknown_phase_is_refused(self):
        refused = self.run_script("test", "nonsense")
        self.assertEqual((2, ""), (refused.returncode, refused.stdout))
        self.assertIn("asan", refused.stderr)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
