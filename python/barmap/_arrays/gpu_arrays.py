# SPDX-License-Identifier: MIT
"""Arrays on a GPU whose memory kernels of the library use as one run of bytes."""

from __future__ import annotations

from typing import Any

from .layout import Layout, Source


def source_of(name: str, x: Any) -> Source:
    """The GPU memory of an array. Raises TypeError for what is none, ValueError if it is closed."""
    from . import mapping, sources

    if isinstance(x, mapping.Mapping):
        return Source(x._bytes_on_gpu(), x.gpu_address + x._layout.offset, x._layout, x.readonly)
    try:
        return sources.find_array(x, "it is", "give an array on a GPU")
    except TypeError as refused:
        raise TypeError(f"{name}: {refused}") from None


def expect_contiguous(name: str, layout: Layout) -> None:
    """Raises ValueError for elements that do not follow each other in C order."""
    wanted = Layout.of(layout.shape, layout.dtype)
    for length, stride, other in zip(layout.shape, layout.strides, wanted.strides):
        if length != 1 and stride != other and layout.nbytes != 0:
            raise ValueError(
                f"{name} is not contiguous (shape {layout.shape}, strides {layout.strides}): give one "
                "that is, and have its contents copied on the GPU"
            )
