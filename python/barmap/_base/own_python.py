# SPDX-License-Identifier: MIT
"""Starts another Python that has this very package."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import List


def command_of(statements: str) -> List[str]:
    """The words that start a Python which runs these statements; nothing where Python is not known.

    Not ``-m barmap``, which would look into the current directory first.
    """
    import subprocess

    if not sys.executable:
        return []
    # An empty entry also means the current directory: if it led to this package, its absolute path replaces it.
    own = str(Path(__file__).parent.parent.parent.resolve())
    path = [each for each in sys.path if isinstance(each, str)]
    if own in path or "" not in path:
        path.append(own)
    else:
        path[path.index("")] = own
    path = [each for each in path if each]
    # As multiprocessing does: -I, -E and others also apply to the new process.
    options = getattr(subprocess, "_args_from_interpreter_flags")()
    return [sys.executable, *options, "-c", f"import sys; sys.path[:] = {path!r}; {statements}"]
