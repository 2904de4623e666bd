# SPDX-License-Identifier: MIT
"""Rows beside each other that lie in several allocations, which CUDA's copies take for no single one."""

import ctypes
import mmap

import barmap
import numpy as np
import pytest
from gpu_memory import Block, Interface

HALF = 1 << 16


@pytest.fixture
def host(driver):
    """Pinned memory of two registrations that touch."""
    memory = mmap.mmap(-1, 2 * HALF)
    array = np.frombuffer(memory, "u1")
    halves = [ctypes.c_void_p(array.ctypes.data + at) for at in (0, HALF)]
    for half in halves:
        driver("cuMemHostRegister_v2", half, ctypes.c_size_t(HALF), 0)
    yield array
    for half in halves:
        driver("cuMemHostUnregister", half)


@pytest.fixture
def halves(driver):
    """Two allocations that touch, the lower one first; small ones share a block."""
    blocks = sorted((driver.allocate(HALF) for _ in range(8)), key=lambda block: block.address)
    for low, high in zip(blocks, blocks[1:]):
        if low.address + HALF == high.address:
            break
    else:
        pytest.skip("no two allocations touch")
    yield low, high
    for block in blocks:
        if block.address:
            block.free()


def over(halves, row_bytes):
    """Both as the rows of one array."""
    whole = Block(halves[0].driver, halves[0].address, 2 * HALF)
    base = np.zeros(2 * HALF, "u1")
    count = 2 * HALF // row_bytes
    return whole, Interface(whole, base[:count * row_bytes].reshape(count, row_bytes), base)


@pytest.mark.parametrize("stream", [None, 0])
def test_rows_that_lie_whole_in_two_registrations(driver, host, stream):
    rows = host.reshape(-1, 1024)
    gpu = barmap.alloc(rows.shape, "u1")
    rows[:] = np.arange(len(rows), dtype="u1")[:, None]
    wanted = rows.copy()
    barmap.copy_rows(gpu, rows, stream=stream)
    driver("cuCtxSynchronize")
    assert (np.frombuffer(gpu.read(), "u1").reshape(rows.shape) == wanted).all()
    rows[:] = 0
    middle = len(rows) // 2
    some = list(range(middle - 3, middle + 3))
    barmap.copy_rows(rows, gpu, some, some, stream=stream)
    driver("cuCtxSynchronize")
    assert (rows[some] == wanted[some]).all()
    assert not rows[:some[0]].any() and not rows[some[-1] + 1:].any()


def test_rows_that_lie_whole_in_two_allocations(halves):
    whole, gpu = over(halves, 1024)
    rows = barmap.pinned((2 * HALF // 1024, 1024), "u1")
    rows[:] = np.arange(len(rows), dtype="u1")[:, None]
    barmap.copy_rows(gpu, rows)
    back = barmap.pinned(rows.shape, "u1")
    barmap.copy_rows(back, gpu)
    assert (back == rows).all()
    assert halves[0].get() + halves[1].get() == rows.tobytes()


def test_a_row_that_lies_in_two_is_named(host, halves):
    count = 2 * HALF // 1000
    rows = host[:count * 1000].reshape(count, 1000)
    with pytest.raises(barmap.Error, match="copy piece 65 of a batch.*reach beyond the allocation"):
        barmap.copy_rows(barmap.alloc(rows.shape, "u1"), rows)
    with pytest.raises(barmap.Error, match="copy piece 65 of a batch.*reach beyond the allocation"):
        barmap.copy_rows(barmap.pinned(rows.shape, "u1"), over(halves, 1000)[1])


def test_a_row_that_is_freed_is_named(halves):
    _, gpu = over(halves, 1024)
    halves[1].free()
    halves[1].address = 0
    rows = barmap.pinned((2 * HALF // 1024, 1024), "u1")
    with pytest.raises(barmap.Error, match="copy piece 64 of a batch.*no live allocation"):
        barmap.copy_rows(rows, gpu)
    with pytest.raises(barmap.Error, match="copy piece 2 of a batch.*no live allocation"):
        barmap.copy_rows(rows, gpu, [0, 1, 5, 6], [0, 1, 70, 71])
