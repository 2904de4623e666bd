# SPDX-License-Identifier: MIT
"""What counters of both directions have, and the memory that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, List, Optional, SupportsIndex, Tuple, TypeVar, Union

from . import _barmap
from ._error import Error
from ._machine import Device
from ._naming import kind_of
from ._numbers import unsigned

if TYPE_CHECKING:
    import numpy.typing as npt

Counter = TypeVar("Counter", _barmap.CounterToGpu, _barmap.CounterToCpu)
_Self = TypeVar("_Self", bound="EitherCounter[Any]")
_Arena = TypeVar("_Arena", bound="Arena")


def ordinal_of(device: Union[SupportsIndex, Device]) -> int:
    return unsigned(device.ordinal if isinstance(device, Device) else device, "device", 31)


class Arena:
    """Memory of which counters take parts, so that hundreds share one pin.

    A counter to the GPU takes 128 bytes of GPU memory, and one to the CPU 128 of each kind. What is
    released gives its part back.

    The memory stays until the arena and all that took a part of it are released. It is a context
    manager: leaving the block releases it. Any number of threads may use it.

    Parameters
    ----------
    gpu_bytes, host_bytes : int
        Bytes of each kind of memory; 0 for none.
    device : int or Device, optional
        The GPU, or its ordinal.

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

    def __init__(
        self,
        gpu_bytes: SupportsIndex,
        host_bytes: SupportsIndex,
        device: Union[SupportsIndex, Device] = 0,
    ) -> None:
        self._arena = _barmap.Arena(
            unsigned(gpu_bytes, "gpu_bytes", 63), unsigned(host_bytes, "host_bytes", 63),
            ordinal_of(device),
        )

    @property
    def released(self) -> bool:
        return self._arena.released

    def release(self) -> None:
        """Lets go of the memory, which stays for what took a part of it. Twice is as once."""
        self._arena.release()

    def __enter__(self: _Arena) -> _Arena:
        if self.released:
            raise ValueError("this arena is released")
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"<barmap.Arena{', released' if self.released else ''}>"


class EitherCounter(Generic[Counter]):
    """A counter of either direction."""

    _WORDS: List[str]
    _counter: Counter

    @staticmethod
    def _memory(
        arena: Optional[Arena], device: Union[SupportsIndex, Device]
    ) -> Tuple[Optional[_barmap.Arena], int]:
        if arena is not None and not isinstance(arena, Arena):
            raise TypeError(f"arena is {kind_of(arena)}: give a barmap.Arena")
        return None if arena is None else arena._arena, ordinal_of(device)

    @property
    def released(self) -> bool:
        return self._counter.released

    @property
    def handle(self) -> npt.NDArray[Any]:
        """What kernels take by value, as a NumPy array without axes of 64-bit words.

        As `RingToGpu.handle`. It does not keep the memory.
        """
        import numpy as np

        made: npt.NDArray[Any] = np.zeros((), np.dtype([(name, np.uint64) for name in self._WORDS]))
        made[()] = self._counter.handle_words
        made.setflags(write=False)
        return made

    @property
    def handle_words(self) -> Tuple[int, ...]:
        """The same as integers of 64 bits, as Numba passes them."""
        return self._counter.handle_words

    def release(self) -> None:
        """Frees the memory, or gives it back to its arena. Releasing twice is allowed.

        No kernel and no stream may use it any more. Memory of its own is freed as `cudaFree` does
        it: this waits for all kernels that run. Garbage collection does the same.

        Examples
        --------
        >>> counter = barmap.CounterToCpu()
        >>> counter.release()
        >>> counter.released
        True
        """
        self._counter.release()

    def __enter__(self: _Self) -> _Self:
        if self.released:
            self._counter.handle_words  # says that it is released
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _shown(self) -> str:
        """What `repr` says of it, as long as it is not released."""
        return ""

    def __repr__(self) -> str:
        try:
            state = ", released" if self.released else self._shown()
        except (Error, ValueError):  # in a forked child; released by another thread meanwhile
            state = ""
        return f"<barmap.{type(self).__name__}{state}>"
