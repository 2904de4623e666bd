# SPDX-License-Identifier: MIT
"""Memory that goes to other processes: by descriptor, and through multiprocessing."""

import copy
import multiprocessing
import os
import pickle
import socket
import threading

import barmap
import numpy as np
import pytest
from concurrency import descriptors, expect_descriptors, in_child, run_threads


def fill_by(mapping, value):
    """What a child does; a module's function, so that spawn finds it."""
    mapping.write(np.full(mapping.shape, value, mapping.dtype))


def fill_from(queue):
    mapping, value = queue.get()
    fill_by(mapping, value)
    queue.task_done()


def fill_from_pipe(end):
    with end.recv() as mapping:
        fill_by(mapping, 5)
    end.send("done")


@pytest.fixture
def array():
    made = barmap.alloc((4, 8), "i4")
    made.fill(0)
    return made


def test_a_descriptor_opens_the_same_memory(array):
    descriptor = array.share()
    assert not os.get_inheritable(descriptor)
    whole = barmap.open_shared(descriptor)
    assert (whole.shape, whole.dtype, whole.nbytes) == ((128,), np.dtype("u1"), 128)
    assert (whole.gpu_address, whole.device) == (0, -1)
    assert whole.backend == array.backend
    with barmap.open_shared(descriptor, (4, 8), "i4") as same:
        same.write(np.arange(32, dtype="i4").reshape(4, 8))
    assert (array.numpy() == np.arange(32).reshape(4, 8)).all()
    assert barmap.open_shared(descriptor, 2, "u8").nbytes == 128
    os.close(descriptor)
    assert whole.read(4, 4) == np.int32(1).tobytes()


def test_a_part_is_shared_alone(array):
    array.write(np.arange(32, dtype="i4"))
    with barmap.map(array.gpu_address + 4, 12) as part:
        descriptor = part.share()
    opened = barmap.open_shared(descriptor)
    os.close(descriptor)
    assert opened.nbytes == 12
    assert opened.read() == np.arange(1, 4, dtype="i4").tobytes()


def test_the_memory_outlives_its_owner(array):
    descriptor = array.share()
    array.fill(7)
    content = np.full(array.shape, 7, array.dtype).tobytes()
    array.close()
    opened = barmap.open_shared(descriptor)
    os.close(descriptor)
    assert opened.read() == content


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_goes_into_arguments(array, method):
    context = multiprocessing.get_context(method)
    before = None
    for value in (2, 3):
        half = barmap.map(array.gpu_address, 64)
        child = context.Process(target=fill_by, args=(half, value))
        child.start()
        child.join(60)
        assert child.exitcode == 0
        child.close()
        half.close()
        del child
        before = before or descriptors()  # with those of a forkserver
    expect_descriptors(before)
    assert (array.numpy().view("u1").reshape(-1) == [3] * 64 + [0] * 64).all()


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_goes_through_queues_and_pipes(array, method):
    context = multiprocessing.get_context(method)
    queue = context.JoinableQueue()
    near, far = context.Pipe()
    children = [
        context.Process(target=fill_from, args=(queue,)),
        context.Process(target=fill_from_pipe, args=(far,)),
    ]
    for child in children:
        child.start()
    queue.put((array, 4))
    queue.join()
    assert (array.numpy() == 4).all()
    near.send(array)
    assert near.recv() == "done"
    assert (array.numpy() == 5).all()
    for child in children:
        child.join(60)
        assert child.exitcode == 0


def sent(mapping):
    """What a mapping is on the other side of a pipe."""
    near, far = multiprocessing.Pipe()
    with near, far:
        near.send(mapping)
        return far.recv()


class Described:
    """GPU memory with another description."""

    def __init__(self, array, **changes):
        self._array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}


def test_keeps_elements_strides_and_read_only(array):
    array.write(np.arange(32, dtype="i4"))
    same = sent(array)
    assert type(same) is barmap.Mapping
    assert (same.shape, same.dtype, same.readonly) == (array.shape, array.dtype, False)
    assert (same.numpy() == array.numpy()).all()
    assert (sent(same).numpy() == array.numpy()).all()
    transposed = barmap.map(Described(array, shape=(8, 4), strides=(4, 32)))
    same = sent(transposed)
    assert (same.shape, same.strides) == ((8, 4), (4, 32))
    assert (same.numpy() == array.numpy().T).all()
    address = array.gpu_address
    same = sent(barmap.map(Described(array, data=(address, True))))
    assert same.readonly
    with pytest.raises(TypeError, match="read-only"):
        same.write(b"1234")
    with pytest.raises(TypeError, match="convert them"):
        sent(array).write(np.zeros(2, "f8"))
    sent(barmap.map(address, 8)).write(np.zeros(1, "f8"))


def test_plain_pickle_is_refused(array):
    for refused in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError):
            refused(array)


def test_closing_is_not_refused_while_it_is_shared(array):
    for _ in range(20):
        mapping = barmap.map(array.gpu_address, 64)
        shared = threading.Event()

        def share():
            with pytest.raises(ValueError, match="closed"):
                while True:
                    os.close(mapping.share())
                    shared.set()

        def close():
            assert shared.wait(60)
            mapping.close()

        run_threads(share, share, close)
        assert mapping.closed


def test_nothing_is_left_of_what_was_sent(array):
    sent(array).close()  # starts what multiprocessing needs
    before = descriptors()
    for _ in range(5):
        mapping = barmap.map(array.gpu_address, 64)
        sent(mapping).close()
        mapping.close()
        with pytest.raises(ValueError, match="closed"):
            sent(mapping)
    expect_descriptors(before)


def test_a_forked_child_opens_its_own(array):
    descriptor = array.share()
    array.close()  # which the child could not open itself

    def child():
        with barmap.open_shared(descriptor, 8, "i4") as mapping:
            mapping.write(np.arange(8, dtype="i4"))

    assert in_child(child) == 0
    with barmap.open_shared(descriptor, 8, "i4") as mapping:
        assert (mapping.numpy() == np.arange(8)).all()
    os.close(descriptor)


def test_what_is_none_is_refused(array):
    before = descriptors()
    with pytest.raises(barmap.Error, match="open shared memory.*as it was received"):
        barmap.open_shared(0)
    with pytest.raises(barmap.Error, match="as it was received"):
        barmap.open_shared(-1)
    near, far = socket.socketpair()
    with near, far, pytest.raises(barmap.Error, match="as it was received"):
        barmap.open_shared(near.fileno())
    with pytest.raises(TypeError):
        barmap.open_shared("3")
    descriptor = array.share()
    with pytest.raises(ValueError, match="and the shared memory 128"):
        barmap.open_shared(descriptor, (5, 8), "i4")
    with pytest.raises(ValueError, match="has 129 bytes, and the shared memory 128"):
        barmap.open_shared(descriptor, 129)
    for fits in (127, 128):
        with barmap.open_shared(descriptor, fits) as opened:
            assert opened.shape == (fits,)
    os.close(descriptor)
    expect_descriptors(before)
    array.close()
    with pytest.raises(ValueError, match="closed"):
        array.share()
