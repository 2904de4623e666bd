# SPDX-License-Identifier: MIT
"""What can be mapped: finds out where an object's GPU memory is."""

from __future__ import annotations

import operator
from typing import Any, Mapping, Optional, Protocol, SupportsIndex

from ._layout import Layout, Source


class SupportsCudaArray(Protocol):
    """An array on a GPU, as CuPy, PyTorch and Numba offer theirs."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


class SupportsDlpack(Protocol):
    """An array that DLPack hands over."""

    def __dlpack_device__(self) -> Any: ...


def _from_interface(owner: object, interface: Mapping[str, Any]) -> Source:
    """Reads a ``__cuda_array_interface__`` of version 2 or newer."""
    if interface.get("version", 0) < 2:
        raise TypeError("__cuda_array_interface__ is older than version 2")
    if interface.get("mask") is not None:
        raise TypeError("arrays with a mask cannot be mapped: map data and mask one by one")
    typestr = interface["typestr"]
    dtype = interface.get("descr") if typestr[1] == "V" and interface.get("descr") else typestr
    address, read_only = interface["data"]
    layout = Layout.of(interface["shape"], dtype, interface.get("strides"))
    return Source(owner, int(address or 0), layout, bool(read_only))


def find(x: Any, nbytes: Optional[SupportsIndex]) -> Source:
    """Finds the GPU memory of an object.

    Raises
    ------
    TypeError
        If x is none of what `barmap.map` takes, or nbytes is given with an array, or is missing
        with an address.
    """
    interface: Optional[Mapping[str, Any]] = None
    failure: Optional[BaseException] = None
    try:
        interface = x.__cuda_array_interface__
    except (AttributeError, TypeError) as refused:  # e.g. a tensor whose dtype has no typestr
        failure = refused
    try:
        is_array = interface is not None or hasattr(x, "__dlpack_device__")
        if is_array:
            if nbytes is not None:
                raise TypeError("nbytes goes with an address; an array knows its own size")
            if interface is not None:
                return _from_interface(x, interface)
            from . import _dlpack

            return _dlpack.find(x)
        try:
            address = operator.index(x)
        except TypeError:
            raise TypeError(
                f"cannot map a {type(x).__name__}: give an object with __cuda_array_interface__ or "
                "DLPack whose memory is on a CUDA GPU, or an address and nbytes"
            ) from failure
        if nbytes is None:
            raise TypeError("an address needs nbytes")
    finally:
        failure = None  # which has this frame, and so all that the callers have
    if address < 0:
        raise ValueError("an address is not negative")
    layout = Layout.of((operator.index(nbytes),), "u1")
    return Source(None, address, layout, typed=False)
