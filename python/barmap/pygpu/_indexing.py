# SPDX-License-Identifier: MIT
"""Where elements lie, and what an index makes of it."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any, List, NamedTuple, Optional, Tuple


class Layout(NamedTuple):
    """Elements of one size inside of a piece of memory; offset and strides in bytes."""

    offset: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    itemsize: int

    @staticmethod
    def dense(shape: Tuple[int, ...], itemsize: int, order: str) -> Layout:
        """Elements without gaps, in order C (the last axis changes fastest) or F (the first)."""
        axes = range(len(shape)) if order == "F" else range(len(shape) - 1, -1, -1)
        strides, step = [0] * len(shape), itemsize
        for axis in axes:
            strides[axis] = step
            step *= max(shape[axis], 1)
        return Layout(0, shape, tuple(strides), itemsize)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    def is_dense(self, order: str) -> bool:
        """Whether there are no gaps, and the elements are in this order. True without elements."""
        wanted = Layout.dense(self.shape, self.itemsize, order).strides
        return self.size == 0 or all(
            n == 1 or a == b for n, a, b in zip(self.shape, self.strides, wanted)
        )

    def span(self) -> Tuple[int, int]:
        """The lowest byte of any element, and the one behind the highest."""
        if self.size == 0:
            return self.offset, self.offset
        reach = [(n - 1) * s for n, s in zip(self.shape, self.strides)]
        low = self.offset + sum(r for r in reach if r < 0)
        return low, self.offset + sum(r for r in reach if r > 0) + self.itemsize


class InMemory(NamedTuple):
    """The elements of a layout in the order of memory.

    ``array.transpose(axes)[flips]`` makes an array of the one's shape to one of the other's;
    `unchanged` says that it is the same. `dense` says that the elements have no gaps, and `empty`
    that there are none.
    """

    layout: Layout
    axes: Tuple[int, ...]
    flips: Tuple[slice, ...]
    unchanged: bool
    dense: bool
    empty: bool


@functools.lru_cache(maxsize=256)  # programs use the same few again and again
def in_memory(layout: Layout) -> InMemory:
    """The same elements in the order of memory."""
    lengths, steps = layout.shape, layout.strides
    axes = tuple(sorted(range(len(lengths)), key=lambda k: -abs(steps[k])))
    flips = tuple(slice(None, None, -1 if steps[k] < 0 else None) for k in axes)
    shape = tuple(lengths[k] for k in axes)
    strides = tuple(abs(steps[k]) for k in axes)
    found = Layout(layout.span()[0], shape, strides, layout.itemsize)
    unchanged = (shape, strides) == (lengths, steps) and axes == tuple(range(len(axes)))
    return InMemory(found, axes, flips, unchanged, found.is_dense("C"), layout.size == 0)


def is_basic(index: Any) -> bool:
    """Whether an index only picks and steps, so that it gives a view: no arrays, lists or masks."""
    if type(index) is int or type(index) is slice:
        return True
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None or part is Ellipsis or isinstance(part, slice) or _is_integer(part)
        for part in parts
    )


def _is_integer(part: Any) -> bool:
    if isinstance(part, bool) or type(part).__name__ in ("bool_", "bool"):
        return False
    if getattr(part, "shape", ()) != ():
        return False
    try:
        operator.index(part)
    except TypeError:
        return False
    return True


def _expand(index: Any, axes: int) -> List[Any]:
    parts = list(index) if isinstance(index, tuple) else [index]
    if sum(part is Ellipsis for part in parts) > 1:
        raise IndexError("an index can have one ellipsis (...) only")
    used = sum(part is not None and part is not Ellipsis for part in parts)
    if used > axes:
        raise IndexError(f"{used} indices for an array of {axes} axes")
    if not any(part is Ellipsis for part in parts):
        parts.append(Ellipsis)
    at = next(k for k, part in enumerate(parts) if part is Ellipsis)
    parts[at : at + 1] = [slice(None)] * (axes - used)
    return parts


def view(layout: Layout, index: Any) -> Layout:
    """The layout of what a basic index picks.

    Raises
    ------
    IndexError
        As NumPy does.
    """
    if type(index) is int and layout.shape:  # the most common one
        n = layout.shape[0]
        if -n <= index < n:
            offset = layout.offset + (index + n if index < 0 else index) * layout.strides[0]
            return Layout(offset, layout.shape[1:], layout.strides[1:], layout.itemsize)
    offset, shape, strides = layout.offset, [], []
    axis = 0
    for part in _expand(index, len(layout.shape)):
        if part is None:
            shape.append(1)
            strides.append(0)
            continue
        n, step = layout.shape[axis], layout.strides[axis]
        if isinstance(part, slice):
            start, stop, by = part.indices(n)
            length = len(range(start, stop, by))
            offset += start * step if length else 0
            shape.append(length)
            strides.append(step * by)
        else:
            at = operator.index(part)
            if not -n <= at < n:
                raise IndexError(f"index {at} is out of bounds for axis {axis} with size {n}")
            offset += (at + n if at < 0 else at) * step
        axis += 1
    return Layout(offset, tuple(shape), tuple(strides), layout.itemsize)


def reshaped(layout: Layout, shape: Tuple[int, ...], order: str) -> Optional[Layout]:
    """The layout of the same elements in another shape; None if it has gaps in this order."""
    if not layout.is_dense(order):
        return None
    return Layout.dense(shape, layout.itemsize, order)._replace(offset=layout.offset)
