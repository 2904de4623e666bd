# SPDX-License-Identifier: MIT
"""Threads and forks."""

import signal
import subprocess
import sys
import threading
import time

import barmap
import numpy as np
import pytest
from concurrency import expect_refused, in_child, run_threads


def test_threads_copy_through_one_mapping():
    array = barmap.alloc((8, 1 << 16), "u1")

    def work(row):
        def copy():
            start = row << 16
            there = bytearray(1 << 16)
            for turn in range(200):
                size = (8, 64, 4096, 1 << 16)[turn % 4]
                data = bytes([row * 16 + turn % 16]) * size
                array.write(data, start)
                assert array.read(start, size) == data
                array.read_into(there, start)
                assert there[:size] == data
        return copy

    run_threads(*(work(row) for row in range(8)))


def test_threads_map_and_close(memory, no_leak):
    def work():
        for _ in range(100):
            with barmap.map(memory.address, 4096) as mapping:
                assert mapping.read(0, 16) == bytes(range(16))

    run_threads(*[work] * 8)


def test_close_during_a_copy_is_refused_or_happens_before_or_after():
    size = 32 << 20
    data = bytes(size)
    for _ in range(5):
        array = barmap.alloc(size, "u1")
        state = []

        def copy():
            try:
                for _ in range(20):
                    array.write(data)
            except ValueError:
                state.append("closed")

        def close():
            while True:
                try:
                    array.close()
                    return
                except BufferError:
                    state.append("refused")
                    time.sleep(0)

        run_threads(copy, close)
        assert array.closed


def test_long_copies_let_other_threads_run():
    size = 64 << 20
    array = barmap.alloc(size, "u1")
    data = np.ones(size, "u1")
    refused = threading.Event()

    def watch():
        end = time.monotonic() + 30
        while not refused.is_set() and time.monotonic() < end:
            try:
                memoryview(array).release()
                array.close()
                return
            except BufferError:  # this thread runs while the other one is inside a copy
                refused.set()
            except ValueError:
                return

    def copy():
        while not refused.is_set():
            array.write(data)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        array.write(data)
        thread = threading.Thread(target=copy)
        thread.start()
        time.sleep(0.01)
        watch()
        refused.set()
        thread.join(60)
    finally:
        sys.setswitchinterval(interval)
    assert not array.closed


def test_fork(memory):
    mapping = barmap.map(memory.address, 4096)
    array = barmap.alloc(16, "u1")
    view = mapping.numpy()
    before = memory.get(0, 4096)

    def child():
        expect_refused(lambda: barmap.map(memory.address, 64), lambda: barmap.alloc(16, "u1"))
        array.close()  # its own side only
        with pytest.raises(BufferError):
            mapping.close()

    assert in_child(child) == 0
    assert in_child(lambda: view[0]) == -signal.SIGSEGV
    assert memory.get(0, 4096) == before
    array.write(b"parent")
    assert array.read(0, 6) == b"parent"
    del view
    mapping.close()


@pytest.mark.parametrize("ending", [
    "pass",
    "sys.exit(0)",
    "os._exit(0)",
    "threading.Thread(target=lambda: [array.write(data) for _ in range(10**9)], daemon=True).start()",
    # Whose elements are compared in Python.
    "import numpy; floats, few = barmap.alloc(8, 'f4'), numpy.zeros(32, 'u1')\n"
    "for _ in range(4):\n"
    "    threading.Thread(target=lambda: [floats.write(few) for _ in range(10**9)], daemon=True).start()",
    "pid = os.fork(); pid and sys.exit(os.waitpid(pid, 0)[1])",
    "pid = os.fork(); pid and sys.exit(os.waitpid(pid, 0)[1]); mapping.write(data); array.read(0, 8)",
    "del array, mapping",
    "import gc; gc.disable(); mapping.myself = mapping; del mapping",
])
def test_the_process_may_end_with_live_objects(ending):
    program = f"""
import os, sys, threading
import barmap
barmap.sim()
array = barmap.alloc(1 << 20, "u1")
mapping = barmap.map(array)
views = [mapping.numpy(), memoryview(array)]
data = bytes(1 << 20)
{ending}
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True,
                          text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_forked_child_learns_that_it_is_one():
    array = barmap.alloc(8, "u1")
    assert in_child(lambda: expect_refused(barmap.devices, lambda: barmap.alloc(8, "u1"))) == 0
    array.close()
