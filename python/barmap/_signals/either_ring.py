# SPDX-License-Identifier: MIT
"""The common part of rings of both directions."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Optional, SupportsIndex, Tuple, Type, TypeVar, Union

from .. import _barmap
from .._base.held import Awaited, HeldWithHandle
from .._base.machine import Device, ordinal_of
from .._base.naming import dtype_name, in_brackets
from .._base.numbers import unsigned

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Ring = TypeVar("Ring", _barmap.RingToGpu, _barmap.RingToCpu)


_Self = TypeVar("_Self", bound="EitherRing[Any]")


def _message_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    import numpy as np

    result = np.dtype(dtype)
    if result.hasobject:
        raise TypeError("GPU memory cannot hold Python objects")
    if result != result.newbyteorder("="):
        raise ValueError(
            f"the dtype {dtype_name(result)} is in another byte order than the GPU's: give "
            f"{dtype_name(result.newbyteorder('='))}, and convert the messages (astype)"
        )
    return result


class EitherRing(HeldWithHandle[Ring], Awaited[Ring]):
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
        device: Union[None, SupportsIndex, Device] = None,
    ) -> None:
        self._dtype = _message_dtype(dtype)
        self._slots = unsigned(slots, "slots")
        self._held = self._TYPE(self._dtype.itemsize, self._slots, ordinal_of(device))

    @classmethod
    def open_shared(cls: Type[_Self], descriptor: SupportsIndex, dtype: npt.DTypeLike) -> _Self:
        """Opens a ring that another process has shared, without CUDA: `share` says more.

        A killed producer leaves a message whole or not at all; of what a killed consumer has read,
        up to a quarter of the slots is read again. `handle` has no addresses here.

        Parameters
        ----------
        descriptor : int
            It remains the caller's to close, and can be opened any number of times.
        dtype : numpy.dtype or what it is made from
            Of a message: that of the ring. Only its size is compared.

        Raises
        ------
        barmap.Error
            If the descriptor is none of such a ring, or its messages have another size.
        TypeError, ValueError
            For a dtype of Python objects or in another byte order, or what is no dtype.

        Examples
        --------
        >>> import os
        >>> with barmap.RingToGpu("i4", slots=2) as ring:
        ...     descriptor = ring.share()
        ...     feed = barmap.RingToGpu.open_shared(descriptor, "i4")
        ...     feed.try_push(1), feed.try_push(2), feed.try_push(3), ring.depth
        (True, True, False, 0)
        >>> os.close(descriptor)
        """
        self = cls.__new__(cls)
        self._dtype = _message_dtype(dtype)
        self._held = cls._TYPE(self._dtype.itemsize, descriptor=operator.index(descriptor))
        self._slots = self._held.slots
        return self

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

    def close(self) -> None:
        """Declares that this side has ended. Closing twice is allowed.

        In a ring to the GPU: no message will follow, and messages that were pushed arrive. In a ring
        to the CPU: no message will be read any more, and pushes to the full ring return `closed`.
        The memory stays: see `release`.

        Examples
        --------
        >>> with barmap.RingToGpu("i4", slots=2) as ring:
        ...     ring.close()
        ...     ring.close()
        """
        self._held.close()

    def __exit__(self, *_: object) -> None:
        try:
            # A forked child that has not used the ring leaves it to others.
            if not self.released and not self._held._is_inherited:
                self.close()
        finally:
            super().__exit__()

    def __repr__(self) -> str:
        state = "released" if self.released else f"{self.slots} slots"
        return f"{type(self).__name__}({in_brackets(self.dtype)}, {state})"
