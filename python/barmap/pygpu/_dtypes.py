# SPDX-License-Identifier: MIT
"""The element types, and how one is recognised."""

from __future__ import annotations

import enum
import types
from typing import Any

SUPPORTED_DTYPES = (
    "int16",
    "int32",
    "int64",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
)

dtype = enum.IntEnum("dtype", SUPPORTED_DTYPES, start=0)  # type: ignore[misc]
dtype.__size__ = types.SimpleNamespace(value=len(SUPPORTED_DTYPES))  # type: ignore[attr-defined]
dtype.__doc__ = "The element types, numbered as in PybindGPU: ``dtype(0).name == 'int16'``."


class UnsupportedDataType(TypeError):
    """The element type, or the kind of object, is none that an array on the device can hold."""


def supported(given: Any) -> Any:
    """The numpy.dtype of an element type.

    Raises
    ------
    UnsupportedDataType
        If it is none of SUPPORTED_DTYPES, in the byte order of this machine.
    """
    import numpy as np

    try:
        found = np.dtype(given)
    except TypeError:
        raise UnsupportedDataType(f"{given!r} is no data type") from None
    if found.name not in SUPPORTED_DTYPES or not found.isnative:
        raise UnsupportedDataType(
            f"data type {found.str} ({found.name}) is not supported: convert to one of "
            + ", ".join(SUPPORTED_DTYPES)
        )
    return found
