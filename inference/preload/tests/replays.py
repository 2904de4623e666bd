#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replays the batches of programs (replay.cpp) without libbarmap-memcpy and with it, in turn, and prints each figure's
median of both with the least and the most, and their ratio: the figures of docs/memcpy.md. Needs a GPU.

Usage: replays.py PROGRAM LIBRARY [--runs N] [CASE...]
    build/test/bin/memcpy/memcpy_replay is the program, build/test/lib/libbarmap-memcpy.so the library
"""

import argparse
import os
import statistics
import subprocess
import sys

CASES = ("programs", "both", "chain", "turns", "beside", "first", "left", "capture")


def figures(program, case, preload):
    """What one run prints: {"case,what,unit": value}."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BARMAP_")}
    if preload:
        environment["LD_PRELOAD"] = preload
    try:
        done = subprocess.run([program, case], env=environment, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        sys.exit(f"{case} {'with' if preload else 'without'} the library did not end in 300 s")
    if done.returncode != 0:
        sys.exit(f"{case} {'with' if preload else 'without'} the library: exit status {done.returncode}\n{done.stderr}")
    return {what: float(value) for what, value in (line.rsplit(",", 1) for line in done.stdout.splitlines())}


def spread(values):
    return f"{statistics.median(values):.4g},{min(values):.4g},{max(values):.4g}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program")
    options.add_argument("library")
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    given = options.parse_intermixed_args()
    if unknown := set(given.cases) - set(CASES):
        options.error(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    print("case,what,unit,without,least,most,with,least,most,with/without")
    for case in given.cases or CASES:
        without, with_it = {}, {}
        for _ in range(given.runs):
            for found, preload in ((without, ""), (with_it, given.library)):
                for what, value in figures(given.program, case, preload).items():
                    found.setdefault(what, []).append(value)
        for what in without:
            columns = what.split(",")
            ratio = statistics.median(with_it[what]) / (statistics.median(without[what]) or float("nan"))
            shown = "" if columns[-1] == "ns more" else f"{ratio:.3f}"
            print(f"{columns[0]},{' '.join(columns[1:-1])},{columns[-1]},{spread(without[what])},"
                  f"{spread(with_it[what])},{shown}", flush=True)


if __name__ == "__main__":
    main()
