#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes a source in one place at a time and sees whether a test fails.

    tests/mutation/run.py                       # 240 mutants, drawn by a seed from all code
    tests/mutation/run.py --files core/src/map/rm core/src/api/pin.cpp --count 40
    tests/mutation/run.py --files core/include/barmap/copy.hpp --count 10   # public headers are tried if named
    tests/mutation/run.py --files core/src/transfer/cpu --programs bin/copy_tests   # judged by these alone
    tests/mutation/run.py --only 1a2b3c4d       # these again; "survived": all without an explanation
    tests/mutation/run.py --list                # what would be tried, without doing it

Sources are core/src, the libraries over it, the GPU's side of rings and other signals with what the CPU's needs, and the
Python package with its compiled parts. Each mutant is as likely to be drawn as any other, so that a file counts as
much as it has code; the plug-in for NIXL takes part where --nixl says where NIXL's headers are. The tree is copied
and built in build/mutation, and the package installed there, where a second run starts from. A mutant that does not
compile, or that compiles to what was there before, is not
counted; the next one of its file takes its place. Verdicts go to tests/mutation/verdicts; a run of chosen files
or mutants changes only theirs.
Not run are tests that need a GPU, an emulated machine, an installed tree or the program barmap (which has a
second look at what the library's own tests see), and what judges the text of the source or the shape of the
binaries. A public header is judged by what tests it first of all. No mutant is made of a copy routine that this
processor lacks the instructions for. Survivors that no test could kill are explained in
tests/mutation/explained.json.
"""

import argparse
import hashlib
import json
import sys
import time
from pathlib import Path

import mutants
import report
import workplace
from mutant import Mutant
from python_place import PythonPlace
from workplace import Place, Test, Workplace

ROOT = Path(__file__).resolve().parents[2]
NO_HINTS = {"core", "src", "library", "backend", "include", "barmap", "python", "gpu"}
FIRST_LIMIT_S = 300  # of a test, as long as nobody knows how long it takes


class History:
    """Which tests have killed what, so that the likeliest one comes first."""

    def __init__(self, tests: list[Test]):
        self.tests = tests
        self.kills: list[tuple[str, str]] = []

    def add(self, file: str, test: str) -> None:
        self.kills.append((file, test))

    def order(self, file: str) -> list[Test]:
        folder = file.rsplit("/", 1)[0]
        words = {word.strip("_") for word in file.rsplit(".", 1)[0].split("/")} - NO_HINTS
        score = {t.name: sum(word in t.name + " " + t.command[0].rsplit("/", 1)[-1] for word in words)
                 for t in self.tests}
        for other, test in self.kills:
            if test in score:  # not of another day
                score[test] += 100 if other == file else 10 if other.startswith(folder + "/") else 1
        return sorted(self.tests, key=lambda t: (-score[t.name], round(t.seconds, 1), t.name))


def judge(place: Place, history: History, mutant: Mutant,
          patience_s: float) -> tuple[str, str]:
    """The verdict and what led to it: the test that failed, or why there is nothing to test."""
    place.put(mutant.file, mutant.apply((ROOT / mutant.file).read_text()))
    state: dict[str, bool] = {}  # by target: whether it differs from the unmutated one
    skipped = ""
    used_s = 0.0
    ranks = {test.name: place.rank(test, mutant.file) for test in history.tests}
    judges = [test for test in history.order(mutant.file) if ranks[test.name] is not None]
    for test in sorted(judges, key=lambda test: ranks[test.name]):
        for target in test.targets:
            if target not in state:
                built, output = place.make([target])
                if not built:
                    return "invalid", next((line for line in output.splitlines() if "error" in line), "")
                state[target] = place.changed(target)
        if not any(state[target] for target in test.targets):
            continue
        used_s += test.seconds
        if used_s > patience_s:
            skipped = "(the likeliest tests were run)"
            break
        limit_s = 10 * test.seconds + 10
        result = place.run(test, limit_s)
        if result in ("failed", "timeout") and place.run(test, limit_s) == "passed":
            print(f"  {test.name}: {result} once and then passed: not counted", flush=True)
            continue
        if result in ("failed", "timeout"):
            history.add(mutant.file, test.name)
            return ("killed" if result == "failed" else "timeout"), test.name
        if result == "skipped":
            skipped = f"({test.name} skips itself)"
    if not any(state.values()):
        return "same", "the compiler makes the same of both"
    if place.same_when_optimised(mutant.file, mutant.apply((ROOT / mutant.file).read_text())):
        return "same", "the optimiser makes the same of both"
    return "survived", skipped


def chosen(options: argparse.Namespace) -> tuple[dict[str, list[Mutant]], dict[str, int]]:
    """By file: the mutants in the order of trial, and how many of them count."""
    found = mutants.all_mutants(ROOT)
    if options.files:
        found = {f: m for f, m in found.items()
                 if mutants.is_below(f, options.files)}
    elif not options.only:
        found = {f: m for f, m in found.items() if mutants.is_below(f, mutants.USUAL)}
    if not options.nixl and any(f.startswith("inference/nixl/") for f in found):
        found = {f: m for f, m in found.items() if not f.startswith("inference/nixl/")}
        print("inference/nixl is left out: say with --nixl where NIXL's headers are", file=sys.stderr)
    if options.only:
        ids = set(options.only)
        if "survived" in ids:
            why = report.explanations(ROOT / report.EXPLAINED)
            ids |= {row["id"] for row in report.read_table(options.output)
                    if row["verdict"] == "survived" and report.key(row) not in why}
        kept = {f: [m for m in all_ if m.id in ids] for f, all_ in found.items()}
        missing = ids - {"survived"} - {m.id for all_ in kept.values() for m in all_}
        for name in sorted(missing):
            print(f"{name}: there is no such mutant now", file=sys.stderr)
        return kept, {f: len(all_) for f, all_ in kept.items() if all_}
    order = {f: mutants.in_turn(all_, f"{options.seed}:{f}") for f, all_ in found.items()}
    return order, mutants.drawn({f: len(all_) for f, all_ in order.items()}, options.count, str(options.seed))


def state_of(place: Place, test: Test) -> str:
    """What the test's unmutated result depends on: its programs, libraries and scripts."""
    scripts = [Path(a).read_text() for a in test.command if a.endswith((".py", ".sh")) and Path(a).is_file()]
    return hashlib.sha1(json.dumps([*place.state_of(test), *scripts]).encode()).hexdigest()


def pass_unmutated(place: Place, tests: list[Test]) -> list[Test]:
    """Runs each test and ends if one fails. Returns those that say something, with their times.

    A test that has passed before as it is now is not run again.
    """
    memory = place.folder / "unmutated.json"
    known = json.loads(memory.read_text()) if memory.exists() else {}
    states = {t.name: state_of(place, t) for t in tests}
    new = [t for t in tests if known.get(t.name, {}).get("state") != states[t.name]]
    print(f"{len(tests)} tests, of which {len(new)} run unmutated now", flush=True)
    failed = []
    for test in new:
        result = place.time(test, FIRST_LIMIT_S)
        if result not in ("passed", "skipped") and place.time(test, FIRST_LIMIT_S) != "passed":
            failed.append(test.name)
            continue
        known[test.name] = {"state": states[test.name], "seconds": test.seconds,
                            "left_out": {"passed": "", "skipped": "skips itself"}.get(result, "passes and fails")}
        memory.write_text(json.dumps(known))
    if failed:
        sys.exit("unmutated tests fail: " + " ".join(failed))
    for test in tests:
        test.seconds = known[test.name]["seconds"]
    kept = [t for t in tests if not known[t.name]["left_out"]]
    for why in ("skips itself", "passes and fails"):
        names = [t.name for t in tests if known[t.name]["left_out"] == why]
        if names:
            print(f"left out, since each {why}: {len(names)}, as {names[0]}", flush=True)
    print(f"{len(kept)} tests take {sum(t.seconds for t in kept):.0f} s", flush=True)
    return kept


class Run:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.order, self.share = chosen(options)
        self.journal = options.work / "verdicts.jsonl"
        self.rows: list[dict] = []
        self.tests = 0
        self.known: dict[str, dict] = {}
        if (options.resume or options.report) and self.journal.exists():
            for line in self.journal.read_text().splitlines():
                row = json.loads(line)
                self.known[row["id"]] = row
        elif self.journal.exists():
            self.journal.unlink()

    def try_file(self, place: Place, history: History, file: str) -> None:
        counted = 0
        content = hashlib.sha1((ROOT / file).read_bytes()).hexdigest()
        for mutant in self.order[file]:
            if counted >= self.share[file]:
                return
            row = self.known.get(mutant.id)
            if row is None or row["content"] != content:
                begin = time.monotonic()
                verdict, by = judge(place, history, mutant, self.options.patience)
                row = {"id": mutant.id, "file": file, "line": mutant.line, "function": mutant.function,
                       "operator": mutant.operator, "verdict": verdict, "by": by,
                       "original": mutant.original, "mutated": mutant.mutated,
                       "seconds": round(time.monotonic() - begin, 1), "content": content}
                with self.journal.open("a") as journal:
                    journal.write(json.dumps(row) + "\n")
            counted += row["verdict"] in report.COUNTED
            self.rows.append(row)
            done = sum(r["verdict"] in report.COUNTED for r in self.rows)
            print(f"{done}/{sum(self.share.values())} {row['id']} {file}:{row['line']} "
                  f"{row['operator']}: {row['verdict']} {row['by']} ({row['seconds']} s)", flush=True)

    def run(self) -> None:
        files = sorted(self.share, key=lambda f: (-self.share[f], f))
        python = [f for f in files if f.startswith("python/")]
        others = [f for f in files if not f.startswith("python/")]
        if python:
            self.run_in(PythonPlace(ROOT, self.options.work), python)
        if others:
            self.run_in(Workplace(ROOT, self.options.work, self.options.programs, self.options.nixl), others)
        self.write()

    def run_in(self, place: Place, files: list[str]) -> None:
        print("building", flush=True)
        tests = pass_unmutated(place, place.prepare(self.options.jobs))
        self.tests += len(tests)
        history = History(tests)
        for row in [*report.read_table(self.options.output), *self.known.values()]:
            if row["verdict"] == "killed":
                history.add(row["file"], row["by"])
        for file in files:
            try:
                self.try_file(place, history, file)
            finally:
                place.restore(file)

    def write(self) -> None:
        partial = bool(self.options.files or self.options.only)
        command = " ".join(["tests/mutation/run.py", *sys.argv[1:]])
        report.write(ROOT, self.options.output, self.rows, mutants.all_mutants(ROOT), partial, command, self.tests)

    def report(self) -> None:
        """What an interrupted run has found, as far as its files are what they were."""
        now = {f: hashlib.sha1((ROOT / f).read_bytes()).hexdigest() for f in self.order}
        self.rows = [row for row in self.known.values() if row["content"] == now.get(row["file"])]
        for timed in self.options.work.glob("*/unmutated.json"):
            self.tests += sum(not test["left_out"] for test in json.loads(timed.read_text()).values())
        self.write()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=240, help="mutants that compile (240)")
    parser.add_argument("--seed", type=int, default=1, help="of the choice (1)")
    parser.add_argument("--files", nargs="+", metavar="PATH", help="only mutants of these files or folders")
    parser.add_argument("--only", nargs="+", metavar="ID", help="only these; survived: all that did unexplained")
    parser.add_argument("--list", action="store_true",
                        help="print the mutants in the order of trial, and end")
    parser.add_argument("--resume", action="store_true", help="keep what an interrupted run has found")
    parser.add_argument("--report", action="store_true",
                        help="write the table of what an interrupted run has found, and end")
    parser.add_argument("--patience", type=float, default=float("inf"), metavar="SECONDS",
                        help="of tests that a mutant must survive, the likeliest first (all tests)")
    parser.add_argument("--programs", nargs="+", default=[], metavar="PROGRAM",
                        help="test programs that judge, as bin/unit_tests (all)")
    parser.add_argument("--nixl", type=Path, metavar="PATH", help="NIXL's sources, or where its headers are installed")
    parser.add_argument("--jobs", type=int, default=2, help="files to compile at a time (2)")
    parser.add_argument("--work", type=Path, default=ROOT / "build/mutation", help="where to build")
    parser.add_argument("--output", type=Path, default=ROOT / "tests/mutation/verdicts",
                        help="where the verdicts go")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    options.work, options.output = options.work.resolve(), options.output.resolve()
    if options.list:
        order, share = chosen(options)
        for file, all_ in order.items():
            for mutant in all_[:share.get(file, 0)]:
                print(f"{mutant.id} {file}:{mutant.line} {mutant.operator}\n"
                      f"    {mutant.original}\n    {mutant.mutated}")
        return
    workplace.limit_memory()
    run = Run(options)
    run.report() if options.report else run.run()


if __name__ == "__main__":
    main()
