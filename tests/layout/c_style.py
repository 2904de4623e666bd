# SPDX-License-Identifier: MIT
"""Files of C and C++, and their code without comments."""

import re
from pathlib import Path

import rooms

_COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def sources(folder: Path) -> list[Path]:
    return rooms.files_in(folder, ".cpp", ".hpp", ".c", ".h")


def without_comments(text: str, *, keep_strings: bool) -> str:
    """The text with comments (and strings) blanked out; lines keep their numbers."""
    def blank(match: re.Match) -> str:
        found = match.group()
        if found[0] in "\"'" and keep_strings:
            return found
        return re.sub(r"[^\n]", " ", found)
    return _COMMENT_OR_STRING.sub(blank, text)
