# SPDX-License-Identifier: MIT
"""Counters, with this thread in the place of the kernel."""

import _thread
import asyncio
import ctypes
import functools
import pathlib
import signal
import tempfile
import threading

import barmap
import numpy as np
import pytest

from compiled import compile_library
from concurrency import expect_refused, in_child, run_threads
from gpu_side import EMPTY, OK

pytestmark = pytest.mark.simulated  # on a real GPU, no thread can stand for a kernel

KINDS = [barmap.CounterToGpu, barmap.CounterToCpu]


@functools.lru_cache(maxsize=None)
def library():
    source = pathlib.Path(__file__).with_name("signals_gpu_side.cpp")
    with tempfile.TemporaryDirectory() as directory:
        return compile_library(source, directory)


def words(of):
    found = of._held._handle_for_thread
    return (ctypes.c_ulonglong * len(found))(*found)


def advance(counter):
    """What a kernel does that somebody waits for."""
    library().counter_advance(words(counter), ctypes.c_ulonglong(1))


@pytest.fixture(params=[None, "arena"])
def memory(request):
    """What to make things with: memory of their own, or of an arena."""
    if request.param is None:
        yield {}
        return
    with barmap.Arena(1 << 20, 1 << 20) as arena:
        yield {"arena": arena}


@pytest.fixture
def stream(driver):
    handle = ctypes.c_void_p()
    driver("cuStreamCreate", ctypes.byref(handle), 1)
    yield handle.value
    driver("cuStreamDestroy_v2", handle)


def test_kernels_see_the_cpus_counters(memory):
    with barmap.CounterToGpu(first=5, **memory) as counter:
        assert counter.value == 5 and len(counter.handle_words) == 1
        assert library().counter_wait(words(counter), ctypes.c_ulonglong(5)) == OK
        assert library().counter_wait(words(counter), ctypes.c_ulonglong(6)) == EMPTY
        counter.advance(np.int64(7))
        counter.advance(7)
        assert counter.value == 7
        assert library().counter_wait(words(counter), ctypes.c_ulonglong(7)) == OK
        with pytest.raises(ValueError, match="a counter only grows: it cannot go back to 6"):
            counter.advance(6)
        assert counter.value == 7


def test_the_cpu_sees_kernels_counters(memory):
    with barmap.CounterToCpu(first=3, **memory) as counter:
        assert counter.value == 3 and counter.wait_for(3) and counter.wait_for(2, 0)
        assert not counter.wait_for(4, 0) and not counter.wait_for(4, 0.02)
        assert not library().counter_arrive(words(counter), ctypes.c_ulonglong(2))
        assert counter.value == 3
        assert library().counter_arrive(words(counter), ctypes.c_ulonglong(2))
        assert counter.wait_for(4) and counter.value == 4


def test_streams_wait_and_record(driver, stream, memory):
    with barmap.CounterToGpu(**memory) as go, barmap.CounterToCpu(**memory) as done:
        go.wait(stream, 2)
        done.record(stream, 9)
        assert not done.wait_for(9, 0.02)
        go.advance(2)
        assert done.wait_for(9, 60)
        driver("cuStreamSynchronize", ctypes.c_void_p(stream))
        for call in (lambda: go.wait("s", 1), lambda: go.wait(1.0, 1), lambda: done.record(None, 1),
                     lambda: done.record([], 1)):
            with pytest.raises(TypeError, match="is not a stream"):
                call()


def test_waiting_lets_others_run_and_can_be_interrupted():
    with barmap.CounterToCpu() as counter:
        order = []

        def waits():
            order.append("waits")
            assert counter.wait_for(1)

        def advances():
            while not order:
                pass
            advance(counter)

        run_threads(waits, advances)
        with pytest.raises(ValueError, match="a time cannot be negative"):
            counter.wait_for(1, -1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with barmap.CounterToCpu() as counter, pytest.raises(KeyboardInterrupt):
            threading.Timer(0.02, _thread.interrupt_main).start()
            counter.wait_for(1)
    finally:
        signal.signal(signal.SIGINT, before)
    counter, begun = barmap.CounterToCpu(), threading.Event()

    def ends():
        begun.set()
        with pytest.raises(ValueError, match="is released"):
            counter.wait_for(1)

    run_threads(ends, lambda: (begun.wait(), counter.release()))


def test_waiting_in_an_event_loop():
    async def main(counter):
        cancelled = asyncio.ensure_future(counter.reached(1))
        await asyncio.sleep(0)
        cancelled.cancel()
        waiting = asyncio.ensure_future(counter.reached(1))
        await asyncio.sleep(0.02)
        assert not waiting.done()
        advance(counter)
        return await waiting

    with barmap.CounterToCpu() as counter:
        assert asyncio.run(main(counter)) == 1


def test_hundreds_share_an_arena():
    with barmap.Arena(128 * 300, 128 * 300) as arena:
        counters = [barmap.CounterToCpu(arena=arena) for _ in range(300)]
        assert len({each.handle_words[:2] for each in counters}) == 300
        with pytest.raises(barmap.Error, match="make the arena larger"):
            barmap.CounterToCpu(arena=arena)
        counters.pop().release()
        counters.append(barmap.CounterToCpu(arena=arena))
        assert not arena.released and repr(arena) == "Arena()"
    assert arena.released and repr(arena) == "Arena(released)"
    arena.release()
    for i, each in enumerate(counters):  # the memory is still there
        library().counter_advance(words(each), ctypes.c_ulonglong(i))
    assert [each.value for each in counters] == list(range(300))
    for call in (lambda: barmap.CounterToCpu(arena=arena), arena.__enter__):
        with pytest.raises(ValueError, match="^this arena is released$"):
            call()


def test_arenas_that_are_refused():
    for wrong in ((-1, 0), (0, -1)):
        with pytest.raises(OverflowError):
            barmap.Arena(*wrong)
    with pytest.raises(TypeError):
        barmap.Arena("1", 1)
    with pytest.raises(barmap.Error):
        barmap.Arena(128, 128, device=7)
    with pytest.raises(TypeError, match="arena is an int: give a barmap.Arena"):
        barmap.CounterToCpu(arena=3)
    with barmap.Arena(128, 0) as arena:
        barmap.CounterToGpu(arena=arena)
        with pytest.raises(barmap.Error, match="take 8 bytes of host memory"):
            barmap.CounterToCpu(arena=arena)


def test_numbers_that_are_refused():
    with barmap.CounterToGpu() as there, barmap.CounterToCpu() as back:
        for call in (lambda: there.advance(-1), lambda: there.wait(0, 1 << 64), lambda: back.wait_for(-1),
                     lambda: back.record(0, -1), lambda: barmap.CounterToGpu(-1),
                     lambda: barmap.CounterToCpu(1 << 64)):
            with pytest.raises(OverflowError):
                call()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [0, 1 << 63, (1 << 64) - 1])
def test_numbers_may_have_64_bits(kind, first, memory):
    with kind(first, **memory) as counter:
        assert counter.value == first


@pytest.mark.parametrize("kind", KINDS)
def test_the_handle_is_a_struct_of_words(kind, memory):
    with kind(**memory) as of:
        assert of.handle.shape == () and of.handle.itemsize == 8 * len(of.handle_words)
        assert of.handle.item() == of.handle_words and isinstance(of.handle_words, tuple)
        with pytest.raises(ValueError, match="read-only"):
            of.handle[of.handle.dtype.names[0]] = 3


CALLS = ["advance(1)", "wait(0, 1)", "value", "record(0, 1)", "wait_for(1, 0)", "handle", "handle_words"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_released_refuses_every_call(kind, memory):
    with kind(**memory) as of:
        name = type(of).__name__
        assert not of.released and repr(of).startswith(f"{name}(")
    of.release()
    assert of.released and repr(of) == f"{name}(released)"
    found = [call for call in CALLS if hasattr(type(of), call.partition("(")[0])]
    assert len(found) >= 4
    for call in [*found, "__enter__()"]:
        with pytest.raises(ValueError, match="^this counter is released$"):
            eval(f"of.{call}")


def test_they_leave_nothing_behind(no_leak):
    for _ in range(10):
        for kind in KINDS:
            kind()
            kind(arena=barmap.Arena(1 << 12, 1 << 12)).release()


def test_a_forked_child_is_refused():
    arena = barmap.Arena(4096, 4096)
    there, back = barmap.CounterToGpu(), barmap.CounterToCpu(arena=arena)

    def child():
        expect_refused(
            barmap.CounterToCpu, lambda: barmap.CounterToCpu(arena=arena),
            lambda: barmap.Arena(128, 128),
        )
        for each in (there, back, arena):
            each.release()

    assert in_child(child) == 0
    there.advance(1)
    assert back.value == 0
