# SPDX-License-Identifier: MIT
"""Copy engines: when read, write and read_into go by one, and what is told of them.

Which engine to use is asked for once, when a process starts: hence programs of their own.
"""

import os
import re
import subprocess
import sys

import barmap
import numpy as np
import pytest
from which_gpu import REAL_GPU

COUNTED = """
import threading
import barmap, numpy as np

def engine(name="driver"):
    return next(each for each in barmap.devices()[0].engines() if each.name == name)

class expect_copies:
    def __init__(self, *sizes):
        self.sizes = sizes
    def __enter__(self):
        self.before = engine()
    def __exit__(self, *failure):
        now, before = engine(), self.before
        late = now.failures - before.failures  # on a busy machine: stores or loads made those
        assert now.copies - before.copies + late == len(self.sizes), (now, before)
        assert late or now.nbytes - before.nbytes == sum(self.sizes)

def pattern(n, seed):
    return np.random.default_rng(seed).integers(0, 256, n, "u1")

array = barmap.alloc(1 << 20, "u1")
"""


def run(program, engine, counted=True, **more):
    """What a program writes to stderr; it may be asked for a copy engine."""
    more = {"BARMAP_ENGINE": engine, **({} if REAL_GPU else {"BARMAP_SIM": "1"}), **more}
    done = subprocess.run(
        [sys.executable, "-c", (COUNTED if counted else "import barmap\n") + program],
        env={**os.environ, **more}, capture_output=True, text=True, check=False, timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_large_copies_go_by_the_engine():
    run("""
data = pattern(400_001, 1)
with expect_copies(400_001):
    array.write(data, 77)
view = array.numpy()
assert np.array_equal(view[77:400_078], data)
view[:] = pattern(1 << 20, 2)
with expect_copies(300_003):
    assert array.read(5, 300_003) == view[5:300_008].tobytes()
there = np.zeros((100, 33), "<u4").view("u1")
with expect_copies(13_200):
    assert array.read_into(there, 99_999) == 13_200
assert there.tobytes() == view[99_999:113_199].tobytes()
""", "driver")


def test_so_do_copies_of_a_part_of_a_mapping():
    run("""
part = barmap.map(array.gpu_address + 4099, 200_000)
data = pattern(150_000, 3)
with expect_copies(150_000, 160_000):
    part.write(data, 11)
    there = part.read(1, 160_000)
assert np.array_equal(array.numpy()[4110:154_110], data)
assert there == array.numpy()[4100:164_100].tobytes()
""", "driver")


def test_small_copies_go_by_none():
    run("""
with expect_copies():
    array.write(bytes(32767))
    array.read(0, 1023)
    array.read_into(bytearray(1023))
    array.fill(3)
""", "driver")


def test_threads_may_use_it_at_once():
    run("""
wrong = []
def work(which):
    for turn in range(30):
        data = pattern(100_000, 100 * which + turn)
        array.write(data, which * 131_072)
        if array.read(which * 131_072, data.size) != data.tobytes():
            wrong.append((which, turn))
threads = [threading.Thread(target=work, args=(which,)) for which in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
assert not wrong and engine().copies > 0
""", "driver")


def test_memory_that_cuda_has_pinned_is_either_side():
    run("""
import ctypes
from gpu_memory import Driver
driver = Driver(real=not barmap.devices()[0].simulated)
pages = np.zeros(1 << 19, "u1")
pages[:] = pattern(pages.size, 5)
start = -pages.ctypes.data % 4096
pinned = pages[start : start + 262_144]
driver("cuMemHostRegister_v2", ctypes.c_void_p(pinned.ctypes.data), ctypes.c_size_t(pinned.size), 0)
for part in (pinned, pinned[7:100_000], pages[start + 200_000 : start + 400_000]):  # half of the last
    with expect_copies(part.size, part.size):
        array.write(part, 33)
        there = array.read(33, part.size)
    assert there == part.tobytes() == array.numpy()[33 : 33 + part.size].tobytes()
    array.numpy()[:] = pattern(array.nbytes, part.size)
    array.read_into(part, 3)
    assert part.tobytes() == array.numpy()[3 : 3 + part.size].tobytes()
driver("cuMemHostUnregister", ctypes.c_void_p(pinned.ctypes.data))
""", "driver", PYTHONPATH=os.path.dirname(__file__))


def test_what_is_refused_stays_refused():
    run("""
every_second = np.zeros(200_000, "u1")[::2]
for call in (array.write, array.read_into):
    try:
        call(every_second)
    except (BufferError, ValueError):
        continue
    raise AssertionError("not contiguous")
for call in (lambda: array.write(bytes(1 << 20), 1), lambda: array.read(1, 1 << 20)):
    try:
        call()
    except IndexError:
        continue
    raise AssertionError("leaves the mapping")
""", "driver")


def test_a_program_of_small_copies_starts_none():
    program = """
array = barmap.alloc(1 << 20, "u1")
for size in (1, 8, 64, 1000, 1023):
    array.write(bytes(size))
    array.read(0, size)
array.write(bytes(32767))
"""
    assert "copy engine" not in run(program, "auto", counted=False, BARMAP_LOG="info")
    more = program + "array.read(0, 1024)\n"
    assert re.search(r"copy engine \w+ is usable", run(more, "auto", counted=False, BARMAP_LOG="info"))
    assert "copy engine" not in run(more, "none", counted=False, BARMAP_LOG="info")


def test_the_package_gdrcopy_uses_it():
    run("""
from barmap.gdrcopy import GDRCopy
data, there = pattern(200_000, 4), np.zeros(200_000, "u1")
with GDRCopy() as gdr:
    handle = gdr.pin_buffer(array.gpu_address + 3, 1 << 19)
    handle.map(1 << 19)
    with expect_copies(200_000, 200_000, 1024):
        handle.copy_to_mapping(data.ctypes.data, data.size)
        handle.copy_from_mapping(there.ctypes.data, there.size)
        handle.copy_from_mapping(data.ctypes.data, 1024)
    assert np.array_equal(there, data)
    assert np.array_equal(array.numpy()[3:200_003], data)
    with expect_copies():
        handle.copy_to_mapping(data.ctypes.data, 32767)
        handle.copy_from_mapping(data.ctypes.data, 1023)
""", "driver")


def test_engines_are_listed():
    engines = {each.name: each for each in barmap.devices()[0].engines()}
    assert list(engines) == ["channel", "driver"]
    assert engines["driver"].state == "usable" and engines["driver"].advice == ""
    for each in engines.values():
        assert each.state in ("usable", "absent", "broken") and each.reason
        assert (each.failures, each.copies == 0) == (0, each.nbytes == 0)


def test_crossovers_are_listed():
    gpu = barmap.devices()[0]
    names = {"mapping"} | {each.name for each in gpu.engines()}
    rows = gpu.copy_crossovers()
    assert {(each.direction, each.host) for each in rows if each.from_nbytes == 0} == {
        (direction, host) for direction in ("to the GPU", "to the CPU")
        for host in ("pageable", "pinned")}
    assert {each.method for each in rows} <= names
    usable = barmap.alloc(1, "u1").backend
    assert gpu.copy_crossovers(usable) == rows


def test_crossovers_of_what_is_not_there_are_refused():
    gpu = barmap.devices()[0]
    with pytest.raises(barmap.Error, match="the backends are"):
        gpu.copy_crossovers("nonsense")
    with pytest.raises(TypeError, match="backend is the name of one"):
        gpu.copy_crossovers(7)
    with pytest.raises(barmap.Error, match="no usable GPU"):
        gpu._replace(ordinal=77).engines()
    with pytest.raises(barmap.Error, match="no usable GPU"):
        gpu._replace(ordinal=77).copy_crossovers()


def test_a_large_copy_takes_what_is_fastest():
    array = barmap.alloc((1 << 18,), "<u4")
    data = np.arange(1 << 18, dtype="<u4")
    array.write(data)
    assert np.array_equal(array.numpy(), data)
    there = np.zeros_like(data)
    assert array.read_into(there) == data.nbytes
    assert np.array_equal(there, data)
