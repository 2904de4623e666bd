# SPDX-License-Identifier: MIT
"""The types that users' checkers see, against what is there.

The public interface that was recorded is golden/barmap.txt. After a change that is meant:

    python python/tests/stubs_test.py     writes it anew, from the installed package
"""

import importlib
import inspect
import pathlib
import pkgutil
import re
import subprocess
import sys
import textwrap

import barmap
import pytest

GOLDEN = pathlib.Path(__file__).with_name("golden") / "barmap.txt"
PACKAGE = pathlib.Path(barmap.__file__).parent
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# They import what is not here.
FOREIGN = {"barmap.torch", "barmap.cupy", "barmap.vkgdr.pycuda"}


def public_modules():
    """All modules whose names do not begin with an underscore."""
    found = ["barmap"]
    for module in pkgutil.walk_packages([str(PACKAGE)], "barmap."):
        # A library that is no module, such as the drop-in, has a name that none can have.
        hidden = any(part.startswith("_") or not part.isidentifier() for part in module.name.split("."))
        if not hidden and module.name not in FOREIGN:
            found.append(module.name)
    return found


def described(name, thing):
    """Lines that say what a public thing is, and its members, if it is a class."""
    if inspect.isclass(thing):
        yield f"class {name}({', '.join(base.__name__ for base in thing.__bases__)})"
        # What a class has from the extension, or a private base, is its own for those who use it.
        holders = [each for each in thing.__mro__ if each.__module__.startswith("barmap._")]
        for member in sorted({*vars(thing)}.union(*map(vars, holders))):
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


def test_the_public_interface_is_as_recorded():
    assert public_interface() == GOLDEN.read_text()


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """Checks strictly, without what is not of this package, and reads NumPy's types once for all tests."""
    pytest.importorskip("mypy", reason="mypy is not installed: pip install 'barmap[test]'")
    directory = tmp_path_factory.mktemp("mypy")
    settings = directory / "mypy.ini"
    settings.write_text("[mypy]\nstrict = True\n[mypy-torch,cupy,numba,pycuda.*,vllm.*]\n"
                        "follow_imports = skip\nignore_missing_imports = True\n"
                        "[mypy-docs_python_md]\nallow_untyped_defs = True\n")  # its worker
    return lambda *arguments: subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", settings, "--cache-dir", directory / "cache",
         *arguments],
        capture_output=True, text=True, check=False,
    )


def test_the_package_is_typed(mypy):
    done = mypy("-p", "barmap")
    assert done.returncode == 0, done.stdout + done.stderr


# By document with programs in Python: the names that its reader has, whatever they are.
DOCUMENTS = {
    "README.md": "",
    "docs/batches.md": "barmap cache blocks others torch",
    "docs/kernel-queue.md": "barmap cache count model pieces router stream table x",
    "docs/kernel.md": "barmap address nbytes forget",
    "docs/python.md": "batches cupy lengths new_slots positions queue s slots source stream tokens",
    "docs/python-gdrcopy.md": "",
    "docs/python-pygpu.md": "",
    "docs/python-vkgdr.md": "",
    "docs/site/recipes/several-gpus.md": "barmap tensor",
}


def test_the_documents_programs_are_typed(mypy, tmp_path):
    for document, names in DOCUMENTS.items():
        programs = re.findall(r"^```python\n(.*?)^```", (REPOSITORY / document).read_text(), re.M | re.S)
        assert programs, document
        given = ["import barmap"] if "barmap" in names else []
        given += [f"{name}: Any = ..." for name in names.split() if name != "barmap"]
        body = textwrap.indent("\n".join(given + programs), "    ")  # may wait: async for
        (tmp_path / f"{re.sub(r'[^a-z]', '_', document.lower())}.py").write_text(
            f"from typing import Any\n\nasync def program() -> None:\n{body}")
    done = mypy(*tmp_path.glob("*.py"))
    assert done.returncode == 0, done.stdout + done.stderr


PROGRAM = """
import array
import numpy as np
import barmap

mapping = barmap.map(barmap.alloc((2, np.int64(2)), np.float32), backend="rm")
mapping.write(b"x")
mapping.write(bytearray(1), np.int64(4))
mapping.write(memoryview(b"x"))
mapping.write(array.array("f", [1.0]))
mapping.write(np.zeros(2, "f4"))
mapping.write(np.float32(1))
mapping.read_into(bytearray(4))
barmap.map(4096, np.int64(8)).post(np.uint32(1), 0, 4)
"""
REFUSED = [
    "with mapping as m: m.write('text')",
    "mapping.write([1, 2, 3])", "mapping.write(1.0)", "mapping.write('text')",
    "mapping.write(None)", "mapping.read_into([0])", "mapping.read(1.5)", "mapping.read('0')",
    "mapping.post(1.0, 0)", "mapping.fill(1, 'x')", "barmap.map([1])", "barmap.map('text')",
    "barmap.map(1, 2.0)", "barmap.map(1, 2, backend=1)", "barmap.alloc(1.5, 'u1')",
    "barmap.alloc(1, 'u1', device='0')", "barmap.alloc(1, 'u1')[0]", "len(barmap.alloc(1, 'u1'))",
]


def test_checkers_refuse_what_is_refused(mypy, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("\n".join([PROGRAM, *REFUSED]))
    done = mypy(program)
    found = [int(line) for line in re.findall(r"program\.py:(\d+): error", done.stdout)]
    first = PROGRAM.count("\n") + 2
    assert found == [*range(first, first + len(REFUSED))], done.stdout + done.stderr


def test_everything_public_has_a_signature():
    for name in public_modules():
        module = importlib.import_module(name)
        for each in getattr(module, "__all__", ()):
            thing = getattr(module, each)
            if not callable(thing):
                continue
            if not (inspect.isclass(thing) and issubclass(thing, (BaseException, int))):
                inspect.signature(thing)  # of subclasses of Python's own types there is none
            for member in vars(thing) if inspect.isclass(thing) else ():
                if not member.startswith("_") and callable(getattr(thing, member)):
                    inspect.signature(getattr(thing, member))
    for member in dir(barmap.Mapping):
        if not member.startswith("_") and callable(getattr(barmap.Mapping, member)):
            inspect.signature(getattr(barmap.Mapping, member))


if __name__ == "__main__":
    GOLDEN.write_text(public_interface())
