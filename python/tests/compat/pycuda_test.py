# SPDX-License-Identifier: MIT
"""vkgdr.pycuda, with PyCUDA where it is installed and there is a GPU, else with a stand-in."""

import gc
import importlib.util
import pathlib
import subprocess
import sys

import barmap
import numpy as np
import pytest
import vkgdr
from concurrency import run_threads

STAND_INS = str(pathlib.Path(__file__).parent / "stand_ins")


@pytest.fixture(scope="module")
def pycuda_driver():
    if barmap.devices()[0].simulated or importlib.util.find_spec("pycuda") is None:
        sys.path.insert(0, STAND_INS)
    import pycuda.driver

    yield pycuda.driver
    if STAND_INS in sys.path:
        sys.path.remove(STAND_INS)


@pytest.fixture
def kind(driver, pycuda_driver):
    import vkgdr.pycuda

    return vkgdr.pycuda.Memory


@pytest.fixture
def gpu(driver):
    return vkgdr.Vkgdr.open_current_context()


def contexts(pycuda_driver):
    gc.collect()
    return getattr(pycuda_driver.Context, "alive", 0)


def test_it_is_both(kind, pycuda_driver):
    import barmap.vkgdr.pycuda

    assert issubclass(kind, vkgdr.RawMemory)
    assert issubclass(kind, pycuda_driver.PointerHolderBase)
    assert kind is barmap.vkgdr.pycuda.Memory


def test_memory(kind, gpu, no_leak):
    memory = kind(gpu, 4097)
    assert memory.get_pointer() == memory.device_ptr == int(memory)
    assert len(memory) == 4097
    view = np.asarray(memory).view(np.uint8)
    view[:] = 3
    memory.flush(0, 4097)
    memory.free()
    memory.free()
    assert (view == 3).all()
    with pytest.raises(vkgdr.VkgdrError):
        memory.get_pointer()


def test_the_context_lives_as_long_as_the_memory(kind, gpu, pycuda_driver, no_leak):
    before = contexts(pycuda_driver)
    memory = kind(gpu, 64)
    view = np.asarray(memory)
    assert contexts(pycuda_driver) >= before
    held = contexts(pycuda_driver)
    memory.free()
    assert contexts(pycuda_driver) == held
    del view
    assert contexts(pycuda_driver) == before


def test_it_is_garbage_collected(kind, gpu, no_leak):
    for _ in range(10):
        memory = kind(gpu, 64)
        memory.myself = memory
        memory.view = np.asarray(memory)
        del memory
        gc.collect()


def test_refusals(kind, gpu):
    def without_context():
        with pytest.raises(vkgdr.VkgdrError, match="no current CUDA context"):
            kind(gpu, 64)

    run_threads(without_context)
    for arguments in ((0,), (10**15,), (64, 1)):
        with pytest.raises(vkgdr.VkgdrError):
            kind(gpu, *arguments)
    with pytest.raises(TypeError):
        kind(None, 64)


def test_without_pycuda():
    program = """
import sys
sys.modules["pycuda"] = None
import vkgdr
try:
    import vkgdr.pycuda
except ImportError as error:
    assert "pycuda" in str(error)
else:
    raise SystemExit("there is no PyCUDA")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
