# SPDX-License-Identifier: MIT
"""vkgdr's Python package, served by barmap: GPU memory that the CPU reaches, with or without Vulkan.

The same names and behaviour as the package vkgdr, over this package's own libvkgdr. ``import vkgdr``
finds it once the distribution barmap-compat is installed. docs/python-vkgdr.md says what differs.

The examples assume ``import barmap, numpy as np`` and ``from barmap import vkgdr``, a current CUDA
context, and ``barmap.sim()`` where there is no GPU.
"""

from __future__ import annotations

import enum as _enum
import operator as _operator
from typing import Any, Dict, NoReturn, Optional, SupportsIndex, Type, TypeVar

from .._barmap import version as __version__
from .._barmap import vkgdr as _vkgdr
from .._base.numbers import unsigned as _unsigned

__all__ = ["Memory", "OpenFlags", "RawMemory", "Vkgdr", "VkgdrError", "__version__"]

_V = TypeVar("_V", bound="Vkgdr")


class OpenFlags(_enum.IntEnum):
    """Flags for `Vkgdr`, to be combined with ``|``.

    Attributes
    ----------
    CURRENT_CONTEXT_BIT
        Use the GPU of the current CUDA context, and ignore the device that is given.
    FORCE_NON_COHERENT_BIT
        For finding missing alignment: memory counts as non-coherent, and each flush and invalidate
        is checked.
    REQUIRE_COHERENT_BIT, REQUIRE_COHERENT
        Fail unless memory is coherent.

    Examples
    --------
    >>> gpu = vkgdr.Vkgdr(0, vkgdr.OpenFlags.REQUIRE_COHERENT_BIT)
    """

    CURRENT_CONTEXT_BIT = _vkgdr.OPEN_CURRENT_CONTEXT_BIT
    FORCE_NON_COHERENT_BIT = _vkgdr.OPEN_FORCE_NON_COHERENT_BIT
    REQUIRE_COHERENT_BIT = _vkgdr.OPEN_REQUIRE_COHERENT_BIT
    REQUIRE_COHERENT = REQUIRE_COHERENT_BIT


class VkgdrError(RuntimeError):
    """A refusal of libvkgdr, with its reason and advice.

    Examples
    --------
    >>> try:
    ...     vkgdr.Vkgdr(-1)
    ... except vkgdr.VkgdrError as error:
    ...     print("CUDA_ERROR_INVALID_DEVICE" in str(error))
    True
    """


def _fail() -> NoReturn:
    raise VkgdrError(_vkgdr.last_error() or "libvkgdr failed, and gave no reason")


class Vkgdr:
    """A GPU to allocate memory on. It closes with its last reference; memory may live longer.

    Any number of threads may use it at once.

    Parameters
    ----------
    device : int
        CUDA's number of the GPU; ignored with `OpenFlags.CURRENT_CONTEXT_BIT`.
    flags : int, optional
        Of `OpenFlags`.

    Raises
    ------
    VkgdrError
        If there is no such GPU, or no way to map its memory.

    Examples
    --------
    >>> gpu = vkgdr.Vkgdr(0)
    """

    def __init__(self, device: SupportsIndex, flags: SupportsIndex = 0) -> None:
        ordinal = _operator.index(device)
        if not -(1 << 31) <= ordinal < 1 << 31:
            raise OverflowError(f"device is {ordinal}, which is no number of a GPU")
        gpu = _vkgdr.open(ordinal, _unsigned(flags, "flags", 32))
        if gpu is None:
            _fail()
        self._gpu = gpu

    @classmethod
    def open_current_context(cls: Type[_V], flags: int = 0) -> _V:
        """Opens the GPU of the current CUDA context.

        Parameters
        ----------
        flags : int, optional
            Of `OpenFlags`; `OpenFlags.CURRENT_CONTEXT_BIT` is added.

        Examples
        --------
        >>> gpu = vkgdr.Vkgdr.open_current_context()
        """
        return cls(0, flags | OpenFlags.CURRENT_CONTEXT_BIT)


class RawMemory(_vkgdr.HasMemory):
    """GPU memory with an address on both sides: the base of `Memory` and `barmap.vkgdr.pycuda.Memory`.

    ``numpy.asarray(memory)`` and ``memoryview(memory)`` are its bytes, without a copy. They keep the
    memory in place, even after `free`.

    Parameters
    ----------
    owner : Vkgdr
        Of the GPU of the current CUDA context.
    size : int
        Bytes, more than 0.
    flags : int, optional
        Must be 0.

    Raises
    ------
    VkgdrError
        If no context of this GPU is current, or memory is short.

    Examples
    --------
    >>> memory = vkgdr.RawMemory(vkgdr.Vkgdr.open_current_context(), 4096)
    >>> len(memory), memory.is_coherent, memory.non_coherent_atom_size
    (4096, True, 1)
    >>> view = np.asarray(memory).view("f4")
    >>> view[:3] = 1, 2, 3
    >>> memory.flush(0, 12)
    >>> memory.free()
    """

    _memory: Optional[_vkgdr.Memory] = None

    def __init__(self, owner: Vkgdr, size: SupportsIndex, flags: SupportsIndex = 0) -> None:
        self._allocate(owner, size, flags)

    def _allocate(
        self, owner: Vkgdr, size: SupportsIndex, flags: SupportsIndex, kept: object = None
    ) -> None:
        """Allocates; `kept` lives as long as the memory."""
        if not isinstance(owner, Vkgdr):
            raise TypeError(f"owner must be a Vkgdr, not a {type(owner).__name__}")
        memory = _vkgdr.allocate(
            owner._gpu, _unsigned(size, "size"), _unsigned(flags, "flags", 32), kept
        )
        if memory is None:
            _fail()
        self._memory = memory

    def _allocated(self) -> _vkgdr.Memory:
        memory = self._memory
        if memory is None:
            raise VkgdrError("this memory was freed, or never allocated")
        if not memory.size:  # only in a forked child
            _fail()
        return memory

    def free(self) -> None:
        """Frees the memory, in whatever context is current. Freeing twice is allowed.

        As long as there is a view of it (an array, a memoryview), the memory itself stays.
        """
        self._memory = None

    @property
    def device_ptr(self) -> int:
        """GPU address."""
        return self._allocated().device_pointer

    def __len__(self) -> int:
        """Bytes, as they were asked for."""
        return self._allocated().size

    @property
    def is_coherent(self) -> bool:
        """Whether the memory needs neither `flush` nor `invalidate`."""
        return self._allocated().is_coherent

    @property
    def non_coherent_atom_size(self) -> int:
        """The alignment of ranges to flush and to invalidate, in bytes; 1 for coherent memory."""
        return self._allocated().non_coherent_atom_size

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        """For libraries that do not know the buffer protocol."""
        memory = self._allocated()
        return {
            "version": 3,
            "shape": (memory.size,),
            "typestr": "|V1",
            "data": (memory.host_pointer, False),
        }

    def flush(self, offset: SupportsIndex, size: SupportsIndex) -> None:
        """Makes what the CPU wrote in a range visible to GPU work that is launched later.

        Parameters
        ----------
        offset, size : int
            Bytes. Of non-coherent memory: multiples of `non_coherent_atom_size`, or up to the end.

        Raises
        ------
        VkgdrError
            If non-coherent memory's range breaks this rule.
        """
        why = self._allocated().flush(_unsigned(offset, "offset"), _unsigned(size, "size"))
        if why is not None:
            raise VkgdrError(why)

    def invalidate(self, offset: SupportsIndex, size: SupportsIndex) -> None:
        """Makes what finished GPU work wrote in a range visible to the CPU. Otherwise as `flush`."""
        why = self._allocated().invalidate(_unsigned(offset, "offset"), _unsigned(size, "size"))
        if why is not None:
            raise VkgdrError(why)


class Memory(RawMemory):
    """GPU memory for CuPy, PyTorch, Numba and all others that know ``__cuda_array_interface__``.

    Their arrays (``cupy.asarray(memory)``) keep this object alive; `free` frees the
    memory all the same.

    Examples
    --------
    >>> memory = vkgdr.Memory(vkgdr.Vkgdr.open_current_context(), 16)
    >>> memory.__cuda_array_interface__["shape"]
    (16,)
    """

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        """Version 3, bytes, without a stream: work that wrote to the memory must be complete."""
        memory = self._allocated()
        return {
            "version": 3,
            "shape": (memory.size,),
            "typestr": "|u1",
            "data": (memory.device_pointer, False),
            "strides": None,
            "stream": None,
        }
