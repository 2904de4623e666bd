# SPDX-License-Identifier: MIT
"""Arrays on the device, as in NumPy and PyCUDA."""

from __future__ import annotations

import math
from typing import Any, Iterator

from .._barmap import pygpu as _runtime
from . import _indexing, _transfers
from ._allocators import Allocator, HostAllocator, PagelockedAllocator
from ._device_array import borrowed_memory, one_element, refused_index
from ._dtypes import UnsupportedDataType, supported
from ._host_memory import checked_shape
from ._indexing import Layout
from ._sharing import broadcast, device_memory_of
from ._status import cudaError_t
from ._transferred import Transferred


class GPUArray(Transferred):
    """An array on the device, with a host side beside it.

    Parameters
    ----------
    a : numpy.ndarray, or int or sequence of int
        An array, which becomes the host side (`to_device` sends it); or a shape.
    dtype : optional
        With a shape: one of SUPPORTED_DTYPES; float64 if not given.
    shape : optional
        The same as a shape for `a`.
    order : {"C", "F"}, optional
        How the elements lie; that of the array, or C.
    copy : bool, optional
        Take a copy of the array for the host side.
    allocator : Allocator, HostAllocator or PagelockedAllocator, optional
        Memory to use, on the device or on the host; goes alone.

    Raises
    ------
    UnsupportedDataType
        A TypeError: for another data type, or what is neither array nor shape.
    barmap.Error
        If the runtime refuses; `last_status` then also holds its code.

    Notes
    -----
    The memory on the device is not initialised: see `to_gpu`. Slices are views: they share the
    memory on the device, and keep it; each has a separate host side.

    Examples
    --------
    >>> k = pygpu.GPUArray(np.array([[1, 2, 3], [4, 5, 6]]))
    >>> k.to_device()
    >>> k[:, ::2].get()
    array([[1, 3],
           [4, 6]])
    >>> k[1] = 0
    >>> k.get()
    array([[1, 2, 3],
           [0, 0, 0]])
    """

    def __init__(
        self,
        a: Any = None,
        dtype: Any = None,
        *,
        shape: Any = None,
        order: Any = None,
        copy: bool = False,
        allocator: Any = None,
    ) -> None:
        if allocator is not None:
            if a is not None or shape is not None or dtype is not None:
                raise RuntimeError("an allocator knows shape and data type: give nothing else")
            self._from_allocator(allocator)
            return
        if (a is None) == (shape is None):
            raise TypeError("GPUArray takes either an array or a shape")
        if order not in (None, "C", "F"):
            raise ValueError(f'order is "C" or "F", not {order!r}')
        if a is not None and _is_array(a):
            self._from_array(a, dtype, order, copy)
        else:
            self._from_shape(a if shape is None else shape, dtype, order or "C")

    def _from_allocator(self, allocator: Any) -> None:
        if isinstance(allocator, (HostAllocator, PagelockedAllocator)):
            self._allocate(allocator.get())
            return
        if not isinstance(allocator, Allocator):
            allocator = Allocator(allocator)
        array = allocator._array
        self._set(array._memory, array._layout, array._dtype, array._owner)
        self._host = allocator.host_data

    def _from_array(self, a: Any, dtype: Any, order: Any, copy: bool) -> None:
        import numpy as np

        supported(a.dtype)
        if dtype is not None and np.dtype(dtype) != a.dtype:
            raise TypeError(f"the array has elements of type {a.dtype}, not {np.dtype(dtype)}")
        if copy:
            a = np.array(a, order=order or "K")
        self._allocate(np.asarray(a, order=order))

    def _from_shape(self, shape: Any, dtype: Any, order: str) -> None:
        try:
            lengths = checked_shape(shape)
        except TypeError:
            raise UnsupportedDataType(
                f"a GPUArray is made of a numpy.ndarray or a shape, not of {type(shape).__name__}"
            ) from None
        found = supported("float64" if dtype is None else dtype)
        self._own(Layout.dense(lengths, found.itemsize, order), found)

    def _allocate(self, host: Any) -> None:
        """Memory on the device for what is on the host, in the same order if it has one."""
        order = "F" if host.flags.f_contiguous and not host.flags.c_contiguous else "C"
        self._own(Layout.dense(host.shape, host.dtype.itemsize, order), host.dtype)
        self._host = host

    def _own(self, layout: Layout, dtype: Any) -> None:
        memory = _runtime.DeviceMemory(layout.nbytes)
        self._set(memory, layout, dtype, None)
        self._do(memory.made, f"allocate {layout.nbytes} bytes on the device")

    @classmethod
    def _made_of(cls, memory: Any, layout: Layout, dtype: Any, owner: Any) -> GPUArray:
        array = GPUArray.__new__(cls)
        array._set(memory, layout, dtype, owner)
        return array

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[GPUArray]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"GPUArray(shape={self.shape}, dtype={self._dtype.name}, ptr={self.ptr:#x})"

    def __bool__(self) -> bool:
        return bool(self.item())

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a GPUArray does not become a NumPy array by itself: call get()")

    def set_val(self, idx: int, val: Any) -> cudaError_t:
        """Writes one element on the device; idx counts in the order of the host side's memory.

        An index outside of the array writes nothing, warns, and returns cudaErrorInvalidValue (1).

        Raises
        ------
        ValueError
            If val is more or less than one element.
        """
        import numpy as np

        if not 0 <= idx < self.size:
            self._status = refused_index(idx, self.size)
            return self._status
        value = one_element(val, self._dtype)
        if self._layout.is_dense("C"):
            offset = self._layout.offset + idx * self._layout.itemsize
            self._do(self._memory.write(offset, value), "copy to the device")
            return self._status
        order: Any = "F" if self.flags.f_contiguous and not self.flags.c_contiguous else "C"
        self[np.unravel_index(idx, self.shape, order)] = value
        return self._status

    def copy(self) -> GPUArray:
        """A new array on the device with the same elements, in the same order if it has one."""
        order = "F" if self.flags.f_contiguous and not self.flags.c_contiguous else "C"
        made = GPUArray(self.shape, self._dtype, order=order)
        made[...] = self
        return made

    # Indexing

    def _view(self, layout: Layout) -> GPUArray:
        return self._made_of(self._memory, layout, self._dtype, self._owner)

    def __getitem__(self, index: Any) -> GPUArray:
        """Integers, slices, None and ... give a view. Arrays and masks give a new array, by the
        host."""
        if _indexing.is_basic(index):
            return self._view(_indexing.view(self._layout, index))
        return to_gpu(self._fetched()[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        if not _indexing.is_basic(index):  # by the host: all of it is read and written
            array = self._fetched()
            array[index] = value.get(copy=True) if isinstance(value, GPUArray) else value
            self.set(array)
            return
        view = self._view(_indexing.view(self._layout, index))
        try:
            view._assign(value)
        finally:
            self._status = view._status

    def _assign(self, value: Any) -> None:
        import numpy as np

        if isinstance(value, GPUArray) or hasattr(value, "__cuda_array_interface__"):
            self._assign_from_device(shared(value))
            return
        if self._layout.size == 1 and isinstance(value, (int, float, complex)):
            array = np.empty(self._layout.shape, self._dtype)
            array[...] = value
            self._upload(array)
            return
        if isinstance(value, (int, float, complex, list, tuple)):
            array = np.array(value, self._dtype)  # refuses what does not fit, as NumPy does
        else:
            array = np.asarray(value)
        kept = np.can_cast(array.dtype, self._dtype, "same_kind")
        if not kept and not np.isscalar(value):
            raise TypeError(
                f"elements of type {array.dtype} do not become {self._dtype.name} by themselves: "
                "convert them with astype()"
            )
        self._upload(np.broadcast_to(array.astype(self._dtype), self.shape))

    def _assign_from_device(self, value: GPUArray) -> None:
        if value._dtype != self._dtype:
            raise TypeError(
                f"elements of type {value._dtype.name} cannot become {self._dtype.name} on the "
                "device: convert them on the host"
            )
        source = broadcast(value._layout, self.shape)
        status = _transfers.copy(self._memory, self._layout, value._memory, source)
        self._do(status, "copy on the device")

    def reshape(self, *shape: Any, order: str = "C") -> GPUArray:
        """A view of the same elements in another shape; one length may be -1.

        Raises
        ------
        ValueError
            If the numbers of elements differ, or the elements do not lie in this order.
        """
        lengths = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        lengths = tuple(int(n) for n in lengths)
        if lengths.count(-1) == 1:
            rest = math.prod(n for n in lengths if n != -1)
            lengths = tuple(self.size // rest if n == -1 and rest else n for n in lengths)
        if math.prod(checked_shape(lengths)) != self.size:
            raise ValueError(f"{self.size} elements do not fill the shape {tuple(lengths)}")
        layout = _indexing.reshaped(self._layout, lengths, order)
        if layout is None:
            raise ValueError("the elements do not lie in this order: copy() the array first")
        return self._view(layout)

    @property
    def T(self) -> GPUArray:
        """A view with the axes reversed."""
        layout = self._layout
        return self._view(layout._replace(shape=layout.shape[::-1], strides=layout.strides[::-1]))


def _is_array(a: Any) -> bool:
    import numpy as np

    return isinstance(a, np.ndarray)


def shared(data: Any) -> GPUArray:
    """An array on memory on the device of another owner, which it keeps.

    Raises
    ------
    TypeError, ValueError
        As device_memory_of().
    """
    if isinstance(data, GPUArray):
        return data._view(data._layout)
    if isinstance(data, PagelockedAllocator):
        found = supported(data._dtype)
        layout = Layout.dense(tuple(data._shape), found.itemsize, "C")
        memory = borrowed_memory(data.host_ptr() if layout.size else 0, layout.nbytes)
        return GPUArray._made_of(memory, layout, found, data)
    memory, layout, found = device_memory_of(data)
    return GPUArray._made_of(memory, layout, found, data)


def to_gpu(cpu_data: Any) -> GPUArray:
    """A new array on the device, with what an array on the host has.

    The host array becomes the host side, which `GPUArray.get` writes to, unless it was converted.

    Examples
    --------
    >>> k_gpu = pygpu.to_gpu(np.array([1, 2, 3, 4, 5, 6]))
    >>> k_gpu[2:4].get()
    array([3, 4])
    """
    import numpy as np

    if isinstance(cpu_data, GPUArray):
        return cpu_data.copy()
    made = GPUArray(np.asarray(cpu_data))
    made.to_device()
    return made
