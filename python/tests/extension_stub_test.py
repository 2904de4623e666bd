# SPDX-License-Identifier: MIT
"""The stub of the extension, which is written by hand, against what the extension says of itself.

mypy.stubtest cannot compare them: it does not see the signatures of nanobind's functions.
"""

import ast
import inspect
import pathlib
import re
import textwrap
import types

import pytest
from barmap import _barmap

STUB = pathlib.Path(_barmap.__file__).with_name("_barmap.pyi").read_text()

# By what nanobind calls a type: a pattern of what the stub may call it, which often says more.
NAMES = {
    "dict": r"dict(\[.+\])?",
    "int": "(int|SupportsIndex)",
    "list": r"list(\[.+\])?",
    "object": ".+",
    "tuple": r"tuple(\[.+\])?",
}


def told(holder=_barmap):
    """What the extension, or a module or class of it, says that it has: as the text of a stub."""
    lines = []
    for name, thing in vars(holder).items():
        function = thing.fget if isinstance(thing, property) else thing
        if inspect.ismodule(thing) or inspect.isclass(thing):
            is_own = getattr(thing, "__module__", thing.__name__).startswith(_barmap.__name__)
            lines += [f"class {name}:", textwrap.indent(told(thing) if is_own else "pass", "    ")]
        elif hasattr(function, "__nb_signature__"):
            for signature, _, defaults in function.__nb_signature__:
                signature = re.sub(r"^def \w*", f"def {name}", signature)
                signature = re.sub(r"ndarray\[dtype=(\w+)[^]]*\]", r"NDArray[\1]", signature)
                # So nanobind has it with Python 3.9.
                signature = re.sub(r"typing.Optional\[([^][]+(\[\w+\])?)\]", r"\1 | None", signature)
                signature = re.sub(r"\\(\d+)", lambda at: repr(defaults[int(at[1])]), signature)
                lines += ["@property"] * isinstance(thing, property) + [f"{signature}: ..."]
        elif isinstance(thing, types.MethodDescriptorType):
            lines.append(f"def {name}{inspect.signature(thing)}: ...".replace("self, /", "self"))
        elif not name.startswith("_"):
            lines.append(f"{name}: {type(thing).__name__}")
    return "\n".join([*lines, "pass"])


def declared(body, holder=""):
    """What a stub declares, by name: the signatures of a function, or else a type."""
    found = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            found[holder + node.name] = "type"
            found.update(declared(node.body, f"{holder}{node.name}."))
        elif isinstance(node, ast.ImportFrom):
            found.update({each.name: "type" for each in node.names if each.name == each.asname})
        elif isinstance(node, ast.AnnAssign):
            found[holder + node.target.id] = ast.unparse(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.name != "__buffer__":  # Python's own
            is_property = "property" in map(ast.unparse, node.decorator_list)
            name = f"{holder}{node.name}{' (property)' * is_property}"
            found.setdefault(name, []).append(signature_of(node))
    return found


def signature_of(node):
    """The parameters of a function, without their types and, if only their place counts, names; and
    the names of these types and of what it returns, without modules.
    """
    node.decorator_list = []
    names = {}
    exec("from __future__ import annotations\n" + ast.unparse(node), names)
    signature = inspect.signature(names[node.name])
    parameters = [
        each.replace(annotation=each.empty, name="_" if each.kind == each.POSITIONAL_ONLY else each.name)
        for each in signature.parameters.values()
    ]
    annotations = [each.annotation for each in signature.parameters.values()]
    return parameters, [
        "object" if each is signature.empty else re.sub(r"\w+\.(?=\w)", "", each)
        for each in [*annotations, signature.return_annotation]
    ]


def agree(declaration, truth):
    """Whether a declaration is what nanobind tells, which may be less exact about types."""
    if isinstance(declaration, str) or isinstance(truth, str) or len(declaration) != len(truth):
        return declaration == truth
    for (parameters, names), (true_parameters, true_names) in zip(declaration, truth):
        patterns = [
            re.sub(r"\b(dict|int|list|object|tuple)\b(?!\\\[)", lambda at: NAMES[at[1]], re.escape(name))
            for name in true_names
        ]
        patterns[-1] += r"( \| None)?"  # of which nanobind does not tell where pointers are returned
        if parameters != true_parameters or not all(map(re.fullmatch, patterns, names)):
            return False
    return True


def differences(stub):
    """Names that a stub declares otherwise than the extension does."""
    declarations, truths = (declared(ast.parse(text).body) for text in (stub, told()))
    return [name for name in sorted({*declarations, *truths})
            if not agree(declarations.get(name, ""), truths.get(name, ""))]


def test_the_stub_declares_what_is_there():
    assert differences(STUB) == []


@pytest.mark.parametrize("right, wrong, name", [
    ("def gpu_count() -> int: ...", "", "gpu_count"),
    ("def gpu_count()", "def gpus() -> int: ...\ndef gpu_count()", "gpus"),
    ("wait(self, event:", "wait(self, events:", "pygpu.Stream.wait"),
    ("priority: int = 0", "priority: int = 1", "pygpu.Stream.__init__"),
    ("(self, flags: int = 0) ->", "(self, flags: int) ->", "pygpu.Event.__init__"),
    ("size: SupportsIndex = 8", "size: SupportsIndex = 4", "MappedMemory.post"),
    ("nbytes: int, *, device", "nbytes: int, device", "MappedMemory.__init__"),
    ("at_most_ns: int | None", "at_most_ns: int", "BatchQueue.submit"),
    ("def driver_is_used() -> bool", "def driver_is_used() -> int", "driver_is_used"),
    ("to: npt.NDArray[np.int64]", "to: npt.NDArray[np.int32]", "BatchQueue.submit"),
    ("    @property\n    def nbytes", "    def nbytes", "MappedMemory.nbytes"),
])
def test_a_wrong_declaration_is_found(right, wrong, name):
    assert right in STUB
    assert name in differences(STUB.replace(right, wrong, 1))
