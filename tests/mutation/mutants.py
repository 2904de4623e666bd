# SPDX-License-Identifier: MIT
"""Which mutants there are, and in which order and number they are tried."""

import hashlib
import random
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "layout"))
import rooms  # noqa: E402

import cpp_mutants
import python_mutants
from mutant import Mutant

# All code of ours but the programs.
FOLDERS = ("core/src", *rooms.GROUND, *rooms.LIBRARIES, "core/include/barmap", *rooms.EXTENSION)
# Folders and files that are tried unless others are named. What else is public rebuilds nearly everything.
SIGNALS = ("arena", "byte_ring", "ring", "rpc", "counter", "shared_signal", "signal_words", "slots", "step_tensors")
USUAL = ("core/src", *rooms.GROUND, *rooms.LIBRARIES, *rooms.EXTENSION, "core/include/barmap/gpu", *(f"core/include/barmap/{name}.hpp" for name in SIGNALS))
SUFFIXES = {".cpp", ".hpp", ".inc", ".cuh", ".c", ".h", ".py"}
# Compiled for other processors only.
ELSEWHERE = {"core/src/transfer/cpu/neon.cpp", "core/src/transfer/cpu/ls64.cpp"}
# Run only where the processor has it, by its name in /proc/cpuinfo.
INSTRUCTIONS = {"core/src/transfer/cpu/sse41.cpp": "sse4_1", "core/src/transfer/cpu/avx2.cpp": "avx2", "core/src/transfer/cpu/avx512.cpp": "avx512f",
                "core/src/transfer/cpu/erms.cpp": "erms", "core/src/transfer/cpu/movdir64b.cpp": "movdir64b"}


def is_below(file: str, places: tuple[str, ...] | list[str]) -> bool:
    return any(file == place or file.startswith(place.rstrip("/") + "/") for place in places)


def mutants_of(file: str, text: str) -> list[Mutant]:
    """Every mutant of a file, in the order of the text."""
    if file in ELSEWHERE:
        return []
    return (python_mutants if file.endswith(".py") else cpp_mutants).mutants_of(file, text)


def in_turn(mutants: list[Mutant], seed: str) -> list[Mutant]:
    """The mutants in the order of trial: shuffled, the operators taking turns, lines once before twice."""
    groups: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        groups.setdefault(mutant.operator, []).append(mutant)
    for group in groups.values():
        group.sort(key=lambda m: hashlib.sha1(f"{seed}{m.id}".encode()).digest())
    order = sorted(groups)
    random.Random(seed).shuffle(order)
    result, later, lines = [], [], set()
    while any(groups.values()):
        for operator in order:
            if groups[operator]:
                mutant = groups[operator].pop()
                (later if mutant.line in lines else result).append(mutant)
                lines.add(mutant.line)
    return result + later


def drawn(sizes: dict[str, int], count: int, seed: str) -> dict[str, int]:
    """How many mutants each file gets: of all there are, each is as likely to be drawn as any other."""
    names = sorted(sizes)
    total = sum(sizes.values())
    return dict(Counter(random.Random(seed).sample(names, min(count, total), counts=[sizes[name] for name in names])))


def all_mutants(root: Path) -> dict[str, list[Mutant]]:
    """By file, as far as this processor can run them."""
    processor = set(Path("/proc/cpuinfo").read_text().split())
    found = {}
    for folder in FOLDERS:
        for path in rooms.files_in(root / folder, *SUFFIXES):
            name = str(path.relative_to(root))
            if INSTRUCTIONS.get(name, "") in processor | {""}:
                found[name] = mutants_of(name, path.read_text())
    return found
