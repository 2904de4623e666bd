# SPDX-License-Identifier: MIT
"""What the built libgdrapi is to the dynamic linker: its files, its soname, what it exports and
what it needs.

Usage: library_test.py FOLDER [SANITIZERS], the folder with libgdrapi.so, and what it was built with
"""

import os
import re
import subprocess
import sys
from pathlib import Path

FUNCTIONS = {
    "gdr_open", "gdr_close", "gdr_pin_buffer", "gdr_pin_buffer_v2", "gdr_unpin_buffer",
    "gdr_get_callback_flag", "gdr_get_info", "gdr_get_info_v2", "gdr_map", "gdr_map_v2",
    "gdr_unmap", "gdr_copy_to_mapping", "gdr_copy_from_mapping", "gdr_runtime_get_version",
    "gdr_driver_get_version", "gdr_get_attribute", "gdr_get_mapping_type_string",
    "gdr_barmap_checkpoint_prepare", "gdr_barmap_checkpoint_restore",  # of our own
}
SONAME = "libgdrapi.so.2"
FILES = ("libgdrapi.so", "libgdrapi.so.2", "libgdrapi.so.2.6")
# It brings the C++ runtime along, needs libbarmap.so.1, and
# loads the GPU's driver when it is used. Sanitizers need the runtime as a library.
NEEDED = re.compile(r"lib(barmap|c|m|dl|pthread|rt)\.so\.\d+|ld(64)?-linux.*|ld64\.so.*")
NEEDED_BY_SANITIZERS = re.compile(r"lib(stdc\+\+|gcc_s|asan|ubsan|tsan)\.so\.\d+")
# The linker's and the compiler's own, and what sanitizers and profilers put in.
NOT_INTERFACE = re.compile(r"__bss_start|_edata|_end|_init|_fini|__(asan|ubsan|tsan|odr_asan)_\w+")


def readelf(*arguments: str) -> str:
    return subprocess.run(["readelf", "--wide", *arguments], check=True, capture_output=True,
                          text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def exported(library: Path) -> dict[str, tuple[str, str]]:
    """Name, with its version if it has one -> binding and type, for what the library defines."""
    found = {}
    for line in readelf("--dyn-syms", str(library)).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit():
            continue
        kind, binding, section, name = fields[3], fields[4], fields[6], fields[7]
        if section != "UND" and binding != "LOCAL" and not NOT_INTERFACE.fullmatch(name):
            found[name] = (binding, kind)
    return found


def problems_of(folder: Path, sanitized: bool) -> list[str]:
    problems = []
    for name in FILES:
        if not (folder / name).exists():
            return [f"{folder} has no {name}"]
    if len({(folder / name).resolve() for name in FILES}) != 1:
        problems.append("the three names are not one file")
    library = folder / FILES[-1]
    if library.is_symlink():
        problems.append(f"{library.name} should be the file itself")

    dynamic = readelf("--dynamic", str(library))
    soname = re.findall(r"\(SONAME\).*\[(.*)\]", dynamic)
    if soname != [SONAME]:
        problems.append(f"soname {soname}, not {SONAME}")
    for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if not NEEDED.fullmatch(needed) and not (
                sanitized and NEEDED_BY_SANITIZERS.fullmatch(needed)):
            problems.append(f"needs {needed}")
    if re.search(r"\(TEXTREL\)", dynamic):
        problems.append("has text relocations")

    symbols = exported(library)
    for name in sorted(FUNCTIONS - symbols.keys()):
        problems.append(f"does not export {name}")
    for name in sorted(symbols.keys() - FUNCTIONS):
        problems.append(f"exports {name}, which is not of the interface")
    for name in sorted(FUNCTIONS & symbols.keys()):
        if symbols[name] != ("GLOBAL", "FUNC"):
            problems.append(f"{name} is {' '.join(symbols[name])}")
    return problems


def main() -> int:
    problems = problems_of(Path(sys.argv[1]), sanitized=len(sys.argv) > 2)
    for each in problems:
        print(each)
    print(f"{len(FUNCTIONS)} functions looked for, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
