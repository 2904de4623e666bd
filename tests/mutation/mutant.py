# SPDX-License-Identifier: MIT
"""A change of one place in a source, and those of a file."""

import hashlib
import re
from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass
class Mutant:
    file: str
    function: str
    line: int
    operator: str
    begin: int
    end: int
    replacement: str
    original: str        # the lines that change, in one
    mutated: str         # the same, changed
    occurrence: int = 0  # which one, where the same stands in a function twice
    id: str = field(default="", compare=False)

    def key(self) -> tuple[str, str, str, str, int]:
        """What names it as long as its line stays what it is, wherever that moves."""
        return self.file, self.function, self.original, self.mutated, self.occurrence

    def apply(self, text: str) -> str:
        return text[:self.begin] + self.replacement + text[self.end:]


class Changes:
    """Collects the mutants of a file."""

    def __init__(self, file: str, text: str, comment: str):
        """`comment` is the pattern of what follows code in a line."""
        self.file, self.text, self.comment = file, text, comment
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.found: dict[tuple[int, int, str], Mutant] = {}

    def _in_one(self, text: str) -> str:
        return " ".join(re.sub(self.comment, "", text).split())

    def add(self, operator: str, function: str, begin: int, end: int, replacement: str) -> None:
        if self.text[begin:end] == replacement:
            return
        line = bisect_right(self.starts, begin)
        line_begin = self.starts[line - 1]
        line_end = self.text.find("\n", end)
        line_end = len(self.text) if line_end < 0 else line_end
        self.found.setdefault((begin, end, replacement), Mutant(
            self.file, function, line, operator, begin, end, replacement,
            self._in_one(self.text[line_begin:line_end]),
            self._in_one(self.text[line_begin:begin] + replacement + self.text[end:line_end])))

    def all(self) -> list[Mutant]:
        """In the order of the text, with their names."""
        found = sorted(self.found.values(), key=lambda m: (m.begin, m.end, m.replacement))
        seen: dict[tuple, int] = {}
        for mutant in found:
            mutant.occurrence = seen.get(mutant.key()[:4], 0)
            seen[mutant.key()[:4]] = mutant.occurrence + 1
            mutant.id = hashlib.sha1("\0".join(map(str, mutant.key())).encode()).hexdigest()[:8]
        return found
