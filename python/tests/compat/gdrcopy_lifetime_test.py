# SPDX-License-Identifier: MIT
"""The package gdrcopy: who outlives whom, threads, forks, and the end of the process."""

import gc
import itertools
import os
import subprocess
import sys
import threading
import weakref

import barmap
import numpy as np
import pytest
from gdrcopy import GDRCopy, GDRError
from concurrency import in_child, run_threads


def opened(memory, size=4096, mapped=True):
    gdr = GDRCopy()
    gdr.open()
    handle = gdr.pin_buffer(memory.address, size)
    if mapped:
        handle.map(size)
    return gdr, handle


def all_refused(handle, host):
    for call in (handle.get_info, lambda: handle.map(8), handle.get_callback_flag,
                 lambda: handle.copy_to_mapping(host.ctypes.data, 8),
                 lambda: handle.copy_from_mapping(host.ctypes.data, 8),
                 lambda: handle.copy_to_mapping(host.ctypes.data, 4096)):
        with pytest.raises(GDRError, match="GDRCopy of this handle was closed") as caught:
            call()
        assert isinstance(caught.value, RuntimeError)


def test_a_handle_outlives_its_closed_gdrcopy(memory, no_leak):
    before = memory.get()
    host = np.zeros(4096, "u1")
    gdr, handle = opened(memory)
    gdr.close()
    all_refused(handle, host)
    gdr.open()  # a new connection, which has nothing to do with the old handle
    all_refused(handle, host)
    other = gdr.pin_buffer(memory.address, 4096)
    other.map(4096)
    all_refused(handle, host)
    handle.unmap()
    handle.unpin()
    other.copy_from_mapping(host.ctypes.data, 4096)
    assert host.tobytes() == before[:4096] and memory.get() == before
    gdr.close()


def test_a_handle_keeps_its_gdrcopy_open(memory, no_leak):
    gdr, handle = opened(memory)
    gone = weakref.ref(gdr)
    del gdr
    gc.collect()
    assert gone() is not None
    there = np.zeros(4096, "u1")
    handle.copy_from_mapping(there.ctypes.data, 4096)
    assert there.tobytes() == memory.get(0, 4096)
    del handle
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_any_order_of_letting_go(memory, order, no_leak):
    gdr = GDRCopy()
    gdr.open()
    things = [gdr] + [gdr.pin_buffer(memory.address + i * 65536, 64) for i in range(3)]
    for handle in things[1:]:
        handle.map(64)
    del gdr, handle
    for index in order:
        things[index] = None
        gc.collect()


def test_cycles(memory, no_leak):
    for _ in range(10):
        gdr, handle = opened(memory)
        gdr.handles = [handle]
        handle.myself = handle
        gdr.myself = gdr
        del gdr, handle
        gc.collect()


def test_a_dropped_handle_gives_its_mapping_back(memory, no_leak):
    with GDRCopy() as gdr:
        for _ in range(200):
            gdr.pin_buffer(memory.address, 4096).map(4096)


def test_memory_that_is_freed_first(driver):
    block = driver.allocate(1 << 20)
    gdr, handle = opened(block)
    block.free()
    host = np.zeros(64, "u1")
    handle.copy_from_mapping(host.ctypes.data, 64)  # the mapping keeps the memory
    handle.unmap()
    handle.unpin()
    gdr.close()


def test_threads_share_everything(memory, no_leak):
    gdr = GDRCopy()
    gdr.open()
    expected = memory.get(0, 1 << 18)

    def work():
        there = np.zeros(1 << 18, "u1")
        for turn in range(50):
            handle = gdr.pin_buffer(memory.address, 1 << 18)
            handle.map(1 << 18)
            size = (8, 4096, 1 << 18)[turn % 3]
            handle.copy_from_mapping(there.ctypes.data, size)
            assert there.tobytes()[:size] == expected[:size]
            if turn % 2:
                handle.unpin()

    run_threads(*[work] * 6)
    gdr.close()


def test_threads_that_open_close_and_pin(memory, no_leak):
    gdr = GDRCopy()
    expected = memory.get(0, 64)

    def work():
        host = np.zeros(64, "u1")
        for _ in range(150):
            try:
                gdr.open()
                handle = gdr.pin_buffer(memory.address, 64)
                handle.map(64)
                handle.copy_from_mapping(host.ctypes.data, 64)
                assert host.tobytes() == expected
            except GDRError as refusal:
                assert refusal.code in (11, 22), refusal
            gdr.close()

    run_threads(*[work] * 4)


@pytest.mark.parametrize("leave", ["unmap", "unpin", "close"])
def test_unmapping_during_copies(memory, leave):
    gdr, handle = opened(memory, 1 << 20)
    end = threading.Event()
    expected = memory.get()

    def copy():
        there = np.zeros(1 << 20, "u1")
        while not end.is_set():
            try:
                handle.copy_from_mapping(there.ctypes.data, 1 << 20)
                assert there.tobytes() == expected
            except GDRError as refusal:
                assert refusal.code == 22

    def unmap():
        nonlocal handle
        for _ in range(100):
            if leave == "unmap":
                handle.unmap()
            elif leave == "unpin":
                handle.unpin()
                handle = gdr.pin_buffer(memory.address, 1 << 20)
            else:
                gdr.close()
                gdr.open()
                handle = gdr.pin_buffer(memory.address, 1 << 20)
            handle.map(1 << 20)
        gdr.close()
        end.set()

    run_threads(copy, copy, unmap)


def test_fork(memory):
    gdr, handle = opened(memory)
    before = memory.get(0, 4096)
    host = np.zeros(64, "u1")

    def child():
        for call in (handle.get_info, lambda: handle.map(8), handle.get_callback_flag,
                     lambda: handle.copy_to_mapping(host.ctypes.data, 8),
                     lambda: handle.copy_from_mapping(host.ctypes.data, 8),
                     lambda: gdr.pin_buffer(memory.address, 64), lambda: gdr.get_attribute(1)):
            with pytest.raises(GDRError, match="parent") as caught:
                call()
            assert caught.value.code == 13  # EACCES
        gdr.close()
        for call in (handle.get_info, lambda: gdr.pin_buffer(memory.address, 64)):
            with pytest.raises(RuntimeError):
                call()
        handle.unmap()
        handle.unpin()

    def drop():
        nonlocal gdr, handle
        del gdr, handle
        gc.collect()

    assert in_child(child) == 0
    assert in_child(drop) == 0
    host[:] = range(64)
    handle.copy_to_mapping(host.ctypes.data, 64)
    assert memory.get(0, 4096) == host.tobytes() + before[64:]
    gdr.close()


@pytest.mark.parametrize("ending", [
    "pass",
    "sys.exit(0)",
    "os._exit(0)",
    "del gdr",
    "gdr.close()",
    "sys.modules.pop('barmap.gdrcopy'); sys.modules.pop('gdrcopy'); del gdrcopy",
    "import builtins; builtins.kept = (handle, gdr)",
    "gdr.handle = handle; handle.gdr = gdr; gc.disable(); del gdr, handle",
    "threading.Thread(target=lambda: [handle.copy_to_mapping(pointer, 1 << 20) "
    "for _ in range(10**9)], daemon=True).start()",
    "pid = os.fork(); pid and sys.exit(os.waitpid(pid, 0)[1])",
])
def test_the_process_may_end_with_live_objects(ending):
    program = f"""
import gc, os, sys, threading
import barmap, numpy as np
import gdrcopy
array = barmap.alloc(1 << 20, "u1")
host = np.zeros(1 << 20, "u1")
pointer = host.ctypes.data
gdr = gdrcopy.GDRCopy()
gdr.open()
handle = gdr.pin_buffer(array.gpu_address, 1 << 20)
handle.map(1 << 20)
{ending}
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True,
                          text=True, timeout=60, check=False, env=dict(os.environ))
    assert (done.returncode, done.stderr) == (0, "")


def test_without_a_gpu():
    program = """
import errno, gdrcopy
assert gdrcopy.get_version() == (2, 6)
try:
    gdrcopy.GDRCopy().open()
except gdrcopy.GDRError as error:
    assert error.errno == errno.ENODEV and "GPU" in error.message, error
else:
    raise SystemExit("it opens")
"""
    subprocess.run([sys.executable, "-c", program], check=True,
                   env={**os.environ, "BARMAP_SIM": "1", "CUDA_VISIBLE_DEVICES": ""})


def test_a_child_forked_after_opening_may_use_cuda():
    program = """
import os, gdrcopy
gdr = gdrcopy.GDRCopy()
gdr.open()
gdr.get_attribute(gdrcopy.GDR_ATTR_USING_DMA_BUF_MMAP), gdrcopy.get_driver_version(gdr)
child = os.fork()
import barmap, numpy as np
array = barmap.alloc(64, "u1")
if child == 0:
    gdr.close()
    gdr.open()
host = np.arange(64, dtype="u1")
handle = gdr.pin_buffer(array.gpu_address, 64)
handle.map(64)
handle.copy_to_mapping(host.ctypes.data, 64)
assert (array.numpy() == host).all()
gdr.close()
if child:
    raise SystemExit(os.waitpid(child, 0)[1] != 0)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True,
                          text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_simulated_gpu_cannot_be_turned_on_late():
    program = "import barmap, gdrcopy; gdrcopy.GDRCopy().open()\nbarmap.sim()"
    environment = {**os.environ, "BARMAP_SIM": "0", "CUDA_VISIBLE_DEVICES": ""}
    program = program.replace("gdrcopy.GDRCopy().open()", "\n".join((
        "", "try: gdrcopy.GDRCopy().open()", "except gdrcopy.GDRError: pass")))
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 1 and "before anything else" in done.stderr, done.stderr


def test_barmap_beside_gdrcopy(memory, no_leak):
    """One core in the process: both map the same memory."""
    gdr, handle = opened(memory)
    with barmap.map(memory.address, 64) as mapping:
        mapping.write(b"from barmap")
        there = np.zeros(11, "u1")
        handle.copy_from_mapping(there.ctypes.data, 11)
        assert there.tobytes() == b"from barmap"
    gdr.close()
