# SPDX-License-Identifier: MIT
"""barmap.torch.swap_blocks_batch, against a stand-in of PyTorch."""

import ctypes
import functools
import importlib
import sys
import threading

import barmap
import numpy as np
import pytest
import torch_stand_in
from concurrency import run_threads
from torch_stand_in import Tensor


@pytest.fixture
def torch(monkeypatch):
    """The stand-in, as the module that is imported."""
    monkeypatch.setitem(sys.modules, "torch", torch_stand_in.module)
    monkeypatch.setattr(torch_stand_in.module.cuda, "stream", torch_stand_in.Cuda.stream)
    monkeypatch.setattr(torch_stand_in.module.cuda, "is_capturing", False)
    return torch_stand_in.module


@pytest.fixture
def swap(torch):
    importlib.import_module("barmap.torch")
    yield sys.modules["barmap.torch"].swap_blocks_batch
    del sys.modules["barmap.torch"]
    del barmap.torch


class Cache:
    """Blocks in GPU memory, and as many in pinned memory."""

    def __init__(self, count, size):
        self.gpu, self.host = barmap.alloc((count, size), "u1"), barmap.pinned((count, size), "u1")
        self.size = size

    def lists(self, *blocks, size=None):
        """Addresses and sizes as PyTorch's tensors: of (from, its block, to, its block)."""
        start = {"gpu": self.gpu.gpu_address, "host": self.host.ctypes.data}
        sources = [start[source] + self.size * i for source, i, _, _ in blocks]
        places = [start[to] + self.size * k for _, _, to, k in blocks]
        return (Tensor(np.int64(sources)), Tensor(np.int64(places)),
                Tensor(np.int64([size or self.size] * len(blocks))))

    def now(self):
        return np.frombuffer(self.gpu.read(), "u1").reshape(self.gpu.shape)


@pytest.fixture
def cache():
    made = Cache(64, 1000)
    made.gpu.write(np.random.default_rng(1).integers(0, 256, (64, 1000), "u1"))
    return made


def test_blocks_go_either_way_in_one_batch(swap, cache, driver):
    before = cache.now().copy()
    cache.host[32:] = 7
    out = [("gpu", i, "host", 31 - i) for i in range(32)]
    back = [("host", 32 + i, "gpu", 32 + i) for i in range(32)]
    assert swap(*cache.lists(*out, *back, size=999)) is None
    driver("cuCtxSynchronize")
    assert (cache.host[:32, :999] == before[31::-1, :999]).all() and not cache.host[:32, 999].any()
    now = cache.now()
    assert (now[:32] == before[:32]).all() and (now[32:, :999] == 7).all()
    assert (now[32:, 999] == before[32:, 999]).all()
    swap(*cache.lists(("gpu", 1, "gpu", 2)), is_src_access_order_any=True)
    driver("cuCtxSynchronize")
    assert (cache.now()[2] == before[1]).all()


def test_it_keeps_the_current_streams_order_and_returns_at_once(swap, torch, cache, driver):
    handle = ctypes.c_void_p()
    driver("cuStreamCreate", ctypes.byref(handle), 1)
    go_on = threading.Event()
    hold = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: go_on.wait(30))
    driver("cuLaunchHostFunc", handle, hold, None)
    torch.cuda.stream = type("Stream", (), {"cuda_stream": handle.value, "device_index": 0})
    lists = cache.lists(("gpu", 0, "host", 0), ("gpu", 9, "host", 1))
    swap(*lists)
    for each in lists:
        each.array[:] = 0  # the lists may go
    cache.gpu.write(np.full(1000, 3, "u1"))
    swap(*cache.lists(("host", 0, "gpu", 5)))
    assert not cache.host.any()
    go_on.set()
    driver("cuStreamSynchronize", handle)
    assert (cache.host[0] == 3).all() and (cache.host[1] == cache.now()[9]).all()
    assert (cache.now()[5] == 3).all()
    driver("cuStreamDestroy_v2", handle)


def test_no_blocks_are_nothing_to_do(swap, torch):
    torch.cuda.stream = None  # which is not even asked for
    swap(Tensor(np.empty(0, "i8")), Tensor(np.empty(0, "i8")), Tensor(np.empty(0, "i8")))


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("change, error", [
    (lambda each: Tensor(each.array.astype("i4"), dtype="torch.int32"), TypeError),
    (lambda each: Tensor(each.array, device="cuda"), TypeError),
    (lambda each: Tensor(each.array[:1]), ValueError),
    (lambda each: Tensor(np.repeat(each.array, 2)[::2]), ValueError),
])
def test_lists_that_are_refused(swap, cache, which, change, error):
    lists = list(cache.lists(("gpu", 1, "host", 1), ("gpu", 2, "host", 2)))
    lists[which] = change(lists[which])
    with pytest.raises(error, match="src_ptrs|dst_ptrs|sizes"):
        swap(*lists)
    assert not cache.host.any()


@pytest.mark.parametrize("which, value", [(0, 0), (1, 0), (0, -1), (2, -1)])
def test_numbers_that_are_refused(swap, cache, which, value):
    lists = cache.lists(("gpu", 1, "host", 1), ("gpu", 2, "host", 2))
    lists[which].array[1] = value
    with pytest.raises(barmap.Error):
        swap(*lists)
    assert not cache.host.any()


def test_a_stream_that_is_captured_is_refused(swap, torch, cache):
    torch.cuda.is_capturing = True
    with pytest.raises(RuntimeError, match="captured into a CUDA graph") as refusal:
        swap(*cache.lists(("gpu", 1, "host", 1)))
    assert not isinstance(refusal.value, barmap.Error) and not cache.host.any()


@pytest.mark.simulated
def test_a_failure_is_raised_by_the_next_call(swap, cache, driver):
    before = cache.now().copy()
    swap(*cache.lists(("gpu", 1, "host", 1)))
    swap(*cache.lists(("gpu", 2, "host", 2)))
    driver("cuCtxSynchronize")
    driver.library.barmap_sim_fail(1, 700)  # the question whether the batches before are done
    with pytest.raises(barmap.Error, match="cannot copy a batch: .* dmesg"):
        swap(*cache.lists(("gpu", 3, "host", 3)))
    assert not cache.host[3].any()  # it has copied nothing
    swap(*cache.lists(("gpu", 3, "host", 3)))
    driver("cuCtxSynchronize")
    assert (cache.host[1:4] == before[1:4]).all()


def test_threads_swap_at_once(swap, cache):
    def work(first):
        for _ in range(50):
            swap(*cache.lists(*[("gpu", first + i, "host", first + i) for i in range(16)]))

    run_threads(*[functools.partial(work, 16 * each) for each in range(4)])
    queue = barmap.batch_queue()
    assert queue.wait(queue.submit([], [], [], after=0))
    assert (cache.host == cache.now()).all()
