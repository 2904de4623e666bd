# SPDX-License-Identifier: MIT
"""The examples in the docstrings, the example programs, and what the package consists of."""

import doctest
import importlib.metadata
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys

import barmap
import numpy as np
import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


WITH_EXAMPLES = (  # in methods
    barmap.Mapping, barmap.BatchQueue, barmap.RingToGpu, barmap.RingToCpu, barmap.StepInputs,
    barmap.StepOutputs, barmap.CounterToGpu, barmap.CounterToCpu,
)


def documented():
    """All that is public, with its docstring's owner: classes, functions, methods."""
    for name, thing in [(name, getattr(of, name)) for of in (barmap, barmap.types) for name in of.__all__]:
        if not callable(thing):
            continue
        yield name, thing
        if inspect.isclass(thing) and issubclass(thing, WITH_EXAMPLES):
            for member in dir(thing):
                if not member.startswith("_") and callable(getattr(thing, member)):
                    yield f"{name}.{member}", getattr(thing, member)


THINGS = dict(documented())


SIMULATED = [pytest.mark.simulated]
ON_SIMULATED_GPU = ("Device", "KernelQueue", "batch_queue", "devices", "info", "sim")  # of which these print what is so


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=SIMULATED if name in ON_SIMULATED_GPU else [])
    for name in THINGS
])
def test_docstring(name):
    text = inspect.getdoc(THINGS[name])
    test = doctest.DocTestParser().get_doctest(text, {"barmap": barmap, "np": np}, name, None, None)
    assert test.examples, f"{name} has no example"
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test, out=said.append).failed == 0, "".join(said)


@pytest.mark.parametrize("python, other", [("write", "copy_to_gpu"), ("read", "copy_to_cpu")])
def test_contracts_say_that_c_means_something_else_by_the_name(python, other):
    """Python's write is C's copy_to_gpu: each contract of the two words names the other one."""
    headers = REPOSITORY / "core" / "include" / "barmap"
    assert f"`{other}` of C++ and C" in getattr(barmap.Mapping, python).__doc__
    assert f"Mapping.{python}() is mapping::{other}()" in (headers / "copy.hpp").read_text()
    contract = (headers / "mapping.h").read_text().partition(f"int barmap_mapping_{other}(")[0].rpartition("\n\n")[2]
    assert re.search(rf"Python: (Mapping\.)?{python}\(\)", contract)


def run(example, *arguments, **environment):
    return subprocess.run([sys.executable, REPOSITORY / "examples" / example, *arguments],
                          env={**os.environ, "BARMAP_SIM": "1", **environment},
                          capture_output=True, text=True, check=False)


@pytest.mark.parametrize("example", ["python_map.py", "python_paged_cache.py"])
def test_example_program(example):
    done = run(example)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("example", ["python_dataloader.py", "python_step_loop.py"])
def test_examples_without_a_gpu_say_so(tmp_path, example):
    (tmp_path / "torch.py").write_text("class cuda:\n    is_available = lambda: False\n")
    done = run(example, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert f"{example}: needs a GPU that PyTorch can use" in done.stderr.splitlines()


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ here")
def test_the_example_of_rings():
    done = run("python_ring.py")
    assert done.returncode == 0 and "11000 answers are right" in done.stdout, done.stderr


@pytest.mark.parametrize("example, arguments, module", [
    ("python_paged_cache.py", ["--torch"], "torch"),
    ("python_ring.py", ["--cupy"], "cupy"), ("python_step_loop.py", [], "torch"),
    ("python_dataloader.py", [], "torch"),
])
def test_examples_without_a_framework_say_so(tmp_path, example, arguments, module):
    (tmp_path / f"{module}.py").write_text("raise ImportError('it is not here')")
    done = run(example, *arguments, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert f"{example}: it is not here" in done.stderr.splitlines()


def test_the_example_of_rings_without_a_compiler_says_so(tmp_path):
    done = run("python_ring.py", PATH=str(tmp_path))
    assert done.returncode == 1 and done.stderr.startswith("python_ring.py: ") and "g++" in done.stderr


def test_examples_without_an_engine_say_so():
    done = run("python_paged_cache.py", BARMAP_ENGINE="none")
    assert done.returncode == 1 and done.stderr.startswith("python_paged_cache.py: cannot copy a batch")


def test_the_package_is_typed_and_small():
    files = [str(f) for f in importlib.metadata.files("barmap") if "__pycache__" not in str(f)]
    assert "barmap/py.typed" in files and "barmap/_barmap/__init__.pyi" in files
    assert "barmap/lib/barmap-sim/libcuda.so.1" in files
    assert "barmap/include/barmap/gpu/ring.cuh" in files
    assert not [f for f in files if f.endswith((".hpp", ".a", ".cmake", ".cpp"))]
    assert not [f for f in files if not f.startswith(("barmap/", "barmap-")) and "/bin/" not in f]


def test_version():
    assert barmap.__version__ == importlib.metadata.version("barmap")
