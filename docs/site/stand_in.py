# SPDX-License-Identifier: MIT
"""The Python package without its extension module, so that its reference can be made without building it.

What the extension has is in its stub (_barmap.pyi), and the text of its methods in docstrings.hpp.
"""

import inspect
import re
import sys
import types


def _docstrings(header):
    found = re.findall(r'inline constexpr char (\w+)\[\] =(.*?)R"\((.*?)\)";', header.read_text(), re.S)
    return {name: text for name, _, text in found}


def _give_values(submodule, header, prefix):
    """The constants that the stub tells of are those of a C header."""
    text = header.read_text()
    for name in submodule.__annotations__:
        setattr(submodule, name, int(re.search(rf"\b{prefix}{name} = (\d+)", text).group(1)))


def import_package(folder, version):
    """Makes `import barmap` work in this process, for documentation alone."""
    sys.path.insert(0, str(folder))
    name = "barmap._barmap"
    module = types.ModuleType(name)
    module.__package__ = "barmap"
    module.version = version
    # The package's __init__ imports the extension first, so that this is there before it.
    sys.modules[name] = module
    package = types.ModuleType("barmap")
    package.__path__ = [str(folder / "barmap")]
    sys.modules["barmap"] = package
    stub = "from __future__ import annotations\n" + (folder / "barmap" / "_barmap.pyi").read_text()
    exec(compile(stub, name, "exec"), module.__dict__)
    _give_values(module.gdrapi, folder.parent / "gdrcopy/library/gdrapi.h", "GDR_")
    _give_values(module.vkgdr, folder.parent / "vkgdr/library/vkgdr.h", "VKGDR_")
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
