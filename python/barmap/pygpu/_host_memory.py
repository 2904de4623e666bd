# SPDX-License-Identifier: MIT
"""Host memory by address, and arrays that alias what they are given."""

from __future__ import annotations

import math
from typing import Any, Sequence, Tuple


def checked_shape(shape: Any) -> Tuple[int, ...]:
    """A shape as a tuple; an integer is one axis.

    Raises
    ------
    TypeError, ValueError
        If it is no shape.
    """
    import operator

    try:
        return (_length(operator.index(shape)),)
    except TypeError:
        pass
    return tuple(_length(operator.index(n)) for n in shape)


def _length(n: int) -> int:
    if n < 0:
        raise ValueError(f"an axis cannot have {n} elements")
    return n


def at_address(address: int, shape: Sequence[int], dtype: Any, order: Any) -> Any:
    """An array on host memory that another owner keeps.

    Raises
    ------
    ValueError
        For the null address, unless there are no elements.
    """
    import ctypes

    import numpy as np

    nbytes = math.prod(shape) * np.dtype(dtype).itemsize
    if nbytes == 0:
        return np.empty(shape, dtype, order)
    if address <= 0:
        raise ValueError("the host address is null")
    memory: Any = (ctypes.c_char * nbytes).from_address(address)
    return np.frombuffer(memory, dtype).reshape(shape, order=order)


def in_memory_order(array: Any) -> Any:
    """A C-contiguous view of a contiguous array: its elements in the order of memory."""
    return array if array.flags.c_contiguous else array.T


def is_dense(array: Any) -> bool:
    """Whether the array is contiguous in one of the two orders."""
    return bool(array.flags.c_contiguous or array.flags.f_contiguous)
