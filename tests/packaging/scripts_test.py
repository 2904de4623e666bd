#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What scripts/demo and scripts/test say, and that they install nothing where that is not wanted; and that
scripts/test runs all phases, whichever of them fails.

The package manager, CMake, CTest and the tests of the other languages are stand-ins. Usage: scripts_test.py REPOSITORY [unittest's arguments]
"""

import errno
import os
import pty
import re
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


JUNIT = '<testsuite><testcase name="good" status="run"/></testsuite>'
BAD_JUNIT = '<testsuite><testcase name="bad" status="fail"><failure message=""/>' \
            '<system-out>what it said</system-out></testcase></testsuite>'


class Phases(InACopy):
    """scripts/test, whose phases do nothing but fail where a test wants it: $FAIL is a regular expression of
    the command lines that do. Each run of ctest and of pytest has one test."""

    def setUp(self):
        super().setUp()
        fail = f'echo "$line" >> {self.folder}/ran.log; ! echo "$line" | grep -qE "${{FAIL:-^$}}"'
        of_junit = f"""if [ $status = 0 ]; then printf %s "${{JUNIT-$good}}"; else printf %s "${{BAD_JUNIT-$bad}}"; fi"""
        texts = f"good='{JUNIT}' bad='{BAD_JUNIT}'"
        self.stand_in("bin/dpkg-query", "printf installed")
        self.stand_in("bin/clang++", "exit 0")
        self.stand_in("bin/cmake", f'line="cmake $* CXX=$CXX"; {fail}')
        self.stand_in("bin/ctest", f"""line="ctest $*"; {fail}; status=$?; {texts}
            while [ "$1" != --output-junit ]; do shift; done
            {of_junit} > "$2"
            exit $((status * 8))""")
        self.stand_in("build/asan/bin/contract_tests", f"""line="contract_tests $BARMAP_SIM $TEST_JOBS"; {fail}; status=$?
            echo "$((3 - status)) passed, $status failed, 0 left out, 1 skipped"
            [ $status = 0 ] || echo "FAILED (status 0x100): a.c"
            echo "skipped: a.b: no dma-buf"
            exit $status""")
        self.stand_in("python/tests/run.sh", f"""line="python $*"; {fail}; status=$?; {texts}
            {of_junit} > "$JUNIT_DIRECTORY/python.first.xml"
            exit $status""")
        self.stand_in("tests/cross/run.sh", f"""line="cross $*"; {fail}; status=$?
            echo "arm64, pages of 4 KiB, unit tests: $((5 - status)) passed, $status failed, 2 left out, 0 skipped"
            exit $status""")

    def run_test(self, *arguments, fail="^$", script="test"):
        (self.folder / "ran.log").unlink(missing_ok=True)
        os.environ["FAIL"] = fail
        self.addCleanup(os.environ.pop, "FAIL", None)
        done = self.run_script(script, *arguments)
        log = self.folder / "ran.log"
        self.ran = log.read_text() if log.exists() else ""
        return done

    def commands(self):
        """What ran, but for the numbers of the files."""
        return [re.sub(r"\.\d+\.xml", ".xml", line) for line in self.ran.splitlines()]

    def expect_last(self, done, passed, failed, skipped):
        self.assertEqual(f"{passed} passed, {failed} failed, {skipped} skipped", done.stdout.splitlines()[-1])
        self.assertEqual(min(failed, 1), done.returncode, done.stdout + done.stderr)

    def test_without_arguments_each_test_runs_once_in_a_build_as_users_make_it(self):
        done = self.run_test()
        self.expect_last(done, 2, 0, 0)
        self.assertNotIn("FAILED", done.stdout)
        self.assertRegex(self.ran, "(?m)^cmake --preset test .*-DCMAKE_UNITY_BUILD=OFF")
        self.assertRegex(self.ran, "(?m)^ctest .*--preset test -LE \\^extra\\$$")
        self.assertRegex(self.ran, "(?m)^python")
        self.assertNotRegex(self.ran, "asan|tsan|cross|contract_tests")

    def test_all_phases_pass(self):
        done = self.run_test("--all")
        # ctest: main, extra, asan, and tsan twice; pytest; the program of contract tests; one program in the emulator.
        self.expect_last(done, 5 + 1 + 3 + 5, 0, 1)
        self.assertNotIn("FAILED", done.stdout)
        for tests in ("contract_tests 1 [1-9]", "ctest .*asan", "ctest .*tsan", "python", "cross", "ctest .*-L .extra"):
            self.assertRegex(self.ran, f"(?m)^{tests}")
        self.assertRegex(self.ran, "--preset asan .* CXX=clang\\+\\+\n")
        self.assertRegex(self.ran, "--preset tsan .* CXX=\n")

    def test_the_rest_is_what_all_adds(self):
        self.run_test("--all")
        everything = self.commands()
        self.run_test()
        users = self.commands()
        done = self.run_test("--rest")
        self.expect_last(done, 12, 0, 1)
        # The rest by itself also makes the documents that it looks at.
        everything = [line.replace(" --fixture-exclude-setup ^site$", "") for line in everything]
        self.assertEqual(sorted(everything), sorted(users + self.commands()))

    def test_without_clang_the_sanitizers_are_the_systems(self):
        self.stand_in("bin/clang++", "exit 1")  # as where its sanitizers are not installed
        done = self.run_test("asan")
        self.expect_last(done, 4, 0, 1)
        self.assertRegex(self.ran, "--preset asan .* CXX=\n")
        self.assertIn("skipped: asan: the build by clang: it or its sanitizers are not installed\n", done.stdout)

    def test_a_phase_whose_tests_fail_does_not_stop_the_others(self):
        phases = (("main", "ctest .*test -LE"), ("asan", "contract_tests 1"), ("asan", "ctest .*asan"),
                  ("tsan", "ctest .*tsan .*threads"), ("python", "python"), ("cross", "cross"),
                  ("extra", "ctest .*-L .extra"))
        for phase, tests in phases:
            with self.subTest(tests):
                done = self.run_test("--all", fail=tests)
                self.expect_last(done, 13, 1, 1)
                self.assertEqual([f"FAILED: {phase}. To repeat it: scripts/test {phase}"],
                                 [line for line in done.stdout.splitlines() if line.startswith("FAILED: ")])
                for _, others in phases:
                    self.assertRegex(self.ran, f"(?m)^{others}")

    def test_a_failed_build_skips_only_the_tests_of_its_phase(self):
        done = self.run_test("--all", fail="cmake --build --preset asan|cmake --preset tsan")
        self.assertNotRegex(self.ran, "ctest .*(asan|tsan)|cmake --build --preset tsan")
        self.assertRegex(self.ran, "(?m)^python")
        self.assertEqual(["asan", "tsan"],
                         [line.split()[-1] for line in done.stdout.splitlines() if "FAILED" in line])
        for phase in ("asan", "tsan"):
            self.assertIn(f"{phase} failed outside of its tests, which counts as one that failed\n", done.stdout)
        self.expect_last(done, 8, 2, 0)

    def test_a_suite_that_ends_before_it_has_counted_has_failed(self):
        for phase, stand_in in (("asan", "build/asan/bin/contract_tests"), ("cross", "tests/cross/run.sh"),
                                ("python", "python/tests/run.sh"), ("main", "bin/ctest")):
            with self.subTest(phase):
                text = (self.folder / stand_in).read_text()
                self.stand_in(stand_in, "exit 0")
                done = self.run_test(phase)
                self.assertEqual(1, done.returncode)
                self.assertRegex(done.stdout.splitlines()[-1], "^[01] passed, 1 failed, 0 skipped$")
                self.assertRegex(done.stdout, f"{phase} (ran no test|failed outside of its tests), which counts as one")
                (self.folder / stand_in).write_text(text)

    def test_no_test_is_a_failure(self):
        os.environ["JUNIT"] = "<testsuite/>"
        self.addCleanup(os.environ.pop, "JUNIT", None)
        done = self.run_test("python", "-k", "nothing")
        self.assertIn("python ran no test, which counts as one that failed\n", done.stdout)
        self.expect_last(done, 0, 1, 0)

    def test_what_ctest_cannot_start_has_failed(self):
        os.environ["BAD_JUNIT"] = """<testsuite><testcase name="lost" status="notrun">
            <skipped message="Unable to find executable"/></testcase></testsuite>"""
        self.addCleanup(os.environ.pop, "BAD_JUNIT", None)
        done = self.run_test("main", fail="ctest")
        self.expect_last(done, 0, 1, 0)
        self.assertNotIn("outside of its tests", done.stdout)

    def test_one_phase_is_repeated_with_the_tests_that_are_named(self):
        done = self.run_test("asan", "-R", "a ring", fail="ctest")
        self.assertRegex(self.ran, "(?m)^ctest .*--preset asan .*-R a ring$")
        self.assertNotRegex(self.ran, "tsan|python|cross|preset test|-LE")
        self.assertNotIn("contract_tests", self.ran)
        self.assertIn("scripts/test asan '-R' 'a ring'\n", done.stdout)
        self.expect_last(done, 0, 1, 0)

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
        done = self.run_test("--all")
        told = [line for line in done.stdout.splitlines() if line.startswith("skipped: ")]
        for phase in ("main", "asan", "extra"):
            for line in ("f.d and 1 more: no Vulkan <here>: install it", "docs: no doxygen here",
                         "quiet: without a reason", "py: no torch"):
                self.assertIn(f"skipped: {phase}: {line}", told)
        self.assertIn("skipped: tsan: f.d and 3 more: no Vulkan <here>: install it", told)
        self.assertIn("skipped: asan: a.b: no dma-buf", told)
        self.assertEqual(1, told.count("skipped: cross: all of it: there is no emulator"))
        self.expect_last(done, 6 + 3, 0, 6 * 5 + 1 + 1)
        self.run_test("tsan")  # alone: what was skipped earlier is not told again
        self.assertEqual(0, self.run_script("test", "cross").stdout.count("skipped: tsan"))

    def test_the_run_on_a_gpu_says_how_to_repeat_it(self):
        done = self.run_test("--gpu", fail="ctest")
        self.assertIn("To repeat it: scripts/test --gpu\n", done.stdout)
        self.expect_last(done, 0, 1, 0)

    def test_without_a_cross_compiler_nothing_has_failed(self):
        self.stand_in("tests/cross/run.sh", "exit 77")
        self.expect_last(self.run_test("cross"), 0, 0, 1)

    def test_an_unknown_phase_is_refused(self):
        refused = self.run_script("test", "nonsense")
        self.assertEqual((2, ""), (refused.returncode, refused.stdout))
        self.assertIn("asan", refused.stderr)

    def test_what_failed_is_named_at_the_end(self):
        done = self.run_test("--all", fail="^ctest .*tsan .*threads|^python|^contract_tests")
        end = done.stdout[done.stdout.rindex("skipped: "):].splitlines()
        for name in ("failed: tsan: bad", "failed: python: bad", "failed: asan: a.c"):
            self.assertEqual(1, end.count(name), end)
        self.assertEqual(2, end.count("    what it said"))
        done = self.run_test("tsan")  # alone: what failed earlier is not told again
        self.assertNotIn("failed: ", done.stdout)

    def test_continuous_integration_sums_what_users_run_and_the_rest(self):
        shutil.copytree(ROOT / ".ci", self.folder / ".ci")
        ran = "7 passed, 0 failed, 2 skipped"
        steps = ("$ typed    (after 3 s)", "==== build (after 0 s)", "==== tests (after 31 s)", "$ quick    (after 40 s)",
                 "$ last    (after 69 s)")
        self.stand_in("tests/packaging/readme.sh", "; ".join(f"echo '{step}'" for step in (*steps, ran)))
        done = self.run_test(script="../.ci/run")
        self.expect_last(done, 12 + 7, 0, 1 + 2)
        self.assertEqual(0, self.ran.count("-LE ^extra$"))
        # In seconds, each clock by itself; what took less than 30 is not told.
        self.assertRegex(done.stdout, r"readme.sh took \d+ s, of it\n   31 s  build\n   37 s  typed\nscripts/test --rest took \d")

        self.stand_in("tests/packaging/readme.sh", "echo 'it is broken'; exit 1")  # a command of the page fails
        done = self.run_test(script="../.ci/run")
        self.expect_last(done, 12, 1, 1)
        self.assertIn("FAILED: tests/packaging/readme.sh. It ended with:\nit is broken\n", done.stdout)

        self.stand_in("tests/packaging/readme.sh",  # a test fails in there
                      "echo 'failed: main: a.b'; echo '6 passed, 1 failed, 0 skipped'; exit 1")
        done = self.run_test(script="../.ci/run")
        self.expect_last(done, 12 + 6, 1, 1)
        self.assertGreater(done.stdout.rindex("failed: main: a.b"), done.stdout.index("skipped: "))

        self.stand_in("tests/packaging/readme.sh", f"echo {ran}; exit 1")  # a command behind the tests fails
        self.expect_last(self.run_test(script="../.ci/run"), 12 + 7, 1, 1 + 2)

        self.stand_in("tests/packaging/readme.sh", "exit 77")  # no clean Debian can be made
        done = self.run_test(script="../.ci/run")
        self.expect_last(done, 14, 0, 1)
        self.assertEqual(1, self.ran.count("-LE ^extra$"))
        done = self.run_test(script="../.ci/run", fail="^python|^contract_tests")
        self.expect_last(done, 12, 2, 1)
        self.stand_in("scripts/test", "echo nothing")  # a part without its last line
        self.expect_last(self.run_test(script="../.ci/run"), 0, 1, 0)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
