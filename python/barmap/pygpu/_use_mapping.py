# SPDX-License-Identifier: MIT
"""Whether small transfers go through the mapping."""

from __future__ import annotations

from .._barmap import pygpu as _runtime


def use_mapping(on: bool) -> bool:
    """Allows or forbids, for the whole process, small transfers through barmap's mapping. It is allowed at
    first; where it is forbidden, the runtime makes all copies.

    Returns
    -------
    bool
        The previous setting.

    Examples
    --------
    >>> before = pygpu.use_mapping(False)
    >>> pygpu.use_mapping(before)
    False
    """
    return _runtime.use_mapping(on)
