# SPDX-License-Identifier: MIT
"""barmap: ``mmap()`` for GPU memory.

barmap gives the CPU an address for GPU memory that CuPy, PyTorch, Numba or
another library owns, or that barmap allocates. Small data then moves by
plain loads and stores, without a driver call::

    with barmap.map(tensor) as mapping:
        mapping.write(np.array([1, 2], "f4"))
        mapping.read(0, 8)

Memory:

- ``map(array)`` makes a ``Mapping``: read, write, views by NumPy.
- ``alloc(shape, dtype)`` makes an ``Array``: GPU memory that is mapped.
- ``pinned(shape, dtype)`` allocates host memory that the GPU reaches.
- ``open_shared(descriptor)`` maps memory that another process shares;
  ``IpcMemory`` names another process's cudaMalloc memory for ``map``.
- ``flush_stores()`` sends out the CPU's stores to the GPU.

Many scattered copies:

- ``copy_rows(to, from_, ...)`` copies rows between GPU and pinned memory.
- ``batch_queue()`` gives a ``BatchQueue``, which copies by addresses.
- ``KernelQueue`` copies by a list in GPU memory, also in a CUDA graph.

Messages between the CPU and running kernels or streams:

- ``RingToGpu`` and ``RingToCpu`` carry messages of any dtype.
- ``LogRing`` reads what running kernels log.
- ``CounterToGpu`` and ``CounterToCpu`` are numbers that one side advances
  and the other waits for; an ``Arena`` has memory for hundreds of them.
- ``StepInputs`` and ``StepOutputs`` move the small arrays of each step.
- ``include_dir()`` and ``device_struct(dtype)`` are for writing kernels.

The machine:

- ``devices()`` lists the GPUs, each a ``Device``.
- ``info()`` says what works here.
- ``sim()`` has the process use a simulated GPU: call it first.
- ``checkpoint_prepare()`` and ``checkpoint_restore()`` surround a
  checkpoint of the process.
- ``Error`` is what fails, with advice; an ``ArgumentError`` is a wrong
  argument.

``help(barmap.map)`` and the like have the details. Their examples assume
``import barmap, numpy as np``, and ``barmap.sim()`` where there is no GPU.
``barmap.torch`` and ``barmap.cupy`` let these libraries allocate mappable
memory. ``python -m barmap`` is the command ``barmap``.
"""

from . import types
from ._arrays.array import Array, alloc
from ._barmap import version as __version__
from ._batches.batches import BatchQueue, batch_queue, copy_rows, pinned
from ._base.checkpoint import checkpoint_prepare, checkpoint_restore
from ._arrays.device_struct import device_struct
from ._base.error import ArgumentError, Error
from ._base.headers import include_dir
from ._batches.kernel_queues import KernelQueue
from ._arrays.layout import IpcMemory
from ._base.machine import Device, devices, flush_stores, info, sim
from ._signals.logs import LogRing
from ._arrays.mapping import Mapping, map
from ._signals.rings import RingToCpu, RingToGpu
from ._sharing.sharing import open_shared
from ._signals.signals import Arena, CounterToCpu, CounterToGpu
from ._signals.steps import StepInputs, StepOutputs

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
    "KernelQueue",
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
    Arena, ArgumentError, Array, BatchQueue, CounterToCpu, CounterToGpu, Device, Error, IpcMemory, KernelQueue,
    LogRing, Mapping, RingToCpu, RingToGpu, StepInputs, StepOutputs, alloc, batch_queue, checkpoint_prepare,
    checkpoint_restore, copy_rows, device_struct, devices, flush_stores, include_dir, info, map, open_shared, pinned, sim,
):
    _each.__module__ = __name__
del _each
