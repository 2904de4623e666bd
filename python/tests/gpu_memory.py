# SPDX-License-Identifier: MIT
"""GPU memory that barmap did not make, and objects that offer it as other libraries do."""

import ctypes
import pathlib

import barmap
import numpy as np


class Driver:
    """The driver's functions: of the machine's library, or of the one that the package carries."""

    def __init__(self, real=False):
        simulated = pathlib.Path(barmap.__file__).parent / "lib" / "barmap-sim" / "libcuda.so.1"
        self.library = ctypes.CDLL("libcuda.so.1" if real else str(simulated))
        self("cuInit", 0)
        context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        assert result == 0, f"{name} returns {result}"

    def allocate(self, nbytes):
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(nbytes))
        return Block(self, address.value, nbytes)

    def allocate_managed(self, nbytes):
        address = ctypes.c_uint64()
        self("cuMemAllocManaged", ctypes.byref(address), ctypes.c_size_t(nbytes), 1)
        return Block(self, address.value, nbytes)


class Block:
    """A piece of GPU memory, filled and looked at by the driver's copies."""

    def __init__(self, driver, address, nbytes):
        self.driver, self.address, self.nbytes = driver, address, nbytes

    def put(self, data, offset=0):
        self.driver("cuMemcpyHtoD_v2", ctypes.c_uint64(self.address + offset), data,
                    ctypes.c_size_t(len(data)))
        self.driver("cuCtxSynchronize")

    def get(self, offset=0, n=None):
        n = self.nbytes - offset if n is None else n
        data = ctypes.create_string_buffer(n)
        self.driver("cuMemcpyDtoH_v2", data, ctypes.c_uint64(self.address + offset),
                    ctypes.c_size_t(n))
        return data.raw

    def free(self):
        self.driver("cuMemFree_v2", ctypes.c_uint64(self.address))


class Interface:
    """An array with __cuda_array_interface__: a view of a block, laid out like a NumPy array.

    `like` is a view of an array of bytes as long as the block; where its elements lie in there is
    where this object's elements lie in the block.
    """

    def __init__(self, block, like, base, read_only=False, version=3, **more):
        offset = like.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        contiguous = like.flags.c_contiguous
        self.block = block
        self.__cuda_array_interface__ = {
            "shape": like.shape,
            "typestr": like.dtype.str,
            "descr": like.dtype.descr,
            "data": (block.address + offset, read_only),
            "strides": None if contiguous else like.strides,
            "version": version,
            **more,
        }


def reported_backends():
    """What `barmap.info` says of backends."""
    return [row for row in barmap.info()["results"] if row["kind"] == "backend"]


def bytes_like(block):
    """What the block holds, as a NumPy array to take views of."""
    return np.frombuffer(block.get(), np.uint8).copy()
