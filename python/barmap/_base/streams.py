# SPDX-License-Identifier: MIT
"""CUDA streams, as other libraries hand them out."""

from __future__ import annotations

import operator
import sys
from typing import Any, Iterable, Optional, Protocol, Set, SupportsIndex, Tuple, Union

from .naming import kind_of
from .numbers import integer_of, unsigned


class TorchStream(Protocol):
    """torch.cuda.Stream."""

    @property
    def cuda_stream(self) -> int: ...


class CupyStream(Protocol):
    """cupy.cuda.Stream."""

    @property
    def ptr(self) -> int: ...


class CudaStream(Protocol):
    """The stream of a library that follows CUDA's own packages for Python."""

    def __cuda_stream__(self) -> Tuple[int, int]: ...


class CudaHandle(Protocol):
    """A stream as cuda-python's bindings have it, a CUstream."""

    def __int__(self) -> int: ...
    def getPtr(self) -> int: ...


Stream = Union[TorchStream, CupyStream, CudaStream, CudaHandle, SupportsIndex]


def handle_of(stream: Stream) -> int:
    """The stream's handle, a CUstream; 0 is the default stream.

    Raises
    ------
    TypeError
        If it is no stream.
    OverflowError
        If it is no handle: negative, or of more than 64 bits.
    """
    given: Any = stream
    try:
        for name in ("cuda_stream", "ptr"):
            if hasattr(given, name):
                handle = integer_of(getattr(given, name))
                break
        else:
            if hasattr(given, "__cuda_stream__"):
                given = given.__cuda_stream__()[1]
            handle = integer_of(given)
    except TypeError:
        raise TypeError(
            f"{kind_of(stream)} is not a stream: give one of PyTorch or CuPy, an object with "
            "__cuda_stream__, or a handle"
        ) from None
    return unsigned(handle, "the handle of the stream")


def stream_of_dlpack(stream: Any, vendor: str = "cuda") -> Optional[int]:
    """The argument `stream` of ``__dlpack__``, as the array API standard defines it.

    Raises
    ------
    TypeError
        If it is neither an integer nor None.
    ValueError
        For a number that the standard does not allow.
    """
    if stream is None:
        return None
    if isinstance(stream, bool) or not hasattr(stream, "__index__"):
        raise TypeError(f"stream is {kind_of(stream)}: DLPack takes an integer or None")
    number = operator.index(stream)
    if vendor == "cuda":
        meant = "1 is the legacy default stream, 2 the default stream of a thread"
        is_allowed = number >= -1 and number != 0
    else:
        meant = "0 is the default stream"
        is_allowed = number >= -1 and number not in (1, 2)
    if not is_allowed:
        raise ValueError(
            f"DLPack has no stream {number} here: {meant}, -1 is none, and others are handles"
        )
    return number


def gpu_of(stream: Stream) -> Optional[int]:
    """The ordinal of the GPU that a stream says to be of: PyTorch's and CuPy's do."""
    for name in ("device_index", "device_id"):
        found = getattr(stream, name, None)
        if isinstance(found, int) and found >= 0:  # CuPy's null stream has -1: of any GPU
            return found
    return None


def current_of(arrays: Iterable[Any]) -> int:
    """The handle of the stream that the arrays' library uses now, in this thread.

    It is PyTorch's or CuPy's current one; the default stream, where all arrays are of other libraries.

    Raises
    ------
    TypeError
        If there are arrays of both.
    """
    libraries: Set[str] = set()
    device: Any = None
    for each in arrays:
        for base in type(each).__mro__:
            library = base.__module__.partition(".")[0]
            if library in ("torch", "cupy"):
                libraries.add(library)
                device = each.device
                break
    if not libraries:
        return 0
    if len(libraries) != 1:
        raise TypeError("there are arrays of PyTorch and of CuPy: give the stream")
    library = libraries.pop()
    cuda: Any = sys.modules[library].cuda
    if library == "torch":
        return handle_of(cuda.current_stream(device))
    return handle_of(cuda.get_current_stream())
