# SPDX-License-Identifier: MIT
"""libbarmap-memcpy, which the package carries, and `barmap run`, which loads it into a program."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import barmap
import pytest

PACKAGE = pathlib.Path(barmap.__file__).resolve().parent
LIBRARY = PACKAGE / "lib" / "libbarmap-memcpy.so"

# Calls CUDA's batch copy as a program does that knows nothing of barmap, and checks every byte.
PROGRAM = """
import ctypes, os
driver = ctypes.CDLL("libcuda.so.1")
def call(name, *arguments):
    result = getattr(driver, name)(*arguments)
    assert result == 0, (name, result)
count, size = 100, 512
context, stream, host, gpu = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuStreamCreate", ctypes.byref(stream), 1)
call("cuMemHostAlloc", ctypes.byref(host), ctypes.c_size_t(count * size), 0)
call("cuMemAlloc_v2", ctypes.byref(gpu), ctypes.c_size_t(count * size))
places = [each * 37 % count * size for each in range(count)]
to = (ctypes.c_uint64 * count)(*(gpu.value + each for each in places))
source = (ctypes.c_uint64 * count)(*(host.value + each for each in places))
sizes = (ctypes.c_size_t * count)(*[size] * count)
attributes = (ctypes.c_int * 6)(1)
first = (ctypes.c_size_t * 1)(0)
for turn in range(3):
    sent = os.urandom(count * size)
    ctypes.memmove(host, sent, len(sent))
    call("cuMemcpyBatchAsync_v2", to, source, sizes, ctypes.c_size_t(count), attributes, first, ctypes.c_size_t(1),
         stream)
    call("cuStreamSynchronize", stream)
    got = ctypes.create_string_buffer(len(sent))
    call("cuMemcpyDtoH_v2", got, gpu, ctypes.c_size_t(len(sent)))
    assert got.raw == sent
"""


def run(*words, **variables):
    return subprocess.run(words, env={**os.environ, **variables}, capture_output=True, text=True, check=False)


def barmap_run(*words, **variables):
    return run(sys.executable, "-m", "barmap", "sim", "--", "barmap", "run", "--", *words, **variables)


needs_program = pytest.mark.skipif(
    not (PACKAGE / "bin" / "barmap").exists(), reason="built without CLI11, fmt or nlohmann-json"
)


@needs_program
def test_run_loads_the_library_of_this_package():
    done = barmap_run("sh", "-c", "echo $LD_PRELOAD; grep libbarmap-memcpy /proc/$$/maps")
    assert done.returncode == 0, done.stderr
    preloaded, *mapped = done.stdout.splitlines()
    assert pathlib.Path(preloaded) == LIBRARY
    assert str(LIBRARY) in mapped[0]


def expect_all_calls_counted(done):
    assert done.returncode == 0, done.stderr
    found = re.search(r"cuMemcpyBatchAsync: barmap took (\d+) batches .*CUDA copied (\d+)", done.stderr)
    assert found, done.stderr
    assert int(found[1]) + int(found[2]) == 3, done.stderr


@needs_program
def test_a_program_gets_its_bytes_through_the_library():
    expect_all_calls_counted(barmap_run(sys.executable, "-c", PROGRAM, BARMAP_LOG="info", BARMAP_ENGINE="driver"))


def test_the_library_can_be_loaded_without_the_program():
    simulated = str(PACKAGE / "lib" / "barmap-sim")
    expect_all_calls_counted(run(sys.executable, "-c", PROGRAM, BARMAP_LOG="info", BARMAP_ENGINE="driver", BARMAP_SIM="1",
                                 LD_PRELOAD=str(LIBRARY), LD_LIBRARY_PATH=simulated))


@pytest.mark.skipif(not shutil.which("nm"), reason="nm is not installed")
def test_the_library_shows_only_what_it_replaces():
    done = run("nm", "--dynamic", "--defined-only", str(LIBRARY))
    names = {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}
    assert {"dlsym", "cuMemcpyBatchAsync_v2"} <= names
    assert not {each for each in names if not each.startswith(("dl", "cuMemcpyBatchAsync", "cuGetProcAddress"))}


@needs_program
def test_without_the_library_run_says_where_it_looked(tmp_path):
    """In a copy of the package that lacks it."""
    shutil.copytree(PACKAGE, tmp_path / "barmap", symlinks=True)
    (tmp_path / "barmap" / "lib" / LIBRARY.name).unlink()
    done = run(sys.executable, "-m", "barmap", "run", "--", "true", PYTHONPATH=str(tmp_path))
    assert done.returncode == 127, done.stderr
    assert "libbarmap-memcpy.so is in none of these directories: " in done.stderr
    assert str(tmp_path / "barmap") in done.stderr and "nonexistent" not in done.stderr
