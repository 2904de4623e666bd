# SPDX-License-Identifier: MIT
"""Which way a transfer takes, and that both ways are right, in order with work on streams."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from barmap import pygpu


@pytest.fixture
def maps(vendor):
    if vendor.name != "cuda":
        pytest.skip("barmap maps memory of NVIDIA's GPUs")


@pytest.fixture
def switched_back():
    before = pygpu.use_mapping(True)
    yield
    pygpu.use_mapping(before)


def mapped_array(*arguments, **options):
    """An array whose small transfers go through the mapping."""
    array = pygpu.GPUArray(*arguments, **options)
    array[...] = 0
    for _ in range(20):
        array[(0,) * array.ndim] = 0
    pygpu.cudaDeviceSynchronize()
    return array


def by_mapping(array, function):
    """How many transfers of a call go through the mapping."""
    before = array._memory.mapped_transfers
    function()
    return array._memory.mapped_transfers - before


def test_nothing_is_mapped_where_that_does_not_pay(nothing_left):
    a = pygpu.to_gpu(np.arange(4))
    a.get()
    assert not a.mapped  # two transfers


# Copies that are too small for any engine go through the mapping. Larger ones do not, whether BARMAP_ENGINE names an
# engine or turns all off.
BY_SIZE = """
import numpy as np
from barmap import pygpu
a = pygpu.GPUArray((1 << 20,), "uint16")
for _ in range(20):
    a[0] = 0
assert a.mapped
def by_mapping(function):
    before = a._memory.mapped_transfers
    function()
    return a._memory.mapped_transfers - before
for elements in (1, 511, 512, 16_383, 16_384, 1 << 20):
    part, given = a[:elements], np.arange(elements).astype("u2")
    assert by_mapping(lambda: part.set(given)) == (elements < 16_384), elements
    pygpu.cudaDeviceSynchronize()
    assert by_mapping(part.get) == (elements < 512), elements
    assert np.array_equal(part.get(), given)
"""


@pytest.mark.parametrize("engine", ["driver", "none"])
def test_small_transfers_go_through_the_mapping(engine, maps):
    done = subprocess.run([sys.executable, "-c", BY_SIZE], env={**os.environ, "BARMAP_ENGINE": engine},
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_nothing_is_mapped_on_amd(vendor):
    if vendor.name != "hip":
        pytest.skip("of AMD's runtime")
    a = mapped_array(64)
    assert not a.mapped and a._memory.mapped_transfers == 0


NOT_MAPPED = """
from barmap import pygpu
a = pygpu.GPUArray((64,), "uint64")
for _ in range(20):
    a[0] = 7
assert not a.mapped and a.get()[0] == 7
"""


def test_the_log_tells_once_why_an_array_is_not_mapped(maps):
    done = subprocess.run([sys.executable, "-c", NOT_MAPPED], capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, "BARMAP_BACKEND": "gdrdrv", "BARMAP_LOG": "info"})
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if "an array of 512 bytes is not mapped" in line]
    assert len(told) == 1 and "gdrdrv" in told[0], done.stderr


def test_the_mapping_can_be_switched_off(maps, switched_back):
    a = mapped_array(64, "uint64")
    assert pygpu.use_mapping(False) is True
    assert by_mapping(a, lambda: a[:1].set(np.zeros(1, "u8"))) == 0
    assert by_mapping(a, a[:1].get) == 0
    assert not mapped_array(64, "uint64").mapped
    assert pygpu.use_mapping(True) is False
    assert by_mapping(a, lambda: a[:1].set(np.zeros(1, "u8"))) == 1
    assert by_mapping(a, a[:1].get) == 1


@pytest.mark.parametrize("offset", [0, 1, 3])
def test_both_ways_give_the_same(offset, maps, switched_back):
    a = mapped_array((100_000,), "int16")
    rng = np.random.default_rng(offset)
    for n in (1, 2, 3, 5, 31, 32, 33, 127, 1000, 4097, 50_000):
        given = rng.integers(-30_000, 30_000, n).astype("i2")
        part = a[offset : offset + n]
        for write in (True, False):
            for read in (True, False):
                a[...] = -1
                pygpu.use_mapping(write)
                part.set(given)
                pygpu.use_mapping(read)
                assert np.array_equal(part.get(), given)
                assert a[offset + n].item() == -1 and (offset == 0 or a[offset - 1].item() == -1)


def test_ways_alternate(maps, switched_back):
    a = mapped_array((4096,), "int64")
    wanted = np.zeros(4096, "i8")
    rng = np.random.default_rng(5)
    for k in range(300):
        pygpu.use_mapping(k % 2 == 1)
        at = int(rng.integers(0, 4096))
        n = int(rng.integers(1, 4097 - at))
        wanted[at : at + n] = rng.integers(0, 1 << 60, n)
        a[at : at + n] = wanted[at : at + n]
        other = int(rng.integers(0, 4096))
        pygpu.use_mapping(k // 2 % 2 == 1)
        assert a[other].item() == wanted[other]
    assert np.array_equal(a.get(), wanted)


@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_a_write_comes_behind_work_of_a_blocking_stream(size, vendor):
    a = mapped_array((size,), "uint16")
    stream, gate = pygpu.cudaStream_t(), threading.Event()
    vendor.run_on_host(stream, gate.wait)
    vendor.memset(a.ptr, 7, a.nbytes, stream)
    writer = threading.Thread(target=lambda: a.set(np.full(size, 9, "u2")))
    writer.start()
    time.sleep(0.2)  # a write that did not wait would be done by now, and be overwritten
    gate.set()
    writer.join()
    pygpu.cudaDeviceSynchronize()
    assert (a.get() == 9).all()


@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_a_read_comes_behind_work_of_a_blocking_stream(size, vendor):
    a = mapped_array((size,), "uint16")
    stream, gate, read = pygpu.cudaStream_t(), threading.Event(), []
    vendor.run_on_host(stream, gate.wait)
    vendor.memset(a.ptr, 7, a.nbytes, stream)
    reader = threading.Thread(target=lambda: read.append(a.get()))
    reader.start()
    time.sleep(0.2)
    gate.set()
    reader.join()
    assert (read[0] == 0x0707).all()


def test_a_read_comes_behind_work_of_its_device_whatever_the_current_one(two_devices, vendor):
    a, gate, read = mapped_array((64,), "uint16"), threading.Event(), []
    vendor.run_on_host(0, gate.wait)  # on the default stream
    vendor.memset(a.ptr, 7, a.nbytes, 0)

    def get_from_the_other():
        pygpu.cudaSetDevice(1)  # whose default stream is idle
        read.append(a.get())

    reader = threading.Thread(target=get_from_the_other)
    reader.start()
    time.sleep(0.2)
    gate.set()
    reader.join()
    assert (read[0] == 0x0707).all()


def test_later_work_of_a_stream_comes_behind_a_write(vendor, nothing_left):
    a = mapped_array((64,), "uint16")
    stream = pygpu.cudaStream_t()
    for k in range(200):
        a.set(np.full(64, k, "u2"))
        vendor.memset(a.ptr, 255, 2, stream)
        assert a.get()[:2].tolist() == [0xFFFF, k]


def test_work_of_a_non_blocking_stream_holds_nothing_up(vendor, nothing_left):
    a, gate = mapped_array((64,), "uint16"), threading.Event()
    stream = pygpu.cudaStream_t(1)
    vendor.run_on_host(stream, gate.wait)
    try:
        a[:8] = 5
        assert a.get()[:9].tolist() == [5] * 8 + [0]
    finally:
        gate.set()
    assert stream.synchronize() == 0


def test_busy_streams_leave_no_error(vendor):
    a, gate = mapped_array((64,), "uint16"), threading.Event()
    stream = pygpu.cudaStream_t()
    vendor.run_on_host(stream, gate.wait)
    threading.Timer(0.1, gate.set).start()
    a[:8] = 5
    assert pygpu.cudaPeekAtLastError() == 0


def test_threads(vendor, nothing_left):
    a = mapped_array((8, 4096), "int64")
    failures = []

    def work(k):
        try:
            rng = np.random.default_rng(k)
            for _ in range(100):
                n = int(rng.choice([1, 10, 500, 4096]))
                given = rng.integers(0, 1 << 60, n)
                a[k, :n] = given
                if not np.array_equal(a[k, :n].get(), given):
                    failures.append(k)
        except Exception as failure:  # noqa: BLE001
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_many_threads_make_one_mapping(maps, nothing_left):
    for _ in range(10):
        a = pygpu.GPUArray((8,), "int64")
        threads = [threading.Thread(target=lambda k=k: [a.__setitem__(k, k) for _ in range(20)])
                   for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert a.mapped and a.get().tolist() == list(range(8))
        del a, threads, thread
