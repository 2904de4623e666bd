# SPDX-License-Identifier: MIT
"""Memory of each kind on simulated GPUs or real ones, and NIXL agents whose one back-end is barmap's."""

import ctypes
import functools
import importlib
import itertools
import mmap
import os
import sys
import time
import unittest

try:
    DRIVER = ctypes.CDLL("libcuda.so.1")
except OSError:
    DRIVER = None


HAS_HANDLE = b"\1\0\0\0\1\0\0\0"  # how the plug-in's metadata of GPU memory begin: the version, and that there is one


def nixl_package():
    """The package of whichever wheel is installed, or None."""
    for name in ("nixl_cu13", "nixl_cu12"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


nixl = nixl_package()


def bindings():
    """Where NIXL's exceptions are."""
    return importlib.import_module(nixl.__name__ + "._bindings")


def run_tests():
    """Those of the calling program."""
    if nixl is None:
        print("skipped: this Python has no package nixl (python3 -m pip install nixl)")
        sys.exit(77)
    if DRIVER is None or DRIVER.cuInit(0) != 0:
        print("skipped: there is no GPU")
        sys.exit(77)
    unittest.main()


def call(function, *arguments):
    result = getattr(DRIVER, function)(*arguments)
    assert result == 0, f"{function} returns {result}"


@functools.cache
def context_of(gpu):
    context = ctypes.c_void_p()
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), gpu)
    return context


@functools.cache
def last_gpu():
    """CUDA's ordinal."""
    count = ctypes.c_int()
    call("cuDeviceGetCount", ctypes.byref(count))
    return count.value - 1


on_simulated_gpus = unittest.skipUnless(hasattr(DRIVER, "barmap_sim_live"), "for simulated GPUs")


def use_gpu(ordinal):
    call("cuCtxSetCurrent", context_of(ordinal))


def live_objects():
    """How many objects of the driver there are; nobody counts those of a real one."""
    if not hasattr(DRIVER, "barmap_sim_live"):
        return 0
    DRIVER.barmap_sim_live.restype = ctypes.c_size_t
    return DRIVER.barmap_sim_live()


class Memory:
    """`size` bytes at `address`, which `segment` ("DRAM" or "VRAM") and `gpu` describe to NIXL."""

    segment, gpu = "DRAM", 0

    def __init__(self, address, size):
        self.address, self.size = address, size

    def put(self, data, at=0):
        ctypes.memmove(self.address + at, data, len(data))

    def get(self, at=0, size=None):
        return ctypes.string_at(self.address + at, self.size - at if size is None else size)

    def free(self):
        pass

    def region(self, at=0, size=None):
        return (self.address + at, self.size - at if size is None else size, self.gpu)


class Pageable(Memory):
    """Whole pages that nobody has pinned."""

    def __init__(self, size):
        self.pages = mmap.mmap(-1, size)
        super().__init__(ctypes.addressof(ctypes.c_char.from_buffer(self.pages)), size)


    def replace(self):
        """Other pages at the same addresses."""
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        private_anonymous_fixed = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x10
        at = libc.mmap(ctypes.c_void_p(self.address), ctypes.c_size_t(self.size), mmap.PROT_READ | mmap.PROT_WRITE,
                       private_anonymous_fixed, -1, ctypes.c_long(0))
        assert at == self.address, ctypes.get_errno()


class Pinned(Memory):
    """Of cuMemHostAlloc: the program's own."""

    def __init__(self, size):
        address = ctypes.c_void_p()
        call("cuMemHostAlloc", ctypes.byref(address), ctypes.c_size_t(size), 0)
        super().__init__(address.value, size)

    def free(self):
        call("cuMemFreeHost", ctypes.c_void_p(self.address))


class OnGpu(Memory):
    """Of cuMemAlloc."""

    segment = "VRAM"

    def __init__(self, size, gpu=0):
        use_gpu(gpu)
        address = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        super().__init__(address.value, size)
        self.gpu = gpu

    def put(self, data, at=0):
        call("cuMemcpyHtoD_v2", ctypes.c_uint64(self.address + at), bytes(data), ctypes.c_size_t(len(data)))
        call("cuCtxSynchronize")

    def get(self, at=0, size=None):
        data = ctypes.create_string_buffer(self.size - at if size is None else size)
        call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(self.address + at), ctypes.c_size_t(len(data)))
        return data.raw

    def free(self):
        call("cuMemFree_v2", ctypes.c_uint64(self.address))


class OfPool(OnGpu):
    """Of cuMemAllocAsync, for which CUDA gives no IPC handle."""

    def __init__(self, size, gpu=0):
        use_gpu(gpu)
        address = ctypes.c_uint64()
        call("cuMemAllocAsync", ctypes.byref(address), ctypes.c_size_t(size), None)
        call("cuCtxSynchronize")
        Memory.__init__(self, address.value, size)
        self.gpu = gpu

    def free(self):
        call("cuMemFreeAsync", ctypes.c_uint64(self.address), None)
        call("cuCtxSynchronize")


class Managed(OnGpu):
    def __init__(self, size):
        use_gpu(0)
        address = ctypes.c_uint64()
        call("cuMemAllocManaged", ctypes.byref(address), ctypes.c_size_t(size), 1)
        Memory.__init__(self, address.value, size)


_names = (f"agent {i} of {os.getpid()}" for i in itertools.count())


class Agent:
    """An agent of NIXL with barmap's back-end alone."""

    def __init__(self, name=None, **parameters):
        config = nixl.nixl_agent_config(backends=[])
        self.name = name or next(_names)
        self.nixl = nixl.nixl_agent(self.name, config)
        self.nixl.create_backend("BARMAP", parameters)

    def register(self, memory, *part):
        return self.nixl.register_memory([(*memory.region(*part), "")], memory.segment)

    def meet(self, other):
        """Both learn of each other and of what is registered now."""
        self.nixl.add_remote_agent(other.nixl.get_agent_metadata())
        other.nixl.add_remote_agent(self.nixl.get_agent_metadata())

    def prepare(self, operation, here, there, pieces, to=None, notice=b""):
        """@param pieces (begin here, begin there, size). @param to the agent that has the other side"""
        return self.nixl.initialize_xfer(
            operation,
            self.nixl.get_xfer_descs([here.region(a, n) for a, _, n in pieces], here.segment),
            self.nixl.get_xfer_descs([there.region(b, n) for _, b, n in pieces], there.segment),
            to or self.name, notice)

    def finish(self, handle, notice=b""):
        """Posts it, and waits until it is done."""
        state = self.nixl.transfer(handle, notice)
        while state == "PROC":
            state = self.nixl.check_xfer_state(handle)
        assert state == "DONE", state

    def transfer(self, *what, notice=b"", **how):
        handle = self.prepare(*what, notice=notice, **how)
        self.finish(handle, notice)
        handle.release()

    def wait_for_notices(self, count):
        """What has arrived, by the agent that sent it; waits for as many."""
        limit = time.monotonic() + 60
        arrived = {}
        while sum(map(len, arrived.values())) < count:
            assert time.monotonic() < limit, arrived
            for agent, texts in self.nixl.get_new_notifs().items():
                arrived.setdefault(agent, []).extend(texts)
        return arrived
