# SPDX-License-Identifier: MIT
"""What ``barmap --help`` lists."""

from __future__ import annotations

import re
import subprocess

# What the program takes without listing it, since it is known to read wrong values.
UNLISTED = {"fresh": {"--demonstrate-stale"}}


def _help(program: str, *words: str) -> str:
    asked = [program, *words, "--help"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout


def subcommands(program: str) -> list[str]:
    """The names of the subcommands."""
    listed = _help(program).partition("\nSubcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  (\w+)", listed, flags=re.M)


def options(program: str, *subcommand: str) -> set[str]:
    """The options of the program, or of one subcommand, in every spelling."""
    found: set[str] = set()
    for line in _help(program, *subcommand).splitlines():
        words = re.match(r"  (-[^ ]+)( |$)", line)
        if words:
            found.update(words.group(1).split(","))
    for name in subcommand:
        found |= UNLISTED.get(name, set())
    return found
