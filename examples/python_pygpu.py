# SPDX-License-Identifier: MIT
"""Device control and data of a program that launches its kernels elsewhere, with barmap.pygpu.

    BARMAP_SIM=1 python examples/python_pygpu.py                       # the simulated GPU
    BARMAP_SIM=1 BARMAP_RUNTIME=hip python examples/python_pygpu.py    # AMD's runtime, simulated
"""

import numpy as np

from barmap import pygpu

count, err = pygpu.cudaGetDeviceCount()
if err or count == 0:
    raise SystemExit(f"no GPU: {pygpu.cudaGetErrorString(err)} ({pygpu.cudaGetErrorName(err)})")
pygpu.cudaSetDevice(0)
properties = pygpu.cudaDeviceProp(0)
print(f"{properties.name()} at {properties.pci_address()}, {properties.totalGlobalMem()} bytes")

# An array on the device; a kernel in C takes its address: library.run(a.ptr, int(stream)).
a = pygpu.to_gpu(np.arange(12.0).reshape(3, 4))
stream, start, end = pygpu.cudaStream_t(), pygpu.cudaEvent_t(), pygpu.cudaEvent_t()
start.record(stream)
end.record(stream)
end.synchronize()
milliseconds, err = start.elapsed_time(end)
print(f"the stream took {milliseconds:.3f} ms: {err}")

# Views share the memory on the device.
print(a[0].get())
a[:, ::2] = 0
a[2] = a[1]
print(a.get())
