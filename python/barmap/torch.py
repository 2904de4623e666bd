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


def swap_blocks_batch(
    src_ptrs: torch.Tensor,
    dst_ptrs: torch.Tensor,
    sizes: torch.Tensor,
    is_src_access_order_any: bool = False,
) -> None:
    """Copies many blocks, on PyTorch's current stream, by a copy engine of barmap's.

    With the arguments of vLLM's function of this name. The copies come after all work that the
    current stream was given before, all that it is given later sees the bytes, and the call returns
    at once. The three lists may go then; the blocks stay as they are until the stream is past it.

    If it fails, the next call raises that error and copies nothing: which bytes of the failed one
    were copied is unknown.

    Parameters
    ----------
    src_ptrs, dst_ptrs, sizes : torch.Tensor
        Addresses and bytes: of int64, on the CPU, contiguous, as many of each. One address of each
        block is in memory of the current GPU, the other one in host memory that is pinned.
    is_src_access_order_any : bool, optional
        That the sources need not be read in the stream's order. They are.

    Raises
    ------
    RuntimeError
        While the stream is captured into a CUDA graph.
    TypeError, ValueError
        For other lists.
    barmap.Error
        If an earlier call has failed, or no copy engine is usable.

    Examples
    --------
    ::

        import vllm._custom_ops
        vllm._custom_ops.swap_blocks_batch = barmap.torch.swap_blocks_batch
    """
    count = sizes.numel()
    for name, each in (("src_ptrs", src_ptrs), ("dst_ptrs", dst_ptrs), ("sizes", sizes)):
        if each.dtype is not torch.int64 or each.device.type != "cpu":
            raise TypeError(f"{name} has {each.dtype} on {each.device}: give int64 on the CPU")
        if each.numel() != count or not each.is_contiguous():
            raise ValueError(
                f"{name} has {each.numel()} elements, and sizes has {count}: give as many of each, "
                "contiguous"
            )
    if count == 0:
        return
    stream = torch.cuda.current_stream()
    if torch.cuda.is_current_stream_capturing():
        raise RuntimeError(
            "the current stream is being captured into a CUDA graph, and a batch of barmap's "
            "cannot be part of one: copy before or after the graph"
        )
    _barmap.copy_engine(stream.device_index).swap_blocks(
        src_ptrs.data_ptr(), dst_ptrs.data_ptr(), sizes.data_ptr(), count, stream.cuda_stream
    )
