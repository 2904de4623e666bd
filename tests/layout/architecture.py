# SPDX-License-Identifier: MIT
"""The rules of docs/design.md that a machine can hold, as functions.

Each takes the root of a source tree and returns what breaks the rule, one line for each place.
"""

import re
import subprocess
import tempfile
from pathlib import Path

CODE_ROOMS = ("include", "src", "sim", "shims", "python", "tools", "kernel", "tests", "examples")
CODE_SUFFIXES = {".cpp", ".hpp", ".cuh", ".c", ".h", ".py"}
MOST_LINES = 450
BANNED_NAMES = {"util", "utils", "common", "misc", "helper", "helpers", "internal"}

_COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def code_files(root: Path) -> list[Path]:
    files = []
    for room in CODE_ROOMS:
        files += (p for p in (root / room).rglob("*") if p.is_file())
    return sorted(p for p in files if "__pycache__" not in p.parts)


def sources(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix in {".cpp", ".hpp", ".c", ".h"})


def without_comments(text: str, *, keep_strings: bool) -> str:
    """The text with comments (and strings) blanked out; lines keep their numbers."""
    def blank(match: re.Match) -> str:
        found = match.group()
        if found[0] in "\"'" and keep_strings:
            return found
        return re.sub(r"[^\n]", " ", found)
    return _COMMENT_OR_STRING.sub(blank, text)


def _find(root: Path, files: list[Path], pattern: str, *, keep_strings: bool,
          what: str) -> list[str]:
    found = []
    for path in files:
        text = without_comments(path.read_text(), keep_strings=keep_strings)
        for number, line in enumerate(text.splitlines(), 1):
            for match in re.finditer(pattern, line):
                found.append(f"{path.relative_to(root)}:{number}: {what}: {match.group().strip()}")
    return found


def _outside(folder: Path, *rooms: str) -> list[Path]:
    return [p for p in sources(folder) if not any(folder / room in p.parents for room in rooms)]


def system_calls_outside_os(root: Path) -> list[str]:
    """Only src/os calls open, ioctl, mmap, dlopen and their kin."""
    files = _outside(root / "src", "os")
    # A method or a qualified name is not a call of the system's function; `::name(` is.
    plain = r"(?<![\w.>:])(?:::)?(?:ioctl|mmap|munmap|madvise|mprotect|dlopen|dlsym|dlclose|fcntl|openat|syscall)\s*\("
    qualified = r"(?<!\w)::(?:open|close|dup|dup2|read|write|pread|pwrite|fork)\s*\("
    headers = r"#\s*include\s*<(?:dlfcn\.h|sys/syscall\.h)>"
    found = _find(root, files, f"{plain}|{qualified}|{headers}", keep_strings=True,
                  what="calls the system")
    abi = [p for p in files if p.name != "abi.hpp"]  # its macros make the request numbers
    return found + _find(root, abi, r"#\s*include\s*<sys/ioctl\.h>", keep_strings=True,
                         what="may call the system")


def environment_outside_config(root: Path) -> list[str]:
    """Only src/config reads the environment, for it knows when not to."""
    folders = [root / "src", root / "shims", root / "python"]
    files = [p for folder in folders for p in _outside(folder, "config")]
    return _find(root, files, r"\b(?:secure_)?getenv\s*\(|\benviron\b", keep_strings=False,
                 what="reads the environment")


def driver_symbols_outside_cuda(root: Path) -> list[str]:
    """Only src/cuda names the CUDA driver's functions."""
    return _find(root, _outside(root / "src", "cuda"), r'"cu[A-Z]\w*"|(?<![\w.>:])cu[A-Z]\w*\s*\(',
                 keep_strings=True, what="names a driver function")


def driver_functions_in_the_wrong_group(root: Path) -> list[str]:
    """The table of the CUDA driver's functions tells the library's from those of programs and tests."""
    table = root / "src/cuda/driver_api.hpp"
    text = table.read_text() if table.exists() else ""
    of_library, _, of_others = text.partition("BARMAP_CUDA_OTHER_FUNCTIONS(X)")
    code = "".join(p.read_text() for room in ("src", "shims") for p in sources(root / room)
                   if p != table)
    called = set(re.findall(r"(?:\.|->)(\w+)", code))
    return [f"{table.relative_to(root)}: {member} is in the wrong group"
            for group, wanted in ((of_library, True), (of_others, False))
            for member in re.findall(r"X\((\w+), \"", group) if (member in called) != wanted]


def vulkan_headers_outside_vulkan(root: Path) -> list[str]:
    """Only src/backend/vulkan includes Vulkan's headers (and tests/vulkan)."""
    files = [p for p in code_files(root) if p.suffix in CODE_SUFFIXES - {".py"}
             and root / "src/backend/vulkan" not in p.parents
             and root / "tests/vulkan" not in p.parents]
    return _find(root, files, r"#\s*include\s*<vulkan/[^>]*>", keep_strings=True,
                 what="includes a Vulkan header")


def backends(root: Path) -> list[str]:
    return sorted(p.name for p in (root / "src/backend").iterdir() if p.is_dir())


def backends_named_by_the_core(root: Path) -> list[str]:
    """The core (src/*.cpp, src/*.hpp) reaches backends through the list only."""
    # error.cpp names error categories, which some backends share their names with.
    core = [p for p in sources(root / "src")
            if p.parent == root / "src" and p.name != "error.cpp"]
    names = "|".join(backends(root))
    return _find(root, core, rf'"(?:{names})"|backend/(?:{names})/|make_(?:{names})\b|\b(?:{names})::',
                 keep_strings=True, what="names a backend")


# Which rooms of src a room may include; "." is the core itself.
ALLOWED_INCLUDES = {
    "os": {"os"},
    "config": {"config", "os"},
    "cuda": {"cuda", "config", "os", "log.hpp"},
    "copy": {"copy", "config", "log.hpp"},
    "rm": {"rm", "cuda", "os"},
    "engine": {"engine", "rm", "cuda", "copy", "os"},
    "backend": {"backend", "rm", "cuda", "copy", "os"},
    "signal": {"signal", "cuda", "os"},
}
# Public headers of plain types, for every room, and those that declare what a room defines. The signals are built
# on the public interface.
PLAIN_HEADERS = {"error.hpp", "export.hpp", "report.hpp", "types.hpp", "version.hpp"}
HEADERS_OF = {"copy": {"copy.hpp", "window.hpp"}}
ABOVE_THE_INTERFACE = {"signal"}
# Files of the core that belong to the lowest room: everything may throw an error or log.
LOWEST_FILES = {"error.cpp": set(), "log.hpp": {"config"}, "log.cpp": {"config", "log.hpp"}}


def includes_against_the_flow(root: Path) -> list[str]:
    """Rooms include downwards only, a backend never another one, headers never the inside."""
    found = []
    for room, allowed in ALLOWED_INCLUDES.items():
        for path in sources(root / "src" / room):
            for included in re.findall(r'#\s*include\s*"([^"]+)"', path.read_text()):
                parts = Path(included).parts
                beside = (path.parent / included).exists() and len(parts) == 1
                if parts[0] not in allowed and not beside:
                    found.append(f"{path.relative_to(root)}: {room} includes {included}")
            headers = PLAIN_HEADERS.union(*(HEADERS_OF.get(each, ()) for each in allowed))
            for included in re.findall(r"#\s*include\s*<barmap/([^>]+)>", path.read_text()):
                if room not in ABOVE_THE_INTERFACE and included not in headers:
                    found.append(f"{path.relative_to(root)}: {room} includes <barmap/{included}>")
    for name, allowed in LOWEST_FILES.items():
        path = root / "src" / name
        text = path.read_text() if path.exists() else ""
        for included in re.findall(r'#\s*include\s*"([^"]+)"', text):
            if Path(included).parts[0] not in allowed:
                found.append(f"src/{name}: {name} includes {included}")
    for name in backends(root):
        for path in sources(root / "src/backend" / name):
            for other in re.findall(r'#\s*include\s*"backend/(\w+)/', path.read_text()):
                if other != name:
                    found.append(f"{path.relative_to(root)}: backend {name} includes {other}")
    return found + _find(root, sources(root / "include"), r'#\s*include\s*"[^"]*"',
                         keep_strings=True, what="a public header includes by quotes")


def long_files(root: Path) -> list[str]:
    """A file can be read in one sitting, unless a script made it: the second line says so."""
    found = []
    for path in code_files(root):
        if path.suffix in CODE_SUFFIXES:
            text = path.read_text()
            lines = text.count("\n")
            is_made = "".join(text.splitlines()[1:2]).startswith("// Made by scripts/")
            if lines > MOST_LINES and not is_made:
                found.append(f"{path.relative_to(root)}: {lines} lines")
    return found


def files_without_licence(root: Path) -> list[str]:
    """Each file of code starts with its licence, after a #! line if it has one."""
    found = []
    for path in code_files(root):
        if path.suffix not in CODE_SUFFIXES:
            continue
        lines = path.read_text().splitlines()
        first = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
        if not first or "SPDX-License-Identifier: " not in first[0]:
            found.append(f"{path.relative_to(root)}: no SPDX line")
    return found


def names_that_say_nothing(root: Path) -> list[str]:
    """No room or file is a drawer for odds and ends."""
    found = set()
    for path in code_files(root):
        inside = path.relative_to(root)
        for part in inside.parts:
            if BANNED_NAMES & set(re.split(r"[._]", part.lower())):
                found.add(f"{inside}: {part}")
    return sorted(found)


def headers_that_need_others(root: Path, compiler: str) -> list[str]:
    """Each public header compiles alone, without a warning, and may be included twice."""
    found = []
    include = root / "include"
    for header in sorted(include.rglob("*.hpp")):
        name = header.relative_to(include)
        with tempfile.NamedTemporaryFile("w", suffix=".cpp") as unit:
            unit.write(f"#include <{name}>\n#include <{name}>\n")
            unit.flush()
            command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                       "-fsyntax-only", f"-I{include}", unit.name]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            found.append(f"{name} with {compiler}: {result.stderr.strip().splitlines()[0]}")
    return found


# Those that look at text only.
RULES = (system_calls_outside_os, environment_outside_config, driver_symbols_outside_cuda,
         driver_functions_in_the_wrong_group, vulkan_headers_outside_vulkan, backends_named_by_the_core,
         includes_against_the_flow, long_files, files_without_licence, names_that_say_nothing)
