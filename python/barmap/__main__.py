# SPDX-License-Identifier: MIT
"""``python -m barmap``, and the command ``barmap``: the tool.

All but ``plot`` is a part of the extension module, or, where that was built without it, the program of another
package that lies beside it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Iterator, List, Optional

from . import _barmap
from ._own_python import command_of

_UNAVAILABLE = 3  # the tool's own exit status for what is not there
_PROGRAM = Path(__file__).with_name("barmap")
_MISSING = (
    "this build of the Python package has no program, since what it needs was missing: install "
    "libcli11-dev, libfmt-dev and nlohmann-json3-dev, and then the package again; or, of Debian "
    "packages, barmap-tools"
)


def _is_inside() -> bool:
    """Whether the tool is a part of the extension module."""
    return hasattr(_barmap, "run_program")


def _own_command() -> List[str]:
    """The words that start this tool of this very package, before its arguments; nothing where Python is not known."""
    return command_of("from barmap.__main__ import main; sys.exit(main())")


@contextlib.contextmanager
def _signals_of_a_program() -> Iterator[None]:
    """Signals as in a stand-alone program, not as Python sets them.

    Python ignores SIGPIPE and SIGXFSZ, and only notes SIGINT. Its parent may have made it ignore SIGINT. Threads
    other than the main one may not change signals.
    """
    changed = []
    if threading.current_thread() is threading.main_thread():
        changed = [signal.SIGPIPE, signal.SIGXFSZ]
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            changed.append(signal.SIGINT)
    before = [signal.signal(each, signal.SIG_DFL) for each in changed]
    try:
        yield
    finally:
        for each, handler in zip(changed, before):
            if handler is not None:  # not installed by Python
                signal.signal(each, handler)


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs the tool and returns its exit status; a program of another package takes the place of this process."""
    if arguments is None:
        arguments = sys.argv[1:]
    if arguments[:2] == ["help", "plot"]:
        arguments = ["plot", "--help"]
    if arguments[:1] == ["plot"]:
        from ._plot import main as plot

        return plot(arguments[1:])
    if not _is_inside() and not _PROGRAM.exists():
        print(f"barmap: {_MISSING}", file=sys.stderr)
        return _UNAVAILABLE
    if sys.stdout:
        sys.stdout.flush()
    with _signals_of_a_program():
        if not _is_inside():
            os.execv(_PROGRAM, ["barmap", *arguments])
        again = _own_command() if arguments[:1] == ["sim"] else []
        return _barmap.run_program(
            [os.fsencode(each) for each in ("barmap", *arguments)], [os.fsencode(each) for each in again])


if __name__ == "__main__":
    sys.exit(main())
