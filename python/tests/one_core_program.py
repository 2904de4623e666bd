# SPDX-License-Identifier: MIT
"""What one_core_test.py starts under `barmap run`: a process in which the package, vLLM's plug-in, a caller of CUDA's
batch copy and libgdrapi use GPU 0, before checkpoints, while the process is prepared, and after them. Each copies from
GPU to CPU, and compares the bytes.

    python one_core_program.py LIBGDRAPI     prints what was seen, as JSON; at each checkpoint, "== prepared" to stderr
"""

import ctypes
import errno
import json
import os
import pathlib
import sys
import time

import barmap
import numpy as np
import torch_stand_in
import vllm_movers
from gpu_memory import Block, Driver
from vllm_test import BLOCKS, SMALL, Engine

PATIENCE = 20  # seconds
driver = Driver(real=True)  # by its name alone, as programs find it that know nothing of barmap


def pinned(nbytes):
    """Of CUDA, which no checkpoint of barmap's takes away."""
    address = ctypes.c_void_p()
    driver("cuMemHostAlloc", ctypes.byref(address), ctypes.c_size_t(nbytes), 0)
    return np.frombuffer((ctypes.c_uint8 * nbytes).from_address(address.value), "u1")


def by_vllm():
    return sum(vllm_movers.calls.values())


class User:
    """Copies pieces of GPU memory to `host`; `batches` and `nbytes` count those that barmap has taken."""

    def __init__(self, gpu, host, pieces, size):
        self.gpu, self.host, self.pieces, self.size = gpu, host, pieces, size
        self.batches = self.nbytes = 0
        places = np.uint64([each * 37 % pieces * size for each in range(pieces)])
        self.to, self.source = host.ctypes.data + places, gpu.address + places

    def copy(self):
        sent = os.urandom(self.pieces * self.size)
        self.gpu.put(sent)
        self.host[:] = 0
        if self.submit():
            self.batches, self.nbytes = self.batches + 1, self.nbytes + len(sent)
        assert self.host.tobytes()[:len(sent)] == sent


class Package(User):
    def __init__(self):
        super().__init__(driver.allocate(3 * 64), pinned(3 * 64), 3, 64)
        self.queue = barmap.batch_queue(0)

    def submit(self):
        return self.queue.wait(self.queue.submit(self.to, self.source, [self.size] * self.pieces), PATIENCE)

    def counted(self):
        """The batches and bytes that the queue's engines have been given, by anyone."""
        engines = self.queue.reports
        return sum(each.copies for each in engines), sum(each.nbytes for each in engines)

    def expect_refused(self):
        try:
            self.submit()
        except barmap.Error as refused:
            assert "prepared for a checkpoint" in str(refused)
        else:
            raise AssertionError("the package has copied")


class PlugIn(User):
    def __init__(self):
        sys.modules["torch"] = torch_stand_in.module
        vllm_movers.driver = driver
        torch_stand_in.module.cuda.stream = vllm_movers.Stream()
        self.engine = Engine("0.33", SMALL, pinned(BLOCKS * SMALL).reshape(BLOCKS, SMALL))
        super().__init__(Block(driver, self.engine.gpu.gpu_address, BLOCKS * SMALL), self.engine.pool, BLOCKS, SMALL)
        self.jobs = 0

    def submit(self):
        """Whether vLLM's own function did not copy."""
        self.jobs, before = self.jobs + 1, by_vllm()
        self.engine.store(self.jobs, range(BLOCKS), range(BLOCKS))
        self.engine.wait(self.jobs)
        return by_vllm() == before

    def expect_refused(self):
        taken = self.batches
        self.copy()
        assert self.batches == taken, "the plug-in has copied"


class Caller(User):
    def __init__(self, package):
        super().__init__(driver.allocate(100 * 512), pinned(100 * 512), 100, 512)
        self.package, self.refused = package, 0
        self.stream = ctypes.c_void_p()
        driver("cuStreamCreate", ctypes.byref(self.stream), 1)

    def call(self):
        def pointers(addresses):
            return (ctypes.c_uint64 * self.pieces)(*addresses.tolist())

        sizes = (ctypes.c_size_t * self.pieces)(*[self.size] * self.pieces)
        driver("cuMemcpyBatchAsync_v2", pointers(self.to), pointers(self.source), sizes, ctypes.c_size_t(self.pieces),
               (ctypes.c_int * 6)(1), (ctypes.c_size_t * 1)(0), ctypes.c_size_t(1), self.stream)
        driver("cuStreamSynchronize", self.stream)

    def submit(self):
        """Whether the package's engine has been given the batch."""
        before, _ = self.package.counted()
        self.call()
        return self.package.counted()[0] > before

    def copy_until_taken(self):
        until = time.monotonic() + PATIENCE
        taken = self.batches
        while self.batches == taken:
            assert time.monotonic() < until, "the package's engine gets no batch of the batch call"
            self.copy()

    def expect_refused(self):
        """libbarmap-memcpy says at the exit who has copied."""
        self.host[:] = 0
        self.call()
        assert self.host.tobytes() == self.gpu.get()
        self.refused += 1


class Gdrapi:
    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.gdr_open.restype = ctypes.c_void_p
        self.session = ctypes.c_void_p(self.library.gdr_open())
        assert self.session
        self.gpu, self.handle, self.at = driver.allocate(1 << 16), ctypes.c_ulong(), ctypes.c_void_p()
        assert self.pin(self.handle) == 0
        assert self.library.gdr_map(self.session, self.handle, ctypes.byref(self.at), ctypes.c_size_t(1 << 16)) == 0

    def pin(self, handle):
        return self.library.gdr_pin_buffer(self.session, ctypes.c_ulong(self.gpu.address), ctypes.c_size_t(1 << 16),
                                           ctypes.c_uint64(0), 0, ctypes.byref(handle))

    def copy(self):
        """By a mapping of before the checkpoint, what CUDA has written after it."""
        sent, got = os.urandom(1 << 16), ctypes.create_string_buffer(1 << 16)
        self.gpu.put(sent)
        assert self.library.gdr_copy_from_mapping(self.handle, got, self.at, ctypes.c_size_t(1 << 16)) == 0
        assert got.raw == sent, "libgdrapi's mapping reaches other memory than CUDA"

    def expect_refused(self):
        assert self.pin(ctypes.c_ulong()) == errno.EIO, "libgdrapi has pinned"
        reads, writes = os.pipe()
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.write(writes, self.at, ctypes.c_size_t(8)) == -1 and ctypes.get_errno() == errno.EFAULT
        os.close(reads)
        os.close(writes)


def files_with(text):
    """Of the code that is loaded: which contain this text of the core's."""
    with open("/proc/self/maps") as maps:
        lines = [line.split(maxsplit=5) for line in maps]
    files = {fields[5].strip() for fields in lines if len(fields) == 6 and "x" in fields[1] and fields[5][0] == "/"}
    return sorted(file for file in files if text in pathlib.Path(file).read_bytes())


def checkpoint_of_cuda():
    for step in ("Lock", "Checkpoint", "Restore", "Unlock"):
        driver(f"cuCheckpointProcess{step}", os.getpid(), None)


def main():
    package = Package()
    package.copy()
    plug_in, caller, gdrapi = PlugIn(), Caller(package), Gdrapi(sys.argv[1])

    def expect_one_engine():
        package.copy()
        plug_in.copy()
        caller.copy_until_taken()
        gdrapi.copy()
        users = (package, plug_in, caller)
        assert package.counted() == (sum(each.batches for each in users), sum(each.nbytes for each in users))

    expect_one_engine()
    of_gdrapi = gdrapi.library
    for prepare, restore in (
        (lambda: barmap.checkpoint_prepare(seconds=PATIENCE), barmap.checkpoint_restore),
        (lambda: of_gdrapi.gdr_barmap_checkpoint_prepare(ctypes.c_ulonglong(PATIENCE * 10**9)),
         of_gdrapi.gdr_barmap_checkpoint_restore),
    ):
        assert not prepare()
        print("== prepared", file=sys.stderr, flush=True)
        for each in (package, plug_in, caller, gdrapi):
            each.expect_refused()
        checkpoint_of_cuda()
        assert not restore()
        taken = plug_in.batches
        expect_one_engine()
        assert plug_in.batches == taken + 1
    print(json.dumps({
        "taken of the plug-in": plug_in.batches, "taken of the call": caller.batches,
        "refused of the call": caller.refused,
        "hook": files_with(b"watch the ioctls of a library"),
        "gate": files_with(b"the process is prepared for a checkpoint: call checkpoint_restore() first"),
    }))


main()
