# SPDX-License-Identifier: MIT
"""Counters between a CPU, running GPU code and CUDA streams, and the memory that they share."""

from __future__ import annotations

import time
from typing import Optional, SupportsIndex, Tuple, TypeVar, Union

from .. import _barmap
from .._base.error import Error
from .._base.held import Held, Untyped
from .._base.machine import Device, ordinal_of
from .._base.naming import kind_of
from .._base.numbers import unsigned
from .._base.streams import Stream, handle_of
from .._base.waiting import checked, pause

Counter = TypeVar("Counter", _barmap.CounterToGpu, _barmap.CounterToCpu)


class Arena(Held[_barmap.Arena]):
    """Memory of which counters take parts, so that hundreds share one pin.

    A counter to the GPU takes 128 bytes of GPU memory, and one to the CPU 128 of each kind. The
    release of a counter returns its part.

    The memory stays until the arena and all that took a part of it are released. It is a context
    manager: leaving the block releases it. Any number of threads may use it.

    Parameters
    ----------
    gpu_bytes, host_bytes : int
        Bytes of each kind of memory; 0 for none.
    device : int or Device, optional
        The GPU, or its ordinal; the current one, if not given.

    Raises
    ------
    barmap.Error
        If there is no GPU or no memory; in a forked child.

    Attributes
    ----------
    released : bool

    Examples
    --------
    >>> with barmap.Arena(1 << 16, 1 << 16) as arena:
    ...     counters = [barmap.CounterToCpu(arena=arena) for _ in range(500)]
    ...     sum(counter.value for counter in counters)
    0
    """

    _TYPE = _barmap.Arena
    _CALLED = "arena"

    def __init__(
        self,
        gpu_bytes: SupportsIndex,
        host_bytes: SupportsIndex,
        device: Union[None, SupportsIndex, Device] = None,
    ) -> None:
        self._held = self._TYPE(
            unsigned(gpu_bytes, "gpu_bytes", 63), unsigned(host_bytes, "host_bytes", 63),
            ordinal_of(device),
        )

    def __repr__(self) -> str:
        return f"Arena({'released' if self.released else ''})"


class EitherCounter(Untyped[Counter]):
    """A counter of either direction."""

    _CALLED = "counter"

    def __init__(
        self,
        first: SupportsIndex = 0,
        *,
        arena: Optional[Arena] = None,
        device: Union[None, SupportsIndex, Device] = None,
    ) -> None:
        if arena is not None and not isinstance(arena, Arena):
            raise TypeError(f"arena is {kind_of(arena)}: give a barmap.Arena")
        memory = None if arena is None else arena._held
        self._held = self._TYPE(memory, ordinal_of(device), unsigned(first, "first"))

    @property
    def value(self) -> int:
        return self._held.value

    @property
    def handle_words(self) -> Tuple[int, ...]:
        """The same as integers of 64 bits, as Numba passes them."""
        return self._held.handle_words

    def __repr__(self) -> str:
        try:
            # Not of one that a forked child has inherited, which would be opened for that.
            state = "" if self._held._is_inherited else str(self.value)
        except ValueError:
            state = "released"
        return f"{type(self).__name__}({state})"


class CounterToGpu(EitherCounter[_barmap.CounterToGpu]):
    """A 64-bit number that the CPU advances, and GPU code and streams wait for.

    Kernels take `handle` as a ``barmap::gpu::counter_to_gpu`` of ``barmap/gpu/counter.cuh``;
    docs/rings.md has the rules.

    It is a context manager: leaving the block releases it. `release` says what calls raise afterwards,
    and `share` what they do in a forked child. Any number of threads may use it.

    Parameters
    ----------
    first : int, optional
        The number to begin with.
    arena : Arena, optional
        Whose memory it takes, instead of memory of its own.
    device : int or Device, optional
        The GPU, or its ordinal; the current one, if not given. With an arena, its GPU.

    Raises
    ------
    barmap.Error
        If there is no GPU or no memory, or none left in the arena.

    Attributes
    ----------
    value : int
        As set last.
    released : bool
    handle : array of 8 bytes
        The argument for kernels, passed by value.
    handle_words : tuple of int
        The same as an integer of 64 bits.

    Examples
    --------
    >>> with barmap.CounterToGpu() as inputs:
    ...     inputs.advance(17)
    ...     inputs.wait(0, 17)  # the default stream continues at once
    ...     inputs.value
    17
    """

    _TYPE = _barmap.CounterToGpu
    _WORDS = ["value"]

    def advance(self, to: SupportsIndex) -> None:
        """Sets the number, at once, after all that this thread has written to this GPU's memory and
        to host memory.

        Raises
        ------
        ValueError
            If it would go back.

        Examples
        --------
        >>> with barmap.CounterToGpu() as inputs:
        ...     inputs.advance(inputs.value + 1)
        """
        self._held.advance(unsigned(to, "to"))

    def wait(self, stream: Stream, at_least: SupportsIndex) -> None:
        """Has a stream wait until the number is at least this. Returns at once.

        In a CUDA graph, each replay waits for the same number: call this before each launch.

        Parameters
        ----------
        stream : stream
            PyTorch's, CuPy's, an object with ``__cuda_stream__``, or a handle.
        at_least : int

        Raises
        ------
        barmap.Error
            If CUDA reports an error; where the driver lacks such waits; in a forked child.
        TypeError
            If it is no stream.

        Examples
        --------
        >>> with barmap.CounterToGpu(first=3) as inputs:
        ...     inputs.wait(0, 3)
        """
        self._held.wait(handle_of(stream), unsigned(at_least, "at_least"))


class CounterToCpu(EitherCounter[_barmap.CounterToCpu]):
    """A 64-bit number that GPU code or a stream advances, and the CPU waits for.

    Otherwise as `CounterToGpu`; kernels take a ``barmap::gpu::counter_to_cpu``.

    Attributes
    ----------
    value : int
        As it is now. After the read, stores before its last advance are visible.
    released : bool
    handle : array of 24 bytes
    handle_words : tuple of int

    Examples
    --------
    >>> with barmap.CounterToCpu() as done:
    ...     done.record(0, 17)  # when the default stream has come there
    ...     done.wait_for(17, 60), done.value
    (True, 17)
    """

    _TYPE = _barmap.CounterToCpu
    _WORDS = ["value", "arrived", "first"]

    def record(self, stream: Stream, value: SupportsIndex) -> None:
        """Has a stream set the number when all that it was given before is done.

        In a CUDA graph, each replay sets the same number: call this after each launch.
        Parameters and exceptions as those of `CounterToGpu.wait`.

        Examples
        --------
        >>> with barmap.CounterToCpu() as done:
        ...     done.record(0, 1)
        """
        self._held.record(handle_of(stream), unsigned(value, "value"))

    def wait_for(self, at_least: SupportsIndex, timeout: Optional[float] = None) -> bool:
        """Waits until the number is at least this, and tells whether it was reached in time. Otherwise as
        `RingToCpu.wait_for`.

        Examples
        --------
        >>> with barmap.CounterToCpu() as done:
        ...     done.wait_for(0), done.wait_for(1, timeout=0.001)
        (True, False)
        """
        return self._held.wait(unsigned(at_least, "at_least"), checked(timeout))

    async def reached(self, at_least: SupportsIndex) -> int:
        """Waits until the number is at least this, while the event loop continues, as
        `RingToCpu.pop` waits. It may be cancelled at any time.

        Returns
        -------
        int
            The number.

        Examples
        --------
        >>> async def print_progress(done):
        ...     for number in range(10):
        ...         print(await done.reached(number))
        """
        wanted, begin = unsigned(at_least, "at_least"), time.monotonic()
        while not self._held.wait(wanted, 0):
            await pause(begin)
        return self._held.value
