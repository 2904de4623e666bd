#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures small copies from Python: barmap beside PyTorch's and CuPy's own, in one process.

    bench/latency.py [--output results.json] [--calls N] [--pygpu-copies]

Each method copies between host memory and the same GPU, blocking until the bytes are there, except for
those marked "asynchronous". A sample is the mean of 64 consecutive calls, in nanoseconds, Python's part
included; methods take turns, so that what disturbs the machine disturbs all. `barmap plot` draws the
file. Frameworks that are not installed are left out.
"""

import argparse
import json
import platform
import statistics
import sys
import time

import barmap
import numpy as np

SIZES = (8, 64, 256, 1024, 4096, 8192, 16384, 65536, 131072, 262144)
CALLS_PER_SAMPLE = 64


def barmap_methods(size):
    array = barmap.alloc(size, "u1")
    mapping = barmap.map(array)
    data, there = bytes(size), bytearray(size)
    yield "h2d", "barmap write", lambda: mapping.write(data)
    yield "d2h", "barmap read", lambda: mapping.read(0, size)
    yield "d2h", "barmap read_into", lambda: mapping.read_into(there)
    view, host = mapping.numpy(), np.zeros(size, np.uint8)

    def assign():
        view[...] = host
        barmap.flush_stores()

    yield "h2d", "barmap NumPy view", assign
    if size <= 1024:
        yield "d2h", "barmap NumPy view", lambda: view.copy()
    if size == 8:
        yield "h2d", "barmap post", lambda: mapping.post(1, 0)


def pygpu_methods(size):
    from barmap import pygpu

    host = np.zeros(size // 4, np.int32)
    array = pygpu.to_gpu(host)
    on = pygpu.use_mapping(True)
    pygpu.use_mapping(on)
    how = "" if on else ", the runtime's copy"
    yield "h2d", f"PyGPU set{how}", lambda: array.set(host)
    yield "d2h", f"PyGPU get{how}", lambda: array.get()


def torch_methods(size):
    import torch

    tensor = torch.zeros(size, dtype=torch.uint8, device="cuda")
    host = torch.zeros(size, dtype=torch.uint8)
    pinned = host.pin_memory()
    synchronize = torch.cuda.synchronize

    def copy_pinned():
        tensor.copy_(pinned, non_blocking=True)
        synchronize()

    yield "h2d", "torch copy_", lambda: tensor.copy_(host)
    yield "h2d", "torch copy_ pinned", copy_pinned
    yield "d2h", "torch cpu", lambda: tensor.cpu()
    if size == 8:
        word = torch.zeros(1, dtype=torch.int64, device="cuda")
        yield "d2h", "torch item", lambda: word[0].item()


def cupy_methods(size):
    import cupy

    array = cupy.zeros(size, np.uint8)
    host, there = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    stream = cupy.cuda.get_current_stream()

    def set_and_wait():
        array.set(host)
        stream.synchronize()

    yield "h2d", "CuPy set, asynchronous", lambda: array.set(host)
    yield "h2d", "CuPy set and synchronize", set_and_wait
    yield "d2h", "CuPy get", lambda: array.get(out=there)


def methods(size):
    for library, some in (
        ("barmap", barmap_methods), ("barmap.pygpu", pygpu_methods), ("torch", torch_methods),
        ("cupy", cupy_methods),
    ):
        try:
            yield from some(size)
        except ImportError:
            print(f"{library} is not installed: left out", file=sys.stderr)


def measure(size, calls):
    """Rows of one size: each method's samples, taken in turns."""
    found = list(methods(size))
    samples = [[] for _ in found]
    for turn in range(calls // CALLS_PER_SAMPLE + 20):
        for (_, _, call), times in zip(found, samples):
            begin = time.perf_counter_ns()
            for _ in range(CALLS_PER_SAMPLE):
                call()
            end = time.perf_counter_ns()
            if turn >= 20:  # before, caches and clocks warm up
                times.append((end - begin) / CALLS_PER_SAMPLE)
    for (direction, method, _), times in zip(found, samples):
        times.sort()
        median = statistics.median(times)
        yield {
            "measurement": "copy", "direction": direction, "size": size, "method": method,
            "min_ns": times[0], "p50_ns": median, "p99_ns": times[len(times) * 99 // 100],
            "samples": len(times), "operations_per_sample": CALLS_PER_SAMPLE,
            "gb_per_s": size / median,
        }


def import_time():
    """Seconds to import the package in a new interpreter; the median of nine."""
    import subprocess

    program = "import time; a = time.perf_counter(); import barmap; print(time.perf_counter() - a)"
    return statistics.median(
        float(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
        for _ in range(9)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", help="where the JSON goes; else to stdout")
    parser.add_argument("--calls", type=int, default=8000, help="calls of each method and size")
    parser.add_argument("--pygpu-copies", action="store_true",
                        help="PyGPU's arrays use the runtime's copies alone")
    options = parser.parse_args()
    if options.pygpu_copies:
        from barmap import pygpu

        pygpu.use_mapping(False)
    gpu = barmap.devices()[0]
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    rows = [row for size in SIZES for row in measure(size, options.calls)]
    for name in ("torch", "cupy"):
        if name in sys.modules:
            versions[name] = sys.modules[name].__version__
    result = {
        "barmap": barmap.__version__,
        "command": ["bench/latency.py", *sys.argv[1:]],
        "machine": {
            "gpu": gpu.name, "backend": barmap.alloc(8, "u1").backend, "simulated": gpu.simulated,
            "kernel": platform.release(), "versions": versions,
        },
        "results": [*rows, {"measurement": "import", "p50_ns": 1e9 * import_time()}],
    }
    text = json.dumps(result, indent=1)
    if options.output:
        with open(options.output, "w") as file:
            file.write(text + "\n")
    else:
        print(text)
    for row in rows:
        print(f"{row['direction']} {row['size']:6} B  {row['method']:28} {row['p50_ns']:9.0f} ns",
              file=sys.stderr)


if __name__ == "__main__":
    main()
