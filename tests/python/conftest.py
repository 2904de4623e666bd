# SPDX-License-Identifier: MIT
"""All of these tests run on the simulated GPU."""

import gc
import os

import pytest

for variable in [name for name in os.environ if name.startswith("BARMAP_")]:
    del os.environ[variable]

import barmap  # noqa: E402

barmap.sim()

from gpu_memory import Driver  # noqa: E402


@pytest.fixture(scope="session")
def driver():
    """The simulated driver, with a current context."""
    return Driver()


@pytest.fixture
def memory(driver):
    """1 MiB of cuMemAlloc memory, each byte being its offset modulo 251."""
    block = driver.allocate(1 << 20)
    block.put(bytes(i % 251 for i in range(block.nbytes)))
    yield block
    block.free()


@pytest.fixture
def no_leak():
    """Fails if descriptors are left. What stays open for a GPU is opened before."""
    barmap.alloc(64, "u1").close()
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    yield
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before
