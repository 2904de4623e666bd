# SPDX-License-Identifier: MIT
"""Logs of running GPU code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Optional, SupportsIndex, Tuple, Union

from .. import _barmap
from .._base.held import Awaited, Untyped
from .._base.machine import Device, ordinal_of
from .._base.numbers import unsigned

if TYPE_CHECKING:
    import numpy.typing as npt

_RECORD = [("time", "u8"), ("number", "u8"), ("id", "u4"), ("a", "u4"), ("b", "u4"), ("c", "u4")]
_MOST_AT_ONCE = 65536


class LogRing(Untyped[_barmap.LogRing], Awaited[_barmap.LogRing]):
    """Records of running GPU code, of which the newest are kept.

    Any thread of any kernel writes them by ``barmap::gpu::log`` in ``barmap/gpu/log.cuh``, which
    `include_dir` has, and never waits. They are read while kernels run, after one has hung or failed, and by
    other processes. docs/log.md has the rules.

    ``for record in log`` goes through the records that have arrived, and ends where there are no more.
    Each object reads for itself: any number of them see all records.

    It is a context manager: leaving the block releases it, which waits for kernels. `release` says what
    calls raise afterwards, and `share` what they do in a forked child. Any number of threads may use one
    log: their calls take turns.

    Parameters
    ----------
    slots : int
        How many records it keeps, a power of two, of 32 bytes of host memory each.
    device : int or Device, optional
        The GPU, or its ordinal; the current one, if not given.

    Raises
    ------
    barmap.Error
        If there is no GPU or no memory; for another number of slots.

    Attributes
    ----------
    slots : int
    lost : int
        How many records this object has not read and never will: newer ones took their place, or
        their threads never wrote them.
    released : bool
    handle : array of 32 bytes
        The argument for kernels, passed by value.
    handle_words : tuple of int
        The same as four integers of 64 bits.

    Examples
    --------
    >>> with barmap.LogRing(slots=1024) as log:
    ...     log.read(), log.lost
    (array([], dtype=[('time', '<u8'), ('number', '<u8'), ('id', '<u4'), ('a', '<u4'), ('b', '<u4'), ('c', '<u4')]), 0)
    """

    _TYPE = _barmap.LogRing
    _CALLED = "log"
    # Of barmap::gpu::log_ring.
    _WORDS = ["records", "next", "mask", "shift"]

    def __init__(self, slots: SupportsIndex, *, device: Union[None, SupportsIndex, Device] = None) -> None:
        self._held = self._TYPE(unsigned(slots, "slots", 63), ordinal_of(device))

    @property
    def slots(self) -> int:
        return self._held.slots

    @property
    def lost(self) -> int:
        return self._held.lost

    @property
    def handle_words(self) -> Tuple[int, int, int, int]:
        """The same as four integers of 64 bits, as Numba passes them: the addresses of the records and
        of the next number, the number of slots less 1, and its binary logarithm.
        """
        return self._held.handle_words

    def read(self, n: Optional[SupportsIndex] = None) -> npt.NDArray[Any]:
        """Reads the records that have arrived, in the order of their numbers, each once.

        A record that a thread has begun and not written holds up those behind it for up to 0.2 s,
        and is lost then.

        Parameters
        ----------
        n : int, optional
            How many at most; as many as there are slots, if not given.

        Returns
        -------
        numpy.ndarray
            With the fields ``time`` (nanoseconds, by the GPU's clock), ``number``, ``id``, ``a``, ``b``
            and ``c``; maybe empty.

        Raises
        ------
        OverflowError
            If n is negative.

        Examples
        --------
        >>> with barmap.LogRing(slots=16) as log:
        ...     log.read(100).shape
        (0,)
        """
        import numpy as np

        wanted = self.slots if n is None else min(unsigned(n, "n", 63), self.slots)
        parts = []
        while True:
            part = np.empty(min(wanted, _MOST_AT_ONCE), _RECORD)
            count = self._held.read(part)
            parts.append(part[:count])
            wanted -= count
            if wanted == 0 or count < len(part):
                return np.concatenate(parts)

    def __iter__(self) -> Iterator[Any]:
        while len(records := self.read(_MOST_AT_ONCE)) != 0:
            yield from records

    def __repr__(self) -> str:
        return f"<barmap.LogRing, {'released' if self.released else f'{self.slots} slots'}>"
