# SPDX-License-Identifier: MIT
"""barmap: ``mmap()`` for GPU memory.

Gives the CPU an address for GPU memory that CuPy, PyTorch, Numba or another library owns, or that
barmap allocates. Small data then moves by plain loads and stores, without a driver call.

The examples assume ``import barmap, numpy as np``, and ``barmap.sim()`` where there is no GPU.
"""

from . import types
from ._array import Array, alloc
from ._barmap import version as __version__
from ._batches import BatchQueue, batch_queue, copy_rows, pinned
from ._checkpoint import checkpoint_prepare, checkpoint_restore
from ._device_struct import device_struct
from ._error import ArgumentError, Error
from ._headers import include_dir
from ._layout import IpcMemory
from ._machine import Device, devices, flush_stores, info, sim
from ._logs import LogRing
from ._mapping import Mapping, map
from ._rings import RingToCpu, RingToGpu
from ._sharing import open_shared
from ._signals import Arena, CounterToCpu, CounterToGpu
from ._steps import StepInputs, StepOutputs

__all__ = [
    "Arena",
    "ArgumentError",
    "Array",
    "BatchQueue",
    "CounterToCpu",
    "CounterToGpu",
    "Device",
    "Error",
    "IpcMemory",
    "LogRing",
    "Mapping",
    "RingToCpu",
    "RingToGpu",
    "StepInputs",
    "StepOutputs",
    "__version__",
    "alloc",
    "batch_queue",
    "checkpoint_prepare",
    "checkpoint_restore",
    "copy_rows",
    "device_struct",
    "devices",
    "flush_stores",
    "include_dir",
    "info",
    "map",
    "open_shared",
    "pinned",
    "sim",
]

for _each in (
    Arena, ArgumentError, Array, BatchQueue, CounterToCpu, CounterToGpu, Device, Error, IpcMemory, LogRing,
    Mapping, RingToCpu, RingToGpu, StepInputs, StepOutputs, alloc, batch_queue, checkpoint_prepare,
    checkpoint_restore, copy_rows, device_struct, devices, flush_stores, include_dir, info, map, open_shared, pinned, sim,
):
    _each.__module__ = __name__
del _each
