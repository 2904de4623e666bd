# SPDX-License-Identifier: MIT
"""Rings of messages between a CPU and running GPU code."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any, Optional, SupportsIndex

from .. import _barmap
from .either_ring import EitherRing
from .messages import MessageMaker, expect_messages
from .._base.numbers import unsigned
from .._base.waiting import pause

if TYPE_CHECKING:
    import numpy.typing as npt


class RingToGpu(EitherRing[_barmap.RingToGpu]):
    """Messages of the CPU to running GPU code, without a driver call.

    One consumer of one kernel at a time reads them: ``barmap::gpu::consumer`` in
    ``barmap/gpu/ring.cuh``, which `include_dir` has, with a struct that `device_struct` writes. docs/rings.md
    has the rules.

    It is a context manager: leaving the block closes the ring and releases it. That waits for
    kernels, so close first every ring that they still wait for. `release` says what calls raise
    afterwards, and `share` what they do in a forked child; `dtype` and `slots` always remain.

    Any number of threads may use one ring: their calls take turns.

    Parameters
    ----------
    dtype : numpy.dtype or what it is made from
        Of a message: 1 byte to 1 MiB; 56 bytes fill a line. It may be structured or a sub-array.
    slots : int
        How many messages it holds, a power of two.
    device : int or Device, optional
        The GPU, or its ordinal.

    Raises
    ------
    barmap.Error
        If there is no GPU or no memory.
    TypeError
        For a dtype of Python objects, or what is no dtype.
    ValueError
        For other sizes; for a dtype in another byte order than this machine's, which GPU code would
        misread.

    Attributes
    ----------
    dtype : numpy.dtype
    slots : int
    depth : int
        How many messages have been pushed, and not yet been given credit for.
    number : int
        How many messages have been pushed so far.
    closed : bool
        The consumer has closed the ring.
    released : bool
    handle : array of 32 bytes
        The argument for kernels, passed by value.
    handle_words : tuple of int
        The same as four integers of 64 bits.

    Examples
    --------
    >>> command = np.dtype([("id", "u4"), ("gain", "f4")])
    >>> with barmap.RingToGpu(command, slots=4) as ring:
    ...     ring.try_push((17, 0.5)), ring.push_many(np.zeros(8, command)), ring.depth
    (True, 3, 4)
    """

    _TYPE = _barmap.RingToGpu

    @functools.cached_property
    def _message_of(self) -> MessageMaker:
        return MessageMaker(self._dtype)

    def try_push(self, value: Any) -> bool:
        """Writes a message, unless the ring is full. It arrives at the latest with `flush`.

        Parameters
        ----------
        value : number, tuple, NumPy scalar or array
            A number or text for a plain dtype, a tuple for a structured one, a list for a
            sub-array; or what NumPy has of that very dtype.

        Returns
        -------
        bool
            Whether there was room.

        Raises
        ------
        OverflowError
            For an integer that the dtype does not have.
        TypeError
            For a value of another kind: a float is not made an integer.
        ValueError
            For a tuple or text of another length.

        Examples
        --------
        >>> with barmap.RingToGpu("u2", slots=2) as ring:
        ...     ring.try_push(1), ring.try_push(np.uint16(2)), ring.try_push(3)
        (True, True, False)
        """
        return self._held.push(self._message_of(value)) == 1

    def push_many(self, messages: npt.NDArray[Any]) -> int:
        """Writes as many messages as there is room for, in order. They arrive at the latest with
        `flush`. Nothing is converted.

        Parameters
        ----------
        messages : numpy.ndarray
            Of the ring's dtype, C-contiguous, with one axis; and then the axes of a sub-array.

        Returns
        -------
        int
            How many.

        Raises
        ------
        TypeError
            For anything else; says what to do.

        Examples
        --------
        >>> with barmap.RingToGpu("f4", slots=4) as ring:
        ...     first = ring.push_many(np.array([1, 2, 3], "f4"))
        ...     first, ring.push_many(np.array([4, 5, 6], "f4")), ring.depth
        (3, 1, 4)
        """
        expect_messages(self._dtype, messages, "messages")
        return self._held.push(messages)

    def flush(self) -> None:
        """Makes all messages arrive without waiting for more.

        Examples
        --------
        >>> with barmap.RingToGpu("f4", slots=4) as ring:
        ...     if ring.try_push(0.5):
        ...         ring.flush()
        """
        self._held.flush()


class RingToCpu(EitherRing[_barmap.RingToCpu]):
    """Messages of running GPU code to the CPU, without a synchronisation.

    A kernel pushes them: one ``barmap::gpu::producer``, or any number of GPU threads by
    ``barmap::gpu::push``. The attributes `dtype`, `slots`, `released`, `handle` and `handle_words`, and all
    else, are as with `RingToGpu`.

    ``for message in ring`` waits for each, as `wait_for` does, and ``async for`` as `pop`. Both end
    when the producer has closed the ring and all messages have been read.

    Attributes
    ----------
    depth : int
        How many messages have arrived and not been read.
    number : int
        How many messages have been read so far.
    closed : bool
        A producer has closed the ring. Messages may be left that came before.

    Examples
    --------
    >>> with barmap.RingToCpu([("id", "u4"), ("result", "f8")], slots=1024) as ring:
    ...     print(ring.try_pop(), ring.depth, ring.closed)
    None 0 False
    """

    _TYPE = _barmap.RingToCpu

    def try_pop(self) -> Any:
        """Reads the next message, if it has arrived.

        Returns
        -------
        NumPy scalar, or None
            For a structured dtype a record, for a sub-array an array.

        Examples
        --------
        >>> with barmap.RingToCpu("i4", slots=2) as ring:
        ...     ring.try_pop() is None
        True
        """
        import numpy as np

        message = np.empty(1, self._dtype)
        return message[0] if self._held.pop(message) else None

    def pop_many(
        self, n: Optional[SupportsIndex] = None, *, out: Optional[npt.NDArray[Any]] = None
    ) -> npt.NDArray[Any]:
        """Reads as many messages as have arrived, in order, and no more than asked for.

        Parameters
        ----------
        n : int, optional
            How many at most; as many as there are slots, if neither this nor `out` is given.
        out : numpy.ndarray, optional
            Where to, instead of a new array: of the ring's dtype, C-contiguous and writable, with
            one axis, and then the axes of a sub-array.

        Returns
        -------
        numpy.ndarray
            The messages, maybe none; a view of the beginning of `out`.

        Raises
        ------
        OverflowError
            If n is negative.
        TypeError
            For another kind of `out`; if both are given.

        Examples
        --------
        >>> with barmap.RingToCpu("i4", slots=2) as ring:
        ...     ring.pop_many(16).shape, ring.pop_many(out=np.empty(4, "i4")).shape
        ((0,), (0,))
        """
        import numpy as np

        if out is None:
            wanted = self._slots if n is None else unsigned(n, "n", 63)
            out = np.empty(min(wanted, self._slots), self._dtype)
        elif n is not None:
            raise TypeError("give n or out, not both")
        else:
            expect_messages(self._dtype, out, "out")
            if not out.flags.writeable:
                raise TypeError("out is read-only")
        return out[: self._held.pop(out)]

    async def pop(self) -> Any:
        """Waits for the next message, while the event loop continues.

        For the first millisecond it polls in each round of the loop; after that it sleeps between
        polls for a tenth of the time that has passed, 1 to 10 ms: an idle ring costs next to
        nothing, and its next message is up to 10 ms late. `wait_for` in a thread is faster.

        It may be cancelled at any time: a message is then either returned or still there.

        Returns
        -------
        NumPy scalar
            As by `try_pop`.

        Raises
        ------
        EOFError
            If the ring is closed, and all its messages have been read.

        Examples
        --------
        >>> async def print_all(ring):
        ...     try:
        ...         while True:
        ...             print(await ring.pop())
        ...     except EOFError:
        ...         print("closed")
        """
        begin = time.monotonic()
        while True:
            is_last = self.closed  # what came before is there by then
            message = self.try_pop()
            if message is not None:
                return message
            if is_last:
                raise EOFError("this ring is closed, and all its messages have been read")
            await pause(begin)

    def __iter__(self) -> RingToCpu:
        return self

    def __next__(self) -> Any:
        while True:
            message = self.try_pop()
            if message is not None:
                return message
            if not self.wait_for():
                raise StopIteration

    def __aiter__(self) -> RingToCpu:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.pop()
        except EOFError:
            raise StopAsyncIteration from None
