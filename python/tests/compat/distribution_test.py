# SPDX-License-Identifier: MIT
"""The distribution barmap-compat, the examples, and programs as users have them."""

import doctest
import importlib.metadata
import importlib.util
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys

import barmap
import barmap.gdrcopy
import barmap.vkgdr
import numpy as np
import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
STAND_INS = str(pathlib.Path(__file__).parent / "stand_ins")
ROOMS = {"gdrcopy": barmap.gdrcopy, "vkgdr": barmap.vkgdr}

# The calls of the README of gdrcopy's Python package, in its order.
PROGRAM = """
import numpy as np
import cupy as cp
from gdrcopy import GDRCopy, GDR_PIN_FLAG_DEFAULT

on_gpu = cp.arange(1000, dtype=np.float32)
gdr = GDRCopy()
gdr.open()
try:
    handle = gdr.pin_buffer_v2(on_gpu.data.ptr, on_gpu.nbytes, GDR_PIN_FLAG_DEFAULT)
    mapped = handle.map(on_gpu.nbytes)
    on_host = np.zeros_like({like}, dtype=np.float32)
    handle.copy_from_mapping(on_host.ctypes.data, on_gpu.nbytes)
    print(on_gpu, on_host)
    assert (on_host == np.arange(1000)).all()
    on_host += 100
    handle.copy_to_mapping(on_host.ctypes.data, on_gpu.nbytes)
    assert (cp.asnumpy(on_gpu) == np.arange(100, 1100)).all()
finally:
    gdr.close()
"""


def run(*command, **environment):
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True,
                          check=False, env={**os.environ, **environment})
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def things():
    for room, module in ROOMS.items():
        for name in module.__all__:
            if callable(getattr(module, name)):
                yield f"{room}.{name}", getattr(module, name)


@pytest.mark.parametrize("name,thing", list(things()))
def test_docstring(name, thing, driver):
    test = doctest.DocTestParser().get_doctest(
        inspect.getdoc(thing), {"barmap": barmap, "np": np, **ROOMS}, name, None, None)
    assert test.examples, f"{name} has no example"
    said = []
    assert doctest.DocTestRunner().run(test, out=said.append).failed == 0, "".join(said)
    if inspect.isclass(thing):
        for member, what in vars(thing).items():
            if inspect.isfunction(what) and not member.startswith("_"):
                assert inspect.getdoc(what), f"{name}.{member} is not documented"


@pytest.mark.parametrize("example", ["python_gdrcopy.py", "python_vkgdr.py"])
def test_example(example):
    assert run(REPOSITORY / "examples" / example)


@pytest.mark.parametrize("like", ["on_gpu", "cp.asnumpy(on_gpu)"])
def test_program_with_cupy(like):
    """CuPy's own np.zeros_like(on_gpu) makes an array on the GPU, which has no CPU address."""
    path = STAND_INS
    if not barmap.devices()[0].simulated and importlib.util.find_spec("cupy"):
        path = os.environ.get("PYTHONPATH", "")
        if like == "on_gpu":
            pytest.skip("np.zeros_like of a CuPy array is a CuPy array")
    run("-c", PROGRAM.format(like=like), PYTHONPATH=path)


def test_what_the_distribution_consists_of():
    files = {str(f) for f in importlib.metadata.files("barmap-compat") if ".pyc" not in str(f)}
    packages = {"gdrcopy", "vkgdr", "PyGPU", "PybindGPU"}
    modules = {f for f in files if ".dist-info/" not in f}
    expected = {f"{each}/{file}" for each in packages for file in ("__init__.py", "py.typed")}
    more = {"vkgdr/pycuda.py", "PyGPU/gpuarray.py", "PybindGPU/gpuarray.py"}
    assert modules == expected | more


def test_it_goes_with_this_version():
    assert importlib.metadata.version("barmap-compat") == barmap.__version__
    assert importlib.metadata.requires("barmap-compat") == [f"barmap=={barmap.__version__}"]


def test_barmap_imports_none_of_it():
    said = run("-c", "import sys, barmap; print([n for n in sys.modules if 'gdrcopy' in n or "
                     "n.startswith('barmap.vkgdr')])")
    assert said.strip() == "[]"


@pytest.mark.parametrize("room", ROOMS)
def test_the_stub_names_what_is_there(room):
    name = {"gdrcopy": "gdrapi"}.get(room, room)
    stub = (pathlib.Path(barmap.__file__).parent / "_barmap" / f"{name}.pyi").read_text()
    binding = getattr(barmap._barmap, name)
    for holder in (binding, *(each for each in vars(binding).values() if inspect.isclass(each))):
        for name in vars(holder):
            if not name.startswith("_"):
                assert name in stub, f"the stub does not name {name}"


STAND_IN = """
import pathlib, zipfile
def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = "{name}-{version}-py3-none-any.whl"
    info = "{name}-{version}.dist-info"
    metadata = "Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n{requires}"
    with zipfile.ZipFile(pathlib.Path(directory) / name, "w") as wheel:
        wheel.writestr("{module}.py", "")
        wheel.writestr(info + "/METADATA", metadata)
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "/RECORD", "")
    return name
"""


def test_pip_install_in_python_installs_both_distributions(tmp_path):
    """`cd python; pip install .`, with stand-ins for the two distributions, which take minutes to build."""
    version = importlib.metadata.version("barmap")
    (tmp_path / "python" / "compat").mkdir(parents=True)
    shutil.copy(REPOSITORY / "CMakeLists.txt", tmp_path)
    for each in ("pyproject.toml", "both_distributions.py"):
        shutil.copy(REPOSITORY / "python" / each, tmp_path / "python")
    for directory, name, module, requires in (
            (tmp_path, "barmap", "barmap", ""),
            (tmp_path / "python" / "compat", "barmap_compat", "gdrcopy", f"Requires-Dist: barmap=={version}\\n")):
        (directory / "stand_in.py").write_text(
            STAND_IN.format(name=name, version=version, module=module, requires=requires))
        (directory / "pyproject.toml").write_text(
            '[build-system]\nrequires = []\nbuild-backend = "stand_in"\nbackend-path = ["."]\n')
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-index", "--target",
                    tmp_path / "installed", "."], cwd=tmp_path / "python", check=True)
    assert {"barmap.py", "gdrcopy.py"} <= {each.name for each in (tmp_path / "installed").iterdir()}
