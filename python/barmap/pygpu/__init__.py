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
from ._allocators import (
    Allocator,
    HostAllocator,
    PagelockedAllocator,
)
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
from ._device_array import (
    DeviceArray,
    DeviceArray_complex64,
    DeviceArray_complex128,
    DeviceArray_float32,
    DeviceArray_float64,
    DeviceArray_int16,
    DeviceArray_int32,
    DeviceArray_int64,
    DeviceArray_uint16,
    DeviceArray_uint32,
    DeviceArray_uint64,
)
from ._dtypes import (
    SUPPORTED_DTYPES,
    UnsupportedDataType,
    dtype,
)
from ._gpu_array import (
    GPUArray,
    to_gpu,
)
from ._include import get_include
from ._pointers import (
    pointer_wrapper,
    pointer_wrapper_complex64,
    pointer_wrapper_complex128,
    pointer_wrapper_float32,
    pointer_wrapper_float64,
    pointer_wrapper_int16,
    pointer_wrapper_int32,
    pointer_wrapper_int64,
    pointer_wrapper_uint16,
    pointer_wrapper_uint32,
    pointer_wrapper_uint64,
)
from ._status import (
    cudaError_t,
)
from ._typed_allocators import (
    DeviceAllocator_complex64,
    DeviceAllocator_complex128,
    DeviceAllocator_float32,
    DeviceAllocator_float64,
    DeviceAllocator_int16,
    DeviceAllocator_int32,
    DeviceAllocator_int64,
    DeviceAllocator_uint16,
    DeviceAllocator_uint32,
    DeviceAllocator_uint64,
    HostAllocator_complex64,
    HostAllocator_complex128,
    HostAllocator_float32,
    HostAllocator_float64,
    HostAllocator_int16,
    HostAllocator_int32,
    HostAllocator_int64,
    HostAllocator_uint16,
    HostAllocator_uint32,
    HostAllocator_uint64,
    PagelockedAllocator_complex64,
    PagelockedAllocator_complex128,
    PagelockedAllocator_float32,
    PagelockedAllocator_float64,
    PagelockedAllocator_int16,
    PagelockedAllocator_int32,
    PagelockedAllocator_int64,
    PagelockedAllocator_uint16,
    PagelockedAllocator_uint32,
    PagelockedAllocator_uint64,
)
from ._use_mapping import use_mapping

# The version of PybindGPU whose names are here.
major_version, minor_version, release_version = 0, 2, 1

# PybindGPU's names of them.
ptr_wrapper_int16 = pointer_wrapper_int16
ptr_wrapper_int32 = pointer_wrapper_int32
ptr_wrapper_int64 = pointer_wrapper_int64
ptr_wrapper_uint16 = pointer_wrapper_uint16
ptr_wrapper_uint32 = pointer_wrapper_uint32
ptr_wrapper_uint64 = pointer_wrapper_uint64
ptr_wrapper_float32 = pointer_wrapper_float32
ptr_wrapper_float64 = pointer_wrapper_float64
ptr_wrapper_complex64 = pointer_wrapper_complex64
ptr_wrapper_complex128 = pointer_wrapper_complex128

# With __getattr__, so that a module that imports all of this behaves as this one does.
__all__ = [
    "Allocator",
    "DeviceAllocator_complex128",
    "DeviceAllocator_complex64",
    "DeviceAllocator_float32",
    "DeviceAllocator_float64",
    "DeviceAllocator_int16",
    "DeviceAllocator_int32",
    "DeviceAllocator_int64",
    "DeviceAllocator_uint16",
    "DeviceAllocator_uint32",
    "DeviceAllocator_uint64",
    "DeviceArray",
    "DeviceArray_complex128",
    "DeviceArray_complex64",
    "DeviceArray_float32",
    "DeviceArray_float64",
    "DeviceArray_int16",
    "DeviceArray_int32",
    "DeviceArray_int64",
    "DeviceArray_uint16",
    "DeviceArray_uint32",
    "DeviceArray_uint64",
    "GPUArray",
    "HostAllocator",
    "HostAllocator_complex128",
    "HostAllocator_complex64",
    "HostAllocator_float32",
    "HostAllocator_float64",
    "HostAllocator_int16",
    "HostAllocator_int32",
    "HostAllocator_int64",
    "HostAllocator_uint16",
    "HostAllocator_uint32",
    "HostAllocator_uint64",
    "PagelockedAllocator",
    "PagelockedAllocator_complex128",
    "PagelockedAllocator_complex64",
    "PagelockedAllocator_float32",
    "PagelockedAllocator_float64",
    "PagelockedAllocator_int16",
    "PagelockedAllocator_int32",
    "PagelockedAllocator_int64",
    "PagelockedAllocator_uint16",
    "PagelockedAllocator_uint32",
    "PagelockedAllocator_uint64",
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
    "get_include",
    "gpuarray",
    "major_version",
    "minor_version",
    "pointer_wrapper",
    "pointer_wrapper_complex128",
    "pointer_wrapper_complex64",
    "pointer_wrapper_float32",
    "pointer_wrapper_float64",
    "pointer_wrapper_int16",
    "pointer_wrapper_int32",
    "pointer_wrapper_int64",
    "pointer_wrapper_uint16",
    "pointer_wrapper_uint32",
    "pointer_wrapper_uint64",
    "ptr_wrapper_complex128",
    "ptr_wrapper_complex64",
    "ptr_wrapper_float32",
    "ptr_wrapper_float64",
    "ptr_wrapper_int16",
    "ptr_wrapper_int32",
    "ptr_wrapper_int64",
    "ptr_wrapper_uint16",
    "ptr_wrapper_uint32",
    "ptr_wrapper_uint64",
    "release_version",
    "to_gpu",
    "use_mapping",
]


def __getattr__(name: str) -> Any:
    """Names that depend on the machine: asking chooses and loads the runtime."""
    if name == "use_hip":
        return _runtime.vendor() == "hip"
    if name == "cuda_enabled":
        return _runtime.device_count()[0] > 0
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), "use_hip", "cuda_enabled"})


for _name in __all__:
    _each = globals()[_name]
    if getattr(_each, "__module__", "").startswith(f"{__name__}."):
        _each.__module__ = __name__
del _name, _each
