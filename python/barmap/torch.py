# SPDX-License-Identifier: MIT
"""PyTorch tensors in memory of barmap's own, which every backend can map."""

from __future__ import annotations

import functools

import torch

from . import _barmap


@functools.lru_cache(maxsize=None)
def allocator() -> torch.cuda.memory.CUDAPluggableAllocator:
    """The allocator, in PyTorch's form; always the same one.

    Prefer `pool`: PyTorch's caching allocator then stands between, which makes small tensors cheap.
    ``torch.cuda.memory.change_current_allocator(allocator())`` takes every tensor from barmap, each
    with driver calls of its own.

    Where there is no memory, a line on stderr says why, and PyTorch raises its out-of-memory error
    (with `pool`) or makes a tensor without memory (with ``change_current_allocator``).
    """
    return torch.cuda.memory.CUDAPluggableAllocator(
        _barmap.__file__, "barmap_malloc", "barmap_free"
    )


def pool() -> torch.cuda.MemPool:
    """A new memory pool, whose tensors are in memory of barmap's.

    PyTorch's default allocator works with `barmap.map` as well, where a backend can import
    cudaMalloc memory (see ``barmap info``). With this one, any backend will do, and `barmap.map`
    of a tensor takes no call of the driver once something in the same block was mapped.

    Keep the pool for as long as its tensors live.

    Examples
    --------
    ::

        pool = barmap.torch.pool()
        with torch.cuda.use_mem_pool(pool):
            flags = torch.zeros(1024, dtype=torch.int32, device="cuda")
    """
    return torch.cuda.MemPool(allocator().allocator())
