# SPDX-License-Identifier: MIT
"""Objects that a forked child inherits, and opens when it first uses them."""

import os
import signal
import subprocess
import sys
import threading
import time

import barmap
import numpy as np
import pytest
from concurrency import Child, FORK, expect_refused_because, in_child, run_threads
from gpu_side import GpuSide

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # of Python 3.12


@pytest.fixture
def array():
    with barmap.alloc((4, 8), "i4") as made:
        made.fill(0)
        yield made


def questions_of_this_process(seconds=0):
    """The objects that it asks for from now on, each answered after that time."""
    asked = []
    ask = barmap._sharing.inherited._Questions.ask

    def note(self, number):
        asked.append(number)
        time.sleep(seconds)
        return ask(self, number)

    barmap._sharing.inherited._Questions.ask = note
    return asked


def double(array):
    array.write(array.numpy() * 2)


def test_arguments_of_a_process(array):
    array.fill(3)
    child = FORK.Process(target=double, args=(array,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert (array.numpy() == 6).all()


def test_a_global_object():
    global inherited
    with barmap.alloc(8, "u1") as inherited:
        inherited.write(b"parent..")

        def child():
            assert inherited.read() == b"parent.."
            inherited.write(b"child")
            assert (inherited.gpu_address, inherited.device, inherited.nbytes) == (0, -1, 8)

        assert in_child(child) == 0
        assert inherited.read() == b"childt.."
        assert inherited.device == 0


METHODS = {
    "write": lambda m: m.write(b"1234"),
    "read": lambda m: m.read(),
    "read_into": lambda m: m.read_into(bytearray(1)),
    "post": lambda m: m.post(1, 4),
    "fill": lambda m: m.fill(0),
    "numpy": lambda m: m.numpy(),
    "memoryview": memoryview,
    "share": lambda m: os.close(m.share()),
}


@pytest.mark.parametrize("method", METHODS)
def test_each_method_opens_it(array, method):
    mapping = barmap.map(array.gpu_address + 4, 16)

    def child():
        METHODS[method](mapping)
        assert not mapping._is_inherited
        mapping.write(b"from the child..")

    assert in_child(child) == 0
    assert array.read(4, 16) == b"from the child.."


RINGS = {
    barmap.RingToGpu: [
        lambda ring: ring.try_push(1), lambda ring: ring.push_many(np.zeros(1, "i4")),
        lambda ring: ring.flush(), lambda ring: ring.wait_for(0), lambda ring: ring.close(),
        lambda ring: ring.depth, lambda ring: ring.number, lambda ring: ring.closed,
        lambda ring: ring.handle, lambda ring: os.close(ring.share()),
    ],
    barmap.RingToCpu: [
        lambda ring: ring.try_pop(), lambda ring: ring.pop_many(1), lambda ring: ring.wait_for(0),
    ],
}


@pytest.mark.parametrize("kind", RINGS)
def test_each_call_opens_a_ring(kind):
    for call in RINGS[kind]:
        with kind("i4", slots=2) as ring:

            def child():
                call(ring)
                assert not ring._held._is_inherited

            assert in_child(child) == 0


def test_some_members_do_not_open_it(array):
    ring, counter = barmap.RingToGpu("i4", slots=2), barmap.CounterToGpu()

    def child():
        asked = questions_of_this_process()
        assert "4, 8" in repr(array) and "2 slots" in repr(ring)
        assert repr(counter) == "CounterToGpu()"
        expect_refused_because("in the process that mapped", array.events)
        with array, ring, counter:
            pass
        assert array.closed and ring.released and counter.released
        assert asked == []

    assert in_child(child) == 0
    assert array.read(0, 4) == bytes(4)


def test_an_array_has_no_address_on_the_gpu(array):
    calls = [array.__dlpack__, lambda: barmap.StepInputs({"array": array}),
             lambda: barmap.copy_rows(array, array, [0], [1])]

    def child():
        expect_refused_because("CUDA does not work in a forked child", *calls)
        assert array._is_inherited
        array.read()
        for call in calls:
            with pytest.raises(barmap.Error, match="no address of it"):
                call()
        assert not hasattr(array, "__cuda_array_interface__")

    assert in_child(child) == 0
    assert array.__dlpack__() and array.__cuda_array_interface__


def test_the_child_keeps_the_memory_that_it_has_opened(array):
    array.fill(7)

    def read_twice(end):
        end.send(array.read(0, 4))
        end.recv()
        end.send(array.read(0, 4))

    child = Child(read_twice)
    content = np.array(7, array.dtype).tobytes()
    assert child.hear() == content
    array.close()
    child.end.send("closed")
    assert child.hear() == content
    child.expect_success()


def test_what_the_parent_has_released_is_refused(array):
    log, dropped = barmap.LogRing(slots=4), barmap.map(array.gpu_address, 8)

    def use(end):
        end.recv()
        expect_refused_because("has released it", array.read, log.read, dropped.read)

    child = Child(use)
    log.release()
    del dropped
    array.close()
    child.end.send("released")
    child.expect_success()


@pytest.mark.simulated
def test_the_child_learns_why_the_parent_cannot_share(array):
    def use(end):
        end.recv()
        expect_refused_because("cannot share it: .*prepared for a checkpoint", array.read)
        end.send("refused")
        end.recv()
        array.fill(1)

    child = Child(use)
    barmap.checkpoint_prepare(seconds=60)
    try:
        child.end.send("prepared")
        child.hear()
    finally:
        barmap.checkpoint_restore()
    child.end.send("restored")
    child.expect_success()
    assert array.read(0, 1) == b"\1"


def test_grandchildren(array):
    mapping = barmap.map(array.gpu_address, 8)

    def child():
        assert array.read(0, 1) == b"\0"  # opened here; the mapping is not

        def grandchild():
            array.write(b"array", 8)
            mapping.write(b"mapping")

        assert in_child(grandchild) == 0
        assert mapping.read(0, 7) == b"mapping"

    assert in_child(child) == 0
    assert array.read(8, 5) == b"array"


def test_a_grandchild_is_left_alone(array):
    mapping = barmap.map(array.gpu_address, 8)

    def leave_a_grandchild(end):
        array.read()  # opened here; the mapping is not
        runs, running = os.pipe()
        if os.fork() == 0:
            os.close(running)
            os.read(runs, 1)  # until its parent ends
            mapping.write(b"mapping")
            expect_refused_because("has ended", array.read)
            end.send("done")
            os._exit(0)

    child = Child(leave_a_grandchild)
    child.expect_success()
    assert child.hear() == "done"
    assert mapping.read(0, 7) == b"mapping"


@pytest.mark.simulated
def test_a_child_of_a_receiver(array):
    program = """
import os, sys, barmap
barmap.sim()
mapping = barmap.open_shared(int(sys.argv[1]))
child = os.fork()
if child == 0:
    mapping.write(b"child")
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    descriptor = array.share()
    subprocess.run([sys.executable, "-c", program, str(descriptor)], pass_fds=[descriptor],
                   timeout=60, check=True)
    os.close(descriptor)
    assert array.read(0, 5) == b"child"


def test_many_children_at_once(array):
    start = FORK.Event()

    def write_a_row_of(end, number):
        start.wait()
        array.write(np.full(4, number, "i4"), 16 * number)

    children = [
        Child(lambda end, number=number: write_a_row_of(end, number)) for number in range(8)
    ]
    start.set()
    for child in children:
        child.expect_success()
    assert (array.numpy().reshape(8, 4) == np.arange(8).reshape(8, 1)).all()


@pytest.mark.simulated  # on a real GPU, no thread can stand for a kernel
def test_threads_of_a_child_open_a_ring_once():
    ring = barmap.RingToGpu("i4", slots=512)

    def child():
        start = threading.Barrier(8)
        asked = questions_of_this_process(seconds=0.1)

        def push(first):
            start.wait()
            for number in range(first, first + 50):
                assert ring.try_push(number)

        run_threads(*(lambda first=first: push(first) for first in range(0, 400, 50)))
        ring.flush()
        assert len(asked) == 1

    assert in_child(child) == 0
    gpu = GpuSide("i4")
    assert sorted(int(gpu.pop(ring)) for _ in range(400)) == list(range(400))


@pytest.mark.simulated  # counts descriptors
def test_another_thread_closes_what_is_being_opened(array):
    ring = barmap.RingToGpu("i4", slots=2)

    def child():
        before = len(os.listdir("/proc/self/fd"))
        for call, end, message in [
            (array.read, array.close, "closed"), (ring.flush, ring.release, "released"),
        ]:
            asked = questions_of_this_process(seconds=0.1)

            def use():
                with pytest.raises(ValueError, match=message):
                    call()

            def end_it():
                while not asked:
                    time.sleep(0.001)
                end()

            run_threads(use, end_it)
            assert len(os.listdir("/proc/self/fd")) < before, "without that of the memory"
        assert array.closed and ring.released

    assert in_child(child) == 0


def test_forks_of_threads_while_it_answers(array):
    mappings = [barmap.map(array.gpu_address, 64) for _ in range(20)]

    def child():
        for each in mappings:
            assert each.read() == bytes(64)

    def fork():
        for _ in range(5):
            assert in_child(child) == 0

    run_threads(*[fork] * 4)


def test_copies_of_the_parents_threads_do_not_hold_up_the_child():
    size = 8 << 20
    with barmap.alloc(size, "u1") as array:
        data, ended = bytes(size), threading.Event()

        def copy():
            while not ended.is_set():
                array.write(data)

        def child():
            array.read(0, 1)
            array.close()

        thread = threading.Thread(target=copy)
        thread.start()
        try:
            for use in (child, array.close):
                assert [in_child(use) for _ in range(10)] == [0] * 10
        finally:
            ended.set()
            thread.join()


def test_a_fork_while_another_thread_opens_something(array):
    held, ended = threading.Event(), threading.Event()

    def hold():
        with barmap._sharing.inherited._opening:
            held.set()
            ended.wait(60)

    def child():
        signal.alarm(60)
        array.read()

    def fork():
        held.wait(60)
        try:
            assert in_child(child) == 0
        finally:
            ended.set()

    run_threads(hold, fork)


