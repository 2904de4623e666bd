# SPDX-License-Identifier: MIT
"""Invalidation events: the GPU driver has revoked mapped memory."""

from __future__ import annotations

import contextlib
import select
from typing import TYPE_CHECKING, Iterator, NamedTuple, Optional

if TYPE_CHECKING:
    from .mapping import Mapping


class MappingEvent(NamedTuple):
    """The GPU driver has revoked memory: it was freed, or its context ended.

    Touching the mapping there raises SIGBUS from then on, which ends the process.

    Attributes
    ----------
    gpu_address, nbytes : int
        Where the part of the mapping that is revoked begins, and its bytes.
    sequence : int
        Counts the events of the mapping from 1, lost ones included.
    lost : int
        If not 0: the queue overflowed and that many events were lost; the range is the whole mapping.

    Examples
    --------
    >>> gone = barmap.types.MappingEvent(gpu_address=0x7F0000000000, nbytes=65536, sequence=1, lost=0)
    >>> gone.nbytes
    65536
    """

    gpu_address: int
    nbytes: int
    sequence: int
    lost: int


class MappingEvents:
    """The events of a mapping, from `Mapping.events`: an iterator, also an asynchronous one.

    ``for event in mapping.events()`` waits for each; so does ``async for``, while the event loop
    continues. Both end when all of the memory has been revoked, or may have been, after a queue
    overflow. An event is delivered once. One thread or task at a time may take events or wait for
    them; while one waits, `Mapping.close` raises an error: cancel the task first.

    It has a ``fileno``, so that it can be given to ``select``, ``selectors`` or
    ``loop.add_reader``, which then report when `poll` has an event. Take it from there before the
    mapping is closed; and in one event loop use either ``add_reader`` or ``async for``.

    Raises
    ------
    RuntimeError
        By iterating or `poll` while another thread or task waits.

    Examples
    --------
    >>> async def forget_what_is_revoked(mapping):
    ...     async for event in mapping.events():
    ...         print("revoked:", event.gpu_address, event.nbytes)
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

    def poll(self) -> Optional[MappingEvent]:
        """The oldest event that was not delivered yet, or None. Never waits.

        Raises
        ------
        barmap.Error
            In a forked child.
        RuntimeError
            If another thread or task waits for events of this mapping.
        ValueError
            If the mapping is closed.

        Examples
        --------
        >>> def is_whole(mapping):
        ...     return mapping.events().poll() is None
        """
        with self._alone():
            return self._take()

    def _take(self) -> Optional[MappingEvent]:
        found = self._mapping._next_event()
        if found is None:
            return None
        event = MappingEvent(*found)
        self._mapping._left -= min(event.nbytes, self._mapping._left)
        return event

    @contextlib.contextmanager
    def _alone(self) -> Iterator[int]:
        """Gives the descriptor to one thread at a time: a thread would never wake if another one
        took the last event.
        """
        fd = self.fileno()  # refuses in a forked child, where no thread may be left to release the lock
        if not self._mapping._taking.acquire(blocking=False):
            raise RuntimeError("another thread or task waits for the events of this mapping")
        try:
            yield fd
        finally:
            self._mapping._taking.release()

    def __iter__(self) -> MappingEvents:
        return self

    def __next__(self) -> MappingEvent:
        with self._alone() as fd, self._mapping._bytes():  # which keeps it open
            readable = select.poll()
            readable.register(fd, select.POLLIN)
            event = self._take()
            while event is None and self._mapping._left:
                readable.poll()
                event = self._take()
        if event is None:
            raise StopIteration
        return event

    def __aiter__(self) -> MappingEvents:
        return self

    async def __anext__(self) -> MappingEvent:
        import asyncio

        loop = asyncio.get_running_loop()
        with self._alone() as fd, self._mapping._bytes():
            event = self._take()
            while event is None and self._mapping._left:
                readable = asyncio.Event()
                loop.add_reader(fd, readable.set)
                try:
                    await readable.wait()
                finally:
                    loop.remove_reader(fd)
                event = self._take()
        if event is None:
            raise StopAsyncIteration
        return event
