# SPDX-License-Identifier: MIT
"""Logs, with a thread in the place of the kernel: it runs the GPU's side of the same header."""

import ctypes
import functools
import multiprocessing
import os
import pathlib
import pickle
import tempfile
import threading

import barmap
import numpy as np
import pytest

from compiled import compile_library
from concurrency import in_child

pytestmark = pytest.mark.simulated  # on a real GPU, no thread can stand for a kernel


@functools.lru_cache(maxsize=None)
def library():
    source = pathlib.Path(__file__).with_name("logs_gpu_side.cpp")
    with tempfile.TemporaryDirectory() as directory:
        return compile_library(source, directory)


def write(log, *values):
    """What a kernel does."""
    found = log._held._handle_for_thread
    library().log_record((ctypes.c_ulonglong * len(found))(*found), *map(ctypes.c_uint, values))


def ids(records):
    return [int(each["id"]) for each in records]


def test_records_come_in_order():
    with barmap.LogRing(slots=8) as log:
        assert (log.slots, log.lost, len(log.read()), log.wait_for(0)) == (8, 0, 0, False)
        for number in range(5):
            write(log, 70 + number, number, 2**32 - 1, 7)
        assert log.wait_for(1)
        first = log.read(2)
        assert [int(each) for each in first["number"]] == [0, 1]
        assert first.dtype.itemsize == 32 and first["time"][0] <= first["time"][1]
        assert list(first[1].tolist())[2:] == [71, 1, 2**32 - 1, 7]
        assert ids(log) == [72, 73, 74]
        assert ids(log) == []
        assert log.lost == 0


def test_the_newest_are_kept_and_the_others_counted():
    with barmap.LogRing(slots=4) as log:
        for number in range(11):
            write(log, number, 0, 0, 0)
        assert ids(log.read(100)) == [7, 8, 9, 10]
        assert log.lost == 7


def test_a_large_log_is_read_by_parts(monkeypatch):
    sizes = []
    empty = np.empty
    monkeypatch.setattr(np, "empty", lambda size, *others: sizes.append(size) or empty(size, *others))
    with barmap.LogRing(slots=2**18) as log:
        for number in range(70_000):
            write(log, number, 0, 0, 0)
        descriptor = log.share()
        with barmap.LogRing.open_shared(descriptor) as other:
            assert ids(other) == list(range(70_000))
        assert ids(log.read(69_000)) == list(range(69_000))
        assert ids(log.read()) == list(range(69_000, 70_000))
        assert len(log.read()) == 0
        os.close(descriptor)
    assert max(sizes) <= 65536


def test_a_wait_ends_with_a_record():
    with barmap.LogRing(slots=4) as log:
        writer = threading.Timer(0.05, write, (log, 3, 0, 0, 0))
        writer.start()
        assert log.wait_for(60) and ids(log) == [3]
        writer.join()


def test_what_kernels_take():
    with barmap.LogRing(slots=16) as log:
        assert log.handle.tobytes() == np.array(log.handle_words, "u8").tobytes()
        assert log.handle.dtype.names == ("records", "next", "mask", "shift")
        assert log.handle_words[2:] == (15, 4) and 0 not in log.handle_words[:2]
        assert repr(log) == "<barmap.LogRing, 16 slots>"
    assert repr(log) == "<barmap.LogRing, released>"


def test_a_descriptor_opens_the_same():
    with barmap.LogRing(slots=4) as log:
        write(log, 1, 0, 0, 0)
        descriptor = log.share()
        assert not os.get_inheritable(descriptor)
        with barmap.LogRing.open_shared(descriptor) as other:
            assert (other.slots, ids(other), other.handle_words[:2]) == (4, [1], (0, 0))
        assert ids(log) == [1]
        path = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY)
        assert ids(barmap.LogRing.open_shared(path)) == [1]
        os.close(path)
        os.close(descriptor)


def read_in_child(log, queue):
    log.wait_for(60)
    queue.put((ids(log), log.slots))


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_it_goes_through_multiprocessing(method):
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    with barmap.LogRing(slots=8) as log:
        child = context.Process(target=read_in_child, args=(log, queue))
        child.start()
        write(log, 5, 0, 0, 0)
        assert queue.get(timeout=60) == ([5], 8)
        child.join(60)
        assert child.exitcode == 0
        with pytest.raises(TypeError):
            pickle.dumps(log)


def test_refusals():
    for slots in (0, 3, 2**33):
        with pytest.raises(barmap.Error, match="power of two"):
            barmap.LogRing(slots=slots)
    with pytest.raises(OverflowError):
        barmap.LogRing(slots=-1)
    with pytest.raises(barmap.Error, match=r"share\(\) of a log"):
        barmap.LogRing.open_shared(-1)
    with pytest.raises(TypeError):
        barmap.LogRing.open_shared("3")
    log = barmap.LogRing(slots=4)
    with pytest.raises(OverflowError):
        log.read(-1)
    with pytest.raises(ValueError):
        log.wait_for(-1)
    log.release()
    for use in (log.read, log.share, log.wait_for, lambda: log.lost, lambda: log.slots, lambda: log.handle):
        with pytest.raises(ValueError, match="this log is released"):
            use()


def test_a_forked_child_may_open_its_own():
    with barmap.LogRing(slots=4) as log:
        write(log, 9, 0, 0, 0)
        descriptor = log.share()

        def child():
            assert ids(barmap.LogRing.open_shared(descriptor)) == [9]

        assert in_child(child) == 0
        os.close(descriptor)
