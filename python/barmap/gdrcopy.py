# SPDX-License-Identifier: MIT
"""gdrcopy's Python package, served by barmap: no kernel module is needed.

The same names and behaviour as the Python bindings of gdrcopy, over this package's own libgdrapi.
``import gdrcopy`` finds it once the distribution barmap-compat is installed. docs/python-gdrcopy.md
says what differs.

The examples assume ``import barmap, numpy as np`` and ``from barmap import gdrcopy``, and
``barmap.sim()`` where there is no GPU.
"""

from __future__ import annotations

import errno as _errno
import operator as _operator
from typing import Any, Dict, Optional, SupportsIndex, Tuple, TypeVar

from ._barmap import gdrapi as _gdrapi
from ._gdr_error import GDRError, GDRStateError
from ._gdr_error import not_now as _not_now
from ._gdr_error import refusal as _refusal
from ._base.numbers import unsigned as _unsigned

__all__ = [
    "GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE",
    "GDR_ATTR_USE_PERSISTENT_MAPPING",
    "GDR_ATTR_USING_DMA_BUF_MMAP",
    "GDR_MAPPING_TYPE_CACHING",
    "GDR_MAPPING_TYPE_DEVICE",
    "GDR_MAPPING_TYPE_NONE",
    "GDR_MAPPING_TYPE_WC",
    "GDR_PIN_FLAG_DEFAULT",
    "GDR_PIN_FLAG_FORCE_PCIE",
    "GDRCopy",
    "GDRError",
    "GDRHandle",
    "GDRStateError",
    "get_driver_version",
    "get_version",
]

GDR_MAPPING_TYPE_NONE = _gdrapi.MAPPING_TYPE_NONE
GDR_MAPPING_TYPE_WC = _gdrapi.MAPPING_TYPE_WC
GDR_MAPPING_TYPE_CACHING = _gdrapi.MAPPING_TYPE_CACHING
GDR_MAPPING_TYPE_DEVICE = _gdrapi.MAPPING_TYPE_DEVICE

GDR_PIN_FLAG_DEFAULT = _gdrapi.PIN_FLAG_DEFAULT
GDR_PIN_FLAG_FORCE_PCIE = _gdrapi.PIN_FLAG_FORCE_PCIE

GDR_ATTR_USE_PERSISTENT_MAPPING = _gdrapi.ATTR_USE_PERSISTENT_MAPPING
GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE = _gdrapi.ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE
GDR_ATTR_USING_DMA_BUF_MMAP = _gdrapi.ATTR_USING_DMA_BUF_MMAP

_Self = TypeVar("_Self", bound="GDRCopy")

# Their own names, since they are called in every copy.
_copy_to_mapping = _gdrapi.copy_to_mapping
_copy_from_mapping = _gdrapi.copy_from_mapping


class GDRCopy:
    """One connection to libgdrapi: opens it, pins GPU memory, closes it.

    `close` unpins all that was pinned through it. So does the end of the last reference to this
    object and its handles. As a context manager it is opened at the start and closed at the end.

    Any number of threads may use it at once. A forked child may close it, and nothing else.

    Examples
    --------
    >>> array = barmap.alloc(1000, "f4")
    >>> host = np.arange(1000, dtype="f4")
    >>> gdr = gdrcopy.GDRCopy()
    >>> gdr.open()
    >>> handle = gdr.pin_buffer_v2(array.gpu_address, array.nbytes)
    >>> pointer = handle.map(array.nbytes)
    >>> handle.copy_to_mapping(host.ctypes.data, host.nbytes)
    >>> bool((array.numpy() == host).all())
    True
    >>> gdr.close()
    """

    _session: Optional[_gdrapi.Session] = None

    def open(self) -> None:
        """Opens libgdrapi.

        Raises
        ------
        GDRError
            ENODEV if no GPU's memory can be reached, with the reason; `GDRStateError` if it is
            open already.
        """
        if self._session is not None:
            raise _not_now(_errno.EINVAL, "this GDRCopy is open already: close() it first")
        session = _gdrapi.open()
        if session is None:
            raise _refusal("open libgdrapi", _errno.ENODEV)
        self._session = session

    def close(self) -> None:
        """Unmaps and unpins all that was pinned, and closes libgdrapi. Closing twice is allowed.

        Waits for copies that other threads are making.
        """
        session, self._session = self._session, None
        if session is not None:
            code = session.close()
            if code:
                raise _refusal("close libgdrapi", code)

    def __enter__(self: _Self) -> _Self:
        if self._session is None:
            self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self) -> _gdrapi.Session:
        session = self._session
        if session is None:
            raise _not_now(_errno.EINVAL, "this GDRCopy is not open: call open() first")
        return session

    def pin_buffer(
        self,
        addr: SupportsIndex,
        size: SupportsIndex,
        p2p_token: SupportsIndex = 0,
        va_space: SupportsIndex = 0,
    ) -> GDRHandle:
        """Pins GPU memory.

        Parameters
        ----------
        addr : int
            GPU address; need not be aligned.
        size : int
            Bytes; the whole GPU pages that they touch are pinned.
        p2p_token, va_space : int, optional
            For old versions of gdrdrv; otherwise ignored.

        Returns
        -------
        GDRHandle

        Raises
        ------
        GDRError
            EINVAL for an address that CUDA does not know; ENOTSUP for memory that cannot be mapped,
            with its kind and what to do; ENOMEM where BAR1 or memory is short.
        OverflowError
            For a negative number.
        """
        addr, size = _unsigned(addr, "addr"), _unsigned(size, "size")
        code, pinned = self._opened().pin_buffer(
            addr, size, _unsigned(p2p_token, "p2p_token"), _unsigned(va_space, "va_space", 32)
        )
        return self._handle_of(code, pinned, addr, size)

    def pin_buffer_v2(
        self, addr: SupportsIndex, size: SupportsIndex, flags: SupportsIndex = GDR_PIN_FLAG_DEFAULT
    ) -> GDRHandle:
        """Pins GPU memory, as `pin_buffer` does, with flags.

        Parameters
        ----------
        addr, size : int
        flags : int, optional
            GDR_PIN_FLAG_FORCE_PCIE: map through BAR1 even where a coherent link is there.
        """
        addr, size = _unsigned(addr, "addr"), _unsigned(size, "size")
        code, pinned = self._opened().pin_buffer_v2(addr, size, _unsigned(flags, "flags", 32))
        return self._handle_of(code, pinned, addr, size)

    def _handle_of(
        self, code: int, pinned: Optional[_gdrapi.Pinned], addr: int, size: int
    ) -> GDRHandle:
        if pinned is None:
            raise _refusal(f"pin {size} bytes at {addr:#x}", code)
        return GDRHandle(self, pinned)

    def get_attribute(self, attr: SupportsIndex) -> int:
        """The value of an attribute, one of GDR_ATTR_*.

        Raises
        ------
        GDRError
            EINVAL for an attribute that is not known.
        """
        attr = _unsigned(attr, "attr", 31)
        code, value = self._opened().get_attribute(attr)
        if code:
            raise _refusal(f"get attribute {attr}", code)
        return value


class GDRHandle:
    """GPU memory that is pinned, made by `GDRCopy.pin_buffer` or `GDRCopy.pin_buffer_v2`.

    It is unpinned by `unpin`, by `GDRCopy.close`, and when the last reference to it goes. A handle
    whose GDRCopy was closed is safe: `unmap` and `unpin` do nothing, all else raises `GDRError`.

    Any number of threads may use it at once. In a forked child every call raises `GDRError`.

    Examples
    --------
    >>> array = barmap.alloc(64, "u1")
    >>> with gdrcopy.GDRCopy() as gdr:
    ...     handle = gdr.pin_buffer(array.gpu_address, 64)
    ...     handle.get_info()["mapped"], handle.map(64) != 0, handle.get_info()["mapped"]
    (False, True, True)
    >>> handle.unpin()
    """

    def __init__(self, gdr: GDRCopy, pinned: _gdrapi.Pinned) -> None:
        if not isinstance(pinned, _gdrapi.Pinned):
            raise TypeError("GDRCopy.pin_buffer and pin_buffer_v2 make handles")
        self._gdr = gdr  # stays open as long as a handle of its lives
        self._pinned: Optional[_gdrapi.Pinned] = pinned
        self._mapping: Optional[Tuple[int, int]] = None  # address, size as it was given

    def _alive(self) -> _gdrapi.Pinned:
        pinned = self._pinned
        if pinned is None:
            raise _not_now(_errno.EINVAL, "this handle was unpinned: pin the memory again")
        if not pinned.is_pinned:
            raise _not_now(_errno.EINVAL, "the GDRCopy of this handle was closed: pin again")
        return pinned

    def unpin(self) -> None:
        """Unpins the memory, after unmapping it. Unpinning twice is allowed."""
        pinned, self._pinned, self._mapping = self._pinned, None, None
        if pinned is not None:
            code = pinned.unpin()
            if code:
                raise _refusal("unpin", code)

    def get_info(self) -> Dict[str, Any]:
        """The present state of the pinned memory.

        Returns
        -------
        dict
            "va", the GPU address that was pinned; "mapped_size", bytes from there to the end of the
            last GPU page; "page_size", bytes; "mapped" and "wc_mapping", bool; "mapping_type", one
            of GDR_MAPPING_TYPE_*.
        """
        code, info = self._alive().get_info()
        if code:
            raise _refusal("describe the pinned memory", code)
        return info

    def map(self, size: SupportsIndex) -> int:
        """Maps the pinned memory.

        Parameters
        ----------
        size : int
            Bytes, at most "mapped_size" of `get_info`. All pages are mapped, whatever it is.

        Returns
        -------
        int
            CPU address of the GPU address that was pinned. Valid until `unmap`, `unpin` or
            `GDRCopy.close`; Python does not watch over what is done with it.

        Raises
        ------
        GDRError
            EINVAL for a wrong size; `GDRStateError` if it is mapped already.
        """
        size = _unsigned(size, "size")
        code, address = self._alive().map(size)
        if code == _errno.EAGAIN:
            raise _not_now(code, "this handle is mapped already: unmap() it first")
        if code:
            raise _refusal(f"map {size} bytes", code)
        self._mapping = address, size
        return address

    def unmap(self) -> None:
        """Unmaps the memory, after copies that other threads are making. Does nothing unless it is
        mapped."""
        mapping, self._mapping = self._mapping, None
        pinned = self._pinned
        if mapping is not None and pinned is not None:
            code = pinned.unmap(*mapping)
            if code not in (0, _errno.EINVAL):  # EINVAL: closing the GDRCopy has unmapped it
                raise _refusal("unmap", code)

    def copy_to_mapping(self, host_ptr: SupportsIndex, size: SupportsIndex) -> None:
        """Copies from CPU memory to the start of the mapping.

        When it returns, the bytes have left the CPU, so that work submitted to the GPU afterwards
        sees them. An aligned 1, 2, 4 or 8 bytes are never torn. 32768 bytes and more are
        copied without the GIL.

        Parameters
        ----------
        host_ptr : int
            CPU address, such as ``array.ctypes.data`` of a NumPy array. It is not checked.
        size : int
            Bytes.

        Raises
        ------
        GDRError
            EINVAL if the range leaves the mapping, or host_ptr is 0; `GDRStateError` if the handle
            is not mapped. EIO if a copy engine has failed and could not be stopped: some of the
            copy may then arrive later.
        """
        mapping, pinned = self._mapping, self._pinned
        if mapping is None or pinned is None:
            raise self._no_copy("to the mapping", host_ptr, size)
        try:
            code = _copy_to_mapping(pinned, mapping[0], host_ptr, size)
        except TypeError:  # a number of another library's, or none at all
            host_ptr, size = _unsigned(host_ptr, "host_ptr"), _unsigned(size, "size")
            code = _copy_to_mapping(pinned, mapping[0], host_ptr, size)
        if code:
            raise self._no_copy("to the mapping", host_ptr, size, code)

    def copy_from_mapping(self, host_ptr: SupportsIndex, size: SupportsIndex) -> None:
        """Copies from the start of the mapping to CPU memory.

        Never delivers a value older than one that this thread has read there before. The rest is as
        with `copy_to_mapping`.
        """
        mapping, pinned = self._mapping, self._pinned
        if mapping is None or pinned is None:
            raise self._no_copy("from the mapping", host_ptr, size)
        try:
            code = _copy_from_mapping(pinned, host_ptr, mapping[0], size)
        except TypeError:
            host_ptr, size = _unsigned(host_ptr, "host_ptr"), _unsigned(size, "size")
            code = _copy_from_mapping(pinned, host_ptr, mapping[0], size)
        if code:
            raise self._no_copy("from the mapping", host_ptr, size, code)

    def _no_copy(
        self, where: str, host_ptr: SupportsIndex, size: SupportsIndex, code: int = _errno.EINVAL
    ) -> GDRError:
        """Why a copy is refused: libgdrapi says no more than EINVAL, unless an engine failed."""
        operation = f"copy {size} bytes {where}"
        if code != _errno.EINVAL:
            return _refusal(operation, code)
        code, info = self._alive().get_info()
        if code:
            return _refusal(operation, code)
        if not info["mapped"] or self._mapping is None:
            return _not_now(_errno.EINVAL, f"cannot {operation}: call map() first")
        if not _operator.index(host_ptr):
            return _refusal(operation, _errno.EINVAL, "host_ptr is 0")
        return _refusal(operation, _errno.EINVAL, f"it has {info['mapped_size']} bytes")

    def get_callback_flag(self) -> bool:
        """Whether the GPU driver has revoked the memory, as only gdrdrv lets it do."""
        code, flag = self._alive().get_callback_flag()
        if code:
            raise _refusal("get the callback flag", code)
        return flag


def get_version() -> Tuple[int, int]:
    """Version of libgdrapi's interface: major, minor.

    Examples
    --------
    >>> gdrcopy.get_version()
    (2, 6)
    """
    return _gdrapi.runtime_version()


def get_driver_version(gdr_handle: GDRCopy) -> Tuple[int, int]:
    """Version of gdrdrv where it is used, else of libgdrapi's interface: major, minor.

    Parameters
    ----------
    gdr_handle : GDRCopy
        An open one.

    Examples
    --------
    >>> with gdrcopy.GDRCopy() as gdr:
    ...     gdrcopy.get_driver_version(gdr) >= (2, 0)
    True
    """
    if not isinstance(gdr_handle, GDRCopy):
        raise TypeError(f"get_driver_version takes a GDRCopy, not a {type(gdr_handle).__name__}")
    code, version = gdr_handle._opened().driver_version()
    if code:
        raise _refusal("get the driver's version", code)
    return version
