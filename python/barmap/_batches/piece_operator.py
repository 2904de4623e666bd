# SPDX-License-Identifier: MIT
"""The operator barmap::copy_pieces, by which compiled code of PyTorch submits copies."""

from __future__ import annotations

from typing import Optional

import torch

from . import kernel_queues

SCHEMA = (
    "(Tensor(a!) to, Tensor source, Tensor pieces, Tensor? count, int queue, float seconds) -> ()"
)


def copy_pieces(
    to: torch.Tensor,
    source: torch.Tensor,
    pieces: torch.Tensor,
    count: Optional[torch.Tensor],
    queue: int,
    seconds: float,
) -> None:
    """The work of the operator, when its turn comes: here the tensors have addresses.

    Raises
    ------
    TypeError, ValueError
        For other tensors, as `barmap.torch.copy_pieces` says; for a queue that is gone.
    """
    held = kernel_queues.numbered.get(queue)
    if held is None:
        raise ValueError(
            "the KernelQueue of this barmap::copy_pieces is gone: keep it for as long as code that was "
            "compiled with it runs"
        )
    for name, tensor in (("to", to), ("source", source)):
        if not tensor.is_contiguous():
            raise ValueError(f"{name} is not contiguous, so that offsets in bytes say nothing of it")
        if pieces.is_cuda and not tensor.is_cuda and not tensor.is_pinned():
            raise ValueError(f"{name} is in pageable memory, which a GPU cannot reach: pin it")
    if pieces.dtype is not torch.int64:
        raise TypeError(f"pieces has {pieces.dtype}: give int64")
    if pieces.dim() != 2 or pieces.shape[1] != 3:
        raise ValueError(
            f"pieces has the shape {tuple(pieces.shape)}: give (n, 3), with rows of the offsets in to and "
            "in source, and bytes"
        )
    addresses = pieces.contiguous().clone()
    addresses[:, 0] += to.data_ptr()
    addresses[:, 1] += source.data_ptr()
    held.submit(addresses, count, seconds=seconds)


is_there = hasattr(torch, "library") and hasattr(torch.library, "custom_op")  # from PyTorch 2.4 on
if is_there:
    torch.library.custom_op("barmap::copy_pieces", copy_pieces, mutates_args=("to",), schema=SCHEMA)
