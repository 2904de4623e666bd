# SPDX-License-Identifier: MIT
"""What is made without a device is made on the current GPU: no context appears on another one."""

import inspect
import subprocess
import sys

import pytest

import barmap

TWO_GPUS = """
import ctypes, os
import which_gpu
os.environ["BARMAP_SIM_DEVICES"] = "2"
import barmap, numpy as np
from gpu_memory import Driver

class DriverWithoutContext(Driver):
    def __init__(self):
        import pathlib
        path = pathlib.Path(barmap.__file__).parent / "lib" / "barmap-sim" / "libcuda.so.1"
        self.library = ctypes.CDLL(str(path))
        self("cuInit", 0)

driver = DriverWithoutContext()

def make_current(ordinal):
    context = ctypes.c_void_p()
    driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), ordinal)
    driver("cuCtxSetCurrent", context)

def has_context(ordinal):
    flags, is_active = ctypes.c_uint(), ctypes.c_int()
    driver("cuDevicePrimaryCtxGetState", ordinal, ctypes.byref(flags), ctypes.byref(is_active))
    return bool(is_active.value)
"""

# Each makes what takes a device, without naming one.
MADE = {
    "alloc": "barmap.alloc(64, 'u1')",
    "pinned": "barmap.pinned(64, 'u1')",
    "batch_queue": "barmap.batch_queue()",
    "Arena": "barmap.Arena(4096, 4096)",
    "CounterToGpu": "barmap.CounterToGpu()",
    "CounterToCpu": "barmap.CounterToCpu()",
    "RingToGpu": "barmap.RingToGpu('u4', slots=4)",
    "RingToCpu": "barmap.RingToCpu('u4', slots=4)",
    "LogRing": "barmap.LogRing(slots=16)",
    "KernelQueue": "__import__('kernel_queue_test').over_a_stand_in()",
}


def run(program):
    done = subprocess.run([sys.executable, "-c", TWO_GPUS + program], capture_output=True, text=True,
                          check=False, cwd=__file__.rpartition("/")[0])
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.simulated
@pytest.mark.parametrize("name", MADE)
def test_the_current_gpu_is_used_and_no_other(name):
    assert run(f"""
make_current(1)
made = {MADE[name]}
print(has_context(0), has_context(1), made.device if isinstance(made, barmap.Array) else 1)
""") == ["False", "True", "1"]


@pytest.mark.simulated
def test_each_thread_has_its_own():
    assert run("""
import threading
make_current(1)
found = [barmap.alloc(64, "u1").device]
def other():
    found.append(barmap.alloc(64, "u1").device)
    make_current(1)
    found.append(barmap.alloc(64, "u1").device)
thread = threading.Thread(target=other)
thread.start()
thread.join()
found += [barmap.alloc(64, "u1", device=each).device for each in (0, 1, barmap.devices()[0])]
print(*found)
""") == ["1", "0", "1", "0", "1", "0"]


@pytest.mark.simulated
def test_without_a_context_it_is_the_first():
    assert run("""
array = barmap.alloc(64, "u1")
print(array.device, has_context(0), has_context(1))
""") == ["0", "True", "False"]


@pytest.mark.simulated
def test_an_arena_says_which_gpu():
    assert run("""
make_current(1)
arena = barmap.Arena(4096, 4096)
driver("cuCtxSetCurrent", None)
counters = [barmap.CounterToGpu(arena=arena), barmap.CounterToCpu(arena=arena)]
print(has_context(0))
""") == ["False"]


def test_nothing_that_takes_a_device_names_one_by_default():
    """Also not what comes later."""
    def parameters(name):
        try:
            return inspect.signature(getattr(barmap, name)).parameters
        except (TypeError, ValueError):  # a module, an exception of the extension
            return {}

    takers = {name for name in barmap.__all__ if "device" in parameters(name)}
    assert takers == set(MADE) - {"batch_queue"} | {"Array", "BatchQueue", "IpcMemory"}
    for name in takers:
        assert parameters(name)["device"].default is None, name
    assert parameters("batch_queue")["device_or_ordinal"].default is None
