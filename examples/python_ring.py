#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A kernel that runs all the time and answers commands from Python, by two rings.

    python3 examples/python_ring.py                  needs CuPy
    BARMAP_SIM=1 python3 examples/python_ring.py     needs g++: a thread acts as the kernel

With --cupy, CuPy is used in any case.
"""

import contextlib
import ctypes
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import barmap
import numpy as np

COMMAND = np.dtype([("id", "u4"), ("x", "f8")], align=True)
ANSWER = np.dtype([("id", "u4"), ("y", "f8")], align=True)

# It ends when the ring of commands is closed, or nothing has come for a minute.
SOURCE = f"""
#include <barmap/gpu/ring.cuh>
{barmap.device_struct(COMMAND, "command")}
{barmap.device_struct(ANSWER, "answer")}
namespace rings = barmap::gpu;

extern "C" __global__ void serve(rings::ring_to_gpu<command> in, rings::ring_to_cpu<answer> out) {{
    rings::consumer<command> commands(in);
    rings::producer<answer> answers(out);
    const unsigned long long minute = 60000000000; // ns
    command next;
    while (commands.pop(next, minute) == rings::status::ok) {{
        answer to_it;
        to_it.id = next.id;
        to_it.y = next.x * next.x + 1;
        if (answers.push(to_it, minute) != rings::status::ok)
            break;
    }}
    answers.close();
}}
"""


@contextlib.contextmanager
def kernel(commands, answers):
    """The kernel runs inside the block, which must close the commands."""
    import cupy

    serve = cupy.RawKernel(SOURCE, "serve", options=("-std=c++11", f"-I{barmap.include_dir()}"))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        serve((1,), (1,), (commands.handle, answers.handle))
    try:
        yield
    finally:
        commands.close()
        stream.synchronize()


class Handle(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("slots", "control", "credits", "mask")]


@contextlib.contextmanager
def thread(commands, answers):
    """The same, by a thread of the CPU, as tests do it on the simulated GPU."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = pathlib.Path(folder, "serve.cpp"), pathlib.Path(folder, "serve.so")
        source.write_text(SOURCE)
        subprocess.run(["g++", "-O2", "-D__global__=", "-shared", "-fPIC", f"-I{barmap.include_dir()}",
                        "-o", library, source], check=True)
        serve = ctypes.CDLL(str(library)).serve
    serve.argtypes = [Handle, Handle]
    handles = [Handle(*ring._held._handle_for_thread) for ring in (commands, answers)]
    running = threading.Thread(target=serve, args=handles)
    running.start()
    try:
        yield
    finally:
        commands.close()
        running.join()


def main(running):
    with barmap.RingToGpu(COMMAND, slots=256) as commands, \
            barmap.RingToCpu(ANSWER, slots=256) as answers, running(commands, answers):
        # One at a time.
        times = []
        for number in range(1000):
            begin = time.perf_counter()
            assert commands.try_push((number, 0.5 * number))
            commands.flush()
            assert answers.wait_for(10), "no answer"
            answer = answers.try_pop()
            times.append(time.perf_counter() - begin)
            assert (answer["id"], answer["y"]) == (number, (0.5 * number) ** 2 + 1)

        # As many as fit.
        batch = np.zeros(10_000, COMMAND)
        # Squares that a double holds: a GPU rounds only once in x * x + 1.
        batch["id"], batch["x"] = np.arange(len(batch)), np.arange(len(batch)) / 16
        pushed, found = 0, []
        while sum(map(len, found)) < len(batch):
            pushed += commands.push_many(batch[pushed:])
            commands.flush()
            assert answers.wait_for(10), "no answer"
            found.append(answers.pop_many())
        found = np.concatenate(found)
        assert (found["id"] == batch["id"]).all() and (found["y"] == batch["x"] ** 2 + 1).all()
    print(f"{len(times) + len(found)} answers are right; "
          f"one at a time, an answer takes {1e6 * statistics.median(times):.1f} us")


if __name__ == "__main__":
    try:
        is_simulated = barmap.devices()[:1] and barmap.devices()[0].simulated
        main(thread if is_simulated and "--cupy" not in sys.argv[1:] else kernel)
    except (ImportError, OSError, RuntimeError) as refusal:
        sys.exit(f"python_ring.py: {refusal}")
