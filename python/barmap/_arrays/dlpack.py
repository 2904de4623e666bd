# SPDX-License-Identifier: MIT
"""Finds the GPU memory of an object that speaks DLPack, without taking the tensor over.

The capsule is kept as it is, so that its destructor releases the tensor when the mapping drops
it. Structures as in dlpack.h 1.0.
"""

from __future__ import annotations

import ctypes
from typing import Any, Optional, Tuple

import numpy as np

from .layout import Layout, Source
from .._base.naming import kind_of

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_READ_ONLY, _IS_COPIED = 1, 2
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


# Not ctypes.pythonapi, whose functions are everybody's: others may declare them in another way.
_python = ctypes.PyDLL(None)
_is_valid = _python.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_is_valid.restype = ctypes.c_int
_pointer = _python.PyCapsule_GetPointer
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_pointer.restype = ctypes.c_void_p


def _dtype_of(kind: _DataType) -> np.dtype[Any]:
    """The element type; one that NumPy lacks (bfloat16, 8-bit floats) is raw bytes of its size."""
    if kind.lanes != 1 or kind.bits % 8 != 0:
        raise TypeError(f"elements of {kind.bits} bits and {kind.lanes} lanes cannot be mapped")
    try:
        return np.dtype(f"{_KINDS[kind.code]}{kind.bits // 8}")
    except (KeyError, TypeError):
        return np.dtype(f"V{kind.bits // 8}")


def _capsule_of(x: Any, stream: Optional[int]) -> Any:
    try:
        return x.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # written before DLPack 1.0
        return x.__dlpack__(stream=stream)


def _device_of(x: Any) -> Tuple[int, str]:
    """The DLPack device type of an object, and what errors call it there."""
    device = int(x.__dlpack_device__()[0])
    where = {
        _CPU: "in host memory", _CUDA_HOST: "in pinned host memory", _CUDA: "on a GPU",
        _CUDA_MANAGED: "in managed memory",
    }.get(device, f"on a device of DLPack's type {device}")
    return device, f"{kind_of(x)} {where}"


def is_on_gpu(x: Any) -> bool:
    """Whether an object with ``__dlpack_device__`` is an array on a CUDA GPU."""
    return _device_of(x)[0] in (_CUDA, _CUDA_MANAGED)


def find(x: Any, says: str, advice: str) -> Source:
    """Finds the GPU memory of an object with ``__dlpack__`` and ``__dlpack_device__``.

    Parameters and exceptions as those of `_sources.find_array`.
    """
    if not is_on_gpu(x):
        raise TypeError(f"{says} {_device_of(x)[1]}: {advice}")
    # Stream -1: no synchronisation, which is the caller's business everywhere in barmap.
    return _read(x, _capsule_of(x, -1))


def find_on_host(x: Any, says: str, advice: str) -> Source:
    """Finds the host memory of such an object. Otherwise as `find`."""
    device, it = _device_of(x)
    if device not in (_CPU, _CUDA_HOST):
        raise TypeError(f"{says} {it}: {advice}")
    return _read(x, _capsule_of(x, None))  # there are no streams


def _read(x: Any, capsule: Any) -> Source:
    read_only = False
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise TypeError(f"DLPack {versioned.major}.{versioned.minor} is not known")
        if versioned.flags & _IS_COPIED:
            raise TypeError("the object gives a copy only, not its own memory")
        read_only = bool(versioned.flags & _READ_ONLY)
        tensor = versioned.tensor
    elif _is_valid(capsule, b"dltensor"):
        tensor = _Tensor.from_address(_pointer(capsule, b"dltensor"))
    else:
        raise TypeError("__dlpack__ returned no unused DLPack capsule")
    dtype = _dtype_of(tensor.dtype)
    shape = tensor.shape[: tensor.ndim] if tensor.ndim else []
    strides = None
    if tensor.ndim and tensor.strides:
        strides = [step * dtype.itemsize for step in tensor.strides[: tensor.ndim]]
    address = (tensor.data or 0) + tensor.byte_offset
    return Source((x, capsule), address, Layout.of(shape, dtype, strides), read_only)
