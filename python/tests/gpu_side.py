# SPDX-License-Identifier: MIT
"""The GPU's side of rings, compiled for the CPU: what a kernel would do."""

import contextlib
import ctypes
import functools
import pathlib
import tempfile
import threading

import barmap
import numpy as np

from compiled import compile_library

OK, FULL, EMPTY, CLOSED, TIMED_OUT = range(5)  # barmap::gpu::status
PATIENCE_NS = 60_000_000_000

SOURCE = pathlib.Path(__file__).with_name("gpu_side.cpp")


@functools.lru_cache(maxsize=None)
def _library(dtype):
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "message.hpp").write_text(barmap.device_struct(dtype, "message"))
        return compile_library(SOURCE, directory, f"-I{directory}")


def _words(ring):
    return (ctypes.c_ulonglong * 4)(*ring._held._handle_for_thread)


class GpuSide:
    """What kernels do with rings of a dtype. Each call is a kernel of its own."""

    def __init__(self, dtype):
        self.dtype = np.dtype(dtype)
        self.library = _library(self.dtype)
        assert self.library.message_bytes() == self.dtype.itemsize

    def pop(self, ring):
        """The next message, or the status."""
        value = np.zeros(1, self.dtype)
        status = self.library.pop(_words(ring), ctypes.c_void_p(value.ctypes.data))
        return value[0] if status == OK else status

    def push(self, ring, value):
        """The status."""
        message = np.zeros(1, self.dtype)
        message[0] = value
        return self.library.push(_words(ring), ctypes.c_void_p(message.ctypes.data))

    def close(self, ring):
        if isinstance(ring, barmap.RingToGpu):
            self.library.close_consumer(_words(ring))
        else:
            self.library.close_producer(_words(ring))

    @contextlib.contextmanager
    def echoing(self, to_gpu, to_cpu):
        """A thread that sends messages back until the ring to the GPU is closed, as this does."""
        ended = []

        def run():
            patience = ctypes.c_ulonglong(PATIENCE_NS)
            ended.append(self.library.echo(_words(to_gpu), _words(to_cpu), patience))

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            to_gpu.close()
            to_cpu.close()  # so that none waits for room
            thread.join()
        assert ended == [CLOSED]
