# SPDX-License-Identifier: MIT
"""The names of things in errors and reprs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

# NumPy is imported where it is needed, as in _layout.py.
if TYPE_CHECKING:
    import numpy as np


def kind_of(x: object) -> str:
    """A thing by its type: "a numpy.ndarray", "an int"."""
    kind = type(x)
    name = kind.__qualname__
    if kind.__module__ != "builtins":
        name = f"{kind.__module__}.{name}"
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def gpu_name(ordinal: int) -> str:
    """A GPU as other libraries name it: "cuda:0"."""
    return f"cuda:{ordinal}"


def backend_name(backend: Optional[str]) -> str:
    """A backend's name as the extension takes it; empty for none. Raises TypeError for another kind."""
    if backend is not None and not isinstance(backend, str):
        raise TypeError(f"backend is the name of one, not {kind_of(backend)}")
    return backend or ""


def size_name(nbytes: int) -> str:
    """Bytes as a reader takes them in: "512 B", "64.0 MiB"."""
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if nbytes >= 1 << power:
            return f"{nbytes / (1 << power):.1f} {unit}"
    return f"{nbytes} B"


def dtype_name(dtype: Any) -> str:
    """A dtype as a reader writes it: "float32", "id: uint32, x: float64", "int8[2, 2]".

    Different dtypes have different names: of fields that do not follow each other without a gap, it
    says where they lie.
    """
    import numpy as np

    if not isinstance(dtype, np.dtype):
        return str(dtype)
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return array_name(base, shape)
    if dtype.fields is None or dtype.names is None:
        return str(dtype)
    fields = [(name, dtype.fields[name][0]) for name in dtype.names]
    text = ", ".join(f"{name}: {in_brackets(base)}" for name, base in fields)
    if dtype == np.dtype(fields):
        return text
    if dtype == np.dtype(fields, align=True):
        return f"{text} (aligned)"
    offsets = [dtype.fields[name][1] for name in dtype.names]
    return f"{text} (at {offsets} of {dtype.itemsize} bytes)"


def array_name(dtype: np.dtype[Any], shape: Sequence[int]) -> str:
    """Elements in a shape: "float32[64, 64]", "(id: uint32, x: float64)[3]"."""
    return f"{in_brackets(dtype)}{list(shape)}"


def in_brackets(dtype: np.dtype[Any]) -> str:
    """As `dtype_name`, in brackets where that is a list of fields."""
    name = dtype_name(dtype)
    return name if dtype.names is None else f"({name})"
