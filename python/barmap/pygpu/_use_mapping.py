# SPDX-License-Identifier: MIT
"""Which transfers go through the mapping."""

from __future__ import annotations

from typing import NamedTuple, Optional

from .._barmap import pygpu as _runtime


class MappedSizes(NamedTuple):
    """Largest transfers through the mapping, in bytes."""

    write: int
    read: int


def mapped_sizes() -> MappedSizes:
    """The largest transfers that go through the mapping, in bytes, where memory can be mapped.

    Examples
    --------
    >>> pygpu.mapped_sizes()
    MappedSizes(write=131072, read=4096)
    """
    return MappedSizes(*_runtime.largest_mapped())


def set_mapped_sizes(write: Optional[int] = None, read: Optional[int] = None) -> MappedSizes:
    """Changes them for the process; 0 makes the copy engine do all.

    Returns
    -------
    MappedSizes
        What it was before.

    Examples
    --------
    >>> before = pygpu.set_mapped_sizes(read=0)
    >>> pygpu.mapped_sizes().read
    0
    >>> _ = pygpu.set_mapped_sizes(*before)
    """
    before = mapped_sizes()
    wanted = MappedSizes(
        before.write if write is None else write, before.read if read is None else read
    )
    if min(wanted) < 0:
        raise ValueError("sizes are not negative")
    _runtime.set_largest_mapped(*wanted)
    return before
