# SPDX-License-Identifier: MIT
"""These tests run on the simulated GPU.

With BARMAP_REQUIRE=NAME,... in the environment they run on a real one, where these backends must
work; what only the simulated one can show (marked `simulated`) is then skipped.
"""

import gc

import pytest

from which_gpu import REAL_GPU, REQUIRED  # before barmap is used

import barmap
from concurrency import descriptors, expect_descriptors
from gpu_memory import Driver, reported_backends


def pytest_configure(config):
    config.addinivalue_line("markers", "simulated: only on the simulated GPU")


def pytest_sessionstart():
    if REAL_GPU:
        usable = {row["name"] for row in reported_backends() if row["state"] == "usable"}
        missing = [name for name in REQUIRED if name not in usable]
        assert not missing, f"not usable here: {missing}"


def pytest_collection_modifyitems(items):
    if REAL_GPU:
        for item in items:
            if item.get_closest_marker("simulated"):
                item.add_marker(pytest.mark.skip(reason="only on the simulated GPU"))


def pytest_collection_finish():
    gc.freeze()  # a test's gc.collect() then looks only at objects made since


@pytest.fixture(scope="session")
def driver():
    """The driver, with a current context."""
    return Driver(real=REAL_GPU)


MEMORY_CONTENT = bytes(i % 251 for i in range(1 << 20))


@pytest.fixture
def memory(driver):
    """1 MiB of cuMemAlloc memory, each byte being its offset modulo 251."""
    block = driver.allocate(len(MEMORY_CONTENT))
    block.put(MEMORY_CONTENT)
    yield block
    block.free()


@pytest.fixture
def no_leak():
    """Fails if descriptors are left. What stays open for a GPU is opened before."""
    barmap.alloc(64, "u1").close()
    before = descriptors()
    yield
    expect_descriptors(before)
