#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The fake GPU's memory, from the host's side.

bar.py fill FILE MIB: each word of the first and last 8 MiB tells its offset. bar.py look FILE LOG: what the guest says that it
wrote is there.
"""

import array
import re
import sys
from pathlib import Path

BEFORE = 0x5EED << 48
AFTER = 0xC0DE << 48
END = 8 << 20


def fill(path: Path, mebibytes: str) -> None:
    size = int(mebibytes) << 20
    with path.open("wb") as file:
        file.truncate(size)
        for begin in (0, size - END):
            file.seek(begin)
            file.write(array.array("Q", range(BEFORE + begin, BEFORE + begin + END, 8)).tobytes())


def look(path: Path, log: str) -> None:
    pages = re.findall(r"^HOST (\d+) (\d+)$", Path(log).read_text(errors="replace"), re.M)
    if not pages:
        sys.exit("the guest wrote nothing for the host")
    seen = 0
    with path.open("rb") as file:
        for offset, size in pages:
            file.seek(int(offset))
            for at, word in enumerate(array.array("Q", file.read(int(size)))):
                if word != AFTER | int(offset) + at * 8:
                    sys.exit(f"offset {int(offset) + at * 8:#x} holds {word:#x}")
                seen += 1
    print(f"the host found {seen} of {seen} words")


if __name__ == "__main__":
    {"fill": fill, "look": look}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
