# SPDX-License-Identifier: MIT
"""Messages of rings: what a dtype holds, without a silent conversion."""

from __future__ import annotations

import operator
import struct
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Union

from .._base.naming import dtype_name, kind_of

# NumPy is imported where it is needed, as in _layout.py.
if TYPE_CHECKING:
    import numpy as np


def expect_value(dtype: np.dtype[Any], value: Any, name: str = "the message") -> None:
    """Refuses a value that NumPy would change to store it as this dtype.

    Floats are rounded, as everywhere. Numbers of any type are taken by their value.

    Raises
    ------
    OverflowError
        For an integer that the dtype does not have.
    TypeError
        For a value of another kind.
    ValueError
        For a tuple or a list of another length, or bytes or a text that are too long.
    """
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)):
        base, shape = dtype.subdtype or (dtype, ())
        if value.dtype == base and value.shape == shape:
            return
        if value.shape or value.dtype.kind not in "biufc":
            raise TypeError(
                f"{name} is {dtype_name(value.dtype)} of shape {value.shape}, and not "
                f"{dtype_name(dtype)}"
            )
        value = value.item()
    if dtype.names is not None:
        _expect_length(tuple, "tuple", dtype, len(dtype.names), value, name)
        for field, each in zip(dtype.names, value):
            expect_value(dtype[field], each, f"{name}'s {field}")
    elif dtype.subdtype is not None:
        base, shape = dtype.subdtype
        _expect_length((tuple, list), "list", dtype, shape[0], value, name)
        inner = np.dtype((base, shape[1:])) if shape[1:] else base
        for index, each in enumerate(value):
            expect_value(inner, each, f"{name}'s [{index}]")
    elif dtype.kind in "iu":
        if not hasattr(value, "__index__"):
            raise TypeError(f"{name} is {kind_of(value)}, and not {dtype}")
        number, range_of = operator.index(value), np.iinfo(dtype)
        if not range_of.min <= number <= range_of.max:
            raise OverflowError(f"{name} is {number}, which does not fit into {dtype}")
    elif dtype.kind in _ALLOWED:
        if not isinstance(value, _ALLOWED[dtype.kind]):
            raise TypeError(f"{name} is {kind_of(value)}, and not {dtype_name(dtype)}")
        if dtype.kind in "SVU":
            room = dtype.itemsize // (4 if dtype.kind == "U" else 1)
            if len(value) > room:
                raise ValueError(f"{name} is {len(value)} long, and {dtype} has room for {room}")


# By numpy.dtype.kind. NumPy converts all other kinds: dates.
_ALLOWED: Dict[str, Any] = {
    "b": bool,
    "f": (int, float),
    "c": (int, float, complex),
    "S": bytes,
    "V": bytes,
    "U": str,
}


class MessageMaker:
    """Makes messages of one dtype: a buffer of its bytes of each value.

    Of plain numbers, and of tuples of them for a structured dtype, without NumPy, which takes ten
    times as long.

    Parameters
    ----------
    dtype : numpy.dtype
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._pack = _packer(dtype)
        self._is_tuple = dtype.names is not None

    def __call__(self, value: Any) -> Union[bytes, np.ndarray[Any, Any]]:
        """Raises as `expect_value`."""
        if self._pack is not None and (type(value) is tuple) is self._is_tuple:
            numbers = value if self._is_tuple else (value,)
            try:
                if _NUMBERS.issuperset(map(type, numbers)):
                    return self._pack(*numbers)
            except (struct.error, OverflowError):
                pass  # NumPy may take it, or the error says more
        import numpy as np

        message = np.zeros(1, self._dtype)
        expect_value(self._dtype, value)
        message[0] = value
        return message


_NUMBERS = {int, float}


def _packer(dtype: np.dtype[Any]) -> Optional[Callable[..., bytes]]:
    """Packs the numbers of this dtype, if it consists of numbers."""
    fields = [dtype.fields[name] for name in dtype.names or ()] if dtype.fields else [(dtype, 0)]
    layout, end = "=", 0
    for base, offset, *_ in fields:
        code = _CODES.get(base.str)
        if code is None or offset < end:
            return None
        layout += f"{offset - end}x{code}"
        end = offset + base.itemsize
    return struct.Struct(f"{layout}{dtype.itemsize - end}x").pack


# By numpy.dtype.str of this machine's byte order.
_CODES: Dict[str, str] = {
    order + number: code
    for order in ("|", "<" if sys.byteorder == "little" else ">")
    for number, code in zip(
        ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"), "bBhHiIqQfd"
    )
}


def _expect_length(
    types: Any, what: str, dtype: np.dtype[Any], length: int, value: Any, name: str
) -> None:
    if not isinstance(value, types):
        raise TypeError(f"{name} is {kind_of(value)}: give a {what} for {dtype_name(dtype)}")
    if len(value) != length:
        raise ValueError(
            f"{name} has {len(value)} elements, and {dtype_name(dtype)} has {length}"
        )


def expect_messages(dtype: np.dtype[Any], array: Any, name: str) -> None:
    """Refuses what is not an array of whole messages, one after another.

    Raises
    ------
    TypeError
        It says what to do instead.
    """
    import numpy as np

    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is {kind_of(array)}: give np.array({name}, ring.dtype)")
    base, shape = dtype.subdtype or (dtype, ())
    if array.dtype != base:
        raise TypeError(
            f"{name} has elements of {dtype_name(array.dtype)}, and the ring's messages are "
            f"{dtype_name(base)}: convert them (astype), or look at their bytes as such (view)"
        )
    if array.ndim == 0 or array.shape[1:] != shape:
        raise TypeError(
            f"{name} has the shape {array.shape}: give one axis of messages, (n,) + {shape} (reshape)"
        )
    if not array.flags.c_contiguous:
        raise TypeError(f"{name} is not contiguous: copy it (np.ascontiguousarray)")
