# SPDX-License-Identifier: MIT
"""PyGPU, later called PybindGPU: light-weight control of GPUs, and moving data to and from them.

The runtime is NVIDIA's or AMD's (BARMAP_RUNTIME=cuda or hip), loaded at the first call. Functions
and the low-level objects return what it answered, as objects; `GPUArray` raises instead.

The examples assume ``import numpy as np`` and ``from barmap import pygpu``.
"""

from __future__ import annotations

from typing import Any, List

from .._barmap import pygpu as _runtime
from . import gpuarray
from ._allocators import TYPED_ALLOCATORS, Allocator, HostAllocator, PagelockedAllocator
from ._control import (
    cudaDeviceProp,
    cudaDeviceReset,
    cudaDeviceSynchronize,
    cudaEvent_t,
    cudaEventElapsedTime,
    cudaEventQuery,
    cudaEventRecord,
    cudaEventSynchronize,
    cudaGetDevice,
    cudaGetDeviceCount,
    cudaGetDeviceProperties,
    cudaGetErrorName,
    cudaGetErrorString,
    cudaGetLastError,
    cudaMemGetInfo,
    cudaPeekAtLastError,
    cudaSetDevice,
    cudaStream_t,
    cudaStreamQuery,
    cudaStreamSynchronize,
    cudaStreamWaitEvent,
)
from ._device_array import DEVICE_ARRAYS, DeviceArray
from ._dtypes import SUPPORTED_DTYPES, UnsupportedDataType, dtype
from ._gpu_array import GPUArray, to_gpu
from ._limits import mapped_sizes, set_mapped_sizes
from ._pointers import POINTER_WRAPPERS, pointer_wrapper
from ._status import cudaError_t

# The version of PybindGPU whose names are here.
major_version, minor_version, release_version = 0, 2, 1

_classes = [*DEVICE_ARRAYS.values(), *POINTER_WRAPPERS.values(), *TYPED_ALLOCATORS.values()]
globals().update({each.__name__: each for each in _classes})
# What PybindGPU calls them.
globals().update({f"ptr_wrapper_{name}": each for name, each in POINTER_WRAPPERS.items()})

__all__ = [
    "Allocator",
    "DeviceArray",
    "GPUArray",
    "HostAllocator",
    "PagelockedAllocator",
    "SUPPORTED_DTYPES",
    "UnsupportedDataType",
    "__getattr__",
    "cudaDeviceProp",
    "cudaDeviceReset",
    "cudaDeviceSynchronize",
    "cudaError_t",
    "cudaEventElapsedTime",
    "cudaEventQuery",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaEvent_t",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaGetDeviceProperties",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaGetLastError",
    "cudaMemGetInfo",
    "cudaPeekAtLastError",
    "cudaSetDevice",
    "cudaStreamQuery",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
    "cudaStream_t",
    "dtype",
    "gpuarray",
    "major_version",
    "mapped_sizes",
    "minor_version",
    "pointer_wrapper",
    "release_version",
    "set_mapped_sizes",
    "to_gpu",
    *(each.__name__ for each in _classes),
    *(f"ptr_wrapper_{name}" for name in POINTER_WRAPPERS),
]


def __getattr__(name: str) -> Any:
    """What depends on the machine: asking chooses and loads the runtime."""
    if name == "use_hip":
        return _runtime.vendor() == "hip"
    if name == "cuda_enabled":
        return _runtime.device_count()[0] > 0
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), "use_hip", "cuda_enabled"})


for _each in [*_classes, *(globals()[name] for name in __all__)]:
    if getattr(_each, "__module__", "").startswith(f"{__name__}."):
        _each.__module__ = __name__
del _each
