# SPDX-License-Identifier: MIT
"""What is prepared for a checkpoint, and restored."""

import ctypes
import os

import barmap
import numpy as np
import pytest


def checkpoint_of_cuda():
    driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    for each in ("Lock", "Checkpoint", "Restore", "Unlock"):
        assert getattr(driver, f"cuCheckpointProcess{each}")(os.getpid(), None) == 0


@pytest.fixture
def array():
    made = barmap.alloc((1 << 20,), "u1")
    made.fill(3)
    yield made
    barmap.checkpoint_restore()


def test_memory_comes_back_at_its_address(array):
    view = array.numpy()
    address = view.ctypes.data
    barmap.checkpoint_prepare(seconds=5)
    barmap.checkpoint_prepare()
    checkpoint_of_cuda()
    barmap.checkpoint_restore()
    barmap.checkpoint_restore()
    assert view.ctypes.data == address
    assert (view == 3).all()
    array.fill(4)
    assert (array.numpy() == 4).all()


@pytest.mark.parametrize("call", [
    lambda array: barmap.alloc(8, "u1"),
    lambda array: array.share(),
    lambda array: array.read(),
    lambda array: array.write(np.zeros(1 << 20, "u1")),
    lambda array: barmap.pinned(1 << 20, "u1"),
])
def test_calls_in_between_raise(array, call):
    barmap.checkpoint_prepare()
    with pytest.raises(barmap.Error, match="prepared for a checkpoint") as refused:
        call(array)
    assert "checkpoint_restore()" in refused.value.advice


def test_what_cannot_come_back_is_named(array):
    descriptor = array.share()
    opened = barmap.open_shared(descriptor)
    os.close(descriptor)
    with pytest.raises(barmap.Error, match="opened by a descriptor"):
        barmap.checkpoint_prepare()
    opened.close()
    barmap.checkpoint_prepare()


@pytest.mark.parametrize("wrong", [-1, float("nan"), "1", None])
def test_the_time_is_checked(wrong):
    with pytest.raises((ValueError, TypeError)):
        barmap.checkpoint_prepare(seconds=wrong)
