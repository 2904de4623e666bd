# SPDX-License-Identifier: MIT
"""Threads and forks."""

import faulthandler
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings

import barmap
import numpy as np
import pytest


def run_threads(*functions):
    failures = []

    def guarded(function):
        try:
            function()
        except BaseException as failure:  # noqa: BLE001: handed to the test's thread
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


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


def in_child(function):
    """Runs a function in a forked child. Returns the exit status, or minus the signal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of fork with threads
        child = os.fork()
    if child == 0:
        status = 1
        faulthandler.disable()  # a SIGSEGV may be what is expected
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            function()
            status = 0
        except BaseException as failure:  # noqa: BLE001
            os.write(2, f"in the child: {failure!r}\n".encode())
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_fork(memory):
    mapping = barmap.map(memory.address, 4096)
    array = barmap.alloc(16, "u1")
    view = mapping.numpy()
    before = memory.get(0, 4096)

    def child():
        for x in (mapping, array):
            for call in (lambda: x.write(b"child"), lambda: x.read(0, 1), lambda: x.post(1, 0),
                         lambda: x.read_into(bytearray(1)), lambda: x.fill(0), lambda: x.numpy(),
                         lambda: memoryview(x)):
                with pytest.raises(barmap.Error, match="parent") as caught:
                    call()
                assert caught.value.code == 11
        for call in (lambda: barmap.map(memory.address, 64), lambda: barmap.alloc(16, "u1")):
            with pytest.raises(barmap.Error):
                call()
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
    program = """
import os, sys, barmap
barmap.sim()
array = barmap.alloc(8, "u1")
child = os.fork()
if child == 0:
    for look in (barmap.devices, lambda: barmap.alloc(8, "u1")):
        try:
            look()
        except barmap.Error as refused:
            assert "spawn" in refused.advice, refused.advice
        else:
            os._exit(1)
    os._exit(0)
sys.exit(os.waitpid(child, 0)[1] != 0)
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)
