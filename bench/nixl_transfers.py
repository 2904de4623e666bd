#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times transfers of NIXL by each of its back-ends, barmap's and UCX's: until they are done, and to post them.

    python3 bench/nixl_transfers.py [--backends BARMAP,UCX] [--rounds N]

Scattered blocks between pinned host memory and a GPU, inside a GPU and between two GPUs, by one agent to itself; and
between GPU memory of two processes. Prints a JSON object a line: GB/s and microseconds, medians; `wrong` counts
wrong bytes. Needs the packages nixl and numpy, and a GPU; libplugin_BARMAP.so lies beside the other plug-ins of nixl.
"""

import argparse
import ctypes
import importlib
import itertools
import json
import multiprocessing
import statistics
import time
from functools import partial

import numpy as np

SHAPES = ((4096, 4 << 10), (4096, 64 << 10), (16384, 48 << 10))
DRIVER = ctypes.CDLL("libcuda.so.1")


def call(function, *arguments):
    result = getattr(DRIVER, function)(*arguments)
    if result:
        raise RuntimeError(f"{function} returns {result}")


def use_gpu(ordinal):
    context = ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ordinal)
    call("cuCtxSetCurrent", context)


def count_gpus():
    count = ctypes.c_int()
    call("cuInit", 0)
    call("cuDeviceGetCount", ctypes.byref(count))
    return count.value


class Pinned:
    segment, gpu = "DRAM", 0

    def __init__(self, size):
        use_gpu(0)
        address = ctypes.c_void_p()
        call("cuMemHostAlloc", ctypes.byref(address), ctypes.c_size_t(size), 0)
        self.address = address.value
        self.bytes = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(self.address))

    def put(self, data):
        self.bytes[:] = data

    def get(self):
        return self.bytes.copy()

    def free(self):
        call("cuMemFreeHost", ctypes.c_void_p(self.address))


class OnGpu:
    segment = "VRAM"

    def __init__(self, size, gpu):
        use_gpu(gpu)
        address = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        self.address, self.size, self.gpu = address.value, size, gpu

    def put(self, data):
        call("cuMemcpyHtoD_v2", ctypes.c_uint64(self.address), ctypes.c_void_p(data.ctypes.data),
             ctypes.c_size_t(self.size))
        call("cuCtxSynchronize")

    def get(self):
        data = np.empty(self.size, np.uint8)
        call("cuMemcpyDtoH_v2", ctypes.c_void_p(data.ctypes.data), ctypes.c_uint64(self.address),
             ctypes.c_size_t(self.size))
        return data

    def free(self):
        call("cuMemFree_v2", ctypes.c_uint64(self.address))


class There:
    """GPU memory of another process."""

    segment = "VRAM"

    def __init__(self, pipe, size, gpu):
        self.pipe, self.gpu = pipe, gpu
        self.address, self.metadata = self.ask("allocate", size, gpu)

    def ask(self, *order):
        self.pipe.send(order)
        if not self.pipe.poll(60):
            raise RuntimeError("the other process does not answer")
        answer = self.pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def put(self, data):
        self.ask("put", data)

    def get(self):
        return self.ask("get")

    def free(self):
        self.ask("free")


def make_agent(backend):
    for name in ("nixl_cu13", "nixl_cu12"):
        try:
            package = importlib.import_module(name)
            break
        except ImportError:
            continue
    name = f"{backend} {multiprocessing.current_process().pid} {next(numbers)}"
    return package.nixl_agent(name, package.nixl_agent_config(backends=[backend]))


numbers = itertools.count()


class Server:
    """The other process: it has memory, and no part in transfers."""

    def __init__(self, backend):
        self.backend, self.agent, self.memory = backend, None, None

    def allocate(self, size, gpu):
        self.memory = OnGpu(size, gpu)
        self.agent = make_agent(self.backend)
        self.agent.register_memory([(self.memory.address, size, gpu, "")], "VRAM")
        return self.memory.address, self.agent.get_agent_metadata()

    def put(self, data):
        self.memory.put(data)

    def get(self):
        return self.memory.get()

    def free(self):
        self.agent = None
        self.memory.free()


def serve(pipe, backend):
    server = Server(backend)
    while (order := pipe.recv())[0] != "end":
        try:
            pipe.send(getattr(server, order[0])(*order[1:]))
        except Exception as failure:
            pipe.send(RuntimeError(f"{type(failure).__name__}: {failure}"))


def measure(backend, operation, here, there, count, size, rounds):
    """Copies blocks of one memory to shuffled places of the other one."""
    dice = np.random.default_rng(count + size)
    use_gpu(here.gpu)
    agent = make_agent(backend)
    known = [agent.register_memory([(each.address, count * size, each.gpu, "")], each.segment)
             for each in (here, there) if not isinstance(each, There)]
    other = agent.name
    if isinstance(there, There):
        other = agent.add_remote_agent(there.metadata)
        other = other.decode() if isinstance(other, bytes) else other
    orders = [dice.permutation(count), dice.permutation(count)]
    blocks = [np.stack((memory.address + order * size, np.full(count, size), np.full(count, memory.gpu)), 1)
              .astype(np.uint64) for memory, order in zip((here, there), orders)]
    source, target = (here, there) if operation == "WRITE" else (there, here)
    data = np.frombuffer(dice.bytes(count * size), np.uint8)
    source.put(data)
    target.put(np.zeros_like(data))
    begin = time.perf_counter()
    handle = agent.initialize_xfer(operation, agent.get_xfer_descs(blocks[0], here.segment),
                                   agent.get_xfer_descs(blocks[1], there.segment), other)
    prepared = time.perf_counter() - begin
    posts, wholes = [], []
    stop = time.perf_counter() + 4
    while len(wholes) < rounds and (len(wholes) < 3 or time.perf_counter() < stop):
        begin = time.perf_counter()
        state = agent.transfer(handle)
        posted = time.perf_counter()
        while state == "PROC":
            state = agent.check_xfer_state(handle)
        ended = time.perf_counter()
        if state != "DONE":
            raise RuntimeError(state)
        posts.append((posted - begin) * 1e6)
        wholes.append((ended - begin) * 1e6)
    expected = np.empty_like(data).reshape(count, size)
    from_order, to_order = orders if operation == "WRITE" else orders[::-1]
    expected[to_order] = data.reshape(count, size)[from_order]
    wrong = int(np.count_nonzero(expected.ravel() != target.get()))
    handle.release()
    for each in known:
        agent.deregister_memory(each)
    whole, post = statistics.median(wholes[1:] or wholes), statistics.median(posts[1:] or posts)
    return {"gb_per_s": round(count * size / whole / 1e3, 2), "whole_us": round(whole, 1), "post_us": round(post, 1),
            "post_ns_per_block": round(post * 1e3 / count, 1), "first_us": round(wholes[0], 1),
            "prepare_us": round(prepared * 1e6, 1), "rounds": len(wholes), "wrong": wrong}


def ways(gpus, pipe, size):
    """The measured transfers: a name, the operation, and the makers of both sides."""
    pinned, first = partial(Pinned, size), partial(OnGpu, size, 0)
    yield "host to GPU", "WRITE", (pinned, first)
    yield "GPU to host", "READ", (pinned, first)
    yield "inside a GPU", "WRITE", (first, first)
    yield "to another process, one GPU", "WRITE", (first, partial(There, pipe, size, 0))
    if gpus > 1:
        yield "GPU to GPU", "WRITE", (first, partial(OnGpu, size, 1))
        yield "to another process, two GPUs", "WRITE", (first, partial(There, pipe, size, 1))
        yield "from another process, two GPUs", "READ", (first, partial(There, pipe, size, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--backends", default="BARMAP,UCX")
    parser.add_argument("--rounds", type=int, default=30, help="at most, or 4 seconds")
    parser.add_argument("--only", default="", help="ways with this in their name")
    parser.add_argument("--scale", type=int, default=1, help="divides the number of blocks, for a try")
    values = parser.parse_args()
    gpus = count_gpus()
    for count, size in SHAPES:
        count //= values.scale
        for backend in values.backends.split(","):
            pipe, end = multiprocessing.get_context("spawn").Pipe()
            other = multiprocessing.get_context("spawn").Process(target=serve, args=(end, backend), daemon=True)
            other.start()
            for way, operation, make in ways(gpus, pipe, count * size):
                if values.only not in way:
                    continue
                row = {"way": way, "blocks": count, "size": size, "backend": backend}
                memories = []
                try:
                    memories += [each() for each in make]
                    row |= measure(backend, operation, *memories, count, size, values.rounds)
                except Exception as failure:  # a back-end may lack a way
                    row["failure"] = f"{type(failure).__name__}: {failure}"
                print(json.dumps(row), flush=True)
                for each in memories:
                    each.free()
            pipe.send(("end",))
            other.join()


if __name__ == "__main__":
    main()
