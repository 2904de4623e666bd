#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The fake GPU's memory, from the host's side.

bar.py fill FILE MIB: each word tells its offset. bar.py look FILE LOG: what the guest says that it
wrote is there.
"""

import array
import re
import sys
from pathlib import Path

BEFORE = 0x5EED << 48
AFTER = 0xC0DE << 48


def fill(path: Path, mebibytes: str) -> None:
    size = int(mebibytes) << 20
    words = array.array("Q", range(BEFORE, BEFORE + size, 8))
    path.write_bytes(words.tobytes())


def look(path: Path, log: str) -> None:
    words = array.array("Q", path.read_bytes())
    pages = re.findall(r"^HOST (\d+) (\d+)$", Path(log).read_text(errors="replace"), re.M)
    if not pages:
        sys.exit("the guest wrote nothing for the host")
    seen = 0
    for offset, size in pages:
        for at in range(int(offset), int(offset) + int(size), 8):
            if words[at // 8] != AFTER | at:
                sys.exit(f"offset {at:#x} holds {words[at // 8]:#x}")
            seen += 1
    print(f"the host found {seen} of {seen} words")


if __name__ == "__main__":
    {"fill": fill, "look": look}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
