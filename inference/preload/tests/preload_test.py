# SPDX-License-Identifier: MIT
"""libbarmap-memcpy in programs that find CUDA's functions in every way that there is: what they copy is right, what
they ask for is answered as without it, and it says what it took. On the simulated GPU, by the engine driver, or
on a real one, by the channel.

Usage: preload_test.py LIBRARY PROGRAM VERSIONED OTHER LINKED SIMULATED_FOLDER|real_gpu [unittest's arguments]
"""

import os
import re
import subprocess
import sys
import threading
import unittest

LIBRARY = PROGRAM = VERSIONED = OTHER = LINKED = SIMULATED = ""  # set from the command line
READY = "go by the engine "
ACCOUNT = re.compile(r"barmap took (\d+) batches of (\d+) pieces and (\d+) bytes; CUDA copied (\d+)")


def start(*arguments, preload=None, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BARMAP_")}
    environment |= {"BARMAP_LOG": "info", "LD_PRELOAD": LIBRARY if preload is None else preload}
    if SIMULATED != "real_gpu":
        environment |= {"BARMAP_SIM": "1", "BARMAP_ENGINE": "driver", "LD_LIBRARY_PATH": SIMULATED}
    return subprocess.Popen([PROGRAM, *arguments], env=environment | variables, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Outcome:
    def __init__(self, process, err=""):
        self.out, rest = process.communicate("\n")
        self.err = err + rest
        self.code = process.returncode
        self.lines = [line for line in self.err.splitlines() if "barmap took" in line]
        found = ACCOUNT.search(self.lines[0]) if self.lines else None
        self.took, self.pieces, self.bytes, self.passed = map(int, found.groups()) if found else (0,) * 4


def run(*arguments, **how):
    """At once: whatever is copied is copied before the engine has started."""
    return Outcome(start(*arguments, **how))


def run_when(words, *arguments, **how):
    """Lets the program go on when this is in what it prints to stderr."""
    process = start(*arguments, **({"TEST_ARE_TAKEN": "1"} if words == READY else {}), **how)
    limit = threading.Timer(60, process.kill)  # the program waits for this one, which waits for words
    limit.start()
    err = ""
    for line in process.stderr:
        err += line
        if words in line:
            break
    limit.cancel()
    return Outcome(process, err)


class Preload(unittest.TestCase):
    def expect_right(self, outcome):
        self.assertEqual((0, "right\n"), (outcome.code, outcome.out), outcome.err)

    def expect_as_without(self, outcome, *arguments):
        """What CUDA answers, which a real driver and the simulated one may do differently."""
        without = run(*arguments, preload="")
        self.assertEqual((without.code, without.out), (outcome.code, outcome.out), outcome.err)
        self.assertIn("right\n", outcome.out)

    def expect_all_taken(self, outcome, batches):
        self.expect_right(outcome)
        self.expect_taken(outcome, batches)

    def expect_taken(self, outcome, batches):
        """All that follow the line. Of the four before it the first starts the engine, and the last three may find it
        ready, which it is before it says so."""
        self.assertIn(outcome.took - batches, range(4), outcome.err)
        self.assertEqual((outcome.took * 100, outcome.took * 6400), (outcome.pieces, outcome.bytes), outcome.err)
        self.assertEqual(1, len(outcome.lines), outcome.err)

    def test_every_way_to_the_functions(self):
        for way in ("dlsym", "everywhere", "address_1", "address_2", "address_of_address",
                    "address_of_address_per_thread"):
            with self.subTest(way):
                outcome = run_when(READY, way)
                self.expect_all_taken(outcome, 12)  # three rounds, there and back, by both versions
                self.assertIn(f"{16 - outcome.took} (the engine was being started)", outcome.lines[0])

    def test_a_versioned_search(self):
        self.expect_right(run("versioned", VERSIONED))
        self.expect_right(run("versioned", VERSIONED, preload=""))

    def test_another_library_of_the_same_names_that_is_opened_first(self):
        # Calls go to the driver all the same, also those of a program that is linked with it.
        for way in ("dlsym", "linked", "address_2"):
            with self.subTest(way):
                self.expect_all_taken(run_when(READY, way, "stub", VERSIONED), 12)

    def test_searches_from_where_the_driver_is_not_for_all(self):
        self.expect_right(run("from", LINKED))
        self.expect_right(run("from", LINKED, preload=""))

    def test_searches_are_answered_as_without_it(self):
        self.expect_right(run("dlsym", "search", VERSIONED))
        self.expect_right(run("dlsym", "search", VERSIONED, preload=""))

    def test_every_other_copy_is_the_drivers_own(self):
        with_it, without = run("others"), run("others", preload="")
        self.assertEqual((0, without.out.splitlines()), (with_it.code, with_it.out.splitlines()))
        for name in ("cuMemcpy3DBatchAsync", "cuMemcpyWithAttributesAsync", "cuFabricCpyBatchAsync"):
            if SIMULATED != "real_gpu": # whose driver may be older
                self.assertRegex(with_it.out, rf"(?m)^dlsym {name}: .*libcuda")
                self.assertRegex(with_it.out, rf"(?m)^address {name} 13050: .*libcuda")
        self.assertNotIn("libbarmap-memcpy", with_it.out)

    def test_a_program_without_cuda_has_none(self):
        outcome = run("nothing")
        self.expect_right(outcome)
        self.assertEqual("", outcome.err)

    def test_the_end_of_the_process_overtakes_the_start(self):
        for _ in range(5):
            outcome = run("dlsym")
            self.expect_right(outcome)
            self.assertNotIn("CUDA copies all batches from now on", outcome.err)

    def test_a_call_without_a_place_for_the_failed_copy(self):
        self.expect_all_taken(run_when(READY, "dlsym", "without_failed"), 13)

    def test_threads(self):
        self.expect_all_taken(run_when(READY, "dlsym", "threads"), 12 + 4 * 50 * 4)

    def test_a_child_that_is_forked(self):
        outcome = run_when(READY, "dlsym", "child")
        self.expect_as_without(outcome, "dlsym", "child")
        self.expect_taken(outcome, 12)

    def test_a_child_that_is_forked_before_the_first_batch(self):
        outcome = run_when(READY, "dlsym", "child_first")
        self.expect_as_without(outcome, "dlsym", "child_first")
        self.assertIn(int(ACCOUNT.search(outcome.lines[-1])[1]), range(12, 16))

    def test_functions_that_atexit_was_given(self):
        outcome = run_when(READY, "dlsym", "late")
        self.expect_right(outcome)
        # The simulated driver no longer knows the context of a thread that has destroyed what is its own.
        self.assertIn(outcome.took, range(12, 20))

    def test_threads_at_the_exit(self):
        outcome = run_when(READY, "dlsym", "last")
        self.expect_as_without(outcome, "dlsym", "last")
        self.expect_taken(outcome, 12)

    def test_a_driver_that_is_unloaded_and_loaded_again(self):
        self.expect_all_taken(run_when(READY, "dlsym", "reload"), 12)

    def test_before_another_library_that_does_the_same(self):
        for way in ("dlsym", "address_2"):
            with self.subTest(way):
                outcome = run_when(READY, way, preload=f"{LIBRARY}:{OTHER}")
                self.expect_all_taken(outcome, 12)
        # The other one answers with the driver's own function: what comes from there is the driver's.
        self.expect_right(run("address_of_address", preload=f"{LIBRARY}:{OTHER}"))

    def test_what_comes_behind_another_library(self):
        self.expect_right(run("dlsym", "next_of_other", preload=f"{LIBRARY}:{OTHER}"))
        self.expect_right(run("dlsym", "next_of_other", preload=OTHER))

    def test_behind_another_library_that_does_the_same(self):
        # That asks for the dlsym of libc by its version, and so passes this one by.
        for way in ("dlsym", "address_2", "address_of_address"):
            with self.subTest(way):
                self.expect_right(run(way, preload=f"{OTHER}:{LIBRARY}"))

    def test_turned_off(self):
        for way in ("dlsym", "everywhere", "address_1", "address_2", "address_of_address"):
            with self.subTest(way):
                outcome = run(way, BARMAP_ENGINE="none")
                self.expect_right(outcome)
                self.assertEqual("", outcome.err, "no call reaches the library")
        outcome = run("linked", BARMAP_ENGINE="none")
        self.expect_right(outcome)
        self.assertIn("barmap took 0 batches", outcome.err)
        self.assertIn("CUDA copied 16: 16 (the engine is off)", outcome.err)
        self.assertNotIn("CUDA copies all batches from now on", outcome.err)

    def test_it_is_silent_unless_it_is_asked(self):
        outcome = run("dlsym", BARMAP_LOG="")
        self.expect_right(outcome)
        self.assertEqual("", outcome.err)

    def test_what_is_exported(self):
        text = subprocess.run(["readelf", "-W", "--dyn-syms", LIBRARY], capture_output=True, text=True,
                              check=True).stdout
        names = {fields[7] for fields in map(str.split, text.splitlines())
                 if len(fields) >= 8 and fields[4] != "LOCAL" and fields[6] not in ("UND", "Ndx")}
        self.assertEqual({"dlsym", "dlvsym", "cuGetProcAddress", "cuGetProcAddress_v2", "cuMemcpyBatchAsync",
                          "cuMemcpyBatchAsync_ptsz", "cuMemcpyBatchAsync_v2", "cuMemcpyBatchAsync_v2_ptsz"}, names)
        dynamic = subprocess.run(["readelf", "-W", "--dynamic", LIBRARY], capture_output=True, text=True,
                                 check=True).stdout
        self.assertIn("NODELETE", dynamic)
        self.assertNotIn("libcuda", dynamic)


if __name__ == "__main__":
    LIBRARY, PROGRAM, VERSIONED, OTHER, LINKED, SIMULATED = (sys.argv.pop(1) for _ in range(6))
    if SIMULATED == "real_gpu" and not os.path.exists("/dev/nvidia0"):
        print("skipped: there is no GPU")
        sys.exit(77)
    unittest.main()
