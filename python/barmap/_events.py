# SPDX-License-Identifier: MIT
"""Events: the GPU driver has taken mapped memory away."""

from __future__ import annotations

import contextlib
import select
from typing import TYPE_CHECKING, Iterator, NamedTuple, Optional

if TYPE_CHECKING:
    from ._mapping import Mapping


class Event(NamedTuple):
    """The GPU driver has taken memory away: it was freed, or its context ended.

    Touching the mapping there raises SIGBUS from then on, which ends the process.

    Attributes
    ----------
    gpu_address, nbytes : int
        The part of the mapping that is gone.
    sequence : int
        Counts the events of the mapping from 1, lost ones included.
    lost : int
        If not 0: so many events were lost, and the range is that of the whole mapping.

    Examples
    --------
    >>> gone = barmap.Event(gpu_address=0x7F0000000000, nbytes=65536, sequence=1, lost=0)
    >>> gone.nbytes
    65536
    """

    gpu_address: int
    nbytes: int
    sequence: int
    lost: int


class Events:
    """The events of a mapping, from `Mapping.events`: an iterator, also an asynchronous one.

    ``for event in mapping.events()`` waits for each; so does ``async for``, while the event loop
    goes on. Both end when all of the memory has been taken away. An event is delivered once. One
    thread or task may wait at a time, and `Mapping.close` is refused meanwhile.

    It has a ``fileno``, so that it can be given to ``select``, ``selectors`` or
    ``loop.add_reader``, which then tell when `poll` has an event.

    Raises
    ------
    RuntimeError
        By iterating while another thread or task waits.

    Examples
    --------
    >>> async def forget_what_is_gone(mapping):
    ...     async for event in mapping.events():
    ...         print("gone:", event.gpu_address, event.nbytes)
    """

    def __init__(self, mapping: Mapping) -> None:
        self._mapping = mapping

    def fileno(self) -> int:
        """The descriptor that is readable when there is an event. It belongs to the mapping.

        Raises
        ------
        ValueError
            If the mapping is closed.

        Examples
        --------
        >>> import selectors
        >>> def watch(mapping):
        ...     waiting = selectors.DefaultSelector()
        ...     waiting.register(mapping.events(), selectors.EVENT_READ)
        """
        return self._mapping._event_fd()

    def poll(self) -> Optional[Event]:
        """The oldest event that was not delivered yet, or None. Never waits.

        Raises
        ------
        barmap.Error
            In a forked child.
        ValueError
            If the mapping is closed.

        Examples
        --------
        >>> def is_whole(mapping):
        ...     return mapping.events().poll() is None
        """
        found = self._mapping._next_event()
        if found is None:
            return None
        event = Event(*found)
        self._mapping._left -= min(event.nbytes, self._mapping._left)
        return event

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[int]:
        """Gives the descriptor to whoever is the only one to wait, and keeps the mapping open."""
        if not self._mapping._waits.acquire(blocking=False):
            raise RuntimeError("another thread or task waits for the events of this mapping")
        try:
            with memoryview(self._mapping):
                yield self.fileno()
        finally:
            self._mapping._waits.release()

    def __iter__(self) -> Events:
        return self

    def __next__(self) -> Event:
        while True:
            event = self.poll()
            if event is not None:
                return event
            if not self._mapping._left:
                raise StopIteration
            with self._waiting() as fd:
                readable = select.poll()
                readable.register(fd, select.POLLIN)
                readable.poll()

    def __aiter__(self) -> Events:
        return self

    async def __anext__(self) -> Event:
        import asyncio

        while True:
            event = self.poll()
            if event is not None:
                return event
            if not self._mapping._left:
                raise StopAsyncIteration
            loop = asyncio.get_running_loop()
            readable = asyncio.Event()
            with self._waiting() as fd:
                loop.add_reader(fd, readable.set)
                try:
                    await readable.wait()
                finally:
                    loop.remove_reader(fd)
