#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures rings, signals and steps from Python, on a GPU, and checks every value.

    bench/signals.py [--output results.json]     needs CuPy and PyTorch

A kernel of one thread answers: by a counter each way, and by a ring each way. Steps have 48 inputs of 256 bytes, and a token. Times are of one call or one round, in
microseconds, Python's part included.
"""

import argparse
import asyncio
import json
import platform
import sys
import time

import barmap
import numpy as np

KERNELS = """
#include <barmap/gpu/ring.cuh>
#include <barmap/gpu/counter.cuh>
using namespace barmap::gpu;
const word patience = 20000000000; // ns

extern "C" __global__ void answer(counter_to_gpu asked, counter_to_cpu answered, word rounds, word* wrong) {
    for (word i = 1; i <= rounds; ++i) {
        if (wait_for(asked, i, patience) != status::ok) {
            *wrong = i;
            return;
        }
        advance(answered, i);
    }
}

extern "C" __global__ void increment(ring_to_gpu<word> in, ring_to_cpu<word> out) {
    consumer<word> from(in);
    producer<word> to(out);
    word value;
    while (from.pop(value, patience) == status::ok && to.push(value + 1, patience) == status::ok)
        ;
    to.close();
}
"""


class Times:
    def __init__(self):
        self.results = []

    def of(self, what, call, after=lambda: None, rounds=500):
        taken = []
        for _ in range(rounds):
            begin = time.perf_counter_ns()
            call()
            taken.append(time.perf_counter_ns() - begin)
            after()
        taken.sort()
        us = {f"p{p}_us": taken[min(rounds * p // 100, rounds - 1)] / 1000 for p in (0, 50, 90, 99)}
        self.results.append({"measurement": what, "rounds": rounds, **us})


def check(is_right, what):
    if not is_right:
        raise RuntimeError(f"{what}: wrong")


def signals(times, kernel, stream, cupy):
    arena = barmap.Arena(1 << 16, 1 << 16)
    asked, answered = barmap.CounterToGpu(arena=arena), barmap.CounterToCpu(arena=arena)
    wrong, rounds, number = cupy.zeros(1, "u8"), 5000, 0
    with stream:
        kernel((1,), (1,), (asked.handle, answered.handle, np.uint64(rounds), wrong))

    def ask():
        nonlocal number
        number += 1
        asked.advance(number)
        check(answered.wait_for(number, 10), "counter")

    times.of("counter there and back", ask, rounds=rounds)
    stream.synchronize()
    check(int(wrong[0]) == 0, "the kernel's side")

    def through_stream():
        nonlocal number
        number += 1
        asked.wait(stream.ptr, number)
        answered.record(stream.ptr, number)
        asked.advance(number)
        check(answered.wait_for(number, 10), "stream")

    times.of("counter through a stream", through_stream)
    answered.record(stream.ptr, number + 1)
    check(asyncio.run(answered.reached(number + 1)) == number + 1, "asyncio")


def rings(times, kernel, stream):
    with barmap.RingToGpu("u8", slots=256) as there, barmap.RingToCpu("u8", slots=256) as back:
        with stream:
            kernel((1,), (1,), (there.handle, back.handle))
        number = 0

        def push():
            check(there.try_push(number), "room")
            there.flush()

        def pop():
            nonlocal number
            check(back.wait_for(10) and back.try_pop() == number + 1, "message")
            number += 1

        def both():
            push()
            pop()

        times.of("message of 8 bytes there and back", both, rounds=5000)
        times.of("push of 8 bytes", push, pop)
        push()
        times.of("wait for and pop 8 bytes that are there", pop, lambda: (push(), time.sleep(1e-4)), 500)
        pop()
        there.close()
        stream.synchronize()


def steps(times, torch):
    import barmap.torch

    tensors = {f"x{i}": torch.zeros(32, dtype=torch.int64, device="cuda") for i in range(48)}
    given = {name: torch.arange(32) + i for i, name in enumerate(tensors)}
    arrays = {name: each.numpy() for name, each in given.items()}
    pinned = {name: each.pin_memory() for name, each in given.items()}
    token = torch.zeros(1, dtype=torch.int32, device="cuda")
    stream = torch.cuda.current_stream()
    of_numpy, of_torch = barmap.StepInputs(tensors), barmap.torch.step_inputs(tensors)
    ring = barmap.torch.token_ring(token)

    def copy():
        for name, each in tensors.items():
            each.copy_(pinned[name], non_blocking=True)

    for what, inputs, some in (("48 NumPy arrays", of_numpy, arrays), ("48 tensors", of_torch, given),
                               ("what host holds", of_numpy, None)):
        def load():
            inputs.enqueue_load()
            stream.synchronize()

        for each in tensors.values():
            each.zero_()
        times.of(f"push of {what}", lambda: check(inputs.push(some), "a version"), load)
        check(all(torch.equal(each.cpu(), given[name]) for name, each in tensors.items()), what)
    times.of("48 copy_ from pinned memory, not blocking", copy, stream.synchronize)

    def pop():
        check(ring.wait_for(10) and ring.pop().item() == 0, "token")

    def store():
        ring.push()
        stream.synchronize()

    store()
    times.of("wait for and pop a token that is there", pop, store)
    times.of("item() of a token that is there", token.item)


def main(output):
    import cupy
    import torch

    times, stream = Times(), cupy.cuda.Stream(non_blocking=True)
    module = cupy.RawModule(code=KERNELS, options=("-std=c++17", f"-I{barmap.include_dir()}"))
    signals(times, module.get_function("answer"), stream, cupy)
    rings(times, module.get_function("increment"), stream)
    steps(times, torch)
    text = json.dumps({
        "barmap": barmap.__version__, "command": sys.argv,
        "machine": {"gpu": barmap.devices()[0].name, "versions": {
            "python": platform.python_version(), "numpy": np.__version__, "cupy": cupy.__version__,
            "torch": torch.__version__}},
        "results": times.results}, indent=1)
    if output:
        with open(output, "w", encoding="utf-8") as file:
            print(text, file=file)
    for each in times.results:
        print(f"{each['measurement']:42} {each['p50_us']:8.2f} us, p99 {each['p99_us']:8.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", metavar="FILE", help="write JSON to this file")
    try:
        main(parser.parse_args().output)
    except (ImportError, OSError, RuntimeError) as refusal:
        sys.exit(f"signals.py: {refusal}")
