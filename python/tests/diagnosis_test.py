# SPDX-License-Identifier: MIT
"""Variables for diagnosis stop no program; and what does stop one is named, by every package."""

import os
import subprocess
import sys

import pytest

PROGRAMS = {
    "barmap": "import barmap; barmap.alloc(4, 'f4').fill(1)",
    "gdrcopy": "import barmap; from barmap import gdrcopy\n"
               "with gdrcopy.GDRCopy() as gdr:\n"
               "    array = barmap.alloc(4096, 'u1')\n"
               "    gdr.pin_buffer(array.gpu_address, 4096)",
    "vkgdr": "from barmap import vkgdr; vkgdr.Vkgdr(0)",
    "pygpu": "from barmap import pygpu; pygpu.GPUArray(3); assert pygpu.cudaSetDevice(0) == 0",
}


def run(program, **environment):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BARMAP_")}
    return subprocess.run([sys.executable, "-c", program], env={**kept, **environment}, capture_output=True,
                          text=True, check=False)


@pytest.mark.simulated
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("level", ["warning", "INFO", "3"])
def test_another_level_of_the_log_is_named_once_and_ignored(name, level):
    done = run(PROGRAMS[name], BARMAP_SIM="1", BARMAP_LOG=level)
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"barmap: ignoring BARMAP_LOG={level}: allowed are off, info, debug\n"


@pytest.mark.simulated
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_stops_a_program_is_named_and_not_a_missing_gpu(name):
    done = run(PROGRAMS[name], BARMAP_SIM="yes")
    assert done.returncode == 1
    assert "cannot use BARMAP_SIM=yes" in done.stderr and "allowed are 0, 1" in done.stderr, done.stderr
    assert "no such GPU" not in done.stderr and "insufficient" not in done.stderr.lower(), done.stderr


@pytest.mark.simulated
@pytest.mark.parametrize("runtime", ["cuda", "hip"])
def test_pygpu_says_it_in_its_own_words(runtime):
    done = run("from barmap import pygpu; error = pygpu.cudaSetDevice(0)\n"
               "print(int(error), pygpu.cudaGetErrorString(error))", BARMAP_SIM="yes", BARMAP_RUNTIME=runtime)
    assert done.stdout.startswith("3 cannot use BARMAP_SIM=yes"), done.stdout + done.stderr


@pytest.mark.simulated
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_driver_that_does_not_start_is_named(name):
    done = run(PROGRAMS[name], BARMAP_SIM="1", BARMAP_SIM_FAIL="cuInit:34", BARMAP_RUNTIME="cuda")
    assert done.returncode == 1
    assert "stub" in done.stderr.lower(), done.stderr
    if name in ("barmap", "vkgdr"):
        assert "take its directory (.../stubs) out of LD_LIBRARY_PATH" in done.stderr


@pytest.mark.simulated
def test_looking_for_gpus_leaves_cuda_to_a_child():
    done = run("""
import barmap, os
found = barmap.devices()
assert [each.ordinal for each in found] == [0, 1] and found[1].simulated
from barmap import _barmap
assert not _barmap.driver_is_used()
child = os.fork()
if child == 0:
    barmap.alloc(4, "f4", device=found[1]).fill(1)
    assert barmap.devices() == found
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
barmap.alloc(4, "f4", device=1).fill(1)
""", BARMAP_SIM="1", BARMAP_SIM_DEVICES="2")
    assert done.returncode == 0, done.stderr


@pytest.mark.simulated
def test_gpus_are_found_where_no_other_python_can_be_started():
    done = run("""
import sys, barmap
for executable in (None, "/nonexistent"):
    sys.executable = executable
    print(len(barmap.devices()))
""", BARMAP_SIM="1")
    assert done.stdout.split() == ["1", "1"], done.stderr
