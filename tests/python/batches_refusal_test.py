# SPDX-License-Identifier: MIT
"""Batches that are refused, each before the first byte is copied, and batches that fail."""

import array
import os
import subprocess
import sys
import types

import barmap
import numpy as np
import pytest
from dlpack_object import DlpackObject
from gpu_memory import Interface, bytes_like


@pytest.fixture
def gpu():
    made = barmap.alloc((8, 4), "<i4")
    made.write(np.arange(32, dtype="<i4"))
    return made


@pytest.fixture
def host():
    made = barmap.pinned((6, 4), "<i4")
    made[:] = -1
    return made


@pytest.fixture
def refused(gpu, host):
    """Calls gather and scatter, and sees that neither side has changed."""
    def call(expected, said, function):
        before = gpu.read(), host.tobytes()
        with pytest.raises(expected, match=said):
            function()
        assert (gpu.read(), host.tobytes()) == before
    return call


@pytest.mark.parametrize("indices, said", [
    ([0, 8], r"indices\[1\] is 8, and gpu has 8 rows"), ([1 << 62], "gpu has 8 rows"),
    (np.array([1 << 63], "u8"), "gpu has 8 rows"),
    (np.array([(1 << 64) - 1], "u8"), "gpu has 8 rows"),
])
def test_a_wrong_source(refused, gpu, host, indices, said):
    refused(IndexError, said, lambda: barmap.gather(gpu, indices, host))


def test_a_wrong_place(refused, gpu, host):
    refused(IndexError, r"host_indices\[0\] is 6, and host has 6 rows",
            lambda: barmap.gather(gpu, [0, 1], host, [6, 0]))
    refused(IndexError, r"gpu_indices\[1\] is 8, and gpu has 8 rows",
            lambda: barmap.scatter(host, [0, 1], gpu, [1, 8]))


def in_gpu_memory(numbers):
    made = barmap.alloc(len(numbers), "i8")
    made.write(np.array(numbers, "i8"))
    return made


@pytest.mark.parametrize("form", [
    list, tuple, lambda numbers: array.array("q", numbers), np.array,
    lambda numbers: np.array(numbers, "i1"), lambda numbers: np.array(numbers, ">i4"), in_gpu_memory,
], ids=["list", "tuple", "array", "int64", "int8", "big_endian", "gpu"])
@pytest.mark.parametrize("numbers", [[2, -1, 3], [-1, 2, 3], [2, 3, -6], [-8, 0, 1], [3, 2, -(1 << 7)]], ids=str)
def test_no_row_is_negative(refused, gpu, host, numbers, form):
    at = next(i for i, number in enumerate(numbers) if number < 0)
    says = rf"indices\[{at}\] is {numbers[at]}, and rows count from 0: leave out what names no row"
    refused(ValueError, f"^{says}", lambda: barmap.gather(gpu, form(numbers), host))
    refused(ValueError, f"^{says}", lambda: barmap.scatter(host, form(numbers), gpu))
    refused(ValueError, f"^host_{says}", lambda: barmap.gather(gpu, [0, 1, 2], host, form(numbers)))
    refused(ValueError, f"^gpu_{says}", lambda: barmap.scatter(host, [0, 1, 2], gpu, form(numbers)))
    refused(ValueError, f"^{says}", lambda: barmap.gather(gpu, form(numbers), host, stream=0))
    refused(ValueError, f"^{says}", lambda: barmap.scatter(host, form(numbers), gpu, stream=0))


def test_more_rows_than_there_are_places(refused, gpu, host):
    refused(IndexError, "row 6, and host has 6 rows",
            lambda: barmap.gather(gpu, [0] * 7, host))
    refused(IndexError, "row 8, and gpu", lambda: barmap.scatter(host, [0] * 9, gpu))
    refused(IndexError, "host has 6", lambda: barmap.scatter(host, [6], gpu))


@pytest.mark.parametrize("places", [[1, 1], [0, 2, 3, 2], [5, 4, 4], [3, 1, 2, 3]])
def test_a_place_that_is_written_twice(refused, gpu, host, places):
    indices = range(len(places))
    refused(ValueError, "host_indices.* again",
            lambda: barmap.gather(gpu, indices, host, places))
    refused(ValueError, "gpu_indices.* again",
            lambda: barmap.scatter(host, [0, 1, 2], gpu, [7, 0, 7]))


@pytest.mark.parametrize("indices, error", [
    ([0.0], TypeError), ([True], TypeError), (["1"], TypeError), ([None], TypeError), (0, ValueError),
    ([[0]], ValueError), (np.zeros((0, 2), int), ValueError), (None, ValueError),
    (np.zeros(1, "M8[s]"), TypeError),
])
def test_what_is_no_row_number(refused, gpu, host, indices, error):
    refused(error, "indices", lambda: barmap.gather(gpu, indices, host))
    if indices is not None:
        refused(error, "gpu_indices", lambda: barmap.scatter(host, [0], gpu, indices))


def test_other_lengths(refused, gpu, host):
    refused(ValueError, "2 indices, and 3 host_indices",
            lambda: barmap.gather(gpu, [0, 1], host, [0, 1, 2]))


@pytest.mark.parametrize("dtype", ["<u4", "<f4", ">i4", "<i2", "V4", [("a", "<i4")]], ids=str)
def test_another_dtype(refused, gpu, dtype):
    other = barmap.pinned((6, 4), dtype)
    refused(TypeError, "elements of", lambda: barmap.gather(gpu, [0], other))
    refused(TypeError, "elements of", lambda: barmap.scatter(other, [0], gpu))


def test_other_fields_of_the_same_size():
    gpu = barmap.alloc(2, [("a", "<i4"), ("b", "<i4")])
    for fields in ([("a", "<i4"), ("c", "<i4")], [("a", "<i4"), ("b", "<u4")], "V8"):
        with pytest.raises(TypeError, match="elements of"):
            barmap.gather(gpu, [0], barmap.pinned(2, fields))


@pytest.mark.parametrize("shape", [(6,), (6, 5), (6, 2, 2), (6, 4, 1)])
def test_another_shape_of_rows(refused, gpu, shape):
    other = barmap.pinned(shape, "<i4")
    refused(ValueError, "rows of shape", lambda: barmap.gather(gpu, [0], other))


def test_rows_that_are_not_contiguous(refused, memory, gpu, host):
    for other in (host.T, barmap.pinned((6, 8), "<i4")[:, ::2], host[:, ::-1]):
        theirs = barmap.alloc((8, other.shape[1]), "<i4")
        refused(ValueError, "rows of host are not contiguous",
                lambda: barmap.gather(theirs, [0], other))
    base = bytes_like(memory)
    strided = base[:256].view("<i4").reshape(8, 8)[:, ::2]
    refused(ValueError, "rows of gpu are not contiguous",
            lambda: barmap.gather(Interface(memory, strided, base), [0], host))


def test_rows_that_overlap(refused, memory, gpu, host):
    base = bytes_like(memory)
    same = Interface(memory, np.lib.stride_tricks.as_strided(base.view("<i4"), (8, 4), (4, 4)), base)
    refused(ValueError, "rows of gpu overlap", lambda: barmap.scatter(host, [0], same))
    barmap.gather(same, [1], host)  # may be read
    assert host[0].tobytes() == base[4:20].tobytes()
    overlapping = np.lib.stride_tricks.as_strided(host, (6, 4), (0, 4))
    refused(ValueError, "rows of host overlap", lambda: barmap.gather(gpu, [0], overlapping))


def test_an_array_without_an_axis(refused, gpu, host):
    refused(ValueError, "no first axis", lambda: barmap.gather(barmap.alloc((), "<i4"), [0], host))
    refused(ValueError, "no first axis", lambda: barmap.gather(gpu, [0], barmap.pinned((), "<i4")))


def test_arrays_on_the_wrong_side(refused, memory, gpu, host):
    def gpu_is(what):
        return rf"^gpu is {what}: give an array on a GPU; are gpu and host exchanged\?$"

    def host_is(what):
        return rf"^host is {what}: give an array in pinned host memory; are gpu and host exchanged\?$"

    of_numpy = gpu_is(r"a numpy\.ndarray in host memory")
    refused(TypeError, of_numpy, lambda: barmap.gather(host, [0], gpu))
    refused(TypeError, of_numpy, lambda: barmap.scatter(gpu, [0], host))
    refused(TypeError, of_numpy, lambda: barmap.gather(host, [0], host))
    refused(TypeError, gpu_is("a bytearray"), lambda: barmap.gather(bytearray(8), [0], gpu))
    refused(TypeError, gpu_is("an int"), lambda: barmap.gather(gpu.gpu_address, [0], host))
    pinned = DlpackObject(host.ctypes.data, (6, 4), (0, 32, 1), device=3)
    of_another = r"a dlpack_object\.DlpackObject"
    refused(TypeError, gpu_is(f"{of_another} in pinned host memory"),
            lambda: barmap.gather(pinned, [0], gpu))
    refused(TypeError, host_is(r"a barmap\.Array on a GPU"), lambda: barmap.gather(gpu, [0], gpu))
    base = bytes_like(memory)
    theirs = Interface(memory, base[:96].view("<i4").reshape(6, 4), base)
    refused(TypeError, host_is(r"a gpu_memory\.Interface on a GPU"),
            lambda: barmap.scatter(theirs, [0], gpu))
    with barmap.map(gpu) as mapping:
        refused(TypeError, host_is(r"a barmap\.Mapping on a GPU"),
                lambda: barmap.gather(gpu, [0], mapping))
    on_gpu = DlpackObject(memory.address, (8, 4), (0, 32, 1))
    refused(TypeError, host_is(f"{of_another} on a GPU"), lambda: barmap.gather(gpu, [0], on_gpu))
    elsewhere = DlpackObject(memory.address, (8, 4), (0, 32, 1), device=10)
    refused(TypeError, host_is(f"{of_another} on a device of DLPack's type 10"),
            lambda: barmap.gather(gpu, [0], elsewhere))
    refused(TypeError, host_is("a list"), lambda: barmap.gather(gpu, [0], [[0] * 4]))
    refused(TypeError, "Python objects",
            lambda: barmap.gather(gpu, [0], np.empty((6, 4), object)))


@pytest.mark.parametrize("make", [
    lambda: np.zeros((6, 4), "<i4"), lambda: memoryview(np.zeros((6, 4), "<i4")),
    lambda: barmap.alloc((6, 4), "<i4").numpy(),  # which is the GPU's memory, mapped
])
def test_host_memory_that_is_not_pinned(refused, gpu, make):
    other = make()
    said = r"host is not in pinned memory: .*barmap\.pinned.*pin_memory=True.*cupyx\.empty_pinned"
    refused(ValueError, said, lambda: barmap.gather(gpu, [0], other))
    refused(ValueError, said, lambda: barmap.scatter(other, [0], gpu))


def test_host_memory_that_is_pinned_in_part(refused, gpu, host):
    whole = barmap.pinned((1024, 4), "<i4")  # four pages of 4 KiB
    reach = np.lib.stride_tricks.as_strided(whole, (1024, 4), (1 << 30, 4))
    refused(ValueError, "not in pinned memory", lambda: barmap.gather(gpu, [0], reach))
    back = np.lib.stride_tricks.as_strided(whole, (1024, 4), (-(1 << 30), 4))
    refused(ValueError, "not in pinned memory", lambda: barmap.gather(gpu, [0], back))
    barmap.gather(gpu, [1], whole[::-1])  # all of which is
    assert whole[-1].tolist() == [4, 5, 6, 7]


def test_what_is_read_only(refused, memory, gpu, host):
    base = bytes_like(memory)
    theirs = Interface(memory, base[:128].view("<i4").reshape(8, 4), base, read_only=True)
    refused(TypeError, "gpu is read-only", lambda: barmap.scatter(host, [0], theirs))
    barmap.gather(theirs, [0], host)  # may be read
    host.flags.writeable = False
    refused(TypeError, "host is read-only", lambda: barmap.gather(gpu, [0], host))
    barmap.scatter(host, [0], gpu)
    flags = DlpackObject(host.ctypes.data, (6, 4), (0, 32, 1), device=3, flags=1)
    refused(TypeError, "host is read-only", lambda: barmap.gather(gpu, [0], flags))


def test_what_is_closed(refused, host):
    closed = barmap.alloc((8, 4), "<i4")
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        barmap.gather(closed, [0], host)


def test_memory_that_is_not_there(refused, gpu, host):
    nowhere = DlpackObject(0x1000, (8, 4), (0, 32, 1))
    refused(barmap.Error, "cannot", lambda: barmap.gather(nowhere, [0], host))


@pytest.mark.parametrize("stream", ["x", 1.5, object(), [1]])
def test_what_is_no_stream(refused, gpu, host, stream):
    refused(TypeError, "is no stream", lambda: barmap.gather(gpu, [0], host, stream=stream))
    refused(TypeError, "is no stream", lambda: barmap.scatter(host, [0], gpu, stream=stream))
    with pytest.raises(TypeError, match="is no stream"):
        barmap.copy_engine().submit([1], [1], [1], after=stream)


def test_rows_of_nothing_are_looked_for_too(host):
    gpu, none = barmap.alloc((8, 4), "<i4"), np.zeros((6, 0), "<i4")
    with pytest.raises(IndexError):
        barmap.gather(DlpackObject(0, (8, 0), (0, 32, 1)), [8], none)
    with pytest.raises(IndexError):
        barmap.gather(DlpackObject(0, (8, 0), (0, 32, 1)), [1], none, [6])
    with pytest.raises(IndexError):
        barmap.gather(DlpackObject(0, (8, 0), (0, 32, 1)), [1] * 7, none)
    with pytest.raises(ValueError, match="rows count from 0"):
        barmap.gather(DlpackObject(0, (8, 0), (0, 32, 1)), [-1], none)
    barmap.gather(DlpackObject(0, (8, 0), (0, 32, 1)), [7, 7], none)
    barmap.gather(gpu, [], np.zeros((6, 4), "<i4"))  # not even pinned
    empty = barmap.alloc((8, 4), "<i4").__cuda_array_interface__
    nowhere = types.SimpleNamespace(
        __cuda_array_interface__={**empty, "shape": (8, 0), "data": (None, False)})
    barmap.gather(nowhere, [7], none)


@pytest.mark.parametrize("change, error", [
    ({"to": [1, 2]}, ValueError), ({"from_": []}, ValueError), ({"from_": None}, ValueError),
    ({"sizes": [1.0]}, TypeError), ({"sizes": 4}, ValueError), ({"to": [True]}, TypeError),
    ({"at_most": -1}, ValueError), ({"at_most": float("nan")}, ValueError), ({"at_most": "1"}, TypeError),
    ({"to": [0]}, ValueError), ({"from_": [-1]}, ValueError),
    ({"sizes": [-1]}, ValueError), ({"sizes": [1 << 63]}, ValueError),
])
def test_pieces_that_are_refused(gpu, host, change, error):
    engine = barmap.copy_engine()
    given = {"to": [gpu.gpu_address], "from_": [host.ctypes.data], "sizes": [4], "after": 0,
             "then": 0}
    with pytest.raises(error):
        engine.submit(**{**given, **change})
    assert gpu.read() == np.arange(32, dtype="<i4").tobytes()


@pytest.mark.parametrize("ticket, error", [
    (-1, OverflowError), (1 << 64, OverflowError), ("1", TypeError), ((1 << 64) - 1, ValueError),
])
def test_what_is_no_ticket(ticket, error):
    engine = barmap.copy_engine()
    for ask in (engine.done, engine.wait):
        with pytest.raises(error):
            ask(ticket)


def test_times_that_are_none():
    for timeout in (-1, float("nan")):
        with pytest.raises(ValueError):
            barmap.copy_engine().wait(0, timeout)
    for timeout in ("1", [1], 1j):
        with pytest.raises(TypeError, match="^timeout is a (str|list|complex): give seconds, as a number"):
            barmap.copy_engine().wait(0, timeout)


@pytest.mark.parametrize("shape, dtype, error", [
    (-1, "u1", ValueError), ((2, -1), "u1", ValueError), (1.5, "u1", TypeError), (1, "O", TypeError),
    (1, "nonsense", TypeError), (1 << 62, "u8", ValueError), (1 << 50, "u1", barmap.Error),
])
def test_pinned_memory_that_cannot_be(shape, dtype, error):
    with pytest.raises(error):
        barmap.pinned(shape, dtype)


def test_gpus_that_are_not_there():
    for call in (lambda: barmap.copy_engine(77), lambda: barmap.pinned(1, "u1", device=77)):
        with pytest.raises(barmap.Error):
            call()
    with pytest.raises(OverflowError):
        barmap.copy_engine(-1)


FAILING = """
import ctypes, pathlib, barmap, numpy as np
barmap.sim()
gpu, host = barmap.alloc((2, 4), "u1"), barmap.pinned((2, 4), "u1")
gpu.write(np.uint8([[1] * 4, [2] * 4]))
driver = ctypes.CDLL(pathlib.Path(barmap.__file__).parent / "barmap-sim" / "libcuda.so.1")
ticket = barmap.copy_engine().submit([host.ctypes.data], [gpu.gpu_address], [4])
assert barmap.copy_engine().wait(ticket)
told = ""
for call in range(40, 0, -1): # one of them asks for the end of what nobody waited for
    barmap.gather(gpu, [0], host, stream=0)
    ticket = barmap.copy_engine().submit([], [], [], after=0)
    assert barmap.copy_engine().wait(ticket)
    driver.barmap_sim_fail(call, 700)
    try:
        barmap.gather(gpu, [1], host, stream=0)
    except (barmap.Error, ValueError) as failure:
        told = str(failure)
    driver.barmap_sim_fail(0, 0)
    if "dmesg" in told:
        break
assert "cannot copy a batch: " in told and "dmesg" in told, told
assert host[0, 0] == 1 # the call that told it copied nothing
barmap.gather(gpu, [1], host) # it is told once
assert host[0, 0] == 2
"""


@pytest.mark.simulated
def test_a_copy_that_failed_is_told_by_the_next_call():
    subprocess.run([sys.executable, "-c", FAILING], check=True, timeout=120)


CHILD = """
import os, barmap, numpy as np
barmap.sim()
gpu, host, engine = barmap.alloc((2, 4), "u1"), barmap.pinned((2, 4), "u1"), barmap.copy_engine()
child = os.fork()
if child == 0:
    refused = 0
    for call in (lambda: barmap.gather(gpu, [0], host), lambda: barmap.copy_engine(),
                 lambda: barmap.gather(gpu, [0], host, stream=0), lambda: engine.done(0),
                 lambda: engine.wait(0), lambda: barmap.pinned(4, "u1"), lambda: engine.name,
                 lambda: engine.submit([gpu.gpu_address], [host.ctypes.data], [4])):
        try:
            call()
        except barmap.Error:
            refused += 1
    del host
    os._exit(refused)
status = os.waitpid(child, 0)[1]
assert os.waitstatus_to_exitcode(status) == 8, status
barmap.gather(gpu, [0], host)
"""


@pytest.mark.simulated
def test_a_forked_child_is_refused():
    subprocess.run([sys.executable, "-c", CHILD], check=True, timeout=120)


@pytest.mark.simulated
def test_no_engine_is_allowed():
    program = "import barmap; barmap.sim(); barmap.copy_engine()"
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "BARMAP_ENGINE": "none"},
                          capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1 and "barmap.Error: cannot copy a batch" in done.stderr
