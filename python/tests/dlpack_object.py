# SPDX-License-Identifier: MIT
"""An object that offers GPU memory by DLPack, old or new, as PyTorch and CuPy do."""

import ctypes

from barmap._arrays.dlpack import _Tensor, _Versioned

_python = ctypes.PyDLL(None)
_new = _python.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_is_valid = _python.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_KEPT = []  # destructors: the collector may free an object before the capsule that calls it
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class DlpackObject:
    """GPU memory with shape, dtype (code, bits, lanes) and strides in elements (or None).

    `returned` counts the tensors that were released, `streams` what was asked for.
    """

    def __init__(self, address, shape, dtype, strides=None, byte_offset=0, device=2, flags=0,
                 versioned=True, major=1):
        self.address, self.shape, self.dtype, self.strides = address, shape, dtype, strides
        self.byte_offset, self.device, self.flags = byte_offset, device, flags
        self.versioned, self.major = versioned, major
        self.returned, self.streams = 0, []
        self._destructor = _DESTRUCTOR(self._give_back)
        _KEPT.append(self._destructor)
        self._alive = []

    def _give_back(self, capsule):
        name = b"dltensor_versioned" if self.versioned else b"dltensor"
        assert _is_valid(capsule, name), "somebody else has taken the tensor"
        self.returned += 1

    def __dlpack_device__(self):
        return (self.device, 0)

    def __dlpack__(self, stream=None, **options):
        if options and not self.versioned:
            raise TypeError("unexpected keyword argument")
        self.streams.append(stream)
        n = len(self.shape)
        shape = (ctypes.c_int64 * n)(*self.shape)
        strides = (ctypes.c_int64 * n)(*self.strides) if self.strides is not None else None
        made = _Versioned() if self.versioned else _Tensor()
        tensor = made.tensor if self.versioned else made
        if self.versioned:
            made.major, made.minor, made.flags = self.major, 0, self.flags
        tensor.data, tensor.byte_offset, tensor.ndim = self.address, self.byte_offset, n
        tensor.device.type = self.device
        tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes = self.dtype
        tensor.shape = ctypes.cast(shape, type(tensor.shape))
        if strides is not None:
            tensor.strides = ctypes.cast(strides, type(tensor.strides))
        self._alive.append((made, shape, strides))
        name = b"dltensor_versioned" if self.versioned else b"dltensor"
        return _new(ctypes.addressof(made), name, ctypes.cast(self._destructor, ctypes.c_void_p))
