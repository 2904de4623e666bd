# SPDX-License-Identifier: MIT
"""Queues of copies that kernels submit to a copy engine."""

from __future__ import annotations

import itertools
import math
import threading
import weakref
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, SupportsIndex, Union

from .. import _barmap
from .._base import waiting
from .._arrays.array import Array, alloc
from .._arrays.gpu_arrays import expect_contiguous, source_of
from .._arrays.layout import Layout
from .._base.machine import Device, ordinal_of
from .._base.naming import dtype_name, gpu_name
from .._base.streams import Stream, current_of, gpu_of, handle_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from .batches import GpuArray

_WORD = 8  # bytes
_WORDS_OF_ROW = 3  # to, from, bytes


_next_number = itertools.count(1)
#: Queues that have not gone, by a number for interfaces that take no objects.
numbered: weakref.WeakValueDictionary[int, KernelQueue] = weakref.WeakValueDictionary()


class PieceList(NamedTuple):
    """Where kernels find a list of pieces.

    Attributes
    ----------
    pieces : int
        Address of the first row; of no use without rows.
    rows : int
    length : int or None
        Address of the word that says how many of them to copy; None: all.
    """

    pieces: int
    rows: int
    length: Optional[int]


def _expect_words(name: str, layout: Layout) -> None:
    dtype = layout.dtype
    if dtype.kind not in "iu" or dtype.itemsize != _WORD or not dtype.isnative:
        raise TypeError(f"{name} has elements of {dtype_name(dtype)}: give int64 or uint64")


def _expect_on_gpu(name: str, address: int, ordinal: int) -> None:
    if address % _WORD != 0:
        raise ValueError(f"{name} is at {address:#x}: its address must be a multiple of {_WORD}")
    found = _barmap.gpu_of_address(address)
    if found != ordinal:
        raise ValueError(
            f"{name} is on {gpu_name(found)}, and the queue is of {gpu_name(ordinal)}: give an "
            "array there"
        )


def list_of(pieces: Any, count: Any, ordinal: int) -> PieceList:
    """Where the arrays that `KernelQueue.submit` is given lie on the queue's GPU.

    Raises
    ------
    TypeError
        If an argument is no array of 64-bit integers on a GPU.
    ValueError
        For another shape, an array that is not contiguous or not aligned, or of another GPU.
    barmap.Error
        For memory that CUDA does not know; in a forked child.
    """
    given = source_of("pieces", pieces)
    layout = given.layout
    _expect_words("pieces", layout)
    if len(layout.shape) != 2 or layout.shape[1] != _WORDS_OF_ROW:
        raise ValueError(
            f"pieces has the shape {layout.shape}: give (n, {_WORDS_OF_ROW}), with rows of to, from "
            "and bytes"
        )
    expect_contiguous("pieces", layout)
    rows = layout.shape[0]
    if rows:
        _expect_on_gpu("pieces", given.address, ordinal)
    if count is None:
        return PieceList(given.address, rows, None)
    length = source_of("count", count)
    _expect_words("count", length.layout)
    elements = math.prod(length.layout.shape)
    if elements != 1:
        raise ValueError(f"count has {elements} elements: give an array of one")
    _expect_on_gpu("count", length.address, ordinal)
    return PieceList(given.address, rows, length.address)


class _Lengths:
    """Words in GPU memory that hold numbers of rows. None is written twice: a graph may read it."""

    _AT_ONCE = 512

    def __init__(self, ordinal: int) -> None:
        self._ordinal = ordinal
        self._lock = threading.Lock()
        self._places: Dict[int, int] = {}
        # The first ones now, so that mostly nothing is allocated while a stream is captured.
        self._words: List[Array] = [alloc(self._AT_ONCE, "u8", device=ordinal)]

    def address_of(self, length: int) -> int:
        """Of a word that holds this number."""
        with self._lock:
            found = self._places.get(length)
            if found is None:
                block, index = divmod(len(self._places), self._AT_ONCE)
                if block == len(self._words):
                    self._words.append(alloc(self._AT_ONCE, "u8", device=self._ordinal))
                words = self._words[block]
                words.write(length.to_bytes(_WORD, "little"), index * _WORD)
                found = self._places[length] = words.gpu_address + index * _WORD
            return found

    def close(self) -> None:
        for each in self._words:
            each.close()


class KernelQueue:
    """Copies that the GPU itself submits to one of its copy engines, without the CPU.

    `submit` has a stream enqueue a list that lies in GPU memory, where earlier work of the stream may
    have written it; in a CUDA graph, each replay copies what the list then says. A kernel of your own
    takes `handle` and submits by ``barmap/gpu/kernel_queue.cuh`` (see `include_dir`).

    It needs a GPU from Hopper on with an ordinary PCIe link, NVIDIA's kernel driver of a series that
    barmap knows, and no MIG. `copy_rows` and `batch_queue`, which the CPU submits, work everywhere.

    It is a context manager: leaving the block closes it. After `close` calls raise `ValueError`; in a
    forked child, `barmap.Error`. Any number of threads may call `submit`, `check` and `handle` at
    once.

    Parameters
    ----------
    device : int or Device, optional
        The GPU, or its ordinal; the current one, if not given.
    shared : bool, optional
        Whether lists of several streams are submitted at the same time, as those of a
        ``barmap::gpu::shared_submitter`` are; else they take turns, and each starts about 2 us sooner.
    or_rung_by_cpu : bool, optional
        Where kernels of this GPU cannot ring the doorbell, as before Hopper, have a thread of the CPU
        ring it for them.

    Raises
    ------
    barmap.Error
        If kernels of this GPU cannot submit copies, with the reason; if there is no memory.

    Attributes
    ----------
    closed : bool
    rung_by_cpu : bool
        Whether a thread of the CPU rings the doorbell.

    Examples
    --------
    >>> try:
    ...     queue = barmap.KernelQueue()
    ... except barmap.Error as refused:
    ...     print(refused.operation)
    make a channel on a simulated GPU
    """

    def __init__(
        self,
        device: Union[None, SupportsIndex, Device] = None,
        *,
        shared: bool = False,
        or_rung_by_cpu: bool = False,
    ) -> None:
        self._ordinal = ordinal_of(device)
        self._held = _barmap.KernelQueue(self._ordinal, bool(shared), bool(or_rung_by_cpu))
        self._lengths = _Lengths(self._ordinal)
        self._number = next(_next_number)
        numbered[self._number] = self

    def submit(
        self,
        pieces: GpuArray,
        count: Optional[GpuArray] = None,
        *,
        stream: Optional[Stream] = None,
        seconds: float = 10.0,
    ) -> None:
        """Has a stream copy a list of pieces: later work of the stream sees the bytes.

        A kernel of one warp reads both arrays when the stream comes there, submits the pieces, in no
        order, and waits until they are copied. The call returns at once. While the stream is
        captured, the kernel becomes part of the graph, and each replay reads both arrays again.

        You keep `pieces` and `count`, the memory of the pieces, and the queue, until the stream has
        passed, or the last replay of a graph has: not even the arrays are kept for you.

        Parameters
        ----------
        pieces : array on the queue's GPU
            Of int64 or uint64 and shape (n, 3), contiguous: in each row the addresses to copy to and
            from, and bytes, up to 1 GiB. With ``__cuda_array_interface__`` or DLPack, or a
            `barmap.Mapping`. The addresses are in memory that CUDA has mapped for this GPU: its own,
            another one's with peer access, pinned host memory. No piece may write bytes that another
            one reads or writes. An address that is not mapped stops the queue, which `check` reports.
        count : array on the queue's GPU, optional
            One element of int64 or uint64: how many rows to copy. With more than `pieces` has, nothing
            is copied, which `check` reports. All rows, if not given.
        stream : optional
            PyTorch's, CuPy's, an object with ``__cuda_stream__``, or a handle. If not given: the
            current stream of PyTorch or CuPy, whose arrays these are; else the default stream.
        seconds : float, optional
            How long the kernel may wait, in all, for others that use the queue and for the copies.

        Raises
        ------
        barmap.Error
            If CUDA refuses the launch, or does not know the memory; if the queue has stopped.
        TypeError
            If an argument is no array of 64-bit integers on a GPU, or no stream; without a stream, if there
            are arrays of PyTorch and of CuPy.
        ValueError
            For another shape, an array that is not contiguous, or one or a stream of another GPU; for a
            negative time.
        """
        if self.closed:
            raise ValueError("this KernelQueue is closed")
        given = list_of(pieces, count, self._ordinal)
        at_most = math.ceil(1e9 * min(waiting.seconds(seconds, "seconds"), 1e9))
        if stream is None:
            handle = current_of(each for each in (pieces, count) if each is not None)
        else:
            handle = handle_of(stream)
            theirs = gpu_of(stream)
            if theirs is not None and theirs != self._ordinal:
                raise ValueError(
                    f"the stream is of {gpu_name(theirs)}, and the queue of {gpu_name(self._ordinal)}"
                )
        length = self._lengths.address_of(given.rows) if given.length is None else given.length
        self._held.submit(given.pieces, length, given.rows, at_most, handle)

    def check(self) -> None:
        """Asks whether all went well since the last call. Kernels that wait for a queue that has
        stopped give up then.

        Raises
        ------
        barmap.Error
            If the queue has stopped, with the driver's number (Xid), or a list was not copied whole: in
            its time, for its length, or for a piece of more than 1 GiB.
        """
        self._held.check()

    def restart(self) -> None:
        """Makes the queue again, after it has stopped, in about 15 ms.

        Work that uses it must have ended: synchronize with its streams first. Lists without a rung
        doorbell are never copied. Graphs that `submit` was captured in, and `handle`, must be made
        again. No other thread may use the queue meanwhile.

        Raises
        ------
        barmap.Error
            As when it is made.
        """
        self._held.restart()

    def close(self) -> None:
        """Stops the queue and frees its memory, for which it waits for the GPU. Idempotent.

        Work that uses it must have ended, and no graph that does may be replayed any more.
        """
        self._held.release()
        self._lengths.close()

    @property
    def closed(self) -> bool:
        return self._held.released

    @property
    def rung_by_cpu(self) -> bool:
        return self._held.rung_by_cpu

    @property
    def handle(self) -> npt.NDArray[Any]:
        """The argument for kernels, a ``barmap::gpu::kernel_queue`` by value, as a NumPy array without
        axes: one element of 16 words, 128 bytes.

        CuPy passes such an array as a struct of its bytes. ``handle.tobytes()`` are these bytes, and
        ``handle.ctypes.data`` is their address, for a launch by CUDA's own functions. It does not
        keep the queue, and is good until `restart`, `close` or a checkpoint.
        """
        return _as_argument(self._held.handle)

    @property
    def handle_for_thread(self) -> npt.NDArray[Any]:
        """The same for a thread that acts as a kernel, with addresses of the CPU: of use in tests."""
        return _as_argument(self._held.handle_for_thread)

    def __enter__(self) -> KernelQueue:
        if self.closed:
            raise ValueError("this KernelQueue is closed")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"KernelQueue({gpu_name(self._ordinal)}{', closed' if self.closed else ''})"


def _as_argument(handle: bytes) -> npt.NDArray[Any]:
    import numpy as np

    return np.frombuffer(handle, [("words", np.uint64, len(handle) // _WORD)]).reshape(())
