# SPDX-License-Identifier: MIT
"""Numbers that C functions take."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from ._naming import kind_of


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
