# SPDX-License-Identifier: MIT
"""How the elements of an array lie in GPU memory, and where that memory is."""

from __future__ import annotations

import math
import operator
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Tuple

# NumPy is imported where it is needed: it takes longer to import than everything else here.
if TYPE_CHECKING:
    import numpy as np


def lengths(shape: Any) -> Any:
    """A shape as a sequence, where NumPy takes a number as well."""
    try:
        return (operator.index(shape),)
    except TypeError:
        return shape


class Layout(NamedTuple):
    """Elements inside a span of bytes.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    strides : tuple of int
        Bytes from one element to the next, for each axis; may be 0 or negative.
    offset : int
        Bytes from the start of the span to the first element.
    nbytes : int
        Length of the span: from the lowest byte of any element to the highest. 0 without elements.
    """

    shape: Tuple[int, ...]
    dtype: np.dtype[Any]
    strides: Tuple[int, ...]
    offset: int
    nbytes: int

    @staticmethod
    def of(shape: Any, dtype: Any, strides: Any = None) -> Layout:
        """Makes a layout; without strides, C-contiguous.

        Raises
        ------
        TypeError
            For a dtype of Python objects.
        ValueError
            For a negative length, another number of strides than of axes, or more bytes than there
            are addresses.
        """
        import numpy as np

        dtype = np.dtype(dtype)
        if dtype.hasobject:
            raise TypeError("GPU memory cannot hold Python objects")
        shape = tuple(operator.index(n) for n in shape)
        if any(n < 0 for n in shape):
            raise ValueError(f"the shape {shape} has a negative length")
        if strides is None:
            strides = tuple(
                dtype.itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape))
            )
        strides = tuple(operator.index(s) for s in strides)
        if len(strides) != len(shape):
            raise ValueError(f"{len(strides)} strides for {len(shape)} axes")
        if 0 in shape:
            return Layout(shape, dtype, strides, 0, 0)
        reach = [(n - 1) * stride for n, stride in zip(shape, strides)]
        below = -sum(r for r in reach if r < 0)
        above = sum(r for r in reach if r > 0)
        nbytes = below + above + dtype.itemsize
        if max(nbytes, math.prod(shape) * dtype.itemsize) > sys.maxsize:
            raise ValueError(f"an array of shape {shape} and {dtype} is too big")
        return Layout(shape, dtype, strides, below, nbytes)

    @property
    def element_nbytes(self) -> int:
        """Bytes of all elements; more than `nbytes` where elements share memory."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def format(self) -> str:
        """The buffer protocol's name of the elements; empty for those it lacks, such as dates."""
        import numpy as np

        exporter: Any = np.empty(0, self.dtype)
        try:
            return memoryview(exporter).format
        except (BufferError, ValueError):
            return ""


class IpcMemory(NamedTuple):
    """cudaMalloc memory of another process, which `barmap.map` maps without opening it with CUDA.

    The mapping has no GPU address in this process: its ``gpu_address`` is 0. It keeps the memory,
    whatever becomes of the owner.

    Attributes
    ----------
    handle : bytes
        The 64 bytes that cudaIpcGetMemHandle gave to the owner. They are good as long as the owner
        has not freed the memory.
    nbytes : int
        How many bytes to map.
    offset : int
        Of the first of them in the allocation.
    device : int or None
        Ordinal of the GPU that has the memory; None: the current one.

    Examples
    --------
    >>> memory = barmap.IpcMemory(handle=bytes(64), nbytes=4096)
    >>> try:
    ...     barmap.map(memory)
    ... except barmap.Error:
    ...     print("no such memory")
    no such memory
    """

    handle: bytes
    nbytes: int
    offset: int = 0
    device: Optional[int] = None


class Source(NamedTuple):
    """GPU memory of another owner.

    Attributes
    ----------
    owner : object or None
        Keeps the memory alive.
    address : int
        GPU address of the first element.
    layout : Layout
    read_only : bool
        The owner does not want it written.
    typed : bool
        The owner says what the elements are; else they are bytes of anything.
    ipc : IpcMemory or None
        The name of memory that has no address in this process.
    """

    owner: Optional[object]
    address: int
    layout: Layout
    read_only: bool = False
    typed: bool = True
    ipc: Optional[IpcMemory] = None


class Shared(NamedTuple):
    """GPU memory that another process has shared by a descriptor.

    Attributes
    ----------
    descriptor : int
    layout : Layout or None
        None: all of it, as bytes.
    read_only, typed : bool
        As in `Source`.
    """

    descriptor: int
    layout: Optional[Layout]
    read_only: bool = False
    typed: bool = True
