# SPDX-License-Identifier: MIT
"""``python -m barmap``, and the command ``barmap``: the tool.

All but ``plot`` and ``--libdir`` is a program, which takes the place of this process.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import List, Optional

from ._base import brought

_UNAVAILABLE = 3  # the tool's own exit status for what is not there


def _take_the_place(arguments: List[str]) -> None:
    """Runs the program in this process, with signals as in a program that Python has not started.

    Python ignores SIGPIPE and SIGXFSZ, and only notes SIGINT. Its parent may have made it ignore SIGINT.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if sys.stdout:
        sys.stdout.flush()
    os.execv(brought.PROGRAM, ["barmap", *arguments])


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs the tool in place of this process; returns the exit status of ``plot``, ``--libdir`` and a missing tool."""
    if arguments is None:
        arguments = sys.argv[1:]
    if arguments[:2] == ["help", "plot"]:
        arguments = ["plot", "--help"]
    if arguments[:1] == ["plot"]:
        from ._plots.plot import main as plot

        return plot(arguments[1:])
    if arguments == ["--libdir"]:
        if not brought.LIBRARIES.is_dir():
            print(f"barmap: {brought.NO_LIBRARIES}", file=sys.stderr)
            return _UNAVAILABLE
        print(brought.LIBRARIES)
        return 0
    if not brought.PROGRAM.exists():
        print(f"barmap: {brought.NO_PROGRAM}", file=sys.stderr)
        return _UNAVAILABLE
    _take_the_place(arguments)
    return _UNAVAILABLE  # execv has not returned


if __name__ == "__main__":
    sys.exit(main())
