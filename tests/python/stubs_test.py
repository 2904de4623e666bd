# SPDX-License-Identifier: MIT
"""The types that users' checkers see, against what is there.

Signatures that were recorded are in golden/. After a change that is meant:

    python tests/python/stubs_test.py     writes them anew, from the installed package
"""

import importlib
import inspect
import pathlib
import pkgutil
import re
import subprocess
import sys

import barmap
import pytest

GOLDEN = pathlib.Path(__file__).with_name("golden")
PACKAGE = pathlib.Path(barmap.__file__).parent
# They import what is not here.
FOREIGN = {"barmap.torch", "barmap.cupy", "barmap.vkgdr.pycuda"}


def public_modules():
    """All modules whose names do not begin with an underscore."""
    found = ["barmap"]
    for module in pkgutil.walk_packages([str(PACKAGE)], "barmap."):
        hidden = any(part.startswith("_") for part in module.name.split("."))
        if not hidden and module.name not in FOREIGN:
            found.append(module.name)
    return found


def described(name, thing):
    """Lines that say what a public thing is, and its members, if it is a class."""
    if inspect.isclass(thing):
        yield f"class {name}({', '.join(base.__name__ for base in thing.__bases__)})"
        for member in sorted(vars(thing)):
            if not member.startswith("_") or member in ("__init__", "__cuda_array_interface__"):
                yield from described(f"{name}.{member}", inspect.getattr_static(thing, member))
    elif isinstance(thing, property):
        yield f"property {name}"
    elif callable(thing) or isinstance(thing, (staticmethod, classmethod)):
        try:
            yield f"def {name}{inspect.signature(getattr(thing, '__func__', thing))}"
        except (TypeError, ValueError):
            yield f"def {name}"
    elif not inspect.ismodule(thing):
        yield f"{name}: {type(thing).__name__}"


def public_interface():
    lines = []
    for name in public_modules():
        module = importlib.import_module(name)
        for each in sorted(getattr(module, "__all__", ())):
            lines += described(f"{name}.{each}", getattr(module, each))
    return "\n".join(lines) + "\n"


def binding():
    """What nanobind says of the extension and its submodules."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "nanobind.stubgen", "-q", "-D", "-r", "--exclude-values", "-m",
             "barmap._barmap", "-O", folder],
            check=True,
        )
        files = sorted(pathlib.Path(folder).rglob("*.pyi"))
        return "".join(f"# {f.relative_to(folder)}\n{f.read_text()}" for f in files)


def test_the_public_interface_is_as_recorded():
    assert public_interface() == (GOLDEN / "barmap.txt").read_text()


def test_the_binding_is_as_recorded():
    pytest.importorskip("nanobind", reason="nanobind 3 writes what is recorded, from Python 3.10 on")
    assert binding() == (GOLDEN / "_barmap.pyi").read_text()


def stubs():
    return sorted(PACKAGE.rglob("*.pyi"))


@pytest.mark.parametrize("stub", stubs(), ids=lambda path: path.stem)
def test_a_stub_names_what_is_there(stub):
    module = ".".join(["barmap", *stub.relative_to(PACKAGE).with_suffix("").parts])
    text = stub.read_text()
    module = importlib.import_module(module)
    holders = [module] + [one for one in vars(module).values()
                          if inspect.isclass(one) and one.__module__ == module.__name__]
    for holder in holders:
        for name in vars(holder):
            if not name.startswith("_"):
                assert re.search(rf"\b{name}\b", text), f"{stub.name} does not name {name}"


def test_the_package_is_typed(tmp_path):
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nstrict = True\n[mypy-torch,cupy,pycuda.*]\nfollow_imports = skip\n"
                        "ignore_missing_imports = True\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", settings, "--cache-dir", tmp_path / "cache",
         "-p", "barmap"],
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    GOLDEN.joinpath("barmap.txt").write_text(public_interface())
    GOLDEN.joinpath("_barmap.pyi").write_text(binding())
