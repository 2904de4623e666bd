# SPDX-License-Identifier: MIT
"""GPU memory, rings, counters and logs that go to other processes."""

from __future__ import annotations

import operator
import os
from multiprocessing import context, reduction
from typing import TYPE_CHECKING, Any, Callable, Sequence, SupportsIndex, Tuple, Union

from . import inherited
from .._arrays.array import Array
from .._arrays.layout import Layout, Shared, lengths
from .._signals.logs import LogRing
from .._arrays.mapping import Mapping
from .._signals.rings import RingToCpu, RingToGpu
from .._signals.signals import CounterToCpu, CounterToGpu

if TYPE_CHECKING:
    import numpy.typing as npt


class _Descriptor:
    """Closes a descriptor when it goes."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        close(self.number)


def _open_again(duplicate: Any, layout: Layout, read_only: bool, typed: bool) -> Mapping:
    """The mapping in the process that receives it."""
    received = _Descriptor(duplicate.detach())
    return Mapping(Shared(received.number, layout, read_only, typed))


def _open_signal_again(duplicate: Any, kind: Any, *dtype: Any) -> Any:
    """The ring, counter or log in the process that receives it."""
    received = _Descriptor(duplicate.detach())
    return kind.open_shared(received.number, *dtype)


def _sent(shared: Any) -> Any:
    """Takes a descriptor to the process that unpickles it."""
    descriptor = _Descriptor(shared.share())
    starting = context.get_spawning_popen()
    if starting is not None:  # which takes the descriptor only when everything is pickled
        vars(starting).setdefault("_barmap_descriptors", []).append(descriptor)
    return reduction.DupFd(descriptor.number)


def _reduce(mapping: Mapping) -> Tuple[Any, ...]:
    return _open_again, (_sent(mapping), mapping._layout, mapping.readonly, mapping._typed)


def _reduce_ring(ring: Union[RingToGpu, RingToCpu]) -> Tuple[Any, ...]:
    return _open_signal_again, (_sent(ring), type(ring), ring.dtype)


def _reduce_plain(signal: Union[CounterToGpu, CounterToCpu, LogRing]) -> Tuple[Any, ...]:
    return _open_signal_again, (_sent(signal), type(signal))


# Not pickle itself, whose bytes may never be read, or twice, or on another machine.
reduction.ForkingPickler.register(Mapping, _reduce)
reduction.ForkingPickler.register(Array, _reduce)
reduction.ForkingPickler.register(RingToGpu, _reduce_ring)
reduction.ForkingPickler.register(RingToCpu, _reduce_ring)
reduction.ForkingPickler.register(CounterToGpu, _reduce_plain)
reduction.ForkingPickler.register(CounterToCpu, _reduce_plain)
reduction.ForkingPickler.register(LogRing, _reduce_plain)
inherited.watch_forks()


def open_shared(
    descriptor: SupportsIndex,
    shape: Union[None, SupportsIndex, Sequence[SupportsIndex]] = None,
    dtype: npt.DTypeLike = "u1",
) -> Mapping:
    """Opens memory that another process has shared by `Mapping.share`.

    Needs no CUDA, and starts none. A forked child may open its own.

    Parameters
    ----------
    descriptor : int
        It remains the caller's to close, and can be opened any number of times.
    shape : int or sequence of int, optional
        Of the elements, in C order. Without it, the mapping is all of the memory, as bytes.
    dtype : numpy.dtype or what it is made from, optional

    Returns
    -------
    Mapping
        Its ``gpu_address`` is 0 and its ``device`` -1: this process has a name for neither. It
        keeps the memory, whatever becomes of the descriptor and of the process that shared it.

    Raises
    ------
    barmap.Error
        If the descriptor is none that `Mapping.share` made, or the GPU's device files are out of
        reach.
    ValueError
        If the elements do not fit into the memory.

    Examples
    --------
    >>> import os
    >>> array = barmap.alloc((2, 2), "f4")
    >>> descriptor = array.share()
    >>> with barmap.open_shared(descriptor, (2, 2), "f4") as mapping:
    ...     mapping.write(np.ones((2, 2), "f4"))
    >>> os.close(descriptor)
    >>> array.numpy().sum()
    np.float32(4.0)
    """
    layout = None if shape is None else Layout.of(lengths(shape), dtype)
    return Mapping(Shared(operator.index(descriptor), layout, typed=layout is not None))
