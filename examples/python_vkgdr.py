#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Allocates GPU memory that NumPy sees, through the package vkgdr.

Needs the distribution barmap-compat. Runs without a GPU as well:
BARMAP_SIM=1 python3 examples/python_vkgdr.py
"""

import ctypes
import os
import pathlib

import barmap
import numpy as np
import vkgdr

# vkgdr works in the context that is current. CuPy, PyTorch or PyCUDA make one; here, the driver does.
simulated = pathlib.Path(barmap.__file__).parent / "lib" / "barmap-sim" / "libcuda.so.1"
cuda = ctypes.CDLL(str(simulated) if os.environ.get("BARMAP_SIM") == "1" else "libcuda.so.1")
context = ctypes.c_void_p()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0

gpu = vkgdr.Vkgdr.open_current_context(vkgdr.OpenFlags.REQUIRE_COHERENT_BIT)
memory = vkgdr.Memory(gpu, 1000 * 4)  # for PyCUDA: vkgdr.pycuda.Memory
print(f"{len(memory)} bytes at {memory.device_ptr:#x} of the GPU, coherent: {memory.is_coherent}")

array = np.asarray(memory).view(np.float32)  # no copy
array[:] = np.arange(1000)
memory.flush(0, len(memory))  # before GPU work that reads it

# The GPU's bytes there:
there = np.empty(1000, np.float32)
assert cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(there.ctypes.data), ctypes.c_uint64(memory.device_ptr),
                            ctypes.c_size_t(there.nbytes)) == 0
assert (there == array).all()

memory.invalidate(0, len(memory))  # after GPU work that wrote it
print("sum:", array.sum())
