# SPDX-License-Identifier: MIT
"""Whether transfers go through the mapping."""

from __future__ import annotations

from .._barmap import pygpu as _runtime


def use_mapping(on: bool) -> bool:
    """Says for the process whether transfers may go through barmap's mapping, as they do by themselves, or
    all go through the runtime's copies.

    Returns
    -------
    bool
        What it was before.

    Examples
    --------
    >>> before = pygpu.use_mapping(False)
    >>> pygpu.use_mapping(before)
    False
    """
    return _runtime.use_mapping(on)
