# SPDX-License-Identifier: MIT
"""Checkpoints of the process with what it has on the GPU."""

from __future__ import annotations

from . import _barmap
from ._waiting import seconds as _seconds


def checkpoint_prepare(seconds: float = 1.0) -> None:
    """Releases all that the process holds of GPU memory through barmap, for a checkpoint of CUDA.

    Without it, CUDA's memory moves when the process is checkpointed and restored, by
    cuda-checkpoint, CRIU or an inference engine, and mappings go on to reach the memory that was
    there before. Every object and every address stays what it is. Until `checkpoint_restore`,
    calls that need the GPU raise, and an access to the memory, also by a NumPy array over it, ends
    the process. Where the process is prepared, it does nothing. Covers the packages gdrcopy and
    vkgdr, too.

    Parameters
    ----------
    seconds : float, optional
        How long to wait for batches, and for calls of other threads.

    Raises
    ------
    barmap.Error
        If some are still under way, or something cannot come back: memory that was opened by a
        descriptor or an IPC handle, or that backend vulkan has allocated. Nothing has changed then,
        unless the error says that the process is prepared.

    Examples
    --------
    >>> array = barmap.alloc(4, "u1")
    >>> array.fill(7)
    >>> barmap.checkpoint_prepare()
    >>> barmap.checkpoint_restore()  # after the checkpoint
    >>> int(array.numpy()[3])
    7
    """
    _barmap.checkpoint_prepare(_seconds(seconds, "seconds"))


def checkpoint_restore() -> None:
    """Maps all memory where it was before `checkpoint_prepare`, as CUDA has it by now.

    Where CUDA was restored without `checkpoint_prepare`, it puts that right; else it does nothing
    where the process is not prepared.

    Raises
    ------
    barmap.Error
        If the driver refuses. The process stays prepared then: call it again.

    Examples
    --------
    >>> barmap.checkpoint_prepare(seconds=10)
    >>> barmap.checkpoint_restore()
    """
    _barmap.checkpoint_restore()
