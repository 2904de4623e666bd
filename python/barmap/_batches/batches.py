# SPDX-License-Identifier: MIT
"""Batches of scattered copies between GPU memory, of one GPU or several, and pinned host memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, SupportsIndex, Union

from .. import _barmap
from .._base.error import Error
from .._arrays.layout import Layout, lengths
from .._base.machine import Device, Engine, ordinal_of
from .._base.naming import gpu_name
from .._base.numbers import unsigned
from .._arrays.sources import SupportsCudaArray, SupportsDlpack
from .._base.streams import Stream, gpu_of, handle_of
from .._base.waiting import checked, seconds

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .._arrays.mapping import Mapping

    GpuArray = Union[SupportsCudaArray, SupportsDlpack, Mapping]
    HostArray = Union[SupportsDlpack, "npt.NDArray[Any]", _barmap.Buffer]


def copy_rows(
    to: Union[GpuArray, HostArray],
    from_: Union[GpuArray, HostArray],
    to_rows: Optional[npt.ArrayLike] = None,
    from_rows: Optional[npt.ArrayLike] = None,
    *,
    stream: Optional[Stream] = None,
) -> None:
    """Copies rows between arrays on a GPU, on two GPUs, or on a GPU and in pinned host memory.

    ``from_[from_rows[i]]`` goes to ``to[to_rows[i]]``, in one batch of a copy engine: with no
    kernel. The GPU of `stream` copies, without one that of `from_`, or of `to` where `from_` is in
    host memory; it must have access to the other one's memory. Rows that follow each other on both
    sides are copied as one piece. Everything is checked before the first byte is copied.

    Parameters
    ----------
    to, from_ : array
        On GPUs: with ``__cuda_array_interface__`` or DLPack, or a `barmap.Mapping`. One may be in
        pinned host memory: NumPy's or another buffer, or DLPack, as `barmap.pinned`,
        ``torch.empty(..., pin_memory=True)`` and ``cupyx.empty_pinned`` make them. The same dtype
        and shape of a row, which is an element of the first axis. Each row must be contiguous; the
        rows may be anywhere. Both may be one array, if no row is written that is read.
    to_rows, from_rows : array of int, optional
        One axis each, on the host, equally long; 0, 1, 2 and so on for what is not given: for as
        many rows as the other names, or for all rows of `from_`. No two of `to_rows` are the same.
        Negative ones are refused: in lists of blocks, -1 often means none.
    stream : optional
        PyTorch's, CuPy's, an object with ``__cuda_stream__``, or a handle. The copy then comes after
        all work that the stream was given before, and all that it is given later sees the bytes;
        the call returns at once. You keep both arrays until then, as with any asynchronous copy; if
        it fails, the next call raises that error. Without a stream the bytes are there when the
        call returns, and nothing is waited for first: make sure that work writing `from_` has
        finished. Ctrl-C then ends the wait, but not the copy, which may still change `to`: both
        arrays are kept until it has ended.

    Raises
    ------
    IndexError
        If an array has fewer rows.
    TypeError
        If no array is on a GPU, or one is neither there nor in host memory; if `to` is read-only;
        if they have different dtypes.
    ValueError
        For a negative row; if rows have different shapes or are not contiguous, if a row would be
        written twice, or written and read, or if the host memory is not pinned.
    barmap.Error
        If the copy fails, or an earlier one with a stream did; if no copy engine is usable; if the
        GPU that copies has no access to the other one's memory (PyTorch enables it for two GPUs
        with the first copy of a tensor between them); with the engine ``driver``, if a row lies in
        two allocations, or in memory that was freed. "Piece 5" is the row at place 5, from 0.

    Examples
    --------
    >>> cache = barmap.alloc((8, 4), "f4")
    >>> cache.write(np.arange(32, dtype="f4"))
    >>> kept = barmap.pinned((3, 4), "f4")
    >>> barmap.copy_rows(kept, cache, from_rows=[6, 0, 7])
    >>> kept[:, 0].tolist()
    [24.0, 0.0, 28.0]
    >>> barmap.copy_rows(cache, kept, to_rows=[5, 2], from_rows=[0, 2])
    >>> cache.numpy()[[5, 2], 0].tolist()
    [24.0, 28.0]
    """
    from .._arrays import rows

    target, source = rows.of_array("to", to), rows.of_array("from_", from_)
    if not target.is_on_gpu and not source.is_on_gpu:
        raise TypeError("to and from_ are both in host memory: give an array on a GPU")
    rows.expect_alike(target, source)
    rows.expect_writable(target)
    places = None if to_rows is None else rows.indices("to_rows", to_rows, target)
    sources = None if from_rows is None else rows.indices("from_rows", from_rows, source)
    if places is not None and sources is not None and len(places) != len(sources):
        raise ValueError(f"{len(places)} to_rows, and {len(sources)} from_rows")
    _barmap.copy_rows(
        target.axis, places, target.is_on_gpu, source.axis, sources, source.is_on_gpu,
        target.row_nbytes, None if stream is None else handle_of(stream),
        None if stream is None else gpu_of(stream), (target.owner, source.owner),
    )


def pinned(
    shape: Union[SupportsIndex, Sequence[SupportsIndex]],
    dtype: npt.DTypeLike,
    *,
    device: Union[None, SupportsIndex, Device] = None,
) -> npt.NDArray[Any]:
    """A NumPy array of zeros in host memory that a GPU's copy engines reach directly.

    `Mapping.read_into` and `Mapping.write` are fastest with it, `copy_rows` needs such memory. It is
    freed with the last array that is a view of it, which may wait for the GPU.

    Parameters
    ----------
    shape : int or sequence of int
    dtype : numpy.dtype or what it is made from
    device : int or Device, optional
        A GPU, or its ordinal; the current one, if not given. All others reach the memory as well.

    Raises
    ------
    barmap.Error
        If there is no GPU, or the system lets this process pin no more memory.
    TypeError, ValueError
        For a shape or dtype that NumPy refuses, and for elements that are Python objects.

    Examples
    --------
    >>> float(barmap.pinned((2, 3), "f4").sum())
    0.0
    """
    import numpy as np

    layout = Layout.of(lengths(shape), dtype)
    ordinal = ordinal_of(device)
    if layout.nbytes == 0:
        return np.zeros(layout.shape, layout.dtype)
    return np.ndarray(layout.shape, layout.dtype, _barmap.pinned(layout.nbytes, ordinal))


class BatchQueue:
    """Copies batches of scattered pieces for one GPU, by their addresses. Made by
    `barmap.batch_queue`.

    `copy_rows` is for arrays. Here nothing is checked but the numbers: an address that
    CUDA has not mapped, or memory that is freed before its batch is done, makes the batch fail, and
    those that the same channel had not yet done. You keep both sides of every piece until then.

    Any number of threads may use one at once.

    Attributes
    ----------
    name : str
        "channel" or "driver": what takes batches now.
    reports : list of Engine
        The state of each engine that was tried for batches, in order.

    Examples
    --------
    >>> queue = barmap.batch_queue()
    >>> array, host = barmap.alloc(64, "u1"), barmap.pinned(64, "u1")
    >>> array.write(bytes(range(64)))
    >>> there = host.ctypes.data
    >>> ticket = queue.submit([there, there + 10], [array.gpu_address + 9, array.gpu_address],
    ...                        [3, 2])
    >>> queue.wait(ticket)
    True
    >>> host[:12].tolist()
    [9, 10, 11, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    """

    def __init__(self, device: Union[None, SupportsIndex, Device] = None) -> None:
        self._ordinal = ordinal_of(device)
        self._queue = _barmap.batch_queue(self._ordinal)

    def submit(
        self,
        to: npt.ArrayLike,
        from_: npt.ArrayLike,
        sizes: npt.ArrayLike,
        after: Optional[Stream] = None,
        then: Optional[Stream] = None,
        at_most: Optional[float] = None,
    ) -> int:
        """Begins to copy pieces, in no order, and returns at once.

        In a stream that is being captured into a CUDA graph, they become a node of the graph, which
        copies them in each replay, on GPUs from Hopper on. The ticket is done once CUDA has destroyed
        the graph and all that was made of it: keep the pieces' memory until then, and ask `done`
        for failures. For pieces that change from replay to replay there is `KernelQueue`.

        Parameters
        ----------
        to, from_ : array of int
            Addresses of the first byte of each piece, in memory of this GPU, of another one that
            this one has access to, or in pinned host memory. A batch is fastest if all pieces go
            the same way, which the first one tells.
        sizes : array of int
            Bytes of each piece. All three have one axis of the same length; those of 64-bit integers
            are taken as they are.
        after : stream, optional
            Copy after all work that it was given before.
        then : stream, optional
            All work that it is given later sees the bytes.
        at_most : float, optional
            With `after`: how long the stream may take from now on, in seconds; a batch of the
            channel that waits longer has failed. None: as long as it takes. In a graph: how long
            each replay may take to copy the pieces; None: ten seconds.

        Returns
        -------
        int
            A ticket, for `done` and `wait`.

        Raises
        ------
        barmap.Error
            For memory that CUDA does not know, or another GPU's that this one has no access to, for
            a stream of another GPU, for one that is being captured where this GPU has no queue for
            kernels, or if no engine works any more. Nothing is copied then.
        TypeError, ValueError
            For arguments of another kind or of different lengths, for a negative time, for an
            address of 0 or one that no GPU has. Nothing is copied then.
        OverflowError
            For an address, a size or a stream of more than 64 bits.

        Examples
        --------
        >>> queue, array = barmap.batch_queue(), barmap.alloc(8, "u1")
        >>> host = barmap.pinned(8, "u1")
        >>> host[:] = 7
        >>> default_stream = 0
        >>> ticket = queue.submit([array.gpu_address], [host.ctypes.data], [8],
        ...                        after=default_stream, then=default_stream)
        """
        patience = None if at_most is None else seconds(at_most, "at_most")
        from .._arrays import rows

        return self._queue.submit(
            rows.addresses("to", to),
            rows.addresses("from_", from_),
            rows.addresses("sizes", sizes),
            None if after is None else handle_of(after),
            None if then is None else handle_of(then),
            None if patience is None else math.ceil(1e9 * min(patience, 1e9)),
        )

    def done(self, ticket: SupportsIndex) -> bool:
        """Whether a batch is done. Where it is, its bytes are there.

        Raises
        ------
        barmap.Error
            If the batch has failed: which of its bytes were copied is unknown.
        ValueError
            For a ticket that this GPU's batch queue has not given.

        Examples
        --------
        >>> barmap.batch_queue().done(0)
        True
        """
        return self._queue.done(unsigned(ticket, "the ticket"))

    def wait(self, ticket: SupportsIndex, timeout: Optional[float] = None) -> bool:
        """Waits for a batch, without giving up the CPU, but without the GIL. Ctrl-C ends the wait,
        but not the batch.

        Parameters
        ----------
        timeout : float, optional
            In seconds; for as long as it takes, if not given.

        Returns
        -------
        bool
            Whether it is done. Raises as `done`.

        Examples
        --------
        >>> barmap.batch_queue().wait(0, timeout=0.001)
        True
        """
        return self._queue.wait(unsigned(ticket, "the ticket"), checked(timeout))

    @property
    def engine(self) -> str:
        return self._queue.engine

    @property
    def reports(self) -> List[Engine]:
        return [Engine(**row) for row in self._queue.reports]

    def __repr__(self) -> str:
        try:
            usable = [each.name for each in self.reports if each.state == "usable"]
        except Error:  # in a forked child
            usable = []
        return f"BatchQueue({gpu_name(self._ordinal)}, {usable[0] if usable else 'none usable'})"


def batch_queue(device_or_ordinal: Union[None, SupportsIndex, Device] = None) -> BatchQueue:
    """Opens what copies batches of scattered pieces for a GPU. It stays open until the process ends.

    The first call for a GPU starts the engine, which takes about 15 ms. Without an argument it is
    the current GPU: that of this thread's CUDA context, or GPU 0.

    Raises
    ------
    barmap.Error
        If there is no such GPU, or no copy engine that is usable and allowed (BARMAP_ENGINE).

    Examples
    --------
    >>> barmap.batch_queue().engine
    'driver'
    """
    return BatchQueue(device_or_ordinal)
