# SPDX-License-Identifier: MIT
"""Waiting in an event loop for what GPU code does."""

from __future__ import annotations

import time
from typing import Optional


async def pause(begin: float) -> None:
    """Lets the event loop go on between two looks.

    For the first millisecond the loop looks in each of its rounds; after that it sleeps for a tenth
    of the time that has passed, 1 to 10 ms.

    Parameters
    ----------
    begin : float
        When the waiting began, by ``time.monotonic``.
    """
    import asyncio  # which takes long

    waited = time.monotonic() - begin
    await asyncio.sleep(0 if waited < 0.001 else min(max(waited / 10, 0.001), 0.01))


def checked(timeout: Optional[float]) -> Optional[float]:
    """The timeout. Raises ValueError if it is negative."""
    if timeout is not None and not timeout >= 0:
        raise ValueError(f"timeout is {timeout}: a time is not negative")
    return timeout
