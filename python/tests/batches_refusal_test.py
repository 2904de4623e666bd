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
from concurrency import expect_refused, in_child
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
    """Calls copy_rows, and sees that neither side has changed."""
    def call(expected, said, function):
        before = gpu.read(), host.tobytes()
        with pytest.raises(expected, match=said):
            function()
        assert (gpu.read(), host.tobytes()) == before
    return call


@pytest.mark.parametrize("indices, said", [
    ([0, 8], r"from_rows\[1\] is 8, and from_ has 8 rows"), ([1 << 62], "from_ has 8 rows"),
    (np.array([1 << 63], "u8"), r"from_rows\[0\] is 9223372036854775808, and from_ has 8 rows"),
    (np.array([0, (1 << 64) - 1], "u8"), r"from_rows\[1\] is 18446744073709551615, and from_ has 8 rows"),
    ([0, 1 << 64], r"from_rows\[1\] is 18446744073709551616, and from_ has 8 rows"),
])
def test_a_wrong_source(refused, gpu, host, indices, said):
    refused(IndexError, said, lambda: barmap.copy_rows(host, gpu, from_rows=indices))


def test_a_wrong_place(refused, gpu, host):
    refused(IndexError, r"to_rows\[0\] is 6, and to has 6 rows",
            lambda: barmap.copy_rows(host, gpu, [6, 0], [0, 1]))
    refused(IndexError, r"to_rows\[1\] is 8, and to has 8 rows",
            lambda: barmap.copy_rows(gpu, host, [1, 8], [0, 1]))


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
    says = rf"_rows\[{at}\] is {numbers[at]}, and rows count from 0: leave out entries without a row"
    refused(ValueError, f"^from{says}", lambda: barmap.copy_rows(host, gpu, from_rows=form(numbers)))
    refused(ValueError, f"^from{says}", lambda: barmap.copy_rows(gpu, host, from_rows=form(numbers)))
    refused(ValueError, f"^to{says}", lambda: barmap.copy_rows(host, gpu, form(numbers), [0, 1, 2]))
    refused(ValueError, f"^to{says}", lambda: barmap.copy_rows(gpu, host, form(numbers), [0, 1, 2]))
    refused(ValueError, f"^from{says}", lambda: barmap.copy_rows(host, gpu, from_rows=form(numbers), stream=0))
    refused(ValueError, f"^from{says}", lambda: barmap.copy_rows(gpu, host, from_rows=form(numbers), stream=0))


def test_more_rows_than_there_are_places(refused, gpu, host):
    refused(IndexError, "^to has no row 6: it has 6 rows$",
            lambda: barmap.copy_rows(host, gpu, from_rows=[0] * 7))
    refused(IndexError, "^to has no row 8: it has 8 rows$", lambda: barmap.copy_rows(gpu, host, from_rows=[0] * 9))
    refused(IndexError, "from_ has 6", lambda: barmap.copy_rows(gpu, host, from_rows=[6]))


@pytest.mark.parametrize("places", [[1, 1], [0, 2, 3, 2], [5, 4, 4], [3, 1, 2, 3]])
def test_a_place_that_is_written_twice(refused, gpu, host, places):
    indices = range(len(places))
    refused(ValueError, "to_rows.* again",
            lambda: barmap.copy_rows(host, gpu, places, indices))
    refused(ValueError, "to_rows.* again",
            lambda: barmap.copy_rows(gpu, host, [7, 0, 7], [0, 1, 2]))


@pytest.mark.parametrize("places, sources", [([3], [3]), ([1, 2], [0, 1]), ([5, 0], [0, 3])], ids=str)
def test_a_row_that_is_read_and_written(refused, gpu, places, sources):
    refused(ValueError, "rows of from_ are read that are written as rows of to: rows are copied in no order",
            lambda: barmap.copy_rows(gpu, gpu, places, sources))


def test_rows_beside_those_that_are_written_are_read(gpu, host):
    barmap.copy_rows(gpu, gpu, [1, 5, 3], [0, 4, 6])
    barmap.copy_rows(host, gpu, from_rows=[0, 1, 3, 4, 5, 6])
    assert host[:, 0].tolist() == [0, 0, 24, 16, 16, 24]


@pytest.mark.parametrize("indices, error", [
    ([0.0], TypeError), ([True], TypeError), (["1"], TypeError), ([None], TypeError), (0, ValueError),
    ([[0]], ValueError), (np.zeros((0, 2), int), ValueError), (None, ValueError),
    (np.zeros(1, "M8[s]"), TypeError),
])
def test_what_is_no_row_number(refused, gpu, host, indices, error):
    if indices is not None:
        refused(error, "from_rows", lambda: barmap.copy_rows(host, gpu, from_rows=indices))
        refused(error, "to_rows", lambda: barmap.copy_rows(gpu, host, indices, [0]))


def test_other_lengths(refused, gpu, host):
    refused(ValueError, "3 to_rows, and 2 from_rows",
            lambda: barmap.copy_rows(host, gpu, [0, 1, 2], [0, 1]))


@pytest.mark.parametrize("dtype", ["<u4", "<f4", ">i4", "<i2", "V4", [("a", "<i4")]], ids=str)
def test_another_dtype(refused, gpu, dtype):
    other = barmap.pinned((6, 4), dtype)
    refused(TypeError, "elements of", lambda: barmap.copy_rows(other, gpu, from_rows=[0]))
    refused(TypeError, "elements of", lambda: barmap.copy_rows(gpu, other, from_rows=[0]))


def test_other_fields_of_the_same_size():
    gpu = barmap.alloc(2, [("a", "<i4"), ("b", "<i4")])
    for fields in ([("a", "<i4"), ("c", "<i4")], [("a", "<i4"), ("b", "<u4")], "V8"):
        with pytest.raises(TypeError, match="elements of"):
            barmap.copy_rows(barmap.pinned(2, fields), gpu, from_rows=[0])


@pytest.mark.parametrize("shape", [(6,), (6, 5), (6, 2, 2), (6, 4, 1)])
def test_another_shape_of_rows(refused, gpu, shape):
    other = barmap.pinned(shape, "<i4")
    refused(ValueError, "rows of shape", lambda: barmap.copy_rows(other, gpu, from_rows=[0]))


def test_rows_that_are_not_contiguous(refused, memory, gpu, host):
    for other in (host.T, barmap.pinned((6, 8), "<i4")[:, ::2], host[:, ::-1]):
        theirs = barmap.alloc((8, other.shape[1]), "<i4")
        refused(ValueError, "rows of to are not contiguous",
                lambda: barmap.copy_rows(other, theirs, from_rows=[0]))
    base = bytes_like(memory)
    strided = base[:256].view("<i4").reshape(8, 8)[:, ::2]
    refused(ValueError, "rows of from_ are not contiguous",
            lambda: barmap.copy_rows(host, Interface(memory, strided, base), from_rows=[0]))


def test_rows_that_overlap(refused, memory, gpu, host):
    base = bytes_like(memory)
    same = Interface(memory, np.lib.stride_tricks.as_strided(base.view("<i4"), (8, 4), (4, 4)), base)
    refused(ValueError, "rows of to overlap", lambda: barmap.copy_rows(same, host, from_rows=[0]))
    barmap.copy_rows(host, same, from_rows=[1])  # may be read
    assert host[0].tobytes() == base[4:20].tobytes()
    overlapping = np.lib.stride_tricks.as_strided(host, (6, 4), (0, 4))
    refused(ValueError, "rows of to overlap", lambda: barmap.copy_rows(overlapping, gpu, from_rows=[0]))


def test_an_array_without_an_axis(refused, gpu, host):
    refused(ValueError, "no first axis", lambda: barmap.copy_rows(host, barmap.alloc((), "<i4"), from_rows=[0]))
    refused(ValueError, "no first axis", lambda: barmap.copy_rows(barmap.pinned((), "<i4"), gpu, from_rows=[0]))


def test_arrays_on_the_wrong_side(refused, memory, gpu, host):
    def is_none(name, what):
        return rf"^{name} is {what}: give an array on a GPU, or one in pinned host memory$"

    both = "^to and from_ are both in host memory: give an array on a GPU$"
    pinned = DlpackObject(host.ctypes.data, (6, 4), (0, 32, 1), device=3)
    for other in (host, pinned, bytearray(8)):
        refused(TypeError, both, lambda: barmap.copy_rows(host, other, from_rows=[0]))
        refused(TypeError, both, lambda: barmap.copy_rows(other, host, from_rows=[0]))
    refused(TypeError, is_none("from_", "an int"),
            lambda: barmap.copy_rows(host, gpu.gpu_address, from_rows=[0]))
    refused(TypeError, is_none("to", "a list"), lambda: barmap.copy_rows([[0] * 4], gpu, from_rows=[0]))
    elsewhere = DlpackObject(memory.address, (8, 4), (0, 32, 1), device=10)
    refused(TypeError, is_none("to", r"a dlpack_object\.DlpackObject on a device of DLPack's type 10"),
            lambda: barmap.copy_rows(elsewhere, gpu, from_rows=[0]))
    refused(TypeError, "Python objects",
            lambda: barmap.copy_rows(np.empty((6, 4), object), gpu, from_rows=[0]))


@pytest.mark.parametrize("make", [
    lambda: np.zeros((6, 4), "<i4"), lambda: memoryview(np.zeros((6, 4), "<i4")),
    lambda: barmap.alloc((6, 4), "<i4").numpy(),  # which is the GPU's memory, mapped
])
def test_host_memory_that_is_not_pinned(refused, gpu, make):
    other = make()
    said = r" is not in pinned memory: .*barmap\.pinned.*pin_memory=True.*cupyx\.empty_pinned"
    refused(ValueError, "^to" + said, lambda: barmap.copy_rows(other, gpu, from_rows=[0]))
    refused(ValueError, "^from_" + said, lambda: barmap.copy_rows(gpu, other, from_rows=[0]))


def test_host_memory_that_is_pinned_in_part(refused, gpu, host):
    whole = barmap.pinned((1024, 4), "<i4")  # four pages of 4 KiB
    reach = np.lib.stride_tricks.as_strided(whole, (1024, 4), (1 << 30, 4))
    refused(ValueError, "not in pinned memory", lambda: barmap.copy_rows(reach, gpu, from_rows=[0]))
    back = np.lib.stride_tricks.as_strided(whole, (1024, 4), (-(1 << 30), 4))
    refused(ValueError, "not in pinned memory", lambda: barmap.copy_rows(back, gpu, from_rows=[0]))
    barmap.copy_rows(whole[::-1], gpu, from_rows=[1])  # all of which is
    assert whole[-1].tolist() == [4, 5, 6, 7]


def test_what_is_read_only(refused, memory, gpu, host):
    base = bytes_like(memory)
    theirs = Interface(memory, base[:128].view("<i4").reshape(8, 4), base, read_only=True)
    refused(TypeError, "to is read-only", lambda: barmap.copy_rows(theirs, host, from_rows=[0]))
    barmap.copy_rows(host, theirs, from_rows=[0])  # may be read
    host.flags.writeable = False
    refused(TypeError, "to is read-only", lambda: barmap.copy_rows(host, gpu, from_rows=[0]))
    barmap.copy_rows(gpu, host, from_rows=[0])
    flags = DlpackObject(host.ctypes.data, (6, 4), (0, 32, 1), device=3, flags=1)
    refused(TypeError, "to is read-only", lambda: barmap.copy_rows(flags, gpu, from_rows=[0]))


def test_what_is_closed(refused, host):
    closed = barmap.alloc((8, 4), "<i4")
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        barmap.copy_rows(host, closed, from_rows=[0])


def test_memory_that_is_not_there(refused, gpu, host):
    nowhere = DlpackObject(0x1000, (8, 4), (0, 32, 1))
    refused(barmap.Error, "cannot", lambda: barmap.copy_rows(host, nowhere, from_rows=[0]))


@pytest.mark.parametrize("stream", ["x", 1.5, object(), [1]])
def test_what_is_no_stream(refused, gpu, host, stream):
    refused(TypeError, "is not a stream", lambda: barmap.copy_rows(host, gpu, from_rows=[0], stream=stream))
    refused(TypeError, "is not a stream", lambda: barmap.copy_rows(gpu, host, from_rows=[0], stream=stream))
    with pytest.raises(TypeError, match="is not a stream"):
        barmap.batch_queue().submit([1], [1], [1], after=stream)


def test_rows_of_nothing_are_looked_for_too(host):
    gpu, none = barmap.alloc((8, 4), "<i4"), np.zeros((6, 0), "<i4")
    with pytest.raises(IndexError):
        barmap.copy_rows(none, DlpackObject(0, (8, 0), (0, 32, 1)), from_rows=[8])
    with pytest.raises(IndexError):
        barmap.copy_rows(none, DlpackObject(0, (8, 0), (0, 32, 1)), [6], [1])
    with pytest.raises(IndexError):
        barmap.copy_rows(none, DlpackObject(0, (8, 0), (0, 32, 1)), from_rows=[1] * 7)
    with pytest.raises(ValueError, match="rows count from 0"):
        barmap.copy_rows(none, DlpackObject(0, (8, 0), (0, 32, 1)), from_rows=[-1])
    barmap.copy_rows(none, DlpackObject(0, (8, 0), (0, 32, 1)), from_rows=[7, 7])
    barmap.copy_rows(np.zeros((6, 4), "<i4"), gpu, from_rows=[])  # not even pinned
    empty = barmap.alloc((8, 4), "<i4").__cuda_array_interface__
    nowhere = types.SimpleNamespace(
        __cuda_array_interface__={**empty, "shape": (8, 0), "data": (None, False)})
    barmap.copy_rows(none, nowhere, from_rows=[7])


@pytest.mark.parametrize("change, error", [
    ({"to": [1, 2]}, ValueError), ({"from_": []}, ValueError), ({"from_": None}, ValueError),
    ({"sizes": [1.0]}, TypeError), ({"sizes": 4}, ValueError), ({"to": [True]}, TypeError),
    ({"at_most": -1}, ValueError), ({"at_most": float("nan")}, ValueError), ({"at_most": "1"}, TypeError),
    ({"to": [0]}, ValueError), ({"from_": [-1]}, ValueError),
    ({"sizes": [-1]}, ValueError), ({"sizes": [1 << 63]}, ValueError),
    ({"to": [1 << 64]}, OverflowError), ({"sizes": [1 << 70]}, OverflowError), ({"to": [None]}, TypeError),
])
def test_pieces_that_are_refused(gpu, host, change, error):
    queue = barmap.batch_queue()
    given = {"to": [gpu.gpu_address], "from_": [host.ctypes.data], "sizes": [4], "after": 0,
             "then": 0}
    with pytest.raises(error):
        queue.submit(**{**given, **change})
    assert gpu.read() == np.arange(32, dtype="<i4").tobytes()


@pytest.mark.parametrize("ticket, error", [
    (-1, OverflowError), (1 << 64, OverflowError), ("1", TypeError), ((1 << 64) - 1, ValueError),
])
def test_what_is_no_ticket(ticket, error):
    queue = barmap.batch_queue()
    for ask in (queue.done, queue.wait):
        with pytest.raises(error):
            ask(ticket)


def test_times_that_are_none():
    for timeout, says in ((-1, "a time cannot be negative"), (float("nan"), "timeout is nan, which is no time")):
        with pytest.raises(ValueError, match=says):
            barmap.batch_queue().wait(0, timeout)
    for timeout in ("1", [1], 1j):
        with pytest.raises(TypeError, match="^timeout is a (str|list|complex): give seconds, as a number"):
            barmap.batch_queue().wait(0, timeout)


@pytest.mark.parametrize("shape, dtype, error", [
    (-1, "u1", ValueError), ((2, -1), "u1", ValueError), (1.5, "u1", TypeError), (1, "O", TypeError),
    (1, "nonsense", TypeError), (1 << 62, "u8", ValueError), (1 << 50, "u1", barmap.Error),
])
def test_pinned_memory_that_cannot_be(shape, dtype, error):
    with pytest.raises(error):
        barmap.pinned(shape, dtype)


def test_gpus_that_are_not_there():
    for call in (lambda: barmap.batch_queue(77), lambda: barmap.pinned(1, "u1", device=77)):
        with pytest.raises(barmap.Error):
            call()
    with pytest.raises(OverflowError):
        barmap.batch_queue(-1)


FAILING = """
import ctypes, pathlib, barmap, numpy as np
barmap.sim()
gpu, host = barmap.alloc((2, 4), "u1"), barmap.pinned((2, 4), "u1")
gpu.write(np.uint8([[1] * 4, [2] * 4]))
driver = ctypes.CDLL(pathlib.Path(barmap.__file__).parent / "lib" / "barmap-sim" / "libcuda.so.1")
ticket = barmap.batch_queue().submit([host.ctypes.data], [gpu.gpu_address], [4])
assert barmap.batch_queue().wait(ticket)
told = ""
for call in range(40, 0, -1): # one of them asks for the end of what nobody waited for
    barmap.copy_rows(host, gpu, from_rows=[0], stream=0)
    ticket = barmap.batch_queue().submit([], [], [], after=0)
    assert barmap.batch_queue().wait(ticket)
    driver.barmap_sim_fail(call, 700)
    try:
        barmap.copy_rows(host, gpu, from_rows=[1], stream=0)
    except (barmap.Error, ValueError) as failure:
        told = str(failure)
    driver.barmap_sim_fail(0, 0)
    if "dmesg" in told:
        break
assert "cannot copy a batch: " in told and "dmesg" in told, told
assert host[0, 0] == 1 # the call that told it copied nothing
barmap.copy_rows(host, gpu, from_rows=[1]) # the failure is reported once
assert host[0, 0] == 2
"""


@pytest.mark.simulated
def test_a_copy_that_failed_is_told_by_the_next_call():
    subprocess.run([sys.executable, "-c", FAILING], check=True, timeout=120)


@pytest.mark.simulated
def test_a_forked_child_is_refused():
    gpu, host = barmap.alloc((2, 4), "u1"), barmap.pinned((2, 4), "u1")
    queue = barmap.batch_queue()

    def child():
        nonlocal host
        expect_refused(
            lambda: barmap.copy_rows(host, gpu, from_rows=[0]), barmap.batch_queue,
            lambda: barmap.copy_rows(host, gpu, from_rows=[0], stream=0), lambda: queue.done(0),
            lambda: queue.wait(0), lambda: barmap.pinned(4, "u1"), lambda: queue.engine,
            lambda: queue.submit([gpu.gpu_address], [host.ctypes.data], [4]),
        )
        del host

    assert in_child(child) == 0
    barmap.copy_rows(host, gpu, from_rows=[0])


@pytest.mark.simulated
def test_no_engine_is_allowed():
    program = "import barmap; barmap.sim(); barmap.batch_queue()"
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "BARMAP_ENGINE": "none"},
                          capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1 and "barmap.Error: cannot copy a batch" in done.stderr
