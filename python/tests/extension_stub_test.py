# SPDX-License-Identifier: MIT
"""The stubs of the extension are what nanobind's stubgen makes of it.

After a change of the extension:

    python python/tests/extension_stub_test.py     writes them again, from the installed package
"""

import pathlib
import subprocess
import sys

import pytest

PYTHON = pathlib.Path(__file__).resolve().parents[1]
NAMES = ["__init__.pyi", "gdrapi.pyi", "pygpu.pyi", "vkgdr.pyi"]


def write_stubs(directory):
    """Into a directory _barmap there."""
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "--quiet", "--module", "barmap._barmap", "--recursive",
                    "--include-private", "--exclude-docstrings", "--pattern-file",
                    PYTHON / "binding" / "_barmap.nb", "--output-dir", directory], check=True)


def stubs_in(directory):
    return {path.name: path.read_text() for path in (directory / "_barmap").iterdir()}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    nanobind = pytest.importorskip("nanobind", reason="nanobind is not installed: pip install 'barmap[test]'")
    if not nanobind.__version__.startswith("3.1."):
        pytest.skip("the stubs are those of nanobind 3.1")
    directory = tmp_path_factory.mktemp("stubs")
    write_stubs(directory)
    return stubs_in(directory)


def test_the_stubs_are_what_stubgen_makes(made):
    assert sorted(made) == NAMES
    for name in NAMES:
        assert stubs_in(PYTHON / "barmap")[name] == made[name]


@pytest.mark.parametrize("name, inexact", [
    (name, inexact) for name in NAMES
    for inexact in ("-> object", "-> tuple:", "-> list:", "-> dict:", "buffer: object", "MethodDescriptorType")
])
def test_types_are_exact(made, name, inexact):
    """Of a function in C++, an argument may be any object; what it returns has a type."""
    assert inexact not in made[name]


if __name__ == "__main__":
    write_stubs(PYTHON / "barmap")
