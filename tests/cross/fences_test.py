#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which barrier stands where in the compiled copies for arm64 and ppc64le (docs/ordering.md).

Every way through write_bytes ends in the barrier of stores, behind each store and call; every way
through read_bytes passes the barrier of loads before each load and call; every way through fill_bytes ends
in write_bytes, behind each call; posts have none.
Usage: fences_test.py arm64|ppc64le. Ends with 77 where there is no cross compiler.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROCESSORS = {
    "arm64": {"triplet": "aarch64-linux-gnu", "stores": r"dsb\s+st$", "loads": r"dmb\s+(ish)?ld$",
              "barrier": r"d[sm]b\b", "store": r"st\w*\s.*\[x0[,\]]", "load": r"ld\w*\s.*\[x1[,\]]",
              "call": r"(blr|br)\b", "last": r"br\b", "return": r"ret\b"},
    "ppc64le": {"triplet": "powerpc64le-linux-gnu", "stores": r"(hw)?sync$", "loads": r"(hw)?sync$",
                "barrier": r"(hw|lw)?sync\b", "store": r"st\w*\s+r\d+,0\(r3\)",
                "load": r"l\w+\s+r\d+,0\(r4\)", "call": r"bctrl?\b", "last": r"bctr\b",
                "return": r"blr\b"},
}
WRITE = re.compile(r"bl\s.*\bbarmap_copy_write\b")
BRANCH = re.compile(r"^(b|b\.\w+|b(?:eq|ne|l[te]|g[te])[+-]?|cbn?z|tbn?z)\s+(?:\S+,\s*)*([0-9a-f]+) <")


def disassembly(processor):
    triplet = processor["triplet"]
    if not shutil.which(triplet + "-g++"):
        print(f"skipped: there is no {triplet}-g++ here")
        sys.exit(77)
    with tempfile.NamedTemporaryFile(suffix=".o") as compiled:
        subprocess.run([triplet + "-g++", "-std=c++20", "-O2", "-DNDEBUG", f"-I{ROOT}/core/include",
                        f"-I{ROOT}/core/src", f"-I{ROOT}", "-c", ROOT / "core/src/transfer/cpu/copy.cpp", "-o", compiled.name], check=True)
        text = subprocess.run([triplet + "-objdump", "-dr", "--no-show-raw-insn", "--demangle",
                               compiled.name], check=True, capture_output=True, text=True).stdout
    functions, current = {}, {}
    for line in text.splitlines():
        if found := re.match(r"^[0-9a-f]+ <(.*)>:$", line):
            current = functions.setdefault(found.group(1), {})
        elif found := re.match(r"^\s*([0-9a-f]+): R_\w+\s+(.*\S)", line):
            at = int(found.group(1), 16)
            current[at] = f"{current.get(at, '')} {found.group(2)}"  # whom it calls
        elif found := re.match(r"^\s*([0-9a-f]+):\s+(.*\S)", line):
            current[int(found.group(1), 16)] = found.group(2)
    return functions


def ways(code, processor):
    """The instructions along each way through a function; a loop is entered once."""
    addresses = sorted(code)
    todo = [(addresses[0], [])]
    while todo:
        at, before = todo.pop()
        way = [*before, at]
        text = code[at]
        if re.match(processor["return"], text) or re.match(processor["last"], text):
            yield [code[each] for each in way]
            continue
        following = [each for each in addresses if each > at][:1]
        if found := BRANCH.match(text):
            target = int(found.group(2), 16)
            following = [target] if found.group(1) == "b" else [target, *following]
        todo += [(each, way) for each in following if each not in way]


def is_barrier(processor, kind, text):
    return re.match(processor[kind], text) or kind == "stores" and WRITE.match(text)


def check(functions, processor):
    faults = []

    def look(name, fenced, touched, least):
        seen = 0
        for way in ways(functions[name], processor):
            clean = False
            for text in way:
                if is_barrier(processor, fenced, text):
                    clean = True
                elif re.match(processor[touched], text) or re.match(processor["call"], text):
                    seen += 1
                    if touched == "store":
                        clean = False
                    elif not clean:
                        faults.append(f"{name}: no barrier before {text}")
            if not clean:
                faults.append(f"{name}: a way without a barrier at its end: {way}")
        if seen < least:
            faults.append(f"{name}: {least} accesses and calls were expected, {seen} were found")

    look("barmap_copy_write", "stores", "store", 5)  # four words and a call
    look("barmap_copy_read", "loads", "load", 5)
    look("barmap_copy_fill", "stores", "store", 1)  # what it calls for all but the last piece
    for name, barrier in (("barmap_flush_stores", "stores"), ("barmap_order_loads", "loads")):
        if not any(re.match(processor[barrier], text) for text in functions[name].values()):
            faults.append(f"{name}: no barrier")
    for name in ("barmap_copy_post_word", "barmap_copy_post_line"):
        if any(re.match(processor["barrier"], text) for text in functions[name].values()):
            faults.append(f"{name}: a barrier")
    return faults


def main():
    processor = PROCESSORS[sys.argv[1]]
    functions = disassembly(processor)
    faults = check(functions, processor)
    # The check itself: it finds each barrier that is missing.
    for name, kind in (("barmap_copy_write", "stores"), ("barmap_copy_read", "loads"), ("barmap_flush_stores", "stores"),
                       ("barmap_order_loads", "loads"), ("barmap_copy_fill", "stores")):
        for at, text in functions[name].items():
            if is_barrier(processor, kind, text):
                less = {**functions, name: {**functions[name], at: "nop"}}
                if not check(less, processor):
                    faults.append(f"{name}: nobody misses the barrier at {at:x}")
    print("\n".join(faults) or f"{sys.argv[1]}: every barrier is where it should be")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
