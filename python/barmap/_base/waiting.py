# SPDX-License-Identifier: MIT
"""Waiting in an event loop for what GPU code does."""

from __future__ import annotations

import time
from numbers import Complex, Real
from typing import Optional

from .naming import kind_of


async def pause(begin: float) -> None:
    """Lets the event loop continue between two polls.

    For the first millisecond there is a poll in each round of the loop; after that this sleeps for a
    tenth of the time that has passed, 1 to 10 ms.

    Parameters
    ----------
    begin : float
        When the waiting began, by ``time.monotonic``.
    """
    import asyncio  # which takes long

    waited = time.monotonic() - begin
    await asyncio.sleep(0 if waited < 0.001 else min(max(waited / 10, 0.001), 0.01))


def seconds(time: float, name: str) -> float:
    """A time that was given in seconds. Raises TypeError for no number, ValueError if it is negative."""
    # Complex numbers have __float__ too: Python's in 3.9, NumPy's always.
    is_complex = isinstance(time, Complex) and not isinstance(time, Real)
    if is_complex or not hasattr(time, "__float__"):
        raise TypeError(f"{name} is {kind_of(time)}: give seconds, as a number")
    if time != time:
        raise ValueError(f"{name} is {time}, which is no time: give seconds")
    if not time >= 0:
        raise ValueError(f"{name} is {time}: a time cannot be negative")
    return time


def checked(timeout: Optional[float]) -> Optional[float]:
    """The timeout of a wait, in seconds, or None for as long as it takes. Raises as `seconds`."""
    return None if timeout is None else seconds(timeout, "timeout")
