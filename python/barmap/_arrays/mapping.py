# SPDX-License-Identifier: MIT
"""Mappings of GPU memory."""

from __future__ import annotations

import operator
import sys
import threading
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, SupportsIndex, Tuple, TypeVar, Union

from . import sources
from .. import _barmap
from .elements import one_element
from .events import MappingEvents
from .layout import IpcMemory, Layout, Shared, Source, lengths
from .._base.machine import ordinal_of
from .._base.naming import array_name, backend_name, dtype_name, gpu_name, size_name
from .._base.numbers import unsigned
from .sources import CudaPointer, SupportsCudaArray, SupportsDlpack

if TYPE_CHECKING:
    from ctypes import c_void_p

    import numpy as np
    import numpy.typing as npt

_Self = TypeVar("_Self", bound="Mapping")


class Mapping(_barmap.MappedMemory):
    """CPU addresses of GPU memory, made by `barmap.map`.

    It keeps the object that was mapped alive. It has the buffer protocol: ``np.asarray(mapping)``
    and ``memoryview(mapping)`` are the GPU memory itself, with the shape and dtype of what was
    mapped. Whatever was made from it (`numpy`, a memoryview) keeps it alive.

    It is a context manager. After the block it refuses every call; the memory is unmapped at once,
    or, if there are views, when the last of them goes. `close` refuses while there are views.

    Offsets and lengths are bytes of the array's elements in C order: as in ``numpy().tobytes()``.
    If the array is not C-contiguous (a slice, a transpose, reversed, Fortran order), each
    contiguous run is copied by itself, and the bytes between the runs stay as they are. An array
    whose elements share memory (a stride of 0) can be read, not written.

    Any number of threads may use one mapping; where their ranges overlap, they must keep the
    order. In a forked child, the first call of a method opens the mapping, as `share` says; touching
    a view that the child has inherited ends it with SIGSEGV.

    Attributes
    ----------
    nbytes : int
        Bytes that are mapped: from the lowest byte of the array to the highest.
    gpu_address : int
        GPU address of the first of them.
    device : int
        Ordinal of the GPU.
    backend : str
        Name of the backend that made the mapping.
    kind : str
        How the CPU caches it: "write-combining", "cached" or "uncached".
    shape, dtype, strides
        As the mapped object says, strides in bytes; an address is an array of bytes.
    readonly : bool
        The mapped object is read-only. Writing then raises `TypeError`.
    closed : bool

    Examples
    --------
    >>> array = barmap.alloc(4, "f4")
    >>> with barmap.map(array) as mapping:
    ...     mapping.write(np.array([1, 2, 3, 4], "f4"))
    ...     mapping.nbytes, mapping.shape, mapping.closed
    (16, (4,), False)
    >>> mapping.closed
    True
    """

    _layout: Layout
    _left: int
    _taking: threading.Lock
    _owner: Optional[object] = None
    _typed: bool

    def __init__(
        self, source: Union[Source, Shared], backend: Optional[str] = None, events: bool = False
    ) -> None:
        if not isinstance(source, (Source, Shared)):
            raise TypeError("call barmap.map() to make a mapping")
        layout = source.layout
        if isinstance(source, Shared):
            super().__init__(descriptor=source.descriptor, read_only=source.read_only)
            layout = layout or Layout.of((self.nbytes,), "u1")
            if layout.nbytes > self.nbytes:
                super().close()
                raise ValueError(
                    f"{array_name(layout.dtype, layout.shape)} has {layout.nbytes} bytes, and the "
                    f"shared memory {self.nbytes}"
                )
        elif source.ipc is None:
            start = unsigned(source.address - source.layout.offset, "the address")
            super().__init__(
                start, source.layout.nbytes, backend_name(backend), source.read_only, bool(events)
            )
        elif events:
            raise ValueError("memory of another process has no events here")
        else:
            handle, nbytes, offset, device = source.ipc
            super().__init__(
                bytes(memoryview(handle)), unsigned(offset, "the offset"), unsigned(nbytes, "nbytes"),
                device=ordinal_of(device), backend=backend_name(backend),
            )
        assert layout is not None
        self._lay_out(layout, source.typed)
        self._owner = None if isinstance(source, Shared) else source.owner
        self._left = layout.nbytes  # bytes that no event has revoked
        self._taking = threading.Lock()  # held while a thread takes an event, or waits for one

    def _lay_out(self, layout: Layout, typed: bool) -> None:
        self._layout = layout
        self._typed = typed
        # Raw elements are those of a type that NumPy lacks, whose form barmap does not know.
        typed = typed and (layout.dtype.kind != "V" or layout.dtype.names is not None)
        self._set_elements(
            layout.dtype if typed else None, layout.format, layout.dtype.itemsize, layout.offset,
            layout.shape, layout.strides,
        )

    def _expect_elements_of(self, buf: Any) -> None:
        """Refuses to copy elements of another type. Bytes may be anything."""
        import numpy as np

        try:
            dtype = np.dtype(buf.dtype)
        except (AttributeError, TypeError):
            dtype = np.asarray(memoryview(buf)).dtype
        if dtype not in (self.dtype, np.dtype("u1"), np.dtype("S1")):
            raise TypeError(
                f"cannot copy elements of {dtype_name(dtype)}, since the mapping has "
                f"{dtype_name(self.dtype)}: convert them (astype), or give their bytes (tobytes)"
            )

    @property
    def shape(self) -> Tuple[int, ...]:
        return self._layout.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._layout.dtype

    @property
    def strides(self) -> Tuple[int, ...]:
        return self._layout.strides

    def numpy(self) -> np.ndarray[Any, Any]:
        """The GPU memory as an array of the same shape, dtype and strides. Nothing is copied.

        The array keeps the mapping alive and open. Its elements are read from the GPU each time,
        about a microsecond for each that NumPy touches: use `read` for more than a few. NumPy's
        loads and stores have none of the ordering that `read` and `write` promise.

        Raises
        ------
        ValueError
            If the mapping is closed.

        Examples
        --------
        >>> array = barmap.alloc((2, 3), "i4")
        >>> view = array.numpy()
        >>> view[...] = [[1, 2, 3], [4, 5, 6]]
        >>> int(view[1, 2])
        6
        """
        import numpy as np

        # Not np.asarray(self): there are dtypes that the buffer protocol lacks.
        raw = np.frombuffer(self._bytes(), np.uint8)
        layout = self._layout
        view: np.ndarray[Any, Any] = np.ndarray(
            layout.shape, layout.dtype, raw, layout.offset, layout.strides
        )
        return view

    def share(self) -> int:
        """A file descriptor by which other processes of this machine can open the memory.

        `barmap.open_shared` opens it, also in a process without CUDA. A process with the descriptor
        can read and write this memory, which lives as long as the descriptor, or what was opened by
        it. ``multiprocessing`` also takes mappings as they are, in arguments of a process and through
        queues and pipes: what arrives is a `Mapping` of the same elements. With spawn and forkserver,
        the memory of an argument lives as long as the ``Process``.

        A forked child inherits mappings, whether as arguments or otherwise. When it first calls a
        method of one, the process that made the mapping sends it a descriptor, and the child opens
        that: so keep the mapping until then. The child's has no ``gpu_address`` and no ``device``.

        Returns
        -------
        int
            A new descriptor, which is not inheritable: pass it on by
            ``multiprocessing.reduction.send_handle``, ``socket.send_fds`` or fork. Close it with
            ``os.close``.

        Raises
        ------
        barmap.Error
            If the backend cannot share memory: rm and dmabuf can. Methods of a mapping that a forked
            child has inherited raise it if that process has ended or released the mapping.
        ValueError
            If the mapping is closed.

        Examples
        --------
        >>> import os
        >>> array = barmap.alloc(4, "u1")
        >>> descriptor = array.share()
        >>> barmap.open_shared(descriptor).write(b"1234")
        >>> os.close(descriptor)
        >>> array.read()
        b'1234'
        """
        return self._share()

    def events(self) -> MappingEvents:
        """The events that report when the GPU driver revokes the mapped memory.

        Raises
        ------
        barmap.Error
            If the mapping was made without ``events=True``.
        ValueError
            If it is closed.

        Examples
        --------
        >>> array = barmap.alloc(16, "u1")
        >>> try:
        ...     for event in barmap.map(array, events=True).events():
        ...         print("revoked:", event.gpu_address, event.nbytes)
        ... except barmap.Error:
        ...     print("no backend here has events")
        no backend here has events
        """
        self._event_fd()
        return MappingEvents(self)

    def fill(self, value: Any, offset: SupportsIndex = 0, n: Optional[SupportsIndex] = None) -> None:
        """Sets elements to a value, as ``numpy.ndarray.fill`` does, with the ordering of `write`.

        Parameters
        ----------
        value : scalar
            A value from which NumPy makes an element: a number, or a tuple for a structured dtype. The
            elements of an address are bytes: 0 to 255. Raw elements (V2) take `bytes` of their
            size, or 0.
        offset : int, optional
            Where to start in the mapping, in bytes: a multiple of the element's size.
        n : int, optional
            How many bytes, a multiple of the element's size; to the end of the array if not given.

        Raises
        ------
        IndexError
            If the range leaves the mapping.
        OverflowError
            For an integer that the dtype does not have.
        TypeError
            For a value of another kind; if the mapping is read-only.
        ValueError
            If offset or n is no multiple of the element's size or n is negative, if elements share
            memory, or if the mapping is closed.

        Examples
        --------
        >>> array = barmap.alloc(4, "f4")
        >>> array.fill(0)
        >>> array.fill(1.5, offset=4, n=8)
        >>> array.numpy().tolist()
        [0.0, 1.5, 1.5, 0.0]
        """
        if self.closed:
            raise ValueError("this mapping is closed")
        size = self.dtype.itemsize
        start = operator.index(offset)
        length = self._layout.element_nbytes - start if n is None else operator.index(n)
        if n is None and start >= 0:
            length = max(length, 0)  # past the end, no length is right
        if max(abs(start), abs(length)) > sys.maxsize:
            raise IndexError(f"{length} bytes at offset {start} leave this mapping")
        for name, given in (("offset", start), ("n", length)):
            if given % size:
                raise ValueError(
                    f"{name} is {given}: fill sets whole elements, of {size} bytes each"
                )
        self._fill(one_element(self.dtype, value), start, length)

    def __enter__(self: _Self) -> _Self:
        if self.closed:
            raise ValueError("this mapping is closed")
        return self

    def __exit__(self, *_: object) -> None:
        self._close_after_users()

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray[Any, Any]:
        # For dtypes that the buffer protocol lacks: NumPy asks for this only then.
        import numpy as np

        view = self.numpy()
        if copy is False and dtype is not None and np.dtype(dtype) != view.dtype:
            raise ValueError(f"elements of {view.dtype} as {np.dtype(dtype)} need a copy")
        return view.astype(dtype or view.dtype, copy=bool(copy))

    def close(self) -> None:
        """Unmaps the memory and releases the object that was mapped. Closing twice is allowed.

        Raises
        ------
        BufferError
            As long as a view (`numpy`, a memoryview) is alive or another thread copies.

        Examples
        --------
        >>> array = barmap.alloc(8, "u1")
        >>> view = memoryview(array)
        >>> try:
        ...     array.close()
        ... except BufferError:
        ...     view.release()
        >>> array.close()
        """
        super().close()

    if not TYPE_CHECKING:  # checkers refuse to index what has no such methods

        def _elements_are_elsewhere(self, *_):
            raise TypeError(
                f"a barmap.{type(self).__name__} has no elements of its own: index that of numpy(), "
                "which is the same memory, or use read and write"
            )

        __getitem__ = __setitem__ = __len__ = _elements_are_elsewhere

        def __bool__(self):  # for which Python would ask for the length
            return True

    def __repr__(self) -> str:
        gpu = "shared" if self.device < 0 else gpu_name(self.device)
        state = "closed" if self.closed else f"{self.backend}, {self.kind}"
        return (
            f"{type(self).__name__}({gpu}, {size_name(self.nbytes)}, "
            f"{array_name(self.dtype, self.shape)}, {state})"
        )


def map(
    x: Union[SupportsCudaArray, SupportsDlpack, SupportsIndex, CudaPointer, c_void_p, IpcMemory],
    nbytes: Optional[SupportsIndex] = None,
    *,
    backend: Optional[str] = None,
    events: bool = False,
) -> Mapping:
    """Makes GPU memory reachable by the CPU.

    Nothing is synchronised: wait for the work on the GPU that writes the memory before you read,
    and for the work that reads it before you write (``torch.cuda.synchronize()``, or that of the
    stream). A ``stream`` in the interface of x is ignored.

    Parameters
    ----------
    x : object or int
        An object with ``__cuda_array_interface__`` (version 2 or newer), contiguous or strided; one
        with DLPack on a CUDA GPU; memory of another process (`barmap.IpcMemory`); or a GPU address:
        an integer, cuda-python's ``CUdeviceptr`` or ``ctypes.c_void_p``.
    nbytes : int, optional
        With an address only: how many bytes to map from there.
    backend : str, optional
        Name of the backend to use; the first that can, if not given.
    events : bool, optional
        Make `Mapping.events` report when the GPU driver revokes the memory. Only barmap's kernel
        module gdrdrv in callback mode can; everywhere else `map` raises an error.

    Returns
    -------
    Mapping

    Raises
    ------
    barmap.Error
        If the memory cannot be mapped; says why, and what to do.
    TypeError
        If x is nothing that has GPU memory.
    ValueError
        For address 0, 0 bytes, and a name that no backend has.

    Examples
    --------
    >>> array = barmap.alloc((4, 4), "u1")
    >>> mapping = barmap.map(array.gpu_address + 4, 8)
    >>> mapping.write(b"12345678")
    >>> array.numpy()[1].tobytes()
    b'1234'
    """
    return Mapping(sources.find(x, nbytes), backend, events)
