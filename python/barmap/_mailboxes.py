# SPDX-License-Identifier: MIT
"""Mailboxes between a CPU and running GPU code: the latest value wins."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Optional, SupportsIndex, Union

from . import _barmap
from ._either_signal import Arena, EitherSignal
from ._machine import Device
from ._messages import MessageMaker
from ._naming import in_brackets
from ._waiting import checked, pause

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def _checked_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    import numpy as np

    made = np.dtype(dtype)
    if made.hasobject:
        raise TypeError("GPU memory cannot hold Python objects")
    return made


class MailboxToGpu(EitherSignal[_barmap.MailboxToGpu]):
    """Values of the CPU to running GPU code: the latest wins, and nobody waits for a reader.

    Kernels take `handle` as a ``barmap::gpu::mailbox_to_gpu`` of ``barmap/gpu/mailbox.cuh``, with a
    struct that `device_struct` writes; any number of them may read. docs/rings.md has the rules.

    It is a context manager: leaving the block releases it. After `release` calls raise `ValueError`;
    in a forked child, `barmap.Error`. Any number of threads may use it: their calls take turns.

    Parameters
    ----------
    dtype : numpy.dtype or what it is made from
        Of a value: 1 byte to 1 MiB. It may be structured or a sub-array.
    arena : Arena, optional
        Whose memory it takes, instead of memory of its own.
    device : int or Device, optional
        The GPU, or its ordinal; that of the arena, if there is one.

    Raises
    ------
    barmap.Error
        If there is no GPU or no memory, or none left in the arena.
    TypeError
        For a dtype of Python objects, or what is no dtype.
    ValueError
        For other sizes.

    Attributes
    ----------
    dtype : numpy.dtype
    version : int
        How many values have been written.
    released : bool
    handle : array of 24 bytes
        What kernels take by value.
    handle_words : tuple of int
        The same as three integers of 64 bits.

    Examples
    --------
    >>> gains = np.dtype([("p", "f4"), ("i", "f4")])
    >>> with barmap.MailboxToGpu(gains) as settings:
    ...     settings.write((0.5, 0.25))
    ...     settings.version
    1
    """

    _WORDS = ["slots", "version", "first"]

    def __init__(
        self,
        dtype: npt.DTypeLike,
        *,
        arena: Optional[Arena] = None,
        device: Union[SupportsIndex, Device] = 0,
    ) -> None:
        self._dtype = _checked_dtype(dtype)
        self._value_of = MessageMaker(self._dtype, "the value")
        self._signal = _barmap.MailboxToGpu(*self._memory(arena, device), self._dtype.itemsize)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype

    @property
    def version(self) -> int:
        return self._signal.version

    def _shown(self) -> str:
        return f" of {in_brackets(self.dtype)}: version {self.version}"

    def write(self, value: Any) -> None:
        """Publishes a value, at once. Never waits.

        Parameters
        ----------
        value : number, tuple, NumPy scalar or array
            As that of `RingToGpu.try_push`, which also lists the exceptions.

        Examples
        --------
        >>> with barmap.MailboxToGpu("f4") as gain:
        ...     gain.write(0.5)
        """
        self._signal.write(self._value_of(value))


class MailboxToCpu(EitherSignal[_barmap.MailboxToCpu]):
    """Values of running GPU code to the CPU: the latest wins.

    One ``barmap::gpu::mailbox_writer`` writes. Otherwise as `MailboxToGpu`.

    Attributes
    ----------
    dtype : numpy.dtype
    version : int
        The version that was read last: how many values had been written then.
    released : bool
    handle : array of 24 bytes
    handle_words : tuple of int

    Examples
    --------
    >>> with barmap.MailboxToCpu([("step", "u4"), ("loss", "f4")]) as progress:
    ...     print(progress.read(), progress.version)
    None 0
    """

    _WORDS = ["slots", "version", "first"]

    def __init__(
        self,
        dtype: npt.DTypeLike,
        *,
        arena: Optional[Arena] = None,
        device: Union[SupportsIndex, Device] = 0,
    ) -> None:
        self._dtype = _checked_dtype(dtype)
        self._signal = _barmap.MailboxToCpu(*self._memory(arena, device), self._dtype.itemsize)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype

    @property
    def version(self) -> int:
        return self._signal.version

    def _shown(self) -> str:
        return f" of {in_brackets(self.dtype)}: version {self.version}"

    def read(self) -> Any:
        """Reads the latest value, if it is newer than the last one that was read.

        Returns
        -------
        NumPy scalar, or None
            For a structured dtype a record, for a sub-array an array. Also None while values come
            faster than they can be read.

        Raises
        ------
        barmap.Error
            In a forked child.
        ValueError
            If the mailbox is released.

        Examples
        --------
        >>> with barmap.MailboxToCpu("f4") as loss:
        ...     loss.read() is None
        True
        """
        import numpy as np

        value = np.empty(1, self._dtype)
        return value[0] if self._signal.read(value) else None

    def wait_for(self, timeout: Optional[float] = None) -> bool:
        """Waits for a newer value than the last one that was read. Parameters and exceptions as
        those of `CounterToCpu.wait_for`.

        Returns
        -------
        bool
            Whether there is one.

        Examples
        --------
        >>> with barmap.MailboxToCpu("f4") as loss:
        ...     loss.wait_for(0.001)
        False
        """
        return self._signal.wait(checked(timeout))

    async def get(self) -> Any:
        """Waits for a newer value, while the event loop goes on: as `RingToCpu.pop` waits. It may
        be cancelled at any time.

        Returns
        -------
        NumPy scalar
            As by `read`.

        Examples
        --------
        >>> async def print_all(progress):
        ...     while True:
        ...         print(await progress.get())
        """
        begin = time.monotonic()
        while True:
            value = self.read()
            if value is not None:
                return value
            await pause(begin)
