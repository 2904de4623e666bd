# SPDX-License-Identifier: MIT
"""Arrays and other libraries: their memory, shapes, data types."""

from __future__ import annotations

from typing import Any, NamedTuple, Tuple

from .._barmap import pygpu as _runtime
from ._device_array import borrowed_memory
from ._dtypes import supported
from ._indexing import Layout
from ._status import check

LEGACY_DEFAULT_STREAM = 1


def broadcast(layout: Layout, shape: Tuple[int, ...]) -> Layout:
    """The layout of an array repeated to fill a shape, as NumPy does.

    Raises
    ------
    ValueError
        If it does not fill the shape.
    """
    missing = len(shape) - len(layout.shape)
    lengths = (1,) * missing + layout.shape
    if missing < 0 or any(n not in (1, wanted) for n, wanted in zip(lengths, shape)):
        raise ValueError(f"an array of shape {layout.shape} does not fill the shape {shape}")
    strides = (0,) * missing + layout.strides
    steps = tuple(s if n != 1 else 0 for n, s in zip(lengths, strides))
    return layout._replace(shape=shape, strides=steps)


def expect_same(host_data: Any, shape: Tuple[int, ...], dtype: Any) -> None:
    """Refuses what is no array of this shape and data type.

    Raises
    ------
    TypeError, ValueError
    """
    import numpy as np

    if not isinstance(host_data, np.ndarray):
        raise TypeError(f"give a numpy.ndarray, not {type(host_data).__name__}")
    if host_data.dtype != dtype:
        raise TypeError(
            f"the elements are of type {host_data.dtype}, not {dtype}: convert them with astype()"
        )
    if host_data.shape != tuple(shape):
        raise ValueError(f"the shape is {host_data.shape}, not {tuple(shape)}")


class Found(NamedTuple):
    """Memory on the device of another owner, and the elements in it."""

    memory: Any
    layout: Layout
    dtype: Any


def device_memory_of(data: Any) -> Found:
    """Finds the memory of an object with ``__cuda_array_interface__``.

    Waits for the stream that it names, unless that is the legacy default stream.

    Raises
    ------
    TypeError, ValueError
        If there is no such memory, or it is read-only, or of a data type that is not supported.
    """
    interface = getattr(data, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError(
            f"a {type(data).__name__} has no memory on the device: give a GPUArray, a "
            "PagelockedAllocator, or an object with __cuda_array_interface__"
        )
    if interface.get("mask") is not None:
        raise TypeError("an array with a mask cannot be shared")
    address, read_only = interface["data"]
    if read_only:
        raise ValueError("the memory is read-only")
    found = supported(interface["typestr"])
    layout = Layout.dense(tuple(interface["shape"]), found.itemsize, "C")
    if interface.get("strides") is not None:
        layout = layout._replace(strides=tuple(interface["strides"]))
        if len(layout.strides) != len(layout.shape):
            raise ValueError(f"{len(layout.strides)} strides for {len(layout.shape)} axes")
    if interface.get("stream") not in (None, LEGACY_DEFAULT_STREAM):
        check(_runtime.synchronize_stream(int(interface["stream"])), "wait for the array's stream")
    low, high = layout.span()
    if high > low and (not address or address + low < 0):
        raise ValueError(f"the device address {(address or 0) + low:#x} is null or negative")
    device = int(data.__dlpack_device__()[1]) if hasattr(data, "__dlpack_device__") else None
    memory = borrowed_memory(address + low if high > low else 0, high - low, device)
    return Found(memory, layout._replace(offset=-low), found)
