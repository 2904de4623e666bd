# SPDX-License-Identifier: MIT
"""``python -m barmap``, and the command ``barmap``: the tool.

All but ``plot`` is the program that the package carries.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import List, Optional

_UNAVAILABLE = 3  # the tool's own exit status for what is not there
_PROGRAM = Path(__file__).with_name("barmap")
_MISSING = (
    "this build of the Python package has no program, since what it needs was missing: install "
    "libcli11-dev, libfmt-dev and nlohmann-json3-dev, and then the package again; or, of Debian "
    "packages, barmap-tools"
)


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs the tool in the place of this process; returns only for ``plot`` and without a program."""
    if arguments is None:
        arguments = sys.argv[1:]
    if arguments[:1] == ["plot"]:
        from ._plot import main as plot

        return plot(arguments[1:])
    if not _PROGRAM.exists():
        print(f"barmap: {_MISSING}", file=sys.stderr)
        return _UNAVAILABLE
    sys.stdout.flush()
    os.execv(_PROGRAM, ["barmap", *arguments])


if __name__ == "__main__":
    sys.exit(main())
