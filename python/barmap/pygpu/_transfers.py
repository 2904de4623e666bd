# SPDX-License-Identifier: MIT
"""Moves elements between arrays of NumPy and memory on the device, whatever their strides.

Each function returns the runtime's answer.
"""

from __future__ import annotations

from typing import Any

from .._barmap import pygpu as _runtime
from ._indexing import InMemory, Layout, in_memory

# Elements with gaps are read with the bytes between them, if that is at most that many times as much.
_MOST_READ = 4


def _in_memory_order(array: Any, order: InMemory) -> Any:
    return array if order.unchanged else array.transpose(order.axes)[order.flips]


def upload(memory: _runtime.DeviceMemory, layout: Layout, values: Any) -> int:
    """Writes an array of the layout's shape and element type."""
    order = in_memory(layout)
    if order.empty:
        return 0
    packed = _in_memory_order(values, order)
    if not packed.flags.c_contiguous:
        packed = packed.copy(order="C")
    there = order.layout
    if order.dense:
        return memory.write(there.offset, packed)
    return memory.write_elements(there.offset, there.strides, packed, there.shape, there.itemsize)


def download(memory: _runtime.DeviceMemory, layout: Layout, to: Any) -> int:
    """Reads into a writable array of the layout's shape and element type."""
    order = in_memory(layout)
    if order.empty:
        return 0
    target = _in_memory_order(to, order)
    if order.dense and target.flags.c_contiguous:
        return memory.read(order.layout.offset, target)
    return _download_packed(memory, order, target)


def _download_packed(memory: _runtime.DeviceMemory, order: InMemory, target: Any) -> int:
    """Through separate host memory, if elements have gaps on either side."""
    import numpy as np

    there = order.layout
    low, high = there.span()
    if order.dense:
        packed = np.empty(there.shape, target.dtype)
        status = memory.read(there.offset, packed)
    elif high - low <= _MOST_READ * there.nbytes:
        raw = np.empty(high - low, "u1")
        status = memory.read(low, raw)
        packed = np.ndarray(there.shape, target.dtype, raw, 0, there.strides)
    else:
        packed = np.empty(there.shape, target.dtype)
        status = memory.read_elements(low, there.strides, packed, there.shape, there.itemsize)
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
