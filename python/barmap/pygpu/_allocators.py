# SPDX-License-Identifier: MIT
"""Memory that a GPUArray can be made of, instead of making its own."""

from __future__ import annotations

import math
from typing import Any, Optional

from .._barmap import pygpu as _runtime
from ._dtypes import supported
from ._host_memory import checked_shape
from ._pointers import POINTER_WRAPPERS, pointer_wrapper
from ._status import check


class _HostSide:
    """Host memory for a GPUArray, which then has separate device memory beside it."""

    _array: Any

    def __init__(self, shape: Any, dtype: Any) -> None:
        found = supported(dtype)
        self._shape = list(checked_shape(shape))
        self._dtype = found.name
        self._size = math.prod(self._shape)
        self._array = self._make(found)

    def _make(self, dtype: Any) -> Any:
        raise NotImplementedError

    def get(self) -> Any:
        """The memory as a numpy.ndarray, which shares it and keeps it."""
        return self._array.view()

    def ptr(self) -> pointer_wrapper:
        """Pointer to the memory; safe."""
        return POINTER_WRAPPERS[self._dtype]._of_host(self._array)

    def host_ptr(self) -> int:
        """Address of the memory."""
        return int(self._array.ctypes.data)


class HostAllocator(_HostSide):
    """Ordinary host memory, all 0, for the host side of a GPUArray.

    Examples
    --------
    >>> memory = pygpu.HostAllocator((2, 3), np.float64)
    >>> array = pygpu.GPUArray(allocator=memory)
    >>> memory.get()[1] = 7
    >>> array.to_device()
    >>> array[1].get()
    array([7., 7., 7.])
    """

    def _make(self, dtype: Any) -> Any:
        import numpy as np

        return np.zeros(self._shape, dtype)


class PagelockedAllocator(_HostSide):
    """Page-locked host memory, all 0, for the host side of a GPUArray: copies are faster.

    It stays as long as an array or view of it does.

    Raises
    ------
    barmap.Error
        If the runtime does not lock that much memory.

    Examples
    --------
    >>> memory = pygpu.PagelockedAllocator((2, 2), "int32")
    >>> memory.get()[:] = [[1, 2], [3, 4]]
    >>> array = pygpu.GPUArray(allocator=memory)
    >>> array.to_device()
    >>> array[:, 1].get()
    array([2, 4], dtype=int32)
    """

    def _make(self, dtype: Any) -> Any:
        nbytes = self._size * dtype.itemsize
        memory = _runtime.PinnedMemory(nbytes)
        check(memory.made, f"make {nbytes} bytes of page-locked memory")
        return array_of(memory, dtype).reshape(self._shape)


def array_of(memory: Any, dtype: Any) -> Any:
    """Page-locked memory as an array of one axis, which keeps it."""
    import numpy as np

    return np.frombuffer(memory, dtype) if memory.nbytes else np.zeros(0, dtype)


class Allocator:
    """Memory on the device that is there already, for a GPUArray that shares it.

    Parameters
    ----------
    data : object
        A GPUArray; an object with ``__cuda_array_interface__``, such as a CuPy array; or a
        PagelockedAllocator, whose memory the device can also use. Kept alive.
    host_data : numpy.ndarray, optional
        The host side; of the same shape and data type. New memory if not given.

    Examples
    --------
    >>> k = pygpu.to_gpu(np.arange(3))
    >>> j = pygpu.GPUArray(allocator=pygpu.Allocator(k))
    >>> j.set_val(0, 43)
    <cudaError: code=0>
    >>> k.get()
    array([43,  1,  2])
    """

    def __init__(self, data: Any, host_data: Optional[Any] = None) -> None:
        import numpy as np

        from ._gpu_array import shared
        from ._sharing import expect_same

        self.data = data
        self._array = shared(data)  # without a host side
        self._shape = list(self._array.shape)
        self._dtype = self._array.dtype.name
        if host_data is None:
            order: Any = "F" if self._array.flags.f_contiguous else "C"
            host_data = np.zeros(self._shape, self._dtype, order)
        else:
            expect_same(host_data, self._array.shape, self._array.dtype)
        self.host_data = host_data

    def ptr(self) -> int:
        """Address of the memory on the device."""
        return self._array.ptr

    def host_ptr(self) -> int:
        """Address of the host side."""
        return int(self.host_data.ctypes.data)
