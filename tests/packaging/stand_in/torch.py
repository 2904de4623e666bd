# SPDX-License-Identifier: MIT
"""What the README's Python program uses of PyTorch, on the simulated GPU: a tensor in memory of CUDA's driver.

tests/packaging/readme.sh puts it where Python finds it.
"""

import ctypes
import pathlib

import barmap
import numpy

_driver = ctypes.CDLL(str(pathlib.Path(barmap.__file__).parent / "lib" / "barmap-sim" / "libcuda.so.1"))


def _call(name, *arguments):
    result = getattr(_driver, name)(*arguments)
    if result:
        raise RuntimeError(f"{name} returns {result}")


class Tensor:
    """Zeros of 32-bit floats in GPU memory."""

    def __init__(self, count):
        address, context = ctypes.c_uint64(), ctypes.c_void_p()
        _call("cuInit", 0)
        _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        _call("cuCtxSetCurrent", context)
        _call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(4 * count))
        _call("cuMemsetD8_v2", address, ctypes.c_ubyte(0), ctypes.c_size_t(4 * count))
        self._address, self._count = address.value, count

    @property
    def __cuda_array_interface__(self):
        return {"shape": (self._count,), "typestr": "<f4", "data": (self._address, False), "version": 3}

    def __getitem__(self, part):
        floats = (ctypes.c_float * self._count)()
        _call("cuMemcpyDtoH_v2", floats, ctypes.c_uint64(self._address), ctypes.c_size_t(4 * self._count))
        return numpy.array(floats)[part]


def zeros(count, device):
    assert device == "cuda"
    return Tensor(count)


class cuda:  # noqa: N801
    """The module torch.cuda."""

    @staticmethod
    def synchronize():
        _call("cuCtxSynchronize")
