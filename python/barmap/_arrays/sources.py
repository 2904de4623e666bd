# SPDX-License-Identifier: MIT
"""Finds out where the GPU memory of an object is that can be mapped."""

from __future__ import annotations

import operator
import sys
from typing import Any, Mapping, Optional, Protocol, SupportsIndex

from .layout import IpcMemory, Layout, Source
from .._base.naming import kind_of
from .._base.numbers import integer_of


class SupportsCudaArray(Protocol):
    """An array on a GPU, as CuPy, PyTorch and Numba offer theirs."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


class SupportsDlpack(Protocol):
    """An array that DLPack hands over."""

    def __dlpack_device__(self) -> Any: ...


class CudaPointer(Protocol):
    """An address as cuda-python has it, a CUdeviceptr."""

    def __int__(self) -> int: ...
    def getPtr(self) -> int: ...


def _from_interface(owner: object, interface: Mapping[str, Any]) -> Source:
    """Reads a ``__cuda_array_interface__`` of version 2 or newer."""
    if interface.get("version", 0) < 2:
        raise TypeError("__cuda_array_interface__ is older than version 2")
    for key in ("shape", "typestr", "data"):
        if key not in interface:
            raise TypeError(f"__cuda_array_interface__ lacks {key!r}")
    if interface.get("mask") is not None:
        raise TypeError("arrays with a mask cannot be mapped: map data and mask one by one")
    typestr, descr = interface["typestr"], interface.get("descr")
    if not isinstance(typestr, str) or len(typestr) < 2:
        raise TypeError(f"__cuda_array_interface__ has the typestr {typestr!r}")
    address, read_only = interface["data"]
    dtype = descr if typestr[1] == "V" and descr else typestr
    layout = Layout.of(interface["shape"], dtype, interface.get("strides"))
    return Source(owner, int(address or 0), layout, bool(read_only))


def _with_interface(x: Any) -> Optional[Source]:
    try:
        interface = x.__cuda_array_interface__
    except (AttributeError, TypeError):  # TypeError: a tensor whose dtype has no typestr
        return None
    return None if interface is None else _from_interface(x, interface)


def find_on_gpu(x: Any) -> Optional[Source]:
    """The GPU memory of an array; None if x is something else, as an array in host memory."""
    found = _with_interface(x)
    if found is None and hasattr(x, "__dlpack_device__"):
        from . import dlpack

        if dlpack.is_on_gpu(x):
            found = dlpack.find(x, "", "")
    return found


def _of_array(x: Any, says: str, advice: str) -> Optional[Source]:
    """The GPU memory of an array; None if x is no array that a GPU may have."""
    found = _with_interface(x)
    if found is not None:
        return found
    if not hasattr(x, "__dlpack_device__"):
        return None
    from . import dlpack

    return dlpack.find(x, says, advice)


def find_array(x: Any, says: str, advice: str) -> Source:
    """Finds the GPU memory of an array.

    Parameters
    ----------
    says, advice : str
        The words of an error before and after the name of x: "gpu is", "give an array on a GPU".

    Raises
    ------
    TypeError
        If x is no array on a GPU, or in a form that cannot be mapped.
    """
    found = _of_array(x, says, advice)
    if found is None:
        raise TypeError(f"{says} {kind_of(x)}: {advice}")
    return found


def find(x: Any, nbytes: Optional[SupportsIndex]) -> Source:
    """Finds the GPU memory of what `barmap.map` is given.

    Raises
    ------
    TypeError
        If x is none of what `barmap.map` takes, or nbytes is given with an array, or is missing
        with an address.
    """
    advice = (
        "give an object with __cuda_array_interface__ or DLPack whose memory is on a CUDA GPU, an "
        "IpcMemory, or an address and nbytes"
    )
    if isinstance(x, IpcMemory):
        if nbytes is not None:
            raise TypeError("nbytes goes with an address; an IpcMemory knows its own size")
        return Source(None, 0, Layout.of((operator.index(x.nbytes),), "u1"), typed=False, ipc=x)
    found = _of_array(x, "cannot map", advice)
    if found is not None:
        if nbytes is not None:
            raise TypeError("nbytes goes with an address; an array knows its own size")
        return found
    try:
        address = integer_of(x)
    except TypeError:
        raise TypeError(f"cannot map {kind_of(x)}: {advice}") from None
    if nbytes is None:
        raise TypeError("an address needs nbytes")
    if address < 0:
        raise ValueError("an address cannot be negative")
    length = operator.index(nbytes)
    if length < 0:
        raise ValueError(f"nbytes is {length}: a length cannot be negative")
    if length > sys.maxsize:
        raise ValueError(f"nbytes is {length}, which no GPU has")
    layout = Layout.of((length,), "u1")
    return Source(None, address, layout, typed=False)
