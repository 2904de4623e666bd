# SPDX-License-Identifier: MIT
"""Each source and each header of the tree, compiled alone: syntax only, one call of the compiler for each.

A build of many files at once (CMAKE_UNITY_BUILD) hides an include that a file lacks. What a compiler has shown already
is not asked again:
 * A source whose object lies in the build tree, made by this compiler from this file alone, compiles.
 * A header that a source, or a header shown so, includes before anything else has been compiled alone there.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import rooms

ROOMS = (*rooms.CORE, *rooms.GROUND, *rooms.SATELLITES)
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
# Headers of other projects that a machine may lack, by the package that has them.
OPTIONAL = {"Python.h": "Python's headers", "nanobind/": "nanobind", "backend/": "NIXL's headers",
            "vulkan/": "Vulkan's headers"}
# Sources of core/src/transfer/cpu that are built for Arm only.
OF_ARM = {"ls64.cpp", "neon.cpp"}


@dataclass(frozen=True)
class unit:
    """A file to be compiled alone, and how."""

    file: Path
    flags: tuple[str, ...]
    language: str  # as the compilers' -x names it
    compiled: bool = False  # the build tree holds the proof


@dataclass
class outcome:
    """What a compiler said of the units."""

    asked: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def files_of(root: Path, *suffixes: str, chosen=ROOMS) -> list[Path]:
    return sorted(path for room in chosen for path in rooms.files_in(root / room, *suffixes))


def flags_of(command: str) -> tuple[tuple[str, ...], str]:
    """What decides how a file is parsed, and the object, of a command of compile_commands.json."""
    words = shlex.split(command)
    kept, output = [], ""
    while words:
        word = words.pop(0)
        if word == "-o":
            output = words.pop(0)
        elif word in ("-isystem", "-include", "-I", "-D"):
            kept += [word, words.pop(0)]
        elif re.match(r"-[ID].|-std=", word):
            kept.append(word)
    return tuple(kept), output


def compiled_files(tree: Path) -> dict[Path, tuple[tuple[str, ...], bool]]:
    """The sources that the build tree knows: their flags, and whether an object of the file alone is there."""
    found = {}
    for entry in json.loads((tree / "compile_commands.json").read_text()):
        file = Path(entry["file"])
        flags, output = flags_of(entry["command"])
        if tree in file.parents and "Unity" in file.parts:
            for each in re.findall(r'#include "(.*)"', file.read_text()):
                found.setdefault(Path(each), (flags, False))
            continue
        made = Path(entry["directory"]) / output
        fresh = made.is_file() and file.is_file() and made.stat().st_mtime >= file.stat().st_mtime
        if file not in found or fresh:
            found[file] = (flags, fresh)
    return found


def flags_for_python(root: Path) -> tuple[str, ...]:
    """For the extension, which only pip builds (python/CMakeLists.txt)."""
    flags = ["-std=c++20", "-fvisibility=hidden", "-DVKGDR_NO_CUDA_H", f"-isystem{sysconfig.get_paths()['include']}"]
    nanobind = subprocess.run([sys.executable, "-m", "nanobind", "--include_dir"], capture_output=True, text=True,
                              check=False)
    if nanobind.returncode == 0:
        flags.append(f"-isystem{nanobind.stdout.strip()}")
    return (*flags, *(f"-I{root / each}" for each in (*rooms.CORE, ".", "python", "program")))


def nearest(file: Path, known: dict) -> tuple[str, ...]:
    """The flags of a source of the same directory, else of the nearest one."""
    def shared(other: Path) -> int:
        return len(os.path.commonpath([file, other]))
    return known[max(sorted(known), key=shared)][0] if known else ()


def first_include(text: str) -> str:
    """The file that a text includes before any other directive but `#pragma once`."""
    for line in text.splitlines():
        directive = re.match(r'\s*#\s*(\w+)\s*(?:["<](.+)[">]|(\w+))?', line)
        if directive and directive[3] != "once":
            return directive[2] or "" if directive[1] == "include" else ""
    return ""


def shown_by(source: unit) -> set[Path]:
    """The headers that a compiler which takes this source has compiled alone."""
    folders = [Path(flag[2:]) for flag in source.flags if flag.startswith("-I")]
    shown, file = set(), source.file
    while name := first_include(file.read_text()):
        file = next((place / name for place in (file.parent, *folders) if (place / name).is_file()), None)
        if file is None or file.resolve() in shown:
            break
        shown.add(file.resolve())
    return shown


def sources_and_headers(root: Path, tree: Path | None) -> tuple[list[unit], list[unit]]:
    """All files; without a build tree those of the Python extension."""
    known = {path: value for path, value in (compiled_files(tree) if tree else {}).items()
             if any(path.is_relative_to(root / room) for room in ROOMS)}
    chosen = ROOMS if tree else rooms.EXTENSION
    for_python = flags_for_python(root)

    def unit_of(path: Path, language: str) -> unit:
        if path in known:
            return unit(path, known[path][0], language, known[path][1])
        if any(path.is_relative_to(root / room) for room in rooms.EXTENSION):
            return unit(path, for_python, language)
        return unit(path, nearest(path, known), language)
    sources = [unit_of(path, "c" if path.suffix == ".c" else "c++") for path in files_of(root, ".cpp", ".c", chosen=chosen)]
    headers = [unit_of(path, "c++") for path in files_of(root, ".hpp", ".h", chosen=chosen)]
    if tree:
        headers += [unit_of(path, "c++") for path in files_of(root, ".cuh", chosen=("core/include",))]  # the CPU's side of them
        headers += [unit_of(path, "c") for path in files_of(root, ".h", chosen=("core/include",))]
    return sources, headers


def compile_alone(compiler: str, each: unit) -> str:
    """What the compiler says against the file; nothing if it takes it."""
    flags = [flag for flag in each.flags if each.language != "c" or not flag.startswith("-std=")]
    with tempfile.TemporaryDirectory() as folder:
        file = each.file
        if file.suffix in (".hpp", ".h", ".cuh"):  # a header is not compiled as the main file, where `#pragma once` is warned of
            file = Path(folder) / "alone"
            file.write_text(f'#include "{each.file}"\n#include "{each.file}"\n')
        done = subprocess.run([compiler, *WARNINGS, "-fsyntax-only", *flags, "-x", each.language, str(file)],
                              capture_output=True, text=True, check=False)
    return done.stderr.strip() or f"ended with {done.returncode}" if done.returncode else ""


def missing_package(complaint: str) -> str:
    """The package whose header a complaint misses, if it is one that a machine may lack."""
    header = re.search(r"fatal error: '?([\w./]+)'?(?: file not found|: No such file)", complaint)
    return next((package for start, package in OPTIONAL.items() if header and header[1].startswith(start)), "")


def look(compiler: str, makes_the_tree: bool, root: Path, tree: Path | None) -> outcome:
    """Has the compiler look at each file of which nothing shows yet that it compiles alone."""
    found = outcome()
    sources, headers = sources_and_headers(root, tree)
    shown: set[Path] = set()

    def ask(asked: list[unit]) -> None:
        for each, complaint in zip(asked, pool.map(lambda each: compile_alone(compiler, each), asked)):
            name = f"{each.file.relative_to(root)}, {compiler} as {each.language}"
            found.asked += 1
            if complaint and each.file.name in OF_ARM and platform.machine() != "aarch64":
                found.skipped.append(f"{name}: a compiler for Arm is not installed")
            elif package := missing_package(complaint):
                found.skipped.append(f"{name}: {package} is not installed")
            elif complaint:
                found.failed.append(f"{name}: {complaint}")
            else:
                shown.update(shown_by(each))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for each in sources:
            if makes_the_tree and each.compiled:
                shown.update(shown_by(each))
        ask([each for each in sources if not (makes_the_tree and each.compiled)])
        ask([each for each in headers if each.language == "c" or each.file.resolve() not in shown])
    return found
