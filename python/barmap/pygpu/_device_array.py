# SPDX-License-Identifier: MIT
"""The low-level interface: an array with a host side and a device side."""

from __future__ import annotations

import warnings
from typing import Any, List, Optional

from .._barmap import pygpu as _runtime
from ._dtypes import SUPPORTED_DTYPES
from ._host_memory import at_address, checked_shape, in_memory_order, is_dense
from ._pointers import POINTER_WRAPPERS, pointer_wrapper
from ._status import cudaError_t

SUCCESS = cudaError_t(0)
INVALID_VALUE = cudaError_t(1)


def borrowed_memory(
    address: int, nbytes: int, device: Optional[int] = None
) -> _runtime.DeviceMemory:
    """Memory on the device that another owner keeps.

    Raises
    ------
    ValueError
        If the runtime knows the memory there, and there is less of it.
    """
    if nbytes == 0:
        return _runtime.DeviceMemory(0, 0, device or 0)
    at, end = address, address + nbytes
    while at < end:
        base, size, status = _runtime.address_range(at)
        if status != 0:
            _runtime.last_error()  # only this call caused it
            if at != address:
                raise ValueError(
                    f"the device memory at {address:#x} ends after {at - address} bytes, but the "
                    f"array needs {nbytes}"
                )
            break  # registered host memory, say: the runtime does not say
        at = base + size
    if device is None:
        device = _runtime.owner(address)
    if device is None:
        device, _ = _runtime.get_device()
    return _runtime.DeviceMemory(address, nbytes, device)


class DeviceArray(_runtime.HostExport):
    """An array with memory on the host and, after `allocate`, on the device.

    Use the class of the element type, such as DeviceArray_float64:

    - ``DeviceArray_float64(buffer)``: the host side is the buffer's memory,
    - ``DeviceArray_float64(n)``: new host memory for n elements, all 0,
    - ``DeviceArray_float64(shape, flag_c_contiguous=1)``: the same for a list; 0 for F order,
    - ``DeviceArray_float64(pointer, shape, flag_c_contiguous=1)``: host memory that a
      pointer_wrapper_float64 points at,
    - ``DeviceArray_float64(host_address, device_address, shape, flag_c_contiguous=1)``: memory that
      the caller keeps alive on both sides.

    It exports its host side by the buffer protocol. Functions that call the runtime return what it
    answered, and keep it for `last_status`.

    Raises
    ------
    TypeError
        If the buffer's element type is another one.
    ValueError
        If the buffer is not contiguous, or an address is null or has too little memory behind it.

    Examples
    --------
    >>> A = np.array([1, 2, 3, 4, 5, 6])
    >>> da = pygpu.DeviceArray_int64(A)
    >>> da.allocate(), da.to_device()
    (<cudaError: code=0>, <cudaError: code=0>)
    >>> A[:] = 0
    >>> da.to_host()
    <cudaError: code=0>
    >>> A
    array([1, 2, 3, 4, 5, 6])
    """

    _dtype = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self._dtype:
            raise TypeError("use the class of an element type, such as DeviceArray_float64")
        super().__init__()
        self._memory: Optional[_runtime.DeviceMemory] = None
        self._status = SUCCESS
        self._pointer: Optional[pointer_wrapper] = None
        names = {
            1: ("b",) if "l" not in kwargs else ("l",),
            2: ("a", "l"),
            3: ("host_addr", "device_addr", "l"),
        }
        flag = kwargs.pop("flag_c_contiguous", None)
        given = list(args)
        if flag is None and len(given) > 1 and not isinstance(given[-1], (list, tuple)):
            flag = given.pop()
        count = len(given) + len(kwargs)
        for name in names.get(count, ())[len(given) :]:
            if name in kwargs:
                given.append(kwargs.pop(name))
        if kwargs or count not in names or len(given) != count:
            raise TypeError(
                f"{type(self).__name__} takes a buffer, a number of elements, a shape, a pointer "
                "and a shape, or two addresses and a shape"
            )
        order = "C" if flag is None or flag else "F"
        makers: Any = (self._from_one, self._from_pointer, self._from_addresses)
        self._host_array = makers[count - 1](*given, order)

    def _from_one(self, given: Any, order: Any) -> Any:
        import numpy as np

        if isinstance(given, (int, list, tuple, np.integer)):
            return np.zeros(checked_shape(given), self._dtype, order)
        array = given if isinstance(given, np.ndarray) else np.asarray(memoryview(given))
        self._expect_type(array.dtype)
        if not is_dense(array):
            raise ValueError(
                "the buffer is not contiguous: copy it (numpy.ascontiguousarray), or use GPUArray"
            )
        return array

    def _expect_type(self, dtype: Any) -> None:
        import numpy as np

        if dtype != np.dtype(self._dtype):
            fitting = f"use DeviceArray_{dtype.name}" if dtype.name in SUPPORTED_DTYPES else ""
            raise TypeError(
                f"the elements are of type {dtype.str} ({dtype.name}), not {self._dtype}: "
                + (fitting if fitting and dtype.isnative else "convert them with astype()")
            )

    def _from_pointer(self, pointer: Any, shape: Any, order: str) -> Any:
        import math

        shape = checked_shape(shape)
        if not isinstance(pointer, POINTER_WRAPPERS[self._dtype]):
            raise TypeError(f"{pointer!r} is no pointer_wrapper_{self._dtype}")
        self._pointer = pointer
        if not pointer.is_safe():
            return at_address(int(pointer), shape, self._dtype, order)
        memory, wanted = pointer.get(), math.prod(shape)
        if memory.size < wanted:
            raise ValueError(f"the pointer has {memory.size} elements; the shape needs {wanted}")
        return memory[:wanted].reshape(shape, order=order)

    def _from_addresses(self, host: int, device: int, shape: Any, order: str) -> Any:
        array = at_address(int(host), checked_shape(shape), self._dtype, order)
        if array.nbytes and int(device) <= 0:
            raise ValueError("the device address is null")
        self._memory = borrowed_memory(int(device), array.nbytes)
        return array

    def _note(self, status: int) -> cudaError_t:
        self._status = SUCCESS if status == 0 else cudaError_t(status)
        return self._status

    def _expect_memory(self) -> _runtime.DeviceMemory:
        if self._memory is None:
            raise RuntimeError("there is no memory on the device: call allocate() first")
        return self._memory

    def size(self) -> int:
        """Number of elements."""
        return int(self._host_array.size)

    def nbytes(self) -> int:
        """Number of bytes."""
        return int(self._host_array.nbytes)

    def shape(self) -> List[int]:
        """Elements along each axis."""
        return list(self._host_array.shape)

    def strides(self) -> List[int]:
        """Bytes from one element to the next, along each axis; the same on both sides."""
        return list(self._host_array.strides)

    def last_status(self) -> cudaError_t:
        """The runtime's answer to the last call for this array."""
        return self._status

    def allocated(self) -> bool:
        """Whether there is memory on the device."""
        return self._memory is not None

    def allocate(self) -> cudaError_t:
        """Allocates memory on the current device, unless there is some. Not initialised."""
        if self._memory is None:
            memory = _runtime.DeviceMemory(self.nbytes())
            if self._note(memory.made) == 0:
                self._memory = memory
        return self._status

    def to_device(self) -> cudaError_t:
        """Copies from the host side to the device side, as a blocking cudaMemcpy does."""
        memory = self._expect_memory()
        return self._note(memory.write(0, in_memory_order(self._host_array)))

    def to_host(self) -> cudaError_t:
        """Copies from the device side to the host side, as a blocking cudaMemcpy does.

        Raises
        ------
        ValueError
            If the buffer is read-only.
        """
        memory = self._expect_memory()
        if not self._host_array.flags.writeable:
            raise ValueError("the host side is read-only")
        return self._note(memory.read(0, in_memory_order(self._host_array)))

    def set(self, data: Any) -> cudaError_t:
        """Copies to the device side from elsewhere: a buffer, or a host address.

        At an address there must be as many bytes as the array has, in its order of elements.
        """
        import numpy as np

        memory = self._expect_memory()
        if isinstance(data, int):
            array = at_address(data, (self.size(),), self._dtype, "C")
        else:
            array = np.asarray(data)
            self._expect_type(array.dtype)
            if array.shape != self._host_array.shape:
                raise ValueError(f"the shape is {array.shape}, not {self._host_array.shape}")
            order: Any = "C" if self._host_array.flags.c_contiguous else "F"
            array = in_memory_order(np.asarray(array, order=order))
        return self._note(memory.write(0, array))

    def set_val(self, idx: int, val: Any) -> cudaError_t:
        """Writes one element on the device; idx counts in the order of memory.

        An index outside of the array writes nothing, warns, and returns cudaErrorInvalidValue (1).

        Raises
        ------
        ValueError
            If val is more or less than one element.
        """
        memory = self._expect_memory()
        if not 0 <= idx < self.size():
            return self._note(refused_index(idx, self.size()))
        value = one_element(val, self._dtype)
        return self._note(memory.write(idx * value.itemsize, value))

    def host_data(self) -> pointer_wrapper:
        """Pointer to the host side; safe."""
        return POINTER_WRAPPERS[self._dtype]._of_host(self._host_array)

    def device_data(self) -> pointer_wrapper:
        """Pointer to the device side; null before `allocate`. Keeps the memory alive."""
        address = self._memory.address if self._memory is not None else 0
        return POINTER_WRAPPERS[self._dtype]._of_device(address, self._memory)


def one_element(val: Any, dtype: Any) -> Any:
    """One element as an array without axes.

    Raises
    ------
    ValueError
        For more or less than one.
    """
    import numpy as np

    value = np.array(val, dtype)
    if value.size != 1:
        raise ValueError(
            f"set_val writes one element, not {value.size}: assign to a slice of a GPUArray"
        )
    return value.reshape(())


def refused_index(idx: int, size: int) -> cudaError_t:
    """The result of set_val for an index outside of the array."""
    warnings.warn(
        f"index {idx} is outside of an array of {size} elements: nothing was written",
        RuntimeWarning,
        stacklevel=3,
    )
    return INVALID_VALUE


class DeviceArray_int16(DeviceArray):
    _dtype = "int16"


class DeviceArray_int32(DeviceArray):
    _dtype = "int32"


class DeviceArray_int64(DeviceArray):
    _dtype = "int64"


class DeviceArray_uint16(DeviceArray):
    _dtype = "uint16"


class DeviceArray_uint32(DeviceArray):
    _dtype = "uint32"


class DeviceArray_uint64(DeviceArray):
    _dtype = "uint64"


class DeviceArray_float32(DeviceArray):
    _dtype = "float32"


class DeviceArray_float64(DeviceArray):
    _dtype = "float64"


class DeviceArray_complex64(DeviceArray):
    _dtype = "complex64"


class DeviceArray_complex128(DeviceArray):
    _dtype = "complex128"
