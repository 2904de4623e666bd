# SPDX-License-Identifier: MIT
"""CuPy arrays in memory that barmap allocates, which every backend can map."""

from __future__ import annotations

from typing import Any, Callable

import cupy

from . import _barmap


def _malloc(nbytes: int, device: int) -> int:
    return _barmap.library_malloc(nbytes, device)


def _free(address: int, device: int) -> None:
    _barmap.library_free(address)


def memory_pool() -> cupy.cuda.MemoryPool:
    """A new pool of CuPy's, which gets its memory from barmap.

    CuPy's default allocator works with `barmap.map` as well, where a backend can import cudaMalloc
    memory (see ``barmap info``). With this one, any backend will do, and `barmap.map` of an array
    takes no call of the driver once something in the same block was mapped.

    Returns
    -------
    cupy.cuda.MemoryPool
        ``pool.free_all_blocks()`` frees unused memory. If `barmap` refuses, it raises
        `barmap.Error`.
    """
    return cupy.cuda.MemoryPool(cupy.cuda.PythonFunctionAllocator(_malloc, _free).malloc)


def allocator() -> Callable[[int], Any]:
    """An allocator for ``cupy.cuda.set_allocator``, of a new `memory_pool`.

    Examples
    --------
    ::

        import barmap.cupy
        cupy.cuda.set_allocator(barmap.cupy.allocator())
    """
    malloc: Callable[[int], Any] = memory_pool().malloc
    return malloc
