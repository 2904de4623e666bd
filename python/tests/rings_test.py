# SPDX-License-Identifier: MIT
"""Rings, with a thread in the place of the kernel: it runs the GPU's side of the same headers."""

import _thread
import signal
import threading

import barmap
import numpy as np
import pytest

from concurrency import expect_refused, in_child, run_threads
from gpu_side import CLOSED, EMPTY, FULL, OK, GpuSide

pytestmark = pytest.mark.simulated  # on a real GPU, no thread can stand for a kernel

COMMAND = np.dtype([("id", "u4"), ("gain", "f4"), ("at", "f8", 3)], align=True)
LARGE = np.dtype([("number", "u8"), ("bytes", "u1", 193)])
MESSAGES = {"byte": np.dtype("u1"), "word": np.dtype("i8"), "command": COMMAND, "large": LARGE,
            "array": np.dtype(("f4", (2, 3)))}


def numbered(dtype, count, first=0):
    """Messages that differ in all their bytes."""
    numbers = np.arange(first, first + count, dtype="u8")[:, None]
    content = ((numbers + np.arange(dtype.itemsize, dtype="u8")) * 37 % 251).astype("u1")
    if dtype.kind == "f" or dtype.subdtype is not None:  # without a NaN
        content %= 100
    base, shape = dtype.subdtype or (dtype, ())
    return np.frombuffer(content.tobytes(), base).reshape(count, *shape)


def same(found, wanted):
    return np.asarray(found).tobytes() == np.asarray(wanted).tobytes()


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_go_to_the_gpu_whole_and_in_order(name):
    dtype = MESSAGES[name]
    gpu, messages = GpuSide(dtype), numbered(dtype, 11)
    with barmap.RingToGpu(dtype, slots=4) as ring:
        assert (ring.dtype, ring.slots, ring.depth, ring.number) == (dtype, 4, 0, 0)
        assert gpu.pop(ring) == EMPTY
        for each in messages:  # more than fit, so that slots are used again
            assert ring.try_push(each)
            assert same(gpu.pop(ring), each)
        assert (ring.depth, ring.number) == (0, 11)
        assert ring.push_many(messages) == 4
        assert not ring.try_push(messages[0])
        assert ring.push_many(messages) == 0 == ring.push_many(messages[:0])
        assert (ring.depth, ring.number) == (4, 15)
        for each in messages[:4]:
            assert same(gpu.pop(ring), each)
        assert gpu.pop(ring) == EMPTY and ring.depth == 0


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_come_from_the_gpu_whole_and_in_order(name):
    dtype = MESSAGES[name]
    gpu, messages = GpuSide(dtype), numbered(dtype, 12)
    with barmap.RingToCpu(dtype, slots=4) as ring:
        assert (ring.dtype, ring.slots, ring.depth, ring.number) == (dtype, 4, 0, 0)
        assert ring.try_pop() is None
        for each in messages[:5]:
            assert gpu.push(ring, each) == OK
            found = ring.try_pop()
            assert same(found, each) and found.dtype == each.dtype
        for each in messages[5:9]:
            assert gpu.push(ring, each) == OK
        assert gpu.push(ring, messages[0]) == FULL
        assert (ring.depth, ring.number) == (4, 5)
        assert same(ring.pop_many(1), messages[5:6])
        assert same(ring.pop_many(0), messages[:0])
        out = np.zeros_like(messages[:8])
        found = ring.pop_many(out=out)
        assert same(found, messages[6:9]) and found.dtype == messages.dtype
        assert same(out[:3], messages[6:9]) and not out[3:].tobytes().strip(b"\0")
        for each in messages[9:]:
            assert gpu.push(ring, each) == OK
        assert same(ring.pop_many(), messages[9:])
        assert len(ring.pop_many(1 << 62)) == 0 and ring.number == 12


def test_what_was_popped_stays_as_it_is():
    gpu = GpuSide(COMMAND)
    with barmap.RingToCpu(COMMAND, slots=2) as ring:
        messages = numbered(COMMAND, 6)
        found = []
        for each in messages:
            assert gpu.push(ring, each) == OK
            found.append(ring.try_pop())
    assert all(map(same, found, messages))


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_go_there_and_back_beside_each_other(name):
    dtype, count = MESSAGES[name], 3000
    messages = numbered(dtype, count)
    with barmap.RingToGpu(dtype, slots=16) as there, barmap.RingToCpu(dtype, slots=8) as back:
        with GpuSide(dtype).echoing(there, back):
            sent, received = 0, []
            while sum(map(len, received)) < count:
                sent += there.push_many(messages[sent : sent + 5])
                there.flush()
                received.append(back.pop_many(7))
            assert same(np.concatenate(received), messages)


def test_threads_take_turns():
    dtype, each = np.dtype("i8"), 2000
    with barmap.RingToGpu(dtype, slots=64) as there, barmap.RingToCpu(dtype, slots=64) as back:
        received = [[], []]

        def push(first):
            for number in range(first, first + each):
                while not there.try_push(number):
                    there.wait_for()

        def pop(to):
            for message in back:
                to.append(int(message))

        with GpuSide(dtype).echoing(there, back):
            def push_all():
                run_threads(lambda: push(0), lambda: push(each))
                there.close()

            run_threads(push_all, lambda: pop(received[0]), lambda: pop(received[1]))
    assert sorted(received[0] + received[1]) == list(range(2 * each))


def test_large_batches_let_other_threads_run():
    messages = numbered(LARGE, 512)  # more than 32 KiB
    with barmap.RingToGpu(LARGE, slots=512) as there, barmap.RingToCpu(LARGE, slots=512) as back:
        with GpuSide(LARGE).echoing(there, back):
            assert there.push_many(messages) == 512
            received = back.pop_many(512)
            while len(received) < 512:
                received = np.concatenate([received, back.pop_many(out=np.empty(512, LARGE))])
    assert same(received, messages)


def test_waiting_says_whether_there_is_any():
    gpu = GpuSide("i4")
    with barmap.RingToGpu("i4", slots=1) as ring:
        assert ring.wait_for() and ring.wait_for(0)
        assert ring.try_push(1)
        assert not ring.wait_for(0) and not ring.wait_for(0.02)
        assert gpu.pop(ring) == 1
        assert ring.wait_for(1e300)
    with barmap.RingToCpu("i4", slots=1) as ring:
        assert not ring.wait_for(0) and not ring.wait_for(0.02)
        assert gpu.push(ring, 2) == OK
        assert ring.wait_for() and ring.wait_for(0) and ring.try_pop() == 2


@pytest.mark.parametrize("kind", [barmap.RingToGpu, barmap.RingToCpu])
def test_waiting_ends_when_the_other_side_closes(kind):
    gpu = GpuSide("i4")
    with kind("i4", slots=1) as ring:
        if kind is barmap.RingToGpu:
            assert ring.try_push(1)  # no room
        run_threads(lambda: gpu.close(ring), lambda: ring.wait_for())
        assert ring.closed and ring.wait_for() is False


def test_other_threads_run_while_one_waits():
    gpu, order = GpuSide("i4"), []
    with barmap.RingToCpu("i4", slots=1) as ring:
        def wait():
            order.append("waits")
            assert ring.wait_for()
            order.append("woke")

        def push():
            while not order:
                pass
            order.append("pushes")
            assert gpu.push(ring, 7) == OK

        run_threads(wait, push)
    assert order == ["waits", "pushes", "woke"]


@pytest.mark.parametrize("kind", [barmap.RingToGpu, barmap.RingToCpu])
def test_waiting_is_interrupted_by_a_signal(kind):
    with kind("i4", slots=1) as ring:
        if kind is barmap.RingToGpu:
            assert ring.try_push(1)
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt):
                threading.Timer(0.02, _thread.interrupt_main).start()
                ring.wait_for()
        finally:
            signal.signal(signal.SIGINT, before)


def test_releasing_ends_those_who_wait():
    ring, waits = barmap.RingToCpu("i4", slots=1), threading.Event()

    def wait():
        waits.set()
        with pytest.raises(ValueError, match="this ring is released"):
            ring.wait_for()

    def release():
        waits.wait()
        ring.release()

    run_threads(wait, release)


def test_iteration_ends_with_the_last_message():
    gpu = GpuSide("i4")
    with barmap.RingToCpu("i4", slots=4) as ring:
        for number in range(3):
            assert gpu.push(ring, number) == OK
        gpu.close(ring)
        assert ring.closed and list(ring) == [0, 1, 2] and list(ring) == []


def test_closing_tells_the_kernel():
    gpu = GpuSide("i4")
    with barmap.RingToGpu("i4", slots=2) as ring:
        assert ring.try_push(5) and not ring.closed
        ring.close()
        ring.close()
        assert gpu.pop(ring) == 5 and gpu.pop(ring) == CLOSED
        gpu.close(ring)
        assert ring.closed
    with barmap.RingToCpu("i4", slots=2) as ring:
        ring.close()
        assert [gpu.push(ring, i) for i in range(3)] == [OK, OK, CLOSED]
        assert not ring.closed


@pytest.mark.parametrize("kind", [barmap.RingToGpu, barmap.RingToCpu])
def test_a_released_ring_refuses_every_call(kind):
    with kind("i4", slots=2) as ring:
        assert not ring.released and "2 slots" in repr(ring)
    ring.release()
    assert ring.released and ring.slots == 2 and ring.dtype == "i4"
    assert repr(ring) == f"{kind.__name__}(int32, released)"
    names = ["depth", "number", "closed", "handle", "handle_words"]
    calls = [lambda name=name: getattr(ring, name) for name in names]
    calls += [ring.close, ring.wait_for, lambda: ring.wait_for(0), ring.__enter__]
    if kind is barmap.RingToGpu:
        calls += [ring.flush, lambda: ring.try_push(1), lambda: ring.push_many(np.zeros(1, "i4"))]
    else:
        calls += [ring.try_pop, ring.pop_many, lambda: ring.pop_many(out=np.zeros(1, "i4")),
                  lambda: next(ring)]
    for call in calls:
        with pytest.raises(ValueError, match="^this ring is released$"):
            call()


def test_leaving_the_block_closes_the_ring():
    seen = []

    class Ring(barmap.RingToGpu):
        def close(self):
            seen.append(self.released)
            super().close()

    with pytest.raises(ZeroDivisionError), Ring("i4", slots=2) as ring:
        1 / 0
    assert seen == [False] and ring.released
    with Ring("i4", slots=2) as ring:
        ring.release()
    assert seen == [False]


def test_rings_leave_nothing_behind(no_leak):
    for _ in range(20):
        barmap.RingToGpu(COMMAND, slots=1024)
        barmap.RingToCpu(COMMAND, slots=1024).release()


@pytest.mark.parametrize("kind", [barmap.RingToGpu, barmap.RingToCpu])
def test_the_handle_is_a_struct_of_four_words(kind):
    with kind("i4", slots=8) as ring:
        handle = ring.handle
        assert handle.shape == () and handle.size == 1 and handle.itemsize == 32
        assert handle.dtype.names == ("slots", "control", "credits", "mask")
        assert handle.item() == ring.handle_words and int(handle["mask"]) == 7
        assert handle.tobytes() == np.array(ring.handle_words, "u8").tobytes()
        assert len(set(ring.handle_words)) == 4 and all(ring.handle_words)
        assert handle.__array_interface__["data"][0] == handle.ctypes.data
        with pytest.raises(ValueError, match="read-only"):
            handle["mask"] = 3


def test_a_forked_child_is_refused():
    there, back = barmap.RingToGpu("i4", slots=2), barmap.RingToCpu("i4", slots=2)

    def child():
        expect_refused(lambda: barmap.RingToGpu("i4", slots=2))
        there.release()
        with back:
            pass
        assert back.released

    assert in_child(child) == 0
    assert there.try_push(1) and back.try_pop() is None
