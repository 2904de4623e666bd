# SPDX-License-Identifier: MIT
"""Rings and counters that go to other processes: by descriptor, and through multiprocessing."""

import multiprocessing
import os
import pickle

import barmap
import numpy as np
import pytest
from concurrency import descriptors, expect_descriptors

from gpu_side import CLOSED, OK, GpuSide

pytestmark = pytest.mark.simulated  # on a real GPU, no thread can stand for a kernel

MESSAGE = np.dtype([("number", "u8"), ("half", "f8")])


def feed(to_gpu, to_cpu, go, done):
    """What a child does; a module's function, so that spawn finds it."""
    for number in range(100):
        while not to_gpu.try_push((number, number / 2)):
            to_gpu.flush()
            assert to_gpu.wait_for(60)
        to_gpu.flush()
    assert [int(each["number"]) for each in to_cpu] == list(range(100))
    assert done.wait_for(3, 60)
    go.advance(go.value + 1)
    to_gpu.close()


def feed_from(queue):
    feed(*queue.get())
    queue.task_done()


class Signals:
    """One of each, on the side that has the GPU."""

    def __init__(self):
        self.to_gpu = barmap.RingToGpu(MESSAGE, slots=8)
        self.to_cpu = barmap.RingToCpu(MESSAGE, slots=128)
        self.go = barmap.CounterToGpu(first=5)
        self.done = barmap.CounterToCpu(first=2)

    @property
    def all(self):
        return self.to_gpu, self.to_cpu, self.go, self.done

    def serve(self, child):
        """What a kernel would do: 100 messages back, and counters."""
        gpu = GpuSide(MESSAGE)
        for number in range(100):
            while isinstance(message := gpu.pop(self.to_gpu), int):
                assert message != CLOSED and child.is_alive()
            assert (message["number"], message["half"]) == (number, number / 2)
            assert gpu.push(self.to_cpu, message) == OK
        gpu.close(self.to_cpu)
        self.done.record(0, 3)
        self.go.wait(0, 6)
        child.join(60)
        assert child.exitcode == 0
        assert gpu.pop(self.to_gpu) == CLOSED

    def release(self):
        for each in self.all:
            each.release()


@pytest.fixture
def signals():
    made = Signals()
    yield made
    made.release()


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_arguments(signals, method):
    child = multiprocessing.get_context(method).Process(target=feed, args=signals.all)
    child.start()
    signals.serve(child)


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_queues(signals, method):
    context = multiprocessing.get_context(method)
    queue = context.JoinableQueue()
    child = context.Process(target=feed_from, args=(queue,))
    child.start()
    queue.put(signals.all)
    signals.serve(child)


def test_a_descriptor_opens_the_same(signals):
    before = descriptors()
    for _ in range(3):
        made = [each.share() for each in signals.all]
        assert not any(map(os.get_inheritable, made))
        kinds = [barmap.RingToGpu, barmap.RingToCpu, barmap.CounterToGpu, barmap.CounterToCpu]
        with barmap.RingToGpu.open_shared(made[0], MESSAGE) as ring:
            assert (ring.dtype, ring.slots, ring.depth, ring.number) == (MESSAGE, 8, 0, 0)
            assert ring.handle_words[:3] == (0, 0, 0)
        for number, kind in enumerate(kinds):
            for descriptor in [-1, *made]:
                if descriptor != made[number]:
                    arguments = [descriptor, MESSAGE] if number < 2 else [descriptor]
                    with pytest.raises(barmap.Error, match="open shared memory"):
                        kind.open_shared(*arguments)
        with pytest.raises(barmap.Error, match="have 16 bytes, and those of this type 8"):
            barmap.RingToGpu.open_shared(made[0], "u8")
        with pytest.raises(TypeError):
            barmap.RingToCpu.open_shared(made[1], object)
        with pytest.raises(TypeError):
            barmap.CounterToGpu.open_shared("3")
        with barmap.CounterToCpu.open_shared(made[3]) as done:
            with pytest.raises(barmap.Error, match="the process that made the counter"):
                done.record(0, 9)
            assert (done.value, done.released) == (2, False)
        for each in made:
            os.close(each)
    expect_descriptors(before)
    assert signals.to_gpu.closed is False


def test_the_next_one_goes_on(signals):
    gpu = GpuSide(MESSAGE)
    descriptor = signals.to_gpu.share()
    for number in range(5):
        ring = barmap.RingToGpu.open_shared(descriptor, MESSAGE)
        assert ring.number == number
        assert ring.try_push((number, 0))
        ring.flush()
        ring.release()
    os.close(descriptor)
    assert [int(gpu.pop(signals.to_gpu)["number"]) for _ in range(5)] == list(range(5))


def test_what_cannot_be_shared_is_refused(signals):
    for each in signals.all:
        with pytest.raises(TypeError):
            pickle.dumps(each)
        each.release()
        with pytest.raises(ValueError, match="released"):
            each.share()
