# SPDX-License-Identifier: MIT
"""Holders of memory that a CPU and a GPU share, until it is released."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Generic, List, Optional, Protocol, SupportsIndex, Tuple, Type, TypeVar

from .waiting import checked

if TYPE_CHECKING:
    import numpy.typing as npt


class _Releasable(Protocol):
    @property
    def released(self) -> bool: ...
    def release(self) -> None: ...


class _Waitable(_Releasable, Protocol):
    def wait(self, seconds: Optional[float]) -> bool: ...


class _OfKernels(_Releasable, Protocol):
    @property
    def handle_words(self) -> Tuple[int, ...]: ...
    @property
    def _is_inherited(self) -> bool: ...
    def _share(self) -> int: ...


Thing = TypeVar("Thing", bound=_Releasable)
Waitable = TypeVar("Waitable", bound=_Waitable)
ThingOfKernels = TypeVar("ThingOfKernels", bound=_OfKernels)
_Self = TypeVar("_Self", bound="Held[Any]")


class Held(Generic[Thing]):
    """Something of the extension, which leaving a block releases."""

    _TYPE: Type[Thing]
    _CALLED: str  # as messages call it
    _held: Thing

    @property
    def released(self) -> bool:
        return self._held.released

    def release(self) -> None:
        """Frees the memory, or returns it to its arena. Releasing twice is allowed.

        No kernel, stream or graph may use the memory any more, and no running kernel may wait for a
        message of this program: like `cudaFree`, freeing waits for all running kernels. Calls of
        other threads end first. Later calls, and those that wait for something, raise `ValueError`.
        Garbage collection does the same.

        Memory in use stays: an arena's until the last counter in it is released, that of steps as
        long as there is a reference to an array of `StepInputs.host`.

        Examples
        --------
        >>> ring = barmap.RingToGpu("i4", slots=2)
        >>> ring.release()
        >>> ring.released
        True
        >>> try:
        ...     ring.try_push(1)
        ... except ValueError as refused:
        ...     print(refused)
        this ring is released
        """
        self._held.release()

    def __enter__(self: _Self) -> _Self:
        if self.released:
            raise ValueError(f"this {self._CALLED} is released")
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class Awaited(Held[Waitable]):
    """The same for something whose other side can be waited for."""

    def wait_for(self, timeout: Optional[float] = None) -> bool:
        """Waits for room in a ring to the GPU, a message in one to the CPU, a record in a log, a free
        version of inputs of steps, or results of outputs.

        Other threads run meanwhile, and Ctrl-C ends it. For the first millisecond it keeps looking;
        after that it looks every 100 microseconds and leaves the core to others in between.

        Parameters
        ----------
        timeout : float, optional
            In seconds; for as long as it takes, if not given.

        Returns
        -------
        bool
            Whether there is any. Also False as soon as none will come: the other side has closed the
            ring, and all messages of one to the CPU have been read, or steps have `failed`.

        Raises
        ------
        TypeError
            If the time is no number.
        ValueError
            For a negative time.

        Examples
        --------
        >>> with barmap.RingToGpu("i4", slots=2) as ring:
        ...     ring.wait_for(0.001)
        True
        >>> with barmap.StepOutputs({"x": barmap.alloc(2, "f4")}) as outputs:
        ...     outputs.wait_for(0.001)
        False
        """
        return self._held.wait(checked(timeout))


class HeldWithHandle(Held[ThingOfKernels]):
    """The same for objects that kernels use."""

    _WORDS: List[str]  # what the words of a handle are

    def share(self) -> int:
        """A file descriptor with which other processes of this machine open the object, without CUDA.

        `open_shared` of its class opens it. One process at a time pushes, pops or advances: from
        now on the other one, which continues where the last one has stopped, even if that was
        killed. This object only holds the memory, and may be closed. Each process that holds the
        descriptor can write to the whole arena; that of a log reaches only its records, which any
        number of processes read. ``multiprocessing`` also takes such objects as they are, and a
        forked child opens those that it inherits, as with `Mapping.share`. Where it cannot, its calls
        raise `barmap.Error`.

        Returns
        -------
        int
            As by `Mapping.share`.

        Raises
        ------
        barmap.Error
            If the backend cannot share memory, as rm and dmabuf can.

        Examples
        --------
        >>> import os
        >>> with barmap.CounterToGpu() as inputs:
        ...     descriptor = inputs.share()
        >>> with barmap.CounterToGpu.open_shared(descriptor) as opened:
        ...     opened.advance(5)
        >>> os.close(descriptor)
        """
        return self._held._share()

    @property
    def handle(self) -> npt.NDArray[Any]:
        """The argument for kernels, passed by value, as a NumPy array without axes of 64-bit words.

        CuPy passes such an array as a struct of its bytes. ``handle.tobytes()`` are these bytes, and
        ``handle.ctypes.data`` is their address, for a launch by CUDA's own functions. It does not
        keep the memory.
        """
        import numpy as np

        made: npt.NDArray[Any] = np.zeros((), np.dtype([(name, np.uint64) for name in self._WORDS]))
        made[()] = self._held.handle_words
        made.setflags(write=False)
        return made


class Untyped(HeldWithHandle[ThingOfKernels]):
    """The same for objects whose contents have no dtype."""

    @classmethod
    def open_shared(cls: Type[_Self], descriptor: SupportsIndex) -> _Self:
        """Opens a counter or a log that another process has shared, without CUDA: `share` says more.

        Only the process that made a counter can make streams wait for it or set it. A log can be
        opened without a GPU, also after its process has ended; it is read from the oldest record that
        is there, and `lost` counts those before it. `handle` has no addresses here.

        Parameters
        ----------
        descriptor : int
            It remains the caller's to close, and can be opened any number of times. For a log, one of
            ``/proc/PID/fd/N`` that is open for reading will do.

        Raises
        ------
        barmap.Error
            If the descriptor is of no such object.

        Examples
        --------
        >>> import os
        >>> with barmap.CounterToCpu(first=3) as done:
        ...     descriptor = done.share()
        >>> with barmap.CounterToCpu.open_shared(descriptor) as opened:
        ...     opened.value
        3
        >>> os.close(descriptor)
        """
        self = cls.__new__(cls)
        self._held = cls._TYPE(descriptor=operator.index(descriptor))
        return self
