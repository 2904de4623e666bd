# SPDX-License-Identifier: MIT
"""Numbers that C functions take."""

from __future__ import annotations

import operator
import sys
from typing import Any, SupportsIndex

from .naming import kind_of


def integer_of(value: Any) -> int:
    """An address or handle as a number: an integer, or what ctypes and cuda-python have for one.

    Raises
    ------
    TypeError
        If it is neither; also for a float, which has ``__int__`` too.
    """
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(value, ctypes.c_void_p):
        return value.value or 0
    # cuda-python's CUdeviceptr, CUstream and their kin have no __index__.
    if hasattr(value, "getPtr") and hasattr(value, "__int__"):
        return int(value)
    return operator.index(value)


def unsigned(value: SupportsIndex, name: str, bits: int = 64) -> int:
    """The value as a number that a C function takes.

    Raises
    ------
    TypeError
        If it is no integer.
    OverflowError
        If it is negative, or has more bits.
    """
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name} is {kind_of(value)}: give an integer")
    number = operator.index(value)
    if not 0 <= number < 1 << bits:
        raise OverflowError(
            f"{name} is {number}, which does not fit into an unsigned number of {bits} bits"
        )
    return number
