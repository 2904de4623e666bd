# SPDX-License-Identifier: MIT
"""CUDA streams, as other libraries hand them out."""

from __future__ import annotations

import operator
from typing import Any, Protocol, SupportsIndex, Tuple, Union


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


Stream = Union[TorchStream, CupyStream, CudaStream, SupportsIndex]


def handle_of(stream: Stream) -> int:
    """The stream's handle, a CUstream; 0 is the default stream.

    Raises
    ------
    TypeError
        If it is no stream.
    """
    given: Any = stream
    try:
        for name in ("cuda_stream", "ptr"):
            if hasattr(given, name):
                return operator.index(getattr(given, name))
        if hasattr(given, "__cuda_stream__"):
            return operator.index(given.__cuda_stream__()[1])
        return operator.index(given)
    except TypeError:
        raise TypeError(
            f"a {type(given).__name__} is no stream: give one of PyTorch or CuPy, an object with "
            "__cuda_stream__, or a handle"
        ) from None
