# SPDX-License-Identifier: MIT
"""Copies that kernels submit, from Python, on a real GPU: byte for byte, in graphs, and after failures."""

import ctypes
import random
import types

import barmap
import numpy as np
import pytest
from concurrency import expect_refused, in_child, run_threads
from kernel_queue_test import BACKEND_ABSENT
from which_gpu import REAL_GPU

pytestmark = pytest.mark.skipif(not REAL_GPU, reason="only a real GPU has kernel queues: set BARMAP_REQUIRE")


@pytest.fixture
def queue(driver):
    try:
        made = barmap.KernelQueue()
    except barmap.Error as refused:
        if refused.code != BACKEND_ABSENT:
            raise
        pytest.skip(str(refused))
    with made:
        yield made


@pytest.fixture
def stream(driver):
    handle = ctypes.c_void_p()
    driver("cuStreamCreate", ctypes.byref(handle), 1)
    yield types.SimpleNamespace(cuda_stream=handle.value, device_index=0, handle=handle,
                                synchronize=lambda: driver("cuStreamSynchronize", handle))
    driver("cuStreamDestroy_v2", handle)


class Sides:
    """Random bytes in GPU memory and in pinned host memory, and where pieces of them go."""

    SIZE = 1 << 20

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.there, self.to = barmap.alloc(self.SIZE, "u1"), barmap.alloc(self.SIZE, "u1")
        self.host, self.to_host = barmap.pinned(self.SIZE, "u1"), barmap.pinned(self.SIZE, "u1")
        self.there.write(self.chance.randbytes(self.SIZE))
        self.host[:] = np.frombuffer(self.chance.randbytes(self.SIZE), "u1")
        self.clear()

    def clear(self):
        self.to.fill(0)
        self.to_host[:] = 0

    def pieces(self, n):
        """Rows for n pieces of any alignment, whose targets do not overlap; among them empty ones."""
        room = self.SIZE // n
        rows = []
        for i in self.chance.sample(range(n), n):
            nbytes = self.chance.randrange(room + 1)
            to = self.chance.choice((self.to.gpu_address, self.to_host.ctypes.data)) + i * room
            source = self.chance.choice((self.there.gpu_address, self.host.ctypes.data))
            rows.append((to, source + self.chance.randrange(self.SIZE - nbytes + 1), nbytes))
        return np.array(rows, "u8")

    def expect(self, rows):
        """That these were copied since the last clear(), and nothing else was."""
        kept = {self.there.gpu_address: self.there.read(), self.host.ctypes.data: self.host.tobytes()}
        expected = {self.to.gpu_address: bytearray(self.SIZE), self.to_host.ctypes.data: bytearray(self.SIZE)}
        for to, source, nbytes in rows.tolist():
            begin = next(each for each in kept if each <= source < each + self.SIZE + 1 and source + nbytes <= each + self.SIZE)
            data = kept[begin][source - begin : source - begin + nbytes]
            target = next(each for each in expected if each <= to < each + self.SIZE)
            expected[target][to - target : to - target + nbytes] = data
        assert self.to.read() == expected[self.to.gpu_address]
        assert self.to_host.tobytes() == expected[self.to_host.ctypes.data]


def on_gpu(values):
    made = barmap.alloc(values.shape, values.dtype)
    made.write(values)
    return made


@pytest.mark.parametrize("n", [1, 2, 31, 33, 1000, 4096, 4097, 9000])
def test_random_lists_are_copied_byte_for_byte(queue, stream, n):
    sides = Sides(n)
    rows = sides.pieces(n)
    pieces = on_gpu(rows)
    queue.submit(pieces, stream=stream)
    stream.synchronize()
    queue.check()
    sides.expect(rows)


def test_the_default_stream(queue, driver):
    sides = Sides(1)
    rows = sides.pieces(100)
    pieces = on_gpu(rows)
    queue.submit(pieces)
    driver("cuCtxSynchronize")
    queue.check()
    sides.expect(rows)


@pytest.mark.parametrize("n, count", [(100, 0), (100, 1), (100, 99), (100, 100), (9000, 4097)])
def test_only_as_many_as_the_count_says_are_copied(queue, stream, n, count):
    sides = Sides(count)
    rows = sides.pieces(n)
    pieces, length = on_gpu(rows), on_gpu(np.array(count, "i8"))
    queue.submit(pieces, length, stream=stream)
    stream.synchronize()
    queue.check()
    sides.expect(rows[:count])


def test_a_count_beyond_the_rows_copies_nothing(queue, stream):
    sides = Sides(2)
    rows = sides.pieces(10)
    pieces, length = on_gpu(rows), on_gpu(np.array([11], "u8"))
    queue.submit(pieces, length, stream=stream)
    stream.synchronize()
    with pytest.raises(barmap.Error, match="more pieces than its room: the engine copied none"):
        queue.check()
    queue.check()  # said once
    sides.expect(rows[:0])
    length.write(np.uint64(10))
    queue.submit(pieces, length, stream=stream)
    stream.synchronize()
    queue.check()
    sides.expect(rows)


def test_a_graph_reads_list_and_count_again_at_each_replay(queue, stream, driver):
    sides = Sides(3)
    pieces, length = barmap.alloc((200, 3), "u8"), barmap.alloc(1, "u8")
    relaxed = 2
    driver("cuStreamBeginCapture_v2", stream.handle, relaxed)
    queue.submit(pieces, length, stream=stream)
    graph, made = ctypes.c_void_p(), ctypes.c_void_p()
    driver("cuStreamEndCapture", stream.handle, ctypes.byref(graph))
    driver("cuGraphInstantiateWithFlags", ctypes.byref(made), graph, ctypes.c_uint64(0))
    sides.expect(np.zeros((0, 3), "u8"))  # captured, not run
    for count in (200, 0, 1, 77, 200):
        rows = sides.pieces(200)
        sides.clear()
        pieces.write(rows)
        length.write(np.uint64(count))
        driver("cuGraphLaunch", made, stream.handle)
        stream.synchronize()
        queue.check()
        sides.expect(rows[:count])
    driver("cuGraphExecDestroy", made)
    driver("cuGraphDestroy", graph)


def test_a_first_capture_without_a_count(queue, stream, driver):
    sides = Sides(4)
    rows = sides.pieces(50)
    pieces = on_gpu(rows)
    strict = 0  # of all threads: no memory may be allocated
    driver("cuStreamBeginCapture_v2", stream.handle, strict)
    queue.submit(pieces, stream=stream)
    graph, made = ctypes.c_void_p(), ctypes.c_void_p()
    driver("cuStreamEndCapture", stream.handle, ctypes.byref(graph))
    driver("cuGraphInstantiateWithFlags", ctypes.byref(made), graph, ctypes.c_uint64(0))
    driver("cuGraphLaunch", made, stream.handle)
    stream.synchronize()
    queue.check()
    sides.expect(rows)
    driver("cuGraphExecDestroy", made)
    driver("cuGraphDestroy", graph)


def test_a_queue_that_has_stopped_is_restarted(queue, stream):
    sides = Sides(5)
    rows = sides.pieces(20)
    nowhere = on_gpu(np.array([[sides.to.gpu_address, 0x1000, 64]], "u8"))
    before = queue.handle
    queue.submit(nowhere, stream=stream, seconds=1)
    stream.synchronize()
    with pytest.raises(barmap.Error) as stopped:
        queue.check()
    assert stopped.value.category == "barmap" and "Xid" in str(stopped.value)
    with pytest.raises(barmap.Error, match="restart the queue"):
        queue.submit(nowhere, stream=stream)
    queue.restart()
    assert queue.handle["words"][0] & 0xFFFFFFFF == before["words"][0] & 0xFFFFFFFF  # the layout's number
    pieces = on_gpu(rows)
    queue.submit(pieces, stream=stream)
    stream.synchronize()
    queue.check()
    sides.expect(rows)


def test_queues_and_threads_at_once(queue, driver):
    def work(seed, mine):
        def copy():
            driver("cuCtxSetCurrent", context)
            handle = ctypes.c_void_p()
            driver("cuStreamCreate", ctypes.byref(handle), 1)
            sides = Sides(seed)
            for n in (1, 300, 70):
                rows = sides.pieces(n)
                sides.clear()
                pieces = on_gpu(rows)
                mine.submit(pieces, stream=handle.value, seconds=30)
                driver("cuStreamSynchronize", handle)
                sides.expect(rows)
            driver("cuStreamDestroy_v2", handle)
        return copy

    context = ctypes.c_void_p()
    driver("cuCtxGetCurrent", ctypes.byref(context))
    with barmap.KernelQueue(0) as other:
        assert other.handle.tobytes() != queue.handle.tobytes()
        run_threads(work(1, queue), work(2, queue), work(3, other))
        other.check()
    queue.check()


def test_a_real_queue_is_refused_to_a_forked_child_and_after_its_end(queue):
    assert queue.handle.nbytes == queue.handle_for_thread.nbytes == 128
    assert queue.handle.tobytes() != queue.handle_for_thread.tobytes()
    calls = (queue.check, queue.restart, lambda: queue.handle, lambda: queue.handle_for_thread,
             lambda: queue._held.submit(0, 0, 0, 0, 0))

    def child():
        expect_refused(*calls)
        queue.close()  # its own side only

    assert in_child(child) == 0
    queue.check()
    queue.close()
    for call in calls:
        with pytest.raises(ValueError, match="^this KernelQueue is closed$"):
            call()
