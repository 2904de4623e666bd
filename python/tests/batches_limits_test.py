# SPDX-License-Identifier: MIT
"""Batches where the system gives less than usual: no registered memory, little memory for lists."""

import os
import pathlib
import subprocess
import sys

import pytest


def run(program, **environment):
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "BARMAP_SIM": "1", **environment},
                          capture_output=True, text=True, check=False, cwd=pathlib.Path(__file__).parent)
    assert done.returncode == 0, done.stderr


@pytest.mark.simulated
def test_where_cuda_registers_no_memory_it_allocates_it():
    run("""
import barmap
host, gpu = barmap.pinned((4, 8), "u1"), barmap.alloc((4, 8), "u1")
assert not host.any()
gpu.fill(7)
barmap.copy_rows(host, gpu)
assert (host == 7).all()
host[:] = 9
barmap.copy_rows(gpu, host)
assert gpu.read() == bytes([9]) * 32
del host
""", BARMAP_SIM_FAIL="cuMemHostRegister:801:1")


@pytest.mark.simulated
def test_rows_that_are_not_named_take_no_memory():
    """An array that says to have 2^40 rows."""
    run("""
import barmap, pathlib, resource
gpu, host = barmap.alloc(8, "u1"), barmap.pinned((3, 1), "u1")
gpu.fill(0)
host[:, 0] = [1, 2, 3]
class Rows:
    __cuda_array_interface__ = {**gpu.__cuda_array_interface__, "shape": (8, 1)}
barmap.copy_rows(Rows(), host, to_rows=[0, 1, 2])  # which starts what it takes
now = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (1 << 30),) * 2)
class Huge:
    __cuda_array_interface__ = {**gpu.__cuda_array_interface__, "shape": (1 << 40, 1)}
barmap.copy_rows(Huge(), host, to_rows=[5, 0, 3])
assert list(gpu.read()) == [2, 2, 3, 3, 0, 1, 0, 0], list(gpu.read())
try:
    barmap.copy_rows(Huge(), host, to_rows=[7, 6, 7])
except ValueError as refused:
    assert "to_rows[2] names row 7 of to again" in str(refused), refused
else:
    raise AssertionError("a row is written twice")
""")
