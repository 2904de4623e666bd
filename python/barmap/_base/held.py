# SPDX-License-Identifier: MIT
"""What the package has of memory that a CPU and a GPU share, until it is released."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, List, Protocol, Tuple, Type, TypeVar

if TYPE_CHECKING:
    import numpy.typing as npt


class _Releasable(Protocol):
    @property
    def released(self) -> bool: ...
    def release(self) -> None: ...


class _OfKernels(_Releasable, Protocol):
    @property
    def handle_words(self) -> Tuple[int, ...]: ...
    @property
    def _is_inherited(self) -> bool: ...
    def _share(self) -> int: ...


Thing = TypeVar("Thing", bound=_Releasable)
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
        other threads end first. Garbage collection does the same.

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


class HeldWithHandle(Held[ThingOfKernels]):
    """The same for objects that kernels use."""

    _WORDS: List[str]  # what the words of a handle are

    def share(self) -> int:
        """A file descriptor with which other processes of this machine open the object, without CUDA.

        `open_shared` of its class opens it. One process at a time pushes, pops or advances: from
        now on the other one, which continues where the last one has stopped, even if that was
        killed. This object only holds the memory, and may be closed. Each process that holds the
        descriptor can write to the whole arena. ``multiprocessing`` also takes rings and counters
        as they are, and a forked child opens those that it inherits, as with `Mapping.share`.

        Returns
        -------
        int
            As by `Mapping.share`.

        Raises
        ------
        barmap.Error
            If the backend cannot share memory, as rm and dmabuf can; in a forked child that cannot
            open it.
        ValueError
            If it is released.

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
