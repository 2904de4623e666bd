# SPDX-License-Identifier: MIT
"""Moves elements between arrays of NumPy and memory on the device, whatever their strides.

Each function returns the runtime's answer.
"""

from __future__ import annotations

from typing import Any

from .._barmap import pygpu as _runtime
from ._indexing import Layout

# Elements with gaps are read with what lies between them, if that is at most so many times as much.
_MOST_READ = 4


def _in_memory_order(array: Any, axes: Any, flips: Any) -> Any:
    return array.transpose(axes)[flips] if array.ndim else array


def upload(memory: _runtime.DeviceMemory, layout: Layout, values: Any) -> int:
    """Writes an array of the layout's shape and element type."""
    import numpy as np

    if layout.size == 0:
        return 0
    ascending, axes, flips = layout.ascending()
    packed = np.ascontiguousarray(_in_memory_order(values, axes, flips))
    if ascending.is_dense("C"):
        return memory.write(ascending.offset, packed)
    return memory.write_elements(
        ascending.offset, ascending.strides, packed, ascending.shape, layout.itemsize
    )


def download(memory: _runtime.DeviceMemory, layout: Layout, to: Any) -> int:
    """Reads into a writable array of the layout's shape and element type."""
    import numpy as np

    if layout.size == 0:
        return 0
    ascending, axes, flips = layout.ascending()
    target = _in_memory_order(to, axes, flips)
    if ascending.is_dense("C"):
        if target.flags.c_contiguous:
            return memory.read(ascending.offset, target)
        packed = np.empty(ascending.shape, to.dtype)
        status = memory.read(ascending.offset, packed)
    else:
        low, high = ascending.span()
        if high - low <= _MOST_READ * layout.nbytes:
            raw = np.empty(high - low, "u1")
            status = memory.read(low, raw)
            packed = np.ndarray(ascending.shape, to.dtype, raw, 0, ascending.strides)
        else:
            packed = np.empty(ascending.shape, to.dtype)
            status = memory.read_elements(
                low, ascending.strides, packed, ascending.shape, layout.itemsize
            )
    if status == 0:
        target[...] = packed
    return status


def copy(
    to_memory: _runtime.DeviceMemory, to: Layout, from_memory: _runtime.DeviceMemory, source: Layout
) -> int:
    """Copies on the device, as if all was read before anything is written. Both have one shape."""
    if to.size == 0:
        return 0
    if _overlap(to_memory, to, from_memory, source):
        between = Layout.dense(source.shape, source.itemsize, "C")
        room = _runtime.DeviceMemory(between.nbytes)
        status = room.made or _copy_apart(room, between, from_memory, source)
        return status or _copy_apart(to_memory, to, room, between)
    return _copy_apart(to_memory, to, from_memory, source)


def _copy_apart(
    to_memory: _runtime.DeviceMemory, to: Layout, from_memory: _runtime.DeviceMemory, source: Layout
) -> int:
    return to_memory.copy_elements(
        to.offset, to.strides, from_memory, source.offset, source.strides, to.shape, to.itemsize
    )


def _overlap(
    to_memory: _runtime.DeviceMemory, to: Layout, from_memory: _runtime.DeviceMemory, source: Layout
) -> bool:
    to_low, to_high = (to_memory.address + at for at in to.span())
    from_low, from_high = (from_memory.address + at for at in source.span())
    return to_low < from_high and from_low < to_high
