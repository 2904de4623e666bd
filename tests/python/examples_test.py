# SPDX-License-Identifier: MIT
"""The examples in the docstrings, the example program, and what the package consists of."""

import doctest
import importlib.metadata
import inspect
import os
import pathlib
import subprocess
import sys

import barmap
import numpy as np
import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def documented():
    """All that is public, with its docstring's owner: classes, functions, methods."""
    for name in barmap.__all__:
        thing = getattr(barmap, name)
        if not callable(thing):
            continue
        yield name, thing
        if inspect.isclass(thing) and issubclass(thing, barmap.Mapping):
            for member in dir(thing):
                if not member.startswith("_") and callable(getattr(thing, member)):
                    yield f"{name}.{member}", getattr(thing, member)


THINGS = dict(documented())


SIMULATED = [pytest.mark.simulated]  # what these print is said of the simulated GPU


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=SIMULATED if name in ("Device", "devices", "info", "sim") else [])
    for name in THINGS
])
def test_docstring(name):
    text = inspect.getdoc(THINGS[name])
    test = doctest.DocTestParser().get_doctest(text, {"barmap": barmap, "np": np}, name, None, None)
    assert test.examples, f"{name} has no example"
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test, out=said.append).failed == 0, "".join(said)


def test_example_program():
    environment = {**os.environ, "BARMAP_SIM": "1"}
    done = subprocess.run([sys.executable, REPOSITORY / "examples" / "python_map.py"],
                          env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_package_is_typed_and_small():
    files = [str(f) for f in importlib.metadata.files("barmap") if "__pycache__" not in str(f)]
    assert "barmap/py.typed" in files and "barmap/_barmap.pyi" in files
    assert "barmap/barmap-sim/libcuda.so.1" in files
    assert not [f for f in files if f.endswith((".hpp", ".a", ".cmake", ".cpp"))]
    assert not [f for f in files if not f.startswith(("barmap/", "barmap-")) and "/bin/" not in f]


def test_version():
    assert barmap.__version__ == importlib.metadata.version("barmap")
