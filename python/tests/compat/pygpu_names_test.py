# SPDX-License-Identifier: MIT
"""Programs that import PyGPU or PybindGPU, in processes of their own."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
import {name} as gpuarray
import {name}.gpuarray
from {name}.gpuarray import GPUArray, HostAllocator, PagelockedAllocator, SUPPORTED_DTYPES, dtype
import barmap.pygpu

k_gpu = gpuarray.to_gpu(np.array([1, 2, 3, 4, 5, 6]))
fk_gpu = gpuarray.GPUArray((3, 3, 3), dtype=np.complex64)
assert k_gpu.get().tolist() == [1, 2, 3, 4, 5, 6] and fk_gpu.get().shape == (3, 3, 3)
assert gpuarray.cudaSetDevice(0) == 0 and gpuarray.cudaGetDevice() == (0, 0)
assert gpuarray.DeviceArray_int64 is barmap.pygpu.DeviceArray_int64
assert {name}.gpuarray.GPUArray is GPUArray is barmap.pygpu.GPUArray
assert {name}.use_hip is False and {name}.cuda_enabled is True
"""


@pytest.mark.parametrize("name", ["PyGPU", "PybindGPU"])
def test_a_program(name):
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(name=name)], env=dict(os.environ),
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
