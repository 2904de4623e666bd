# SPDX-License-Identifier: MIT
"""The names, the examples in the docstrings, the example program, and long random use."""

import doctest
import gc
import inspect
import os
import pathlib
import random
import subprocess
import sys

import numpy as np
import pytest
from vendor import SIMULATED

import barmap
from barmap import pygpu
from barmap.pygpu import gpuarray

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]

# What programs for PyGPU and PybindGPU use.
ORIGINAL = """cudaDeviceReset cudaDeviceSynchronize cudaEventElapsedTime cudaEventRecord
cudaEventSynchronize cudaGetDevice cudaSetDevice cudaGetErrorName cudaGetErrorString cudaGetLastError
cudaGetDeviceCount cudaError_t cudaEvent_t cudaStream_t cudaDeviceProp GPUArray to_gpu Allocator
SUPPORTED_DTYPES dtype major_version minor_version release_version use_hip cuda_enabled""".split()
TYPED = """DeviceArray ptr_wrapper pointer_wrapper HostAllocator DeviceAllocator
PagelockedAllocator""".split()


def test_all_names_are_there():
    for name in ORIGINAL + [f"{kind}_{dtype}" for kind in TYPED for dtype in pygpu.SUPPORTED_DTYPES]:
        assert hasattr(pygpu, name), name
        assert name in pygpu.__all__ or name in ("use_hip", "cuda_enabled"), name
    for name in ("GPUArray", "to_gpu", "Allocator", "HostAllocator", "PagelockedAllocator", "dtype",
                 "SUPPORTED_DTYPES"):
        assert getattr(gpuarray, name) is getattr(pygpu, name)
    assert len(set(pygpu.__all__)) == len(pygpu.__all__)
    assert {"use_hip", "GPUArray"} <= set(dir(pygpu))


def test_types_as_numbers():
    assert [pygpu.dtype(k).name for k in range(pygpu.dtype.__size__.value)] == list(
        pygpu.SUPPORTED_DTYPES)


def test_public_things_say_where_they_are():
    for name in pygpu.__all__:
        thing = getattr(pygpu, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert thing.__module__ == "barmap.pygpu", name
            assert inspect.getdoc(thing), name


def documented():
    """Public classes and functions by name; one of those that differ in their type only."""
    for name in pygpu.__all__:
        thing = getattr(pygpu, name)
        if callable(thing) and inspect.getdoc(thing) and ">>>" in inspect.getdoc(thing):
            yield inspect.getdoc(thing), name


EXAMPLES = dict(documented())


@pytest.mark.parametrize("text", EXAMPLES, ids=EXAMPLES.values())
def test_docstring(text):
    names = {"barmap": barmap, "pygpu": pygpu, "np": np}
    test = doctest.DocTestParser().get_doctest(text, names, "example", None, None)
    if not SIMULATED and "pci_address" in text:
        pytest.skip("it prints what is said of the simulated GPU")
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test, out=said.append).failed == 0, "".join(said)


def test_each_class_has_an_example():
    for name in pygpu.__all__:
        thing = getattr(pygpu, name)
        if inspect.isclass(thing) and name not in ("dtype", "UnsupportedDataType"):
            assert inspect.getdoc(thing) in EXAMPLES, name


def test_example_program():
    done = subprocess.run([sys.executable, REPOSITORY / "examples" / "python_pygpu.py"],
                          env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "[0. 1. 2. 3.]" in done.stdout


def random_step(rng, held):
    """One random operation; `held` is a list of arrays with what they must hold."""
    kind = rng.randrange(8)
    if kind == 0 or not held:
        shape = tuple(rng.randrange(0, 9) for _ in range(rng.randrange(3)))
        k = np.asarray(rng.randrange(99) + np.arange(np.prod(shape, dtype=int)).reshape(shape),
                       order=rng.choice("CF"))
        held.append((pygpu.to_gpu(k), k))
    elif kind == 1:
        held.pop(rng.randrange(len(held)))
    elif kind == 2:
        a, k = rng.choice(held)
        held.append((a.T, k.T))
    elif kind == 3:
        a, k = rng.choice(held)
        held.append((a.copy(), k.copy()))
    elif kind == 4:
        a, k = rng.choice(held)
        if k.ndim:
            part = slice(rng.randrange(-9, 9), rng.randrange(-9, 9), rng.choice([-2, -1, 1, 2]))
            held.append((a[part], k[part]))
    elif kind == 5:
        a, k = rng.choice(held)
        a[...] = rng.randrange(99)
        k[...] = a.get(copy=True)
    elif kind == 6:
        a, k = rng.choice(held)
        assert np.array_equal(a.get(copy=True), k)
    else:
        cycle = [held[-1][0], pygpu.cudaStream_t(), pygpu.cudaEvent_t()]
        cycle.append(cycle)


@pytest.mark.parametrize("seed", range(3))
def test_random_operations_leave_nothing(seed, nothing_left):
    rng, held = random.Random(seed), []
    for _ in range(2500):
        random_step(rng, held)
        while len(held) > 12:
            held.pop(rng.randrange(len(held)))
    for a, k in held:
        assert np.array_equal(a.get(copy=True), k)
    del a, k, held
    gc.collect()
