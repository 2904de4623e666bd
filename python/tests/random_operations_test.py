# SPDX-License-Identifier: MIT
"""40,000 random operations: nothing is lost, nothing leaks, every byte is right."""

import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("random_operations.py")


@pytest.mark.parametrize("seed", [1, 2])
def test_random_operations(seed):
    done = subprocess.run([sys.executable, PROGRAM, str(seed), "20000"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nanobind: leaked" not in done.stderr, done.stderr
