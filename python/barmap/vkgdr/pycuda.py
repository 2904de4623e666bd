# SPDX-License-Identifier: MIT
"""Memory of vkgdr for PyCUDA, which must be installed."""

from __future__ import annotations

from typing import SupportsIndex

import pycuda.driver  # type: ignore[import-not-found, import-untyped, unused-ignore]

from . import RawMemory, Vkgdr, VkgdrError

__all__ = ["Memory"]


class Memory(pycuda.driver.PointerHolderBase, RawMemory):  # type: ignore[misc]
    """GPU memory for PyCUDA, for example ``pycuda.gpuarray.GPUArray(n, dtype, gpudata=memory)``.

    It is freed with the last reference to it and its views, and keeps the context in which it was
    allocated from being garbage collected.

    Parameters
    ----------
    owner : Vkgdr
        Of the GPU of the current context.
    size : int
        Bytes, more than 0.
    flags : int, optional
        Must be 0.

    Raises
    ------
    VkgdrError
        If there is no current context, or memory is short.
    """

    def __init__(self, owner: Vkgdr, size: SupportsIndex, flags: SupportsIndex = 0) -> None:
        context = pycuda.driver.Context.get_current()
        if context is None:
            raise VkgdrError("no current CUDA context: make one current first")
        self._allocate(owner, size, flags, context)
        pycuda.driver.PointerHolderBase.__init__(self)

    def get_pointer(self) -> int:
        """GPU address, as PyCUDA asks for it."""
        return self.device_ptr
