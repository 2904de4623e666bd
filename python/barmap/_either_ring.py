# SPDX-License-Identifier: MIT
"""What rings of both directions have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, SupportsIndex, Tuple, TypeVar, Union

from . import _barmap
from ._held import HeldWithHandle
from ._machine import Device, ordinal_of
from ._naming import in_brackets
from ._numbers import unsigned
from ._waiting import checked

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Ring = TypeVar("Ring", _barmap.RingToGpu, _barmap.RingToCpu)


class EitherRing(HeldWithHandle[Ring]):
    """A ring of either direction."""

    _CALLED = "ring"
    # Of barmap::gpu::ring_to_gpu<T> and ring_to_cpu<T>.
    _WORDS = ["slots", "control", "credits", "mask"]
    _dtype: np.dtype[Any]
    _slots: int

    def __init__(
        self,
        dtype: npt.DTypeLike,
        slots: SupportsIndex,
        *,
        device: Union[SupportsIndex, Device] = 0,
    ) -> None:
        import numpy as np

        self._dtype = np.dtype(dtype)
        if self._dtype.hasobject:
            raise TypeError("GPU memory cannot hold Python objects")
        self._slots = unsigned(slots, "slots")
        self._held = self._TYPE(self._dtype.itemsize, self._slots, ordinal_of(device))

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype

    @property
    def slots(self) -> int:
        return self._slots

    @property
    def depth(self) -> int:
        return self._held.depth

    @property
    def number(self) -> int:
        return self._held.number

    @property
    def closed(self) -> bool:
        return self._held.closed

    @property
    def handle_words(self) -> Tuple[int, int, int, int]:
        """The same as four integers of 64 bits, as Numba passes them: the GPU addresses of slots,
        control words and credits, and the number of slots less 1.
        """
        return self._held.handle_words

    def wait_for(self, timeout: Optional[float] = None) -> bool:
        """Waits for room, in a ring to the GPU, or for a message, in one to the CPU.

        Other threads run meanwhile, and Ctrl-C ends it. For the first millisecond it keeps looking;
        after that it looks every 100 microseconds and leaves the core to others in between.

        Parameters
        ----------
        timeout : float, optional
            In seconds; for as long as it takes, if not given.

        Returns
        -------
        bool
            Whether there is any. Also False as soon as the other side has closed the ring, and in
            a ring to the CPU if all messages have been read.

        Raises
        ------
        barmap.Error
            In a forked child.
        TypeError
            If the time is no number.
        ValueError
            For a negative time; if the ring is released, also while this waits.

        Examples
        --------
        >>> with barmap.RingToGpu("i4", slots=2) as ring:
        ...     ring.wait_for(0.001)
        True
        >>> with barmap.RingToCpu("i4", slots=2) as ring:
        ...     ring.wait_for(0.001)
        False
        """
        return self._held.wait(checked(timeout))

    def close(self) -> None:
        """Tells the other side that this one has ended. Closing twice is allowed.

        In a ring to the GPU: no message will follow, and what was pushed before arrives. In a ring
        to the CPU: nothing will be read any more, which whoever finds it full is told. The memory
        stays: see `release`.

        Raises
        ------
        barmap.Error
            In a forked child.
        ValueError
            If the ring is released.

        Examples
        --------
        >>> with barmap.RingToGpu("i4", slots=2) as ring:
        ...     ring.close()
        ...     ring.close()
        """
        self._held.close()

    def __exit__(self, *_: object) -> None:
        try:
            if not self.released:
                self.close()
        finally:
            super().__exit__()

    def __repr__(self) -> str:
        state = "released" if self.released else f"{self.slots} slots"
        return f"<barmap.{type(self).__name__} of {in_brackets(self.dtype)}, {state}>"
