# SPDX-License-Identifier: MIT
"""PyTorch tensors in memory that barmap allocates, which every backend can map."""

from __future__ import annotations

import functools
from typing import Any, Dict, Mapping, Optional, SupportsIndex

import torch

from . import _barmap
from ._batches import piece_operator
from ._batches.kernel_queues import KernelQueue
from ._signals.steps import StepInputs, StepOutputs


@functools.lru_cache(maxsize=None)
def allocator() -> torch.cuda.memory.CUDAPluggableAllocator:
    """The allocator, in PyTorch's form; always the same one.

    Prefer `pool`, which uses PyTorch's caching allocator, so that small tensors are cheap.
    ``torch.cuda.memory.change_current_allocator(allocator())`` takes every tensor from barmap, each
    with separate driver calls.

    If there is no memory, a line on stderr says why, and PyTorch raises its out-of-memory error
    (with `pool`) or makes a tensor without memory (with ``change_current_allocator``).
    """
    return torch.cuda.memory.CUDAPluggableAllocator(
        _barmap.__file__, "barmap_malloc", "barmap_free"
    )


def pool() -> torch.cuda.MemPool:
    """A new memory pool, whose tensors are in memory that barmap allocates.

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
    """Copies many blocks, on PyTorch's current stream, by one of barmap's copy engines.

    With the arguments of vLLM's function of this name; vLLM itself gets batches by the plug-in of
    this package (``BARMAP_VLLM=1``). The copies come after all work that the
    current stream was given before, all that it is given later sees the bytes, and the call returns
    at once. The three lists may go then; the blocks stay as they are until the stream is past it.

    If it fails, the next call raises that error and copies nothing: which bytes of the failed one
    were copied is unknown.

    Parameters
    ----------
    src_ptrs, dst_ptrs, sizes : torch.Tensor
        Addresses and bytes: of int64, on the CPU, contiguous, as many of each. The addresses are in
        memory of the current GPU, of another one that it has access to, or in pinned host memory.
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

        out = cache.data_ptr() + block_nbytes * torch.tensor(blocks)  # blocks of a tensor on the GPU
        kept = pool.data_ptr() + block_nbytes * torch.arange(len(blocks))  # of one in pinned memory
        sizes = torch.full((len(blocks),), block_nbytes)
        barmap.torch.swap_blocks_batch(out, kept, sizes)
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
            "the current stream is being captured into a CUDA graph, and this copy cannot be part "
            "of one: copy before or after the graph, or capture barmap.BatchQueue.submit"
        )
    _barmap.batch_queue(stream.device_index).swap_blocks(
        src_ptrs.data_ptr(), dst_ptrs.data_ptr(), sizes.data_ptr(), count, stream.cuda_stream
    )


def _submit_pieces(
    queue: KernelQueue, pieces: torch.Tensor, count: Optional[torch.Tensor], seconds: float
) -> None:
    queue.submit(pieces, count, seconds=seconds)


# As an operator that says which tensors it writes, it wrote where the pieces say, while compiled
# code worked with copies of these tensors, which it then wrote there (PyTorch 2.15).
_submit: Any = _submit_pieces
if hasattr(torch, "compiler"):
    _submit = torch.compiler.disable(_submit_pieces)


def submit_pieces(
    queue: KernelQueue,
    pieces: torch.Tensor,
    count: Optional[torch.Tensor] = None,
    *,
    seconds: float = 10.0,
) -> None:
    """`KernelQueue.submit` on PyTorch's current stream, also in a function for ``torch.compile``.

    Code before and after it is compiled by itself, since the compiler does not know what the
    addresses in `pieces` are: what comes before is in memory by then, and what comes after sees the
    bytes. ``fullgraph=True`` refuses that. While a CUDA graph is captured (``torch.cuda.graph``), it
    becomes part of the graph, and each replay reads `pieces` and `count` again.

    Parameters
    ----------
    queue : barmap.KernelQueue
    pieces, count : torch.Tensor
        Of int64, on the queue's GPU, as with `KernelQueue.submit`. A tensor that was made on the
        current stream may go at once, since PyTorch reuses its memory in the stream's order.
    seconds : float, optional
        As with `KernelQueue.submit`.

    Raises
    ------
    barmap.Error, TypeError, ValueError
        As `KernelQueue.submit`.

    Examples
    --------
    ::

        queue = barmap.KernelQueue()
        pieces = table[experts]  # rows of to, from, bytes, for the experts that a router has chosen
        barmap.torch.submit_pieces(queue, pieces)
    """
    _submit(queue, pieces, count, seconds)


def copy_pieces(
    queue: KernelQueue,
    to: torch.Tensor,
    source: torch.Tensor,
    pieces: torch.Tensor,
    count: Optional[torch.Tensor] = None,
    *,
    seconds: float = 10.0,
) -> None:
    """Copies pieces of one tensor to another, on PyTorch's current stream, as one operator of a graph.

    `submit_pieces` for code that ``torch.compile`` takes whole, ``fullgraph=True`` included: the
    compiler sees that the operator, ``torch.ops.barmap.copy_pieces``, reads `source` and writes `to`,
    and keeps it in its place. The GPU reads `pieces` and `count` when the stream comes there, also at
    each replay of a CUDA graph.

    Parameters
    ----------
    queue : barmap.KernelQueue
        Compiled code does not keep it: keep it for as long as that runs.
    to, source : torch.Tensor
        Contiguous, in memory of the queue's GPU, of another one that it has access to, or in pinned
        host memory. They may be one tensor.
    pieces : torch.Tensor
        Of int64 and shape (n, 3), on the queue's GPU: in each row the offsets in `to` and in `source`,
        and the length of the piece, all in bytes. No offset is checked, since only the GPU knows it.
    count : torch.Tensor, optional
        One element of int64 on the queue's GPU: how many rows to copy. All, if not given.
    seconds : float, optional
        As with `KernelQueue.submit`.

    Raises
    ------
    barmap.Error, TypeError, ValueError
        As `KernelQueue.submit`; for a tensor that is not contiguous, or in pageable memory.
    RuntimeError
        With a PyTorch before 2.4, which lacks ``torch.library.custom_op``.

    Examples
    --------
    ::

        @torch.compile(fullgraph=True)
        def fetch(cache, pool, experts):  # pool is in pinned host memory
            rows = table[experts]  # of offset in cache, offset in pool, bytes
            barmap.torch.copy_pieces(queue, cache, pool, rows)
            return model(cache)
    """
    if not piece_operator.is_there:
        raise RuntimeError(
            "PyTorch has torch.library.custom_op from 2.4 on: update it, or call submit_pieces"
        )
    torch.ops.barmap.copy_pieces(to, source, pieces, count, queue._number, float(seconds))


class _TorchInputs(StepInputs):
    """Inputs of steps whose staging memory is tensors."""

    def __init__(self, tensors: Mapping[str, torch.Tensor], versions: SupportsIndex) -> None:
        super().__init__(tensors, versions)
        staging = torch.from_numpy(self._held.staging())
        self.host = {
            name: staging[offset : offset + layout.nbytes]
            .view(tensor.dtype)
            .reshape(tuple(layout.shape))
            for (name, layout), tensor, offset in zip(
                self._layouts.items(), tensors.values(), self._held.offsets
            )
        }

    def push(self, arrays: Optional[Mapping[str, Any]] = None, /, **named: Any) -> bool:
        given: Dict[str, Any] = {**(arrays or {}), **named}
        are_tensors = [isinstance(x, torch.Tensor) for x in given.values()]
        if not any(are_tensors):
            return self._push(given or None)
        if not all(are_tensors):
            raise TypeError("some arguments are tensors and some are not: give tensors only")
        try:
            as_arrays = {name: x.numpy() for name, x in given.items()}
        except (RuntimeError, TypeError):  # NumPy lacks bfloat16, and tensors with gradients
            self._expect_like_inputs(given)
            for name, x in given.items():
                self.host[name].copy_(x.detach())
            return self._push(None)
        try:
            return self._push(as_arrays)  # the binding copies all of them at once
        except TypeError:
            self._expect_like_inputs(given)  # in PyTorch's words
            raise

    def _expect_like_inputs(self, tensors: Mapping[str, torch.Tensor]) -> None:
        if self.released:
            raise ValueError("this StepInputs is released")
        for name, x in tensors.items():
            to = self.host.get(name)
            if to is None:
                raise ValueError(f"there is no input {name!r}: the inputs are {list(self.host)}")
            if x.device.type != "cpu" or x.dtype != to.dtype:
                raise TypeError(f"{name} has {x.dtype} on {x.device}: give {to.dtype} on the CPU")
            if x.shape != to.shape:
                raise ValueError(
                    f"{name} has the shape {tuple(x.shape)}, and the input has {tuple(to.shape)}"
                )


def step_inputs(tensors: Mapping[str, torch.Tensor], versions: SupportsIndex = 4) -> StepInputs:
    """`barmap.StepInputs` of PyTorch's tensors, with tensors on the CPU to fill.

    ``host`` has tensors of the same dtypes, bfloat16 and 8-bit floats too, and ``push`` takes such
    tensors, on the CPU, or NumPy arrays. ``enqueue_load()`` is for the current stream, also while it is
    captured into a CUDA graph.

    Parameters
    ----------
    tensors : dict of torch.Tensor by name
        On one GPU, contiguous, and 1 MiB in all at most. They are kept until ``release()``.
    versions : int, optional
        How many steps may be pushed before the first is loaded, a power of two.

    Raises
    ------
    barmap.Error, TypeError, ValueError
        As `barmap.StepInputs`.

    Examples
    --------
    ::

        inputs = barmap.torch.step_inputs({"positions": positions, "slots": slots})
        with torch.cuda.graph(graph):
            inputs.enqueue_load()
            logits = model(positions, slots)
        inputs.host["positions"][:n] = torch.tensor(lengths)
        inputs.push()
        graph.replay()
    """
    return _TorchInputs(tensors, versions)


class TokenRing(StepOutputs):
    """One tensor whose contents the CPU gets after each step. Made by `token_ring`."""

    def __init__(self, tokens: torch.Tensor, capacity: SupportsIndex) -> None:
        super().__init__({"tokens": tokens}, capacity)
        self._dtype = tokens.dtype
        self._shape = tuple(self._layouts["tokens"].shape)
        self._pop = self._held.pop_to

    def push(self) -> None:
        """Has the current stream publish what the tensor holds: `barmap.StepOutputs.enqueue_store`."""
        self.enqueue_store()

    def pop(self) -> Any:
        """The oldest contents that have not been popped, as a tensor on the CPU, or None.

        Raises as `barmap.StepOutputs.pop`; ``await ring.get()`` and `wait_for` wait for them.
        """
        tokens = torch.empty(self._shape, dtype=self._dtype, device="cpu")
        return tokens if self._pop(tokens.data_ptr(), self._nbytes) else None


def token_ring(tokens: torch.Tensor, capacity: SupportsIndex = 64) -> TokenRing:
    """`barmap.StepOutputs` of one tensor: the tokens that a sampler has chosen.

    Parameters
    ----------
    tokens : torch.Tensor
        On a GPU, contiguous. It is kept until ``release()``.
    capacity : int, optional
        How many steps may be pushed before the first is popped, a power of two.

    Raises
    ------
    barmap.Error, TypeError, ValueError
        As `barmap.StepOutputs`.

    Examples
    --------
    ::

        ring = barmap.torch.token_ring(tokens)
        with torch.cuda.graph(graph):
            tokens.copy_(model(positions).argmax(-1))
            ring.push()
        graph.replay()
        if ring.wait_for(1):
            print(ring.pop().tolist())
    """
    return TokenRing(tokens, capacity)
