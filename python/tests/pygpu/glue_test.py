# SPDX-License-Identifier: MIT
"""ptr_wrapper.h: the example of C++ glue code, compiled, takes and returns PyGPU's pointers."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import numpy as np
import pytest

from barmap import pygpu

EXAMPLE = pathlib.Path(__file__).parents[3] / "examples" / "pygpu_glue.cpp"
COMPILER = shutil.which("g++") or shutil.which("clang++")


def compiled(name, source, directory):
    pybind11 = pytest.importorskip("pybind11")
    if COMPILER is None:
        pytest.skip("there is no C++ compiler here")
    python = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(python, "Python.h")):
        pytest.skip("there is no Python.h here")
    library = directory / (name + sysconfig.get_config_var("EXT_SUFFIX"))
    done = subprocess.run(
        [COMPILER, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-isystem{python}",
         f"-isystem{pybind11.get_include()}", f"-I{pygpu.get_include()}", "-o", library, source],
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    specification = importlib.util.spec_from_file_location(name, library)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def glue(tmp_path_factory):
    return compiled("pygpu_glue", EXAMPLE, tmp_path_factory.mktemp("glue"))


def test_a_device_pointer_goes_in_and_out(glue):
    array = pygpu.DeviceArray_float64(np.arange(12.0).reshape(3, 4))
    array.allocate()
    array.to_device()
    second = glue.row(array.device_data(), 4, 1)
    assert type(second) is pygpu.pointer_wrapper_float64 and not second.is_safe()
    assert int(second) == int(array.device_data()) + 32
    assert int(glue.row(matrix=int(array.device_data()), columns=4, i=1)) == int(second)
    host = np.zeros(4)
    part = pygpu.DeviceArray_float64(host.ctypes.data, int(second), [4])
    assert part.to_host() == 0 and host.tolist() == [4, 5, 6, 7]
    assert int(glue.row(second, 4, 1)) == int(second) + 32


def test_host_pointers_are_read_by_the_cpu(glue):
    array = pygpu.DeviceArray_float64(np.arange(12.0).reshape(3, 4))
    assert glue.sum(array.host_data(), 12) == 66
    assert glue.sum(glue.row(array.host_data(), 4, 2), 4) == 38
    made = pygpu.pointer_wrapper_float64()
    assert int(glue.row(made, 0, 0)) == 0


def test_what_is_no_such_pointer_is_refused(glue):
    for other in (pygpu.pointer_wrapper_float32(), pygpu.pointer_wrapper_int64(), 1.5, "x", None, True, np.zeros(3),
                  pygpu.cudaStream_t().get()):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            glue.row(other, 4, 1)
    for number in (-1, 1 << 64):
        with pytest.raises(OverflowError):
            glue.row(number, 4, 1)


def test_every_element_type(tmp_path):
    types = {
        "int16": "std::int16_t", "int32": "std::int32_t", "int64": "std::int64_t", "uint16": "std::uint16_t",
        "uint32": "std::uint32_t", "uint64": "std::uint64_t", "float32": "float", "float64": "double",
        "complex64": "std::complex<float>", "complex128": "std::complex<double>",
    }
    assert list(types) == [each.__name__.rpartition("_")[2] for each in pygpu.pointer_wrapper.__subclasses__()
                           if each.__name__.startswith("pointer_wrapper_")]
    lines = [f'module.def("{name}", [](ptr_wrapper<{type}> p) {{ return p; }});' for name, type in types.items()]
    source = tmp_path / "all.cpp"
    source.write_text("#include <ptr_wrapper.h>\n"
                      "static_assert(sizeof(ptr_wrapper<float>) == sizeof(void*), \"\");\n"
                      "PYBIND11_MODULE(every_type, module) {\n" + "\n".join(lines) + "\n}\n")
    module = compiled("every_type", source, tmp_path)
    for name in types:
        pointer = getattr(pygpu, f"pointer_wrapper_{name}").from_address(64)
        assert type(getattr(module, name)(pointer)) is type(pointer)


def test_the_header_needs_no_pybind11(tmp_path):
    if COMPILER is None:
        pytest.skip("there is no C++ compiler here")
    source = tmp_path / "alone.cpp"
    source.write_text("#include <ptr_wrapper.h>\nint get(ptr_wrapper<int> p) { return p ? *p + p[1] : 0; }\n")
    subprocess.run([COMPILER, "-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{pygpu.get_include()}",
                    source], check=True)


def test_addresses_that_are_none():
    for wrong in (-1, 1 << 64):
        with pytest.raises(OverflowError, match="the address is"):
            pygpu.pointer_wrapper_int16.from_address(wrong)
    with pytest.raises(TypeError, match="the address is a float"):
        pygpu.pointer_wrapper_int16.from_address(1.0)


def test_the_package_has_the_header():
    assert os.path.isabs(pygpu.get_include())
    done = subprocess.run([sys.executable, "-c", "import PyGPU; print(PyGPU.get_include())"], capture_output=True,
                          text=True, check=False)
    if "No module named 'PyGPU'" in done.stderr:
        pytest.skip("the distribution barmap-compat is not installed")
    assert done.stdout.strip() == pygpu.get_include()
