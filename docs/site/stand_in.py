# SPDX-License-Identifier: MIT
"""The Python package without its extension module, so that its reference can be made without building it.

The extension's names come from its stubs (_barmap), and the texts of its methods from docstrings.hpp.
"""

import inspect
import re
import sys
import types


def _docstrings(header):
    found = re.findall(r'inline constexpr char (\w+)\[\] =(.*?)R"\((.*?)\)";', header.read_text(), re.S)
    return {name: text for name, _, text in found}


def import_package(folder, version):
    """Makes `import barmap` work in this process, for documentation alone."""
    sys.path.insert(0, str(folder))
    package = types.ModuleType("barmap")
    package.__path__ = [str(folder / "barmap")]
    sys.modules["barmap"] = package
    # The package's __init__ imports the extension first, so that all of it is there before.
    stubs = {f"barmap._barmap.{path.stem}".removesuffix(".__init__"): path.read_text()
             for path in sorted((folder / "barmap" / "_barmap").iterdir())}
    for name in stubs:
        sys.modules[name] = types.ModuleType(name)
    for name, stub in stubs.items():
        exec(compile("from __future__ import annotations\n" + stub, name, "exec"), vars(sys.modules[name]))
    module = sys.modules["barmap._barmap"]
    del sys.modules["barmap"]
    module.version = version
    texts = _docstrings(folder / "binding" / "docstrings.hpp")
    for method, text in texts.items():
        function = getattr(module.MappedMemory, method)
        if not inspect.isfunction(function):
            raise LookupError(f"the stub has no method {method}, which docstrings.hpp describes")
        function.__doc__ = text
    import barmap

    return barmap
