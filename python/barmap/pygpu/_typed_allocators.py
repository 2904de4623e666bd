# SPDX-License-Identifier: MIT
"""Memory for elements of one type, to be had as a pointer."""

from __future__ import annotations

from .._barmap import pygpu as _runtime
from ._allocators import array_of
from ._dtypes import supported
from ._host_memory import checked_shape
from ._pointers import POINTER_WRAPPERS, pointer_wrapper
from ._status import cudaError_t


class _TypedAllocator:
    """Memory for a number of elements, to be had as a pointer."""

    _dtype = ""

    def __init__(self) -> None:
        self._pointer = POINTER_WRAPPERS[self._dtype]()

    def _itemsize(self) -> int:
        return int(supported(self._dtype).itemsize)

    def ptr(self) -> pointer_wrapper:
        """Pointer to the memory; null before `allocate`."""
        return self._pointer


class TypedHostAllocator(_TypedAllocator):
    """Ordinary host memory, as HostAllocator_float64 and so on.

    Examples
    --------
    >>> memory = pygpu.HostAllocator_float64()
    >>> memory.allocate(2)
    >>> memory.ptr().get()
    array([0., 0.])
    """

    def allocate(self, n: int) -> None:
        """Makes memory for n elements, all 0; what was there before stays as long as it is used."""
        self._pointer = POINTER_WRAPPERS[self._dtype]()
        self._pointer.create(n)


class TypedDeviceAllocator(_TypedAllocator):
    """Memory on the device, as DeviceAllocator_float64 and so on. Freed when no pointer is left.

    Examples
    --------
    >>> memory = pygpu.DeviceAllocator_float64()
    >>> memory.allocate(100)
    <cudaError: code=0>
    >>> int(memory.ptr()) != 0
    True
    """

    def allocate(self, n: int) -> cudaError_t:
        """Makes memory for n elements on the current device. Not initialised."""
        memory = _runtime.DeviceMemory(checked_shape(n)[0] * self._itemsize())
        self._pointer = POINTER_WRAPPERS[self._dtype]._of_device(memory.address, memory)
        return cudaError_t(memory.made)


class TypedPagelockedAllocator(_TypedAllocator):
    """Page-locked host memory, as PagelockedAllocator_float64 and so on.

    Examples
    --------
    >>> memory = pygpu.PagelockedAllocator_float64()
    >>> memory.allocate(2)
    <cudaError: code=0>
    >>> memory.ptr().get()
    array([0., 0.])
    """

    def allocate(self, n: int) -> cudaError_t:
        """Makes memory for n elements, all 0."""
        memory = _runtime.PinnedMemory(checked_shape(n)[0] * self._itemsize())
        if memory.made == 0:
            array = array_of(memory, self._dtype)
            self._pointer = POINTER_WRAPPERS[self._dtype]._of_host(array)
        return cudaError_t(memory.made)


class HostAllocator_int16(TypedHostAllocator):
    _dtype = "int16"


class HostAllocator_int32(TypedHostAllocator):
    _dtype = "int32"


class HostAllocator_int64(TypedHostAllocator):
    _dtype = "int64"


class HostAllocator_uint16(TypedHostAllocator):
    _dtype = "uint16"


class HostAllocator_uint32(TypedHostAllocator):
    _dtype = "uint32"


class HostAllocator_uint64(TypedHostAllocator):
    _dtype = "uint64"


class HostAllocator_float32(TypedHostAllocator):
    _dtype = "float32"


class HostAllocator_float64(TypedHostAllocator):
    _dtype = "float64"


class HostAllocator_complex64(TypedHostAllocator):
    _dtype = "complex64"


class HostAllocator_complex128(TypedHostAllocator):
    _dtype = "complex128"


class DeviceAllocator_int16(TypedDeviceAllocator):
    _dtype = "int16"


class DeviceAllocator_int32(TypedDeviceAllocator):
    _dtype = "int32"


class DeviceAllocator_int64(TypedDeviceAllocator):
    _dtype = "int64"


class DeviceAllocator_uint16(TypedDeviceAllocator):
    _dtype = "uint16"


class DeviceAllocator_uint32(TypedDeviceAllocator):
    _dtype = "uint32"


class DeviceAllocator_uint64(TypedDeviceAllocator):
    _dtype = "uint64"


class DeviceAllocator_float32(TypedDeviceAllocator):
    _dtype = "float32"


class DeviceAllocator_float64(TypedDeviceAllocator):
    _dtype = "float64"


class DeviceAllocator_complex64(TypedDeviceAllocator):
    _dtype = "complex64"


class DeviceAllocator_complex128(TypedDeviceAllocator):
    _dtype = "complex128"


class PagelockedAllocator_int16(TypedPagelockedAllocator):
    _dtype = "int16"


class PagelockedAllocator_int32(TypedPagelockedAllocator):
    _dtype = "int32"


class PagelockedAllocator_int64(TypedPagelockedAllocator):
    _dtype = "int64"


class PagelockedAllocator_uint16(TypedPagelockedAllocator):
    _dtype = "uint16"


class PagelockedAllocator_uint32(TypedPagelockedAllocator):
    _dtype = "uint32"


class PagelockedAllocator_uint64(TypedPagelockedAllocator):
    _dtype = "uint64"


class PagelockedAllocator_float32(TypedPagelockedAllocator):
    _dtype = "float32"


class PagelockedAllocator_float64(TypedPagelockedAllocator):
    _dtype = "float64"


class PagelockedAllocator_complex64(TypedPagelockedAllocator):
    _dtype = "complex64"


class PagelockedAllocator_complex128(TypedPagelockedAllocator):
    _dtype = "complex128"
