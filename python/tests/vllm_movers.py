# SPDX-License-Identifier: MIT
"""What the stand-ins of vLLM's handlers copy by, over the driver of these tests, and their streams."""

import collections
import contextlib
import ctypes

import numpy as np
import torch_stand_in
from torch_stand_in import Tensor

calls = collections.Counter()  # of vLLM's own movers, by name
driver = None  # of the test


def mover(name):
    def copy(src_ptrs, dst_ptrs, sizes, is_src_access_order_any=False):
        calls[name] += 1
        stream = ctypes.c_void_p(torch_stand_in.module.cuda.current_stream().cuda_stream)
        for source, to, size in zip(src_ptrs.array.tolist(), dst_ptrs.array.tolist(), sizes.array.tolist()):
            driver("cuMemcpyAsync", ctypes.c_uint64(to), ctypes.c_uint64(source), ctypes.c_size_t(size), stream)
    return copy


batch_call, triton = mover("batch call"), mover("Triton")


class Stream:
    device_index = 0

    def __init__(self):
        handle = ctypes.c_void_p()
        driver("cuStreamCreate", ctypes.byref(handle), 1)
        self.cuda_stream = handle.value

    def query(self):
        return driver.library.cuStreamQuery(ctypes.c_void_p(self.cuda_stream)) == 0

    def synchronize(self):
        driver("cuStreamSynchronize", ctypes.c_void_p(self.cuda_stream))


@contextlib.contextmanager
def current(stream):
    cuda = torch_stand_in.module.cuda
    before, cuda.stream = cuda.stream, stream
    yield
    cuda.stream = before


def lists(source, source_blocks, to, to_blocks, page):
    """Addresses and sizes: of sides that are (address of block 0, bytes from one to the next)."""
    return [Tensor(np.int64([side[0] + side[1] * block for block in blocks]))
            for side, blocks in ((source, source_blocks), (to, to_blocks))] + [
                Tensor(np.int64([page] * len(to_blocks)))]
