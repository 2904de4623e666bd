# SPDX-License-Identifier: MIT
"""The bytes of one element, made from a value."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .._base.naming import dtype_name, kind_of

# NumPy is imported where it is needed, as in _layout.py.
if TYPE_CHECKING:
    import numpy as np


def one_element(dtype: np.dtype[Any], value: Any) -> bytes:
    """The bytes of an element that NumPy makes from a value.

    Raises
    ------
    OverflowError
        For an integer that the dtype does not have.
    TypeError, ValueError
        For a value of another kind.
    """
    import numpy as np

    name = dtype_name(dtype)
    if dtype.kind == "V" and not dtype.names and dtype.subdtype is None:
        # Also elements that NumPy lacks, such as bfloat16, whose values it cannot make.
        if type(value) is int and value == 0:
            return bytes(dtype.itemsize)
        is_raw = isinstance(value, (bytes, bytearray, memoryview, np.void))
        if not is_raw or memoryview(value).nbytes != dtype.itemsize:
            raise TypeError(
                f"value is {kind_of(value)}: elements of {name} are raw, so give the "
                f"{dtype.itemsize} bytes of one, or 0"
            )
        return bytes(value)
    if dtype.kind in "biufc" and isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"value is {kind_of(value)}: elements of {name} are numbers")
    if dtype.kind in "iu" and hasattr(value, "__index__"):
        # NumPy before 2.0 wraps such numbers.
        limits, number = np.iinfo(dtype), operator.index(value)
        if not limits.min <= number <= limits.max:
            raise OverflowError(
                f"value is {number}: elements of {name} are {limits.min} to {limits.max}"
            )
    element: Any = np.empty((), dtype)
    try:
        if dtype.subdtype is None:
            element.fill(value)
        else:
            element[...] = value
    except (TypeError, ValueError) as wrong:
        raise type(wrong)(f"value is {kind_of(value)}, which is no element of {name}: {wrong}") from None
    return bytes(element.tobytes())
