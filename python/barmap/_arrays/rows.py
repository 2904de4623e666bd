# SPDX-License-Identifier: MIT
"""The rows of arrays, on either side of a copy, and which of them are meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Tuple

import numpy as np

from . import dlpack, sources
from .layout import Layout, Source
from .mapping import Mapping
from .._base.naming import dtype_name, kind_of
from .._base.numbers import unsigned

if TYPE_CHECKING:
    import numpy.typing as npt


class Rows(NamedTuple):
    """The first axis of an array.

    Attributes
    ----------
    name : str
        Of the argument that the array is.
    owner : object or None
        The object that keeps the memory.
    row_shape : tuple of int
    stride, row_nbytes : int
        Bytes from one row to the next, and of each.
    is_on_gpu : bool
        Whether the rows are GPU memory; if not, they are host memory.
    """

    name: str
    owner: Optional[object]
    address: int
    length: int
    stride: int
    row_shape: Tuple[int, ...]
    row_nbytes: int
    dtype: np.dtype[Any]
    read_only: bool
    is_on_gpu: bool

    @property
    def axis(self) -> Tuple[int, int, int]:
        return self.address, self.length, self.stride


def _of(name: str, source: Source, is_on_gpu: bool) -> Rows:
    layout = source.layout
    if not layout.shape:
        raise ValueError(f"{name} has no first axis")
    row_shape = layout.shape[1:]
    nbytes = layout.dtype.itemsize
    is_contiguous = True
    for length, stride in zip(reversed(row_shape), reversed(layout.strides[1:])):
        is_contiguous &= length == 1 or stride == nbytes
        nbytes *= length
    if not is_contiguous and nbytes != 0:
        raise ValueError(
            f"the rows of {name} are not contiguous (shape {layout.shape}, strides "
            f"{layout.strides}): each must be one run of bytes"
        )
    return Rows(
        name, source.owner, source.address, layout.shape[0], layout.strides[0], row_shape, nbytes,
        layout.dtype, source.read_only, is_on_gpu,
    )


def of_array(name: str, x: Any) -> Rows:
    """The rows of an array on a GPU or in host memory.

    Raises
    ------
    TypeError
        If it is none.
    ValueError
        If it is closed, has no rows, or they are not contiguous.
    """
    if isinstance(x, Mapping):
        address = x.gpu_address + x._layout.offset
        memory = x._bytes_on_gpu()  # kept open
        return _of(name, Source(memory, address, x._layout, x.readonly), True)
    says, advice = f"{name} is", "give an array on a GPU, or one in pinned host memory"
    if not isinstance(x, np.ndarray):
        found = sources.find_on_gpu(x)
        if found is not None:
            return _of(name, found, True)
        if hasattr(x, "__dlpack_device__"):
            return _of(name, dlpack.find_on_host(x, says, advice), False)
    try:
        array = x if isinstance(x, np.ndarray) else np.asarray(memoryview(x))
    except TypeError:
        raise TypeError(f"{says} {kind_of(x)}: {advice}") from None
    layout = Layout.of(array.shape, array.dtype, array.strides)
    address = array.__array_interface__["data"][0]
    return _of(name, Source(array, address, layout, not array.flags.writeable), False)


def _comparable(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Elements that NumPy lacks are raw bytes, or an extension of NumPy's by another package."""
    return np.dtype(f"V{dtype.itemsize}") if dtype.kind == "V" and not dtype.names else dtype


def expect_alike(to: Rows, from_: Rows) -> None:
    """Refuses different rows: TypeError for another dtype, ValueError for another shape."""
    if _comparable(to.dtype) != _comparable(from_.dtype):
        raise TypeError(
            f"to has elements of {dtype_name(to.dtype)}, and from_ of {dtype_name(from_.dtype)}"
        )
    if to.row_shape != from_.row_shape:
        raise ValueError(f"to has rows of shape {to.row_shape}, and from_ of {from_.row_shape}")


def expect_writable(to: Rows) -> None:
    """Refuses what cannot be written to: TypeError if it is read-only, ValueError if rows overlap."""
    if to.read_only:
        raise TypeError(f"{to.name} is read-only")
    if to.length > 1 and abs(to.stride) < to.row_nbytes:
        raise ValueError(
            f"the rows of {to.name} overlap, so the result would depend on the order of copies"
        )


def _beyond_64_bits(array: npt.NDArray[Any]) -> Optional[int]:
    """The place of the first of Python's integers that NumPy has no element for."""
    if array.dtype == object:
        for where, each in enumerate(array):
            if isinstance(each, int) and each >= 1 << 64:
                return where
    return None


def indices(name: str, given: npt.ArrayLike, of: Rows) -> npt.NDArray[np.int64]:
    """Which rows are meant, as the extension takes them.

    Raises
    ------
    IndexError
        For a number that only unsigned integers have, or more than 64 bits, which no array does.
    TypeError
        If they are not integers: booleans, which would mean a mask, are none.
    ValueError
        If they have not one axis.
    """
    array = np.asarray(given)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} axes: it must have one")
    if array.size == 0:
        return np.empty(0, np.int64)  # an empty list has elements of float
    where = _beyond_64_bits(array)
    if where is None and array.dtype.kind not in "iu":
        raise TypeError(f"{name} has elements of {array.dtype}: row numbers are integers")
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        where = int(np.argmax(array > np.iinfo(np.int64).max))
    if where is not None:
        raise IndexError(
            f"{name}[{where}] is {array[where]}, and {of.name} has {of.length} rows"
        )
    return np.ascontiguousarray(array, np.int64)


def addresses(name: str, given: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Addresses or sizes, as the extension takes them: their bits.

    Raises as `indices`, and OverflowError for more than 64 bits.
    """
    array = np.asarray(given)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} axes: it must have one")
    if array.size == 0:
        return np.empty(0, np.int64)
    where = _beyond_64_bits(array)
    if where is not None:
        unsigned(array[where], f"{name}[{where}]")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has elements of {array.dtype}: give integers")
    return np.ascontiguousarray(array, np.int64)
