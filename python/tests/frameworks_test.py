# SPDX-License-Identifier: MIT
"""Memory of real frameworks, on a real GPU. Each program runs in a process of its own."""

import importlib.util
import inspect
import os
import pathlib
import subprocess
import sys

import pytest
from which_gpu import REAL_GPU

import framework_programs

PROGRAMS = [
    name for name, what in inspect.getmembers(framework_programs, inspect.isfunction)
    if not name.startswith("_") and name != "check_both_ways"
]
NEEDS = {"barmap_alloc": "torch"}
SETTINGS = {
    "torch_expandable_segments": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
}


@pytest.mark.skipif(not REAL_GPU, reason="frameworks need a real GPU: set BARMAP_REQUIRE")
@pytest.mark.parametrize("program", PROGRAMS)
def test_framework(program):
    framework = NEEDS.get(program, program.split("_")[0])
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    done = subprocess.run(
        [sys.executable, pathlib.Path(framework_programs.__file__), program],
        env={**os.environ, **SETTINGS.get(program, {})}, capture_output=True, text=True, check=False,
    )
    print(done.stdout)
    if done.returncode == framework_programs.IS_SKIPPED:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stderr
