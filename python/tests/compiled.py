# SPDX-License-Identifier: MIT
"""C++ that tests compile."""

import ctypes
import pathlib
import shutil
import subprocess

import barmap
import pytest


def compile_library(source, directory, *options):
    """A shared library of C++, with the headers that the package brings."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler here")
    library = pathlib.Path(directory) / "library.so"
    done = subprocess.run(
        [compiler, "-std=c++11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
         f"-I{barmap.include_dir()}", *options, "-o", library, source],
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))
