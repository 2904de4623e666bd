# SPDX-License-Identifier: MIT
"""The high-level interface alone: ``from barmap.pygpu import gpuarray``, as PyCUDA's module."""

from ._allocators import Allocator, HostAllocator, PagelockedAllocator
from ._dtypes import SUPPORTED_DTYPES, UnsupportedDataType, dtype
from ._gpu_array import GPUArray, to_gpu

__all__ = [
    "Allocator",
    "GPUArray",
    "HostAllocator",
    "PagelockedAllocator",
    "SUPPORTED_DTYPES",
    "UnsupportedDataType",
    "dtype",
    "to_gpu",
]
