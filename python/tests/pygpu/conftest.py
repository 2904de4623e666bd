# SPDX-License-Identifier: MIT
"""The tests of pygpu run on whichever runtime BARMAP_RUNTIME names; python/tests/run.sh runs them on
simulated CUDA and on simulated HIP. Where it is set, there are two simulated devices."""

import gc
import os

import pytest

if os.environ.get("BARMAP_RUNTIME"):
    os.environ["BARMAP_SIM_DEVICES"] = "2"

from barmap import pygpu  # noqa: E402
from vendor import SIMULATED, Vendor  # noqa: E402


@pytest.fixture(scope="session")
def vendor():
    name = "hip" if pygpu.use_hip else "cuda"
    assert os.environ.get("BARMAP_RUNTIME", name) == name
    return Vendor(name)


@pytest.fixture(autouse=True)
def without_errors():
    """Each test begins and ends without an error that somebody has yet to look at."""
    pygpu.cudaGetLastError()
    yield
    pygpu.cudaSetDevice(0)


def use_the_device():
    """Makes what stays for a device until the process ends."""
    array = pygpu.GPUArray(4)
    for _ in range(20):
        array.set_val(0, 1)


@pytest.fixture
def nothing_left(vendor):
    """Fails if memory, streams, events or descriptors are left. What stays is made before."""
    if not SIMULATED:
        yield
        return
    use_the_device()
    gc.collect()
    before = vendor.live(), len(os.listdir("/proc/self/fd"))
    yield
    gc.collect()
    assert (vendor.live(), len(os.listdir("/proc/self/fd"))) == before


@pytest.fixture
def two_devices():
    if pygpu.cudaGetDeviceCount()[0] < 2:
        pytest.skip("there is one device only")
    pygpu.cudaSetDevice(1)
    use_the_device()
    pygpu.cudaSetDevice(0)
