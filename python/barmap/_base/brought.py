# SPDX-License-Identifier: MIT
"""The parts of the package beside Python: the program and libraries, where its build made them."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent.parent
PROGRAM = _PACKAGE / "bin" / "barmap"
LIBRARIES = _PACKAGE / "lib"
NO_PROGRAM = (
    "this build of the Python package has no program, since what it needs was missing: install "
    "libcli11-dev, libfmt-dev and nlohmann-json3-dev, and then the package again; or, of Debian "
    "packages, barmap-tools"
)
NO_LIBRARIES = (
    "this package brings no libraries: it uses those of the system, such as Debian's packages libgdrapi2 and "
    "libvkgdr1, which lie where the loader finds them"
)
