# SPDX-License-Identifier: MIT
"""What only a process of its own can show: other environments, fork, exit, reset."""

import os
import pathlib
import shutil
import subprocess
import sys

import barmap
import pytest
from vendor import SIMULATED

BEGIN = "import os, numpy as np\nfrom barmap import Error, pygpu\n"


def run(text, **environment):
    """Runs a program; what it prints. Variables that are None are not set."""
    changed = {**os.environ, **environment}
    kept = {name: value for name, value in changed.items() if value is not None}
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", BEGIN + text], env=kept,
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def runtime():
    return os.environ.get("BARMAP_RUNTIME", "cuda")


def test_barmap_does_not_import_it():
    text = "import sys, barmap; assert not any(m.startswith('barmap.pygpu') for m in sys.modules)"
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0


def test_importing_it_loads_no_driver():
    assert run("from barmap import _barmap; print(_barmap.driver_is_used())") == "False"
    assert run("from barmap import _barmap\nfrom barmap.pygpu import *\n"
               "print(_barmap.driver_is_used())") == "False"


def test_what_depends_on_the_machine(runtime):
    text = "from barmap.pygpu import *\nimport sys\nm = sys.modules['__main__']\n"
    said = run(text + "print(pygpu.use_hip, pygpu.cuda_enabled, m.__getattr__('use_hip'))")
    assert said == f"{runtime == 'hip'} True {runtime == 'hip'}"
    assert run("try: pygpu.nothing\nexcept AttributeError as e: print(e)").endswith("'nothing'")


def test_another_runtime_is_refused():
    said = run("try: pygpu.cudaGetDeviceCount()\nexcept Error as e: print(e)",
               BARMAP_RUNTIME="rocm")
    assert "BARMAP_RUNTIME=rocm" in said and "cuda or hip" in said


REFUSED = """
err = pygpu.cudaSetDevice(0)
print(int(err), *map(int, pygpu.cudaGetDeviceCount()), int(pygpu.cudaGetDevice()[1]))
assert pygpu.cudaGetLastError() == err and pygpu.cudaGetLastError() == 0
assert pygpu.cudaStream_t().last_status() == pygpu.cudaEvent_t().synchronize() == err
assert pygpu.DeviceArray_int64(3).allocate() == pygpu.cudaMemGetInfo()[1] == err
assert pygpu.cudaDeviceProp(0).last_status() == pygpu.cudaDeviceReset() == err
assert not pygpu.cuda_enabled
try: pygpu.GPUArray(3)
except Error as e: print(e)
"""


@pytest.mark.simulated
def test_without_a_device():
    answer, said = run(REFUSED, BARMAP_SIM_DEVICES="0").split("\n")
    assert answer == "100 0 100 100"
    assert "allocate 24 bytes" in said


@pytest.mark.simulated
def test_without_a_library(tmp_path):
    """Where the simulated library is no library: as on a machine without a driver."""
    package = pathlib.Path(barmap.__file__).parent
    shutil.copytree(package, tmp_path / "barmap", ignore=shutil.ignore_patterns("barmap-sim"))
    answer, said = run(REFUSED, PYTHONPATH=str(tmp_path)).split("\n")
    assert answer == "35 0 35 35" and "cannot be loaded" in said and "BARMAP_SIM=1" in said


@pytest.mark.simulated
def test_the_runtime_that_has_a_gpu_is_chosen():
    assert run("print(pygpu.use_hip)", BARMAP_RUNTIME=None) == "False"
    # Simulated CUDA fails to start, and HIP does not.
    assert run("print(pygpu.use_hip, pygpu.cudaGetDeviceCount()[0])", BARMAP_RUNTIME=None,
               BARMAP_SIM_FAIL="cuInit:100", BARMAP_SIM_DEVICES="1") == "True 1"


FAILURES = {
    "cuda": [("cuMemAlloc", "allocate"), ("cuMemcpyHtoD", "copy to"), ("cuMemcpyDtoH", "copy from")],
    "hip": [("hipMalloc", "allocate"), ("hipMemcpy", "copy to"), ("hipMemcpy2D", "copy to")],
}


@pytest.mark.simulated
@pytest.mark.parametrize("which", range(3))
def test_what_the_runtime_refuses_is_raised(runtime, which):
    function, operation = FAILURES[runtime][which]
    said = run("""
try:
    a = pygpu.GPUArray(np.zeros((4, 4)))
    a.to_device()
    a[:, ::2] = 1
    a.get()
except Error as e:
    print(e, e.operation, e.code, e.category, int(a.last_status) if "a" in globals() else 999)
""", BARMAP_SIM_FAIL=f"{function}:999")
    assert operation in said and said.endswith(f"999 {runtime} runtime 999"), said


def test_fork(runtime):
    said = run("""
a = pygpu.to_gpu(np.arange(4))
for _ in range(10): a[0] = 5
stream, pinned = pygpu.cudaStream_t(), pygpu.PagelockedAllocator(4, "int64")
pinned.get()[:] = 7
pid = os.fork()
if pid == 0:
    assert pygpu.cudaGetDeviceCount()[1] == 3 and pygpu.cudaGetLastError() == 3
    assert pygpu.cudaGetErrorString(3) != ""
    assert stream.synchronize() == 3
    try: a.get()
    except Error as e: assert e.code == 3 and "spawn" in e.advice
    else: os._exit(1)
    try: pygpu.GPUArray(3)
    except Error as e: assert e.code == 3
    else: os._exit(2)
    assert pinned.get().tolist() == [7] * 4
    del a, stream, pinned
    print("child", flush=True)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
assert a.get().tolist() == [5, 1, 2, 3] and stream.synchronize() == 0
""")
    assert said == "child"


def test_exit_with_everything_alive():
    run("""
import threading
a = pygpu.to_gpu(np.arange(4))
for _ in range(10): a[0] = 5
view, stream, event = a[::2], pygpu.cudaStream_t(), pygpu.cudaEvent_t()
event.record(stream)
pinned, cycle = pygpu.PagelockedAllocator(4, "int64"), [a]
cycle.append(cycle)
view.get()
""")


RESET = """
a, b = pygpu.to_gpu(np.arange(4)), pygpu.DeviceArray_int64(4)
for _ in range(10): a[0] = 5
b.allocate()
stream, event = pygpu.cudaStream_t(), pygpu.cudaEvent_t()
pinned = pygpu.PagelockedAllocator(4, "int64")
memory = pinned.get()
memory[:] = 7
assert pygpu.cudaDeviceReset() == 0
assert memory.tolist() == [7] * 4
for err in (b.to_device(), b.to_host(), stream.synchronize(), event.query(), event.record(),
            event.elapsed_time(event)[1]):
    assert err == 709, err
for use in (a.get, lambda: a.set(np.zeros(4, "i8")), lambda: a.__setitem__(slice(None, None, 2), 1),
            lambda: a.__setitem__(0, a[1])):
    try: use()
    except Error as e: assert e.code == 709 and "make new" in e.advice
    else: raise AssertionError("used after a reset")
# All works again, and what was made before frees nothing of it.
c = pygpu.to_gpu(np.arange(4))
d = pygpu.cudaStream_t()
del a, b, stream, event, pinned
for _ in range(10): c[0] = 9
assert c.get().tolist() == [9, 1, 2, 3] and d.synchronize() == 0
assert pygpu.cudaEvent_t().record(d) == 0
assert pygpu.cudaGetDevice() == (DEVICE, 0)
del memory
print("done", pygpu.cudaGetLastError())
"""


def test_reset():
    assert run(RESET.replace("DEVICE", "0")).startswith("done")


# The vendor's runtime gives the addresses again.
AFTER_A_RESET = """
old = pygpu.GPUArray(4, "int64")
assert pygpu.cudaDeviceReset() == 0
new = pygpu.to_gpu(np.arange(4))
print(new.ptr == old.ptr)
del old
assert new.get().tolist() == [0, 1, 2, 3]
"""


def test_the_end_of_an_array_of_before_a_reset_frees_nothing():
    assert run(AFTER_A_RESET) == "True" or not SIMULATED


# A copy engine that barmap started before a reset is gone with it.
RESET_WITH_LARGE_ARRAYS = """
for turn in range(3):
    a = pygpu.GPUArray(1 << 16, "int64")
    for _ in range(10): a[0] = turn
    a.set(np.full(1 << 16, turn))
    assert (a.get() == turn).all()
    del a
    assert pygpu.cudaDeviceReset() == 0
print("done", pygpu.cudaGetLastError())
"""


def test_large_arrays_after_resets():
    assert run(RESET_WITH_LARGE_ARRAYS, BARMAP_ENGINE="driver").startswith("done")


def test_reset_of_one_of_two_devices():
    text = """
if pygpu.cudaGetDeviceCount()[0] < 2: print("one"); os._exit(0)
first = pygpu.to_gpu(np.arange(3))
import threading
gone, back = threading.Event(), threading.Event()
seen = []
def other():
    x = pygpu.to_gpu(np.arange(3))
    back.set()
    gone.wait()
    seen.append(pygpu.to_gpu(np.arange(3)).get().tolist())
    seen.append(x.get().tolist())
thread = threading.Thread(target=other)
thread.start()
back.wait()
pygpu.cudaSetDevice(1)
""" + RESET.replace("DEVICE", "1") + """
gone.set()
thread.join()
assert seen == [[0, 1, 2]] * 2 and first.get().tolist() == [0, 1, 2]
"""
    assert run(text).split()[0] in ("done", "one")


def test_a_thread_goes_on_after_another_one_reset():
    text = """
import threading
gone, back, seen = threading.Event(), threading.Event(), []
def other():
    pygpu.to_gpu(np.arange(3)).get()
    back.set()
    gone.wait()
    seen.append(pygpu.to_gpu(np.arange(3)).get().tolist())
thread = threading.Thread(target=other)
thread.start()
back.wait()
assert pygpu.cudaDeviceReset() == 0
gone.set()
thread.join()
print(seen)
"""
    assert run(text) == "[[0, 1, 2]]"


@pytest.mark.skipif(not SIMULATED, reason="the context of another library is made by the simulator")
def test_the_context_of_another_library_is_used(runtime):
    if runtime != "cuda":
        pytest.skip("HIP has no contexts")
    said = run("""
import ctypes, pathlib, barmap
cu = ctypes.CDLL(str(pathlib.Path(barmap.__file__).parent / "lib" / "barmap-sim" / "libcuda.so.1"))
assert cu.cuInit(0) == 0
context, now = ctypes.c_void_p(), ctypes.c_void_p()
assert cu.cuCtxCreate_v2(ctypes.byref(context), 0, 1) == 0
a = pygpu.to_gpu(np.arange(3))
cu.cuCtxGetCurrent(ctypes.byref(now))
assert now.value == context.value
print(pygpu.cudaGetDevice(), a.device, a.get().tolist())
""", BARMAP_SIM_DEVICES="2")
    assert said == "(1, <cudaError: code=0>) 1 [0, 1, 2]"


@pytest.mark.skipif(not SIMULATED, reason="makes the simulated driver fail")
def test_a_failing_cuda_is_not_replaced_by_hip():
    said = run("print(pygpu.use_hip, int(pygpu.cudaGetDeviceCount()[1]))",
               BARMAP_RUNTIME=None, BARMAP_SIM_FAIL="cuInit:999")
    assert said == "False 999"


@pytest.mark.skipif(not SIMULATED, reason="forks")
def test_a_child_of_a_process_that_mapped_is_not_given_another_runtime():
    said = run("""
import barmap
array = barmap.alloc(64, "u1")
pid = os.fork()
if pid == 0:
    print(pygpu.use_hip, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
""", BARMAP_RUNTIME=None)
    assert said == "False"
