# SPDX-License-Identifier: MIT
"""The properties of an array on the device."""

from __future__ import annotations

from typing import Any, NamedTuple, Tuple

from .._barmap import pygpu as _runtime
from ._indexing import Layout
from ._pointers import POINTER_WRAPPERS, pointer_wrapper


class Flags(NamedTuple):
    """How the elements of an array lie."""

    c_contiguous: bool
    f_contiguous: bool

    @property
    def forc(self) -> bool:
        """Contiguous in one of the two orders."""
        return self.c_contiguous or self.f_contiguous


class Described:
    """Elements on the device, as they lie there. The base of `GPUArray`."""

    _memory: _runtime.DeviceMemory
    _owner: Any
    _layout: Layout
    _dtype: Any

    @property
    def shape(self) -> Tuple[int, ...]:
        """Elements along each axis."""
        return self._layout.shape

    @property
    def strides(self) -> Tuple[int, ...]:
        """Bytes from one element to the next on the device, along each axis."""
        return self._layout.strides

    @property
    def dtype(self) -> Any:
        """The numpy.dtype of the elements."""
        return self._dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._layout.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._layout.size

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self._layout.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._layout.nbytes

    @property
    def flags(self) -> Flags:
        """Whether the elements lie without gaps, in which order."""
        return Flags(self._layout.is_dense("C"), self._layout.is_dense("F"))

    @property
    def ptr(self) -> int:
        """Address of the first element on the device; 0 without elements."""
        return self._memory.address + self._layout.offset if self.size else 0

    gpudata = ptr

    @property
    def device(self) -> int:
        """The GPU that has the memory."""
        return self._memory.device

    @property
    def mapped(self) -> bool:
        """Whether small transfers go through barmap's mapping by now."""
        return self._memory.mapped

    @property
    def device_data(self) -> pointer_wrapper:
        """Pointer to the first element on the device. Keeps the memory alive."""
        kept = (self._memory, self._owner)
        return POINTER_WRAPPERS[self._dtype.name]._of_device(self.ptr, kept)
