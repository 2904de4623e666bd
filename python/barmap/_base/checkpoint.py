# SPDX-License-Identifier: MIT
"""Checkpoints of the process with what it has on the GPU."""

from __future__ import annotations

from .. import _barmap
from .waiting import seconds as _seconds


def checkpoint_prepare(seconds: float = 1.0) -> None:
    """Releases all GPU resources that the process holds through barmap, for a checkpoint of CUDA.

    Without this call, CUDA's memory moves when cuda-checkpoint, CRIU or an inference engine
    checkpoints and restores the process, and mappings continue to reach the memory that was there
    before. Objects and addresses stay valid. Until `checkpoint_restore`, calls that need the GPU
    raise, and an access to the memory, also through a NumPy array, ends the process. Idempotent.
    It also covers the packages gdrcopy and vkgdr.

    Parameters
    ----------
    seconds : float, optional
        How long to wait for batches, and for calls of other threads.

    Raises
    ------
    barmap.Error
        If some are still in flight, or an object could not be restored: memory that was opened by a
        descriptor or an IPC handle, or that backend vulkan has allocated. After an error nothing
        has changed, unless it says that the process is prepared.

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
