# SPDX-License-Identifier: MIT
"""Pointers as objects."""

from __future__ import annotations

from typing import Any, Dict, Optional, Type

from .._base.numbers import unsigned


class pointer_wrapper:
    """An address, and what keeps it valid.

    Host memory of this process is "safe": `get` gives it as an array. Of memory on the device, and
    of handles, only the address is of use: ``int(p)``. Where C is called by ctypes with `argtypes`,
    the object itself can be passed.

    There is one class for each element type, such as pointer_wrapper_float64.

    Examples
    --------
    >>> p = pygpu.pointer_wrapper_float64()
    >>> p.is_safe(), int(p)
    (False, 0)
    >>> p.create(3)
    >>> p.get()
    array([0., 0., 0.])
    """

    _dtype = ""

    def __init__(self) -> None:
        self._array: Optional[Any] = None  # of one axis
        self._address = 0
        self._owner: Optional[object] = None

    @classmethod
    def from_address(cls, address: int, owner: Optional[object] = None) -> pointer_wrapper:
        """A pointer to an address, on the device or elsewhere: it is not "safe".

        Parameters
        ----------
        owner : object, optional
            The object that keeps the memory; the pointer keeps that object.

        Raises
        ------
        OverflowError
            If it is no address: negative, or of more than 64 bits.
        TypeError
            If it is no integer.

        Examples
        --------
        >>> int(pygpu.pointer_wrapper_int32.from_address(4096))
        4096
        """
        return cls._of_device(unsigned(address, "the address"), owner)

    @classmethod
    def _of_host(cls, array: Any) -> pointer_wrapper:
        """The memory of an array that is contiguous, in some order."""
        pointer = cls()
        pointer._array = array.reshape(-1, order="A")
        pointer._address = array.ctypes.data if array.size else 0
        return pointer

    @classmethod
    def _of_device(cls, address: int, owner: object) -> pointer_wrapper:
        pointer = cls()
        pointer._address, pointer._owner = address, owner
        return pointer

    @staticmethod
    def _of_handle(address: int, owner: object, name: str) -> pointer_wrapper:
        pointer = _HandlePointer()
        pointer._address, pointer._owner, pointer._dtype = address, owner, name
        return pointer

    def create(self, n: int) -> None:
        """Makes host memory for n elements, all 0."""
        import numpy as np

        if n < 0:
            raise ValueError("a number of elements is not negative")
        self._array = np.zeros(n, self._dtype)
        self._address, self._owner = self._array.ctypes.data, None

    def destroy(self) -> None:
        """Releases the memory; the pointer is null afterwards."""
        self._array, self._address, self._owner = None, 0, None

    def is_safe(self) -> bool:
        """Whether `get` may be called: it is host memory that this process controls."""
        return self._array is not None

    def get(self) -> Any:
        """The memory as an array of one axis, which shares it.

        Raises
        ------
        ValueError
            If it is no host memory of this process.
        """
        if self._array is None:
            raise ValueError(
                "this points at no host memory of this process; int(pointer) is its address"
            )
        return self._array

    def print_address(self) -> None:
        """Prints the address."""
        print(f"Address of ptr is {self._address:#x}")

    def __int__(self) -> int:
        return self._address

    @property
    def _as_parameter_(self) -> Any:
        import ctypes

        return ctypes.c_void_p(self._address)

    def __repr__(self) -> str:
        return (
            f"<pointer_wrapper<{self._dtype}>, is_safe={int(self.is_safe())}, "
            f"addr={self._address}>"
        )


class _HandlePointer(pointer_wrapper):
    """The handle of a stream or an event."""

    def create(self, n: int) -> None:
        raise TypeError("a handle has no elements")


class pointer_wrapper_int16(pointer_wrapper):
    _dtype = "int16"


class pointer_wrapper_int32(pointer_wrapper):
    _dtype = "int32"


class pointer_wrapper_int64(pointer_wrapper):
    _dtype = "int64"


class pointer_wrapper_uint16(pointer_wrapper):
    _dtype = "uint16"


class pointer_wrapper_uint32(pointer_wrapper):
    _dtype = "uint32"


class pointer_wrapper_uint64(pointer_wrapper):
    _dtype = "uint64"


class pointer_wrapper_float32(pointer_wrapper):
    _dtype = "float32"


class pointer_wrapper_float64(pointer_wrapper):
    _dtype = "float64"


class pointer_wrapper_complex64(pointer_wrapper):
    _dtype = "complex64"


class pointer_wrapper_complex128(pointer_wrapper):
    _dtype = "complex128"


POINTER_WRAPPERS: Dict[str, Type[pointer_wrapper]] = {
    each._dtype: each
    for each in (
        pointer_wrapper_int16,
        pointer_wrapper_int32,
        pointer_wrapper_int64,
        pointer_wrapper_uint16,
        pointer_wrapper_uint32,
        pointer_wrapper_uint64,
        pointer_wrapper_float32,
        pointer_wrapper_float64,
        pointer_wrapper_complex64,
        pointer_wrapper_complex128,
    )
}
