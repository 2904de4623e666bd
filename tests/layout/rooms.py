# SPDX-License-Identifier: MIT
"""The rooms of the source tree, for all that walks over it: tests of the layout and of the documents, and mutation."""

from pathlib import Path

# Top directories with code, a product each, and those whose code one may include, beside its own and core/include: the
# graph has no circle.
STANDS_ON = {
    "nvidia": (),
    "system": (),
    "cuda": ("nvidia", "system"),
    "core": ("cuda", "nvidia", "system"),
    "kernels": ("core",),
    "sim": ("core", "kernels", "nvidia"),
    "vkgdr": ("core", "cuda", "nvidia", "system"),
    "inference": ("core", "cuda", "nvidia", "system"),
    "program": ("core", "cuda", "kernels", "nvidia", "system"),
    "gdrcopy": ("core", "cuda", "nvidia", "program", "system"),
    "pygpu": ("core", "cuda", "nvidia", "sim", "system"),
    "python": ("core", "cuda", "gdrcopy", "nvidia", "program", "pygpu", "system", "vkgdr"),
    "bench": ("core",),
}
CODE = (*STANDS_ON, "tests", "examples")

CORE = ("core/include", "core/src")
# What the core and the libraries over it stand on.
GROUND = ("cuda", "nvidia", "system")
# Libraries over the core: other projects' interfaces, and plug-ins of other programs.
LIBRARIES = ("gdrcopy/library", "vkgdr/library", "inference/preload", "inference/nixl")
# The Python package, and what is compiled into its extension only.
EXTENSION = ("python", "pygpu/runtime")
PROGRAMS = ("program", "gdrcopy/programs")
SIMULATED = ("sim", "pygpu/sim")
SATELLITES = (*LIBRARIES, *EXTENSION, *PROGRAMS, *SIMULATED)
# Where `#include "..."` is looked for, after the file's own directory.
INCLUDED_FROM = ("core/src", "program", "sim", "python", "inference/preload", "inference/nixl", ".")


def files_in(folder: Path, *suffixes: str) -> list[Path]:
    """All files below with one of the suffixes, but for tests in a room of its own."""
    return sorted(path for path in folder.rglob("*")
                  if path.suffix in suffixes and not {"tests", "driver_tests"} & set(path.relative_to(folder).parts))
