#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads and writes GPU memory from Python, and looks at it as a NumPy array.

Runs without a GPU as well: BARMAP_SIM=1 python3 examples/python_map.py
"""

import time

import barmap
import numpy as np

for gpu in barmap.devices():
    print(f"GPU {gpu.ordinal}: {gpu.name} at {gpu.pci_address}")

# Stands for a tensor of yours: barmap.map() takes PyTorch's, CuPy's and Numba's arrays as well.
array = barmap.alloc((256, 256), np.float32)
array.fill(0)

with barmap.map(array) as mapping:
    print(f"{mapping.nbytes} bytes, mapped by {mapping.backend}, {mapping.kind}")
    mapping.write(np.arange(4, dtype=np.float32), offset=16)
    print("row 0:", np.frombuffer(mapping.read(0, 32), np.float32))

    view = mapping.numpy()  # no copy
    view[1, :3] = 7
    assert array.numpy()[1, 2] == 7

    calls = 20_000
    line = bytes(64)
    begin = time.perf_counter_ns()
    for _ in range(calls):
        mapping.write(line)
    middle = time.perf_counter_ns()
    for _ in range(calls):
        mapping.read(0, 8)
    end = time.perf_counter_ns()
    print(f"write of 64 B: {(middle - begin) / calls:.0f} ns, "
          f"read of 8 B: {(end - middle) / calls:.0f} ns, Python's part included")
