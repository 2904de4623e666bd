# SPDX-License-Identifier: MIT
"""Queues of copies that kernels submit: what is refused, and what the extension is told.

The simulated GPU has no such queue: a stand-in of the extension's class takes the calls.
kernel_queue_copies_test.py copies.
"""

import subprocess
import sys
import types

import barmap
import numpy as np
import pytest
from barmap import _barmap
from barmap._batches import kernel_queues as _kernel_queues
from concurrency import expect_refused, in_child, run_threads
from dlpack_object import DlpackObject
from gpu_memory import Interface, bytes_like

BACKEND_ABSENT = 6  # of barmap's own codes


@pytest.mark.simulated
def test_the_simulated_gpu_has_none(no_leak):
    for make in (barmap.KernelQueue, lambda: barmap.KernelQueue(0), lambda: barmap.KernelQueue(barmap.devices()[0])):
        with pytest.raises(barmap.Error) as refused:
            make()
        assert (refused.value.category, refused.value.code) == ("barmap", BACKEND_ABSENT)
        assert str(refused.value).startswith("cannot make a channel on a simulated GPU: not available on this machine")
        assert refused.value.advice == "submit from the CPU, by a batch queue"
        assert not isinstance(refused.value, ValueError)


def test_gpus_that_are_not_there():
    with pytest.raises(barmap.Error, match="cannot open GPU 77"):
        barmap.KernelQueue(77)
    with pytest.raises(OverflowError):
        barmap.KernelQueue(-1)
    with pytest.raises(TypeError):
        barmap.KernelQueue("0")


def table(n, dtype="<i8"):
    return barmap.alloc((n, 3), dtype)


def found(pieces, count=None, ordinal=0):
    return _kernel_queues.list_of(pieces, count, ordinal)


@pytest.mark.parametrize("dtype", ["<i8", "<u8"])
@pytest.mark.parametrize("n", [1, 2, 4096, 5000])
def test_a_list_of_pieces(memory, n, dtype):
    array = table(n, dtype)
    assert found(array) == (array.gpu_address, n, None)
    with barmap.map(array) as mapping:
        assert found(mapping) == (array.gpu_address, n, None)
    base = bytes_like(memory)
    theirs = Interface(memory, base[24 : 24 + 24 * n].view(dtype).reshape(n, 3), base)
    assert found(theirs) == (memory.address + 24, n, None)
    by_dlpack = DlpackObject(memory.address, (n, 3), (0 if dtype == "<i8" else 1, 64, 1))
    assert found(by_dlpack, array.__class__((1,), dtype))[:2] == (memory.address, n)
    assert by_dlpack.returned == 1


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("dtype", ["<i8", "<u8"])
def test_a_count(shape, dtype):
    pieces, count = table(4), barmap.alloc(shape, dtype)
    assert found(pieces, count) == (pieces.gpu_address, 4, count.gpu_address)


def test_a_row_of_a_table_is_a_table(memory):
    base = bytes_like(memory)
    rows = base[:240].view("<i8").reshape(10, 3)
    assert found(Interface(memory, rows[3:5], base)) == (memory.address + 72, 2, None)
    one = np.lib.stride_tricks.as_strided(rows, (1, 3), (7, 8))  # whose first stride does not matter
    assert found(Interface(memory, one, base)) == (memory.address, 1, None)


def test_a_list_without_rows():
    for address in (None, 0):
        empty = types.SimpleNamespace(__cuda_array_interface__={
            "shape": (0, 3), "typestr": "<i8", "data": (address, False), "version": 3})
        assert found(empty) == (0, 0, None)


NOT_WORDS = r"has elements of {}: give int64 or uint64$"


@pytest.mark.parametrize("make, error, says", [
    (lambda: [[1, 2, 3]], TypeError, "^pieces: it is a list: give an array on a GPU$"),
    (lambda: None, TypeError, "^pieces: it is a NoneType: "),
    (lambda: 4096, TypeError, "^pieces: it is an int: "),
    (lambda: np.zeros((4, 3), "i8"), TypeError, r"^pieces: it is a numpy\.ndarray in host memory: give an array on"),
    (lambda: barmap.pinned((4, 3), "i8"), TypeError, r"^pieces: it is a numpy\.ndarray in host memory: "),
    (lambda: table(4, "<i4"), TypeError, "^pieces " + NOT_WORDS.format("int32")),
    (lambda: table(4, "<f8"), TypeError, "^pieces " + NOT_WORDS.format("float64")),
    (lambda: table(4, ">i8"), TypeError, "^pieces " + NOT_WORDS.format(">i8")),
    (lambda: table(4, "V8"), TypeError, "^pieces has elements of "),
    (lambda: table(4, "M8[s]"), TypeError, "^pieces has elements of "),
    (lambda: barmap.alloc(4, [("to", "i8"), ("from", "i8"), ("bytes", "i8")]), TypeError, "^pieces has elements of to"),
    (lambda: barmap.alloc(12, "i8"), ValueError, r"^pieces has the shape \(12,\): give \(n, 3\), with rows of to, from"),
    (lambda: barmap.alloc((3, 4), "i8"), ValueError, r"the shape \(3, 4\)"),
    (lambda: barmap.alloc((4, 2), "i8"), ValueError, r"the shape \(4, 2\)"),
    (lambda: barmap.alloc((1, 4, 3), "i8"), ValueError, r"the shape \(1, 4, 3\)"),
    (lambda: barmap.alloc((), "i8"), ValueError, r"the shape \(\)"),
])
def test_lists_that_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        found(make())


@pytest.mark.parametrize("make, error, says", [
    (lambda: 4, TypeError, "^count: it is an int: give an array on a GPU$"),
    (lambda: np.int64(4), TypeError, "^count: it is a numpy.int64"),
    (lambda: np.zeros(1, "i8"), TypeError, r"^count: it is a numpy\.ndarray in host memory: "),
    (lambda: barmap.alloc(1, "<i4"), TypeError, "^count " + NOT_WORDS.format("int32")),
    (lambda: barmap.alloc(2, "<i4"), TypeError, "^count " + NOT_WORDS.format("int32")),
    (lambda: barmap.alloc(1, "<f8"), TypeError, "^count " + NOT_WORDS.format("float64")),
    (lambda: barmap.alloc(2, "i8"), ValueError, "^count has 2 elements: give an array of one$"),
    (lambda: barmap.alloc((1, 3), "i8"), ValueError, "^count has 3 elements"),
])
def test_counts_that_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        found(table(4), make())


def test_arrays_that_are_not_contiguous_or_aligned(memory):
    base = bytes_like(memory)
    wide = base[:384].view("<i8").reshape(12, 4)
    for like in (wide[:, :3], wide[:, 3:0:-1], base[:96].view("<i8").reshape(3, 4)[:, :3].T,
                 base[:192].view("<i8").reshape(8, 3)[::2], base[:96].view("<i8").reshape(4, 3)[::-1]):
        with pytest.raises(ValueError, match="^pieces is not contiguous .*: give one that is"):
            found(Interface(memory, like, base))
    for at in (1, 4, 7):
        odd = Interface(memory, base[at : at + 96].view("<i8").reshape(4, 3), base)
        with pytest.raises(ValueError, match=f"^pieces is at {memory.address + at:#x}: its address must be a multiple"):
            found(odd)
        with pytest.raises(ValueError, match="^count is at 0x"):
            found(table(4), Interface(memory, base[at : at + 8].view("<i8"), base))


def test_arrays_of_another_gpu():
    with pytest.raises(ValueError, match="^pieces is on cuda:0, and the queue is of cuda:1: give an array there$"):
        found(table(4), ordinal=1)
    empty = types.SimpleNamespace(__cuda_array_interface__={
        "shape": (0, 3), "typestr": "<i8", "data": (None, False), "version": 3})
    with pytest.raises(ValueError, match="^count is on cuda:0, and the queue is of cuda:1"):
        found(empty, barmap.alloc(1, "i8"), ordinal=1)


OF_TWO = """
import os
os.environ["BARMAP_SIM_DEVICES"] = "2"
import barmap
from barmap._batches.kernel_queues import list_of
barmap.sim()
here, there = barmap.alloc((4, 3), "i8", device=0), barmap.alloc((4, 3), "i8", device=1)
assert list_of(there, barmap.alloc(1, "i8", device=1), 1).rows == 4
for given, ordinal, says in (
    ((there, None), 0, "pieces is on cuda:1, and the queue is of cuda:0"),
    ((there, barmap.alloc(1, "i8", device=0)), 1, "count is on cuda:0, and the queue is of cuda:1"),
):
    try:
        list_of(*given, ordinal)
    except ValueError as refused:
        assert says in str(refused), refused
    else:
        raise AssertionError("not refused")
"""


@pytest.mark.simulated
def test_arrays_of_two_gpus():
    subprocess.run([sys.executable, "-c", OF_TWO], check=True, timeout=120)


def test_memory_that_cuda_does_not_know():
    host = barmap.pinned((4, 3), "i8")
    for address in (0x1000, host.ctypes.data):
        with pytest.raises(barmap.Error, match="cannot find the GPU that owns"):
            found(DlpackObject(address, (4, 3), (0, 64, 1)))


def test_arrays_that_are_closed():
    pieces, count = table(4), barmap.alloc(1, "i8")
    count.close()
    with pytest.raises(ValueError, match="closed"):
        found(pieces, count)
    pieces.close()
    with pytest.raises(ValueError, match="closed"):
        found(pieces)


class StandIn:
    """What the extension's class is, without a GPU that has a channel: keeps what it is told."""

    rung_by_cpu = False

    def __init__(self, device, shared, or_rung_by_cpu):
        self.device, self.released, self.calls = device, False, []
        self.form = shared, or_rung_by_cpu

    def submit(self, pieces, count, most, at_most_ns, stream):
        self.calls.append((pieces, count, most, at_most_ns, stream))

    def release(self):
        self.released = True

    handle = property(lambda self: bytes(range(128)))
    handle_for_thread = property(lambda self: bytes(range(128, 256)))


def over_a_stand_in():
    """A queue of the current GPU, in a program of its own."""
    _barmap.KernelQueue = StandIn
    return barmap.KernelQueue()


@pytest.fixture
def stand_in(monkeypatch):
    monkeypatch.setattr(_barmap, "KernelQueue", StandIn)
    with barmap.KernelQueue() as queue:
        yield queue


def word_at(queue, address):
    """What a word of the queue's holds."""
    for each in queue._lengths._words:
        if each.gpu_address <= address < each.gpu_address + each.nbytes:
            return int.from_bytes(each.read(address - each.gpu_address, 8), "little")
    raise AssertionError(f"{address:#x} is no word of the queue's")


def test_what_the_extension_is_told(stand_in):
    pieces, count = table(5), barmap.alloc(1, "i8")
    stand_in.submit(pieces, count)
    stand_in.submit(pieces, count, stream=7, seconds=0)
    stand_in.submit(pieces, count=count, stream=types.SimpleNamespace(cuda_stream=9, device_index=0), seconds=0.25)
    stand_in.submit(pieces, count, stream=types.SimpleNamespace(ptr=11, device_id=-1), seconds=float("inf"))
    here = pieces.gpu_address, count.gpu_address, 5
    assert stand_in._held.calls == [
        (*here, 10_000_000_000, 0), (*here, 0, 7), (*here, 250_000_000, 9), (*here, 10**18, 11)]


def test_without_a_count_all_rows_are_meant(stand_in):
    lengths = [5, 1, 5, 4096, 100_000, 1]
    for n in lengths:
        stand_in.submit(table(n))
    places = [call[1] for call in stand_in._held.calls]
    assert [call[2] for call in stand_in._held.calls] == lengths
    assert [word_at(stand_in, place) for place in places] == lengths
    assert places[0] == places[2] and places[1] == places[5] and len(set(places)) == 4


def test_a_word_that_a_graph_may_read_is_never_written_again(stand_in):
    pieces = table(1500)
    base = pieces.__cuda_array_interface__
    parts = [types.SimpleNamespace(__cuda_array_interface__={**base, "shape": (n, 3)}) for n in range(1, 1501)]
    for order in (parts, parts[::-1]):
        for part in order:
            stand_in.submit(part)
    places = [call[1] for call in stand_in._held.calls]
    assert places[:1500] == places[:1499:-1] and len(set(places)) == 1500
    assert [word_at(stand_in, place) for place in places[:1500]] == list(range(1, 1501))


def test_threads_share_the_words(stand_in):
    parts = [table(n) for n in range(1, 30)]

    def work():
        for part in parts:
            stand_in.submit(part)

    run_threads(*[work] * 4)
    told = {(call[1], call[2]) for call in stand_in._held.calls}
    assert len(told) == 29 and all(word_at(stand_in, place) == n for place, n in told)


def test_arguments_of_submit_that_are_refused(stand_in):
    pieces = table(4)
    for change, error, says in (
        ({"seconds": -1}, ValueError, "^seconds is -1: a time cannot be negative$"),
        ({"seconds": float("nan")}, ValueError, "^seconds is nan, which is no time"),
        ({"seconds": "1"}, TypeError, "^seconds is a str: give seconds, as a number$"),
        ({"stream": "x"}, TypeError, "^a str is not a stream"),
        ({"stream": -1}, OverflowError, "^the handle of the stream is -1"),
        ({"stream": types.SimpleNamespace(cuda_stream=9, device_index=1)}, ValueError,
         "^the stream is of cuda:1, and the queue of cuda:0$"),
        ({"pieces": [1]}, TypeError, "^pieces: "), ({"count": 4}, TypeError, "^count: "),
    ):
        with pytest.raises(error, match=says):
            stand_in.submit(**{"pieces": pieces, **change})
    with pytest.raises(TypeError):
        stand_in.submit(pieces, None, 0)  # the stream is named
    assert stand_in._held.calls == []


def test_handles_are_arguments_by_value(stand_in):
    for handle, expected in ((stand_in.handle, range(128)), (stand_in.handle_for_thread, range(128, 256))):
        assert isinstance(handle, np.ndarray) and (handle.size, handle.shape, handle.nbytes) == (1, (), 128)
        assert handle.tobytes() == bytes(expected) and not handle.flags.writeable
        assert handle["words"].tolist() == np.frombuffer(bytes(expected), "u8").tolist()


def test_the_form_is_told(stand_in, monkeypatch):
    assert stand_in._held.form == (False, False) and not stand_in.rung_by_cpu
    for form in ({"shared": True}, {"or_rung_by_cpu": True}):
        with barmap.KernelQueue(0, **form) as queue:
            assert queue._held.form == ("shared" in form, "or_rung_by_cpu" in form)
    with pytest.raises(TypeError):
        barmap.KernelQueue(0, True)


def test_closing(monkeypatch):
    monkeypatch.setattr(_barmap, "KernelQueue", StandIn)
    with barmap.KernelQueue() as queue:
        assert not queue.closed and repr(queue) == "KernelQueue(cuda:0)"
        queue.submit(table(3))
        words = queue._lengths._words
    assert queue.closed and repr(queue) == "KernelQueue(cuda:0, closed)" and all(each.closed for each in words)
    queue.close()
    for call in (lambda: queue.submit(table(3)), queue.__enter__):
        with pytest.raises(ValueError, match="^this KernelQueue is closed$"):
            call()


def test_a_forked_child_is_refused(stand_in):
    pieces, count = table(4), barmap.alloc(1, "i8")
    base = pieces.__cuda_array_interface__
    theirs = types.SimpleNamespace(__cuda_array_interface__=base)

    def child():
        expect_refused(barmap.KernelQueue, lambda: barmap.KernelQueue(0), lambda: found(theirs),
                       lambda: stand_in.submit(theirs), lambda: _barmap.gpu_of_address(pieces.gpu_address))
        assert stand_in._held.calls == []

    assert in_child(child) == 0
    stand_in.submit(pieces, count)
