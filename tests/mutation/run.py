#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes src and shims in one place at a time and sees whether a test fails.

    tests/mutation/run.py                       # 240 mutants, spread over all files
    tests/mutation/run.py --files src/backend/rm src/pin.cpp --count 40
    tests/mutation/run.py --files include/barmap/copy.hpp --count 10   # public headers are tried if named
    tests/mutation/run.py --only 1a2b3c4d       # these again; "survived": all without an explanation
    tests/mutation/run.py --list                # what would be tried, without doing it

The tree is copied and built in build/mutation, where a second run starts from. A mutant that does not
compile, or that compiles to what was there before, is not counted; the next one of its file takes its
place. Verdicts go to docs/results/mutation; a run of chosen files or mutants changes only theirs.
Not run are tests that need a GPU, an emulated machine, an installed tree, Python's package or the
program barmap (which has a second look at what the library's own tests see), and what judges the text of
the source, the public headers or the shape of the binaries. No mutant is made of a copy routine that this processor lacks the instructions for.
Survivors that no test could kill are explained in tests/mutation/explained.json.
"""

import argparse
import concurrent.futures
import hashlib
import json
import queue
import sys
import threading
import time
from pathlib import Path

import mutants
import report
import workplace

ROOT = Path(__file__).resolve().parents[2]
FIRST_LIMIT_S = 300  # of a test, as long as nobody knows how long it takes


class History:
    """Which tests have killed what, so that the likeliest one comes first."""

    def __init__(self, tests: list[workplace.Test]):
        self.tests = tests
        self.kills: list[tuple[str, str]] = []
        self.lock = threading.Lock()

    def add(self, file: str, test: str) -> None:
        with self.lock:
            self.kills.append((file, test))

    def order(self, file: str) -> list[workplace.Test]:
        folder = file.rsplit("/", 1)[0]
        words = set(file.rsplit(".", 1)[0].split("/")) - {"src", "shims", "backend"}
        score = {t.name: sum(word in t.name + " " + t.command[0].rsplit("/", 1)[-1] for word in words)
                 for t in self.tests}
        with self.lock:
            for other, test in self.kills:
                if test not in score:
                    continue  # of another day
                score[test] += 100 if other == file else 10 if other.startswith(folder + "/") else 1
        return sorted(self.tests, key=lambda t: (-score[t.name], round(t.seconds, 1), t.name))


def judge(place: workplace.Workplace, history: History, mutant: mutants.Mutant,
          patience_s: float) -> tuple[str, str]:
    """The verdict and what led to it: the test that failed, or why there is nothing to test."""
    place.put(mutant.file, mutant.apply((ROOT / mutant.file).read_text()))
    state: dict[str, bool] = {}  # by target: whether it differs from the unmutated one
    skipped = ""
    used_s = 0.0
    for test in history.order(mutant.file):
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
        if result == "failed" and place.run(test, limit_s) == "passed":
            print(f"  {test.name} failed once and then passed: not counted", flush=True)
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


def chosen(options: argparse.Namespace) -> tuple[dict[str, list[mutants.Mutant]], dict[str, int]]:
    """By file: the mutants in the order of trial, and how many of them count."""
    found = mutants.all_mutants(ROOT)
    if options.files:
        found = {f: m for f, m in found.items()
                 if any(f == name or f.startswith(name.rstrip("/") + "/") for name in options.files)}
    elif not options.only:
        found = {f: m for f, m in found.items() if not f.startswith(mutants.PUBLIC)}
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
    return order, mutants.shares({f: len(all_) for f, all_ in order.items()}, options.count)


def state_of(place: workplace.Workplace, test: workplace.Test) -> str:
    """What the test's unmutated result depends on: its programs, libraries and scripts."""
    scripts = sorted(a for a in test.command if a.startswith(str(place.source)) and Path(a).is_file())
    made_of = [place.pristine[target] for target in test.targets] + [Path(a).read_text() for a in scripts]
    return hashlib.sha1(json.dumps(made_of).encode()).hexdigest()


def pass_unmutated(place: workplace.Workplace, tests: list[workplace.Test],
                   jobs: int) -> list[workplace.Test]:
    """Runs each test twice and ends if one fails. Returns those that say something, with their times.

    A test that has passed before as it is now is not run again.
    """
    memory = place.folder / "unmutated.json"
    known = json.loads(memory.read_text()) if memory.exists() else {}
    states = {t.name: state_of(place, t) for t in tests}
    new = [t for t in tests if known.get(t.name, {}).get("state") != states[t.name]]
    print(f"{len(tests)} tests, of which {len(new)} run unmutated now", flush=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda t: [place.time(t, FIRST_LIMIT_S) for _ in range(2)], new))
    failed = []
    for test, result in zip(new, results):
        if "skipped" not in result and "passed" not in result:
            failed.append(test.name)
            continue
        left_out = ("" if result == ["passed", "passed"] else "skips itself" if "skipped" in result
                    else "passes and fails")
        known[test.name] = {"state": states[test.name], "seconds": test.seconds, "left_out": left_out}
    memory.write_text(json.dumps(known))
    if failed:
        sys.exit("unmutated tests fail: " + " ".join(failed))
    for test in tests:
        test.seconds = known[test.name]["seconds"]
        if known[test.name]["left_out"]:
            print(f"left out: {test.name} {known[test.name]['left_out']}", flush=True)
    kept = [t for t in tests if not known[t.name]["left_out"]]
    print(f"{len(kept)} tests take {sum(t.seconds for t in kept):.0f} s", flush=True)
    return kept


def prepare(places: list[workplace.Workplace], jobs: int) -> list[workplace.Test]:
    """Builds the unmutated tree in each place, and sees that all tests pass."""
    for place in places:
        place.synchronise()
        place.configure()
    print("building", flush=True)
    first = places[0]
    # Which tests there are is asked of the programs, so all are built once; then what tests need.
    built, output = first.make([], jobs)
    tests = first.tests() if built else []
    targets = sorted({target for test in tests for target in test.targets})
    for place in places:
        if built:
            built, output = place.make(targets, jobs)
        if not built:
            sys.exit(output[-4000:] + "\nthe unmutated tree does not build")
        place.remember(targets)
    return pass_unmutated(first, tests, jobs)


def of_place(tests: list[workplace.Test], first: workplace.Workplace,
             place: workplace.Workplace) -> list[workplace.Test]:
    """The same tests, of another copy of the tree."""
    def moved(text: str) -> str:
        return text.replace(str(first.folder), str(place.folder))
    return [workplace.Test(t.name, [moved(a) for a in t.command], moved(t.folder),
                           {k: moved(v) for k, v in t.environment.items()}, t.skip_code, t.targets,
                           t.seconds, t.says) for t in tests]


class Run:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.order, self.share = chosen(options)
        self.journal = options.work / "verdicts.jsonl"
        self.rows: list[dict] = []
        self.errors: list[Exception] = []
        self.lock = threading.Lock()
        self.known: dict[str, dict] = {}
        if (options.resume or options.report) and self.journal.exists():
            for line in self.journal.read_text().splitlines():
                row = json.loads(line)
                self.known[row["id"]] = row
        elif self.journal.exists():
            self.journal.unlink()

    def work(self, place: workplace.Workplace, history: History, files: queue.SimpleQueue) -> None:
        while True:
            try:
                file = files.get_nowait()
            except queue.Empty:
                return
            try:
                self.try_file(place, history, file)
            except Exception as error:
                self.errors.append(error)
                raise
            finally:
                place.restore(file)

    def try_file(self, place: workplace.Workplace, history: History, file: str) -> None:
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
                with self.lock, self.journal.open("a") as journal:
                    journal.write(json.dumps(row) + "\n")
            counted += row["verdict"] in report.COUNTED
            with self.lock:
                self.rows.append(row)
                done = sum(r["verdict"] in report.COUNTED for r in self.rows)
                print(f"{done}/{sum(self.share.values())} {row['id']} {file}:{row['line']} "
                      f"{row['operator']}: {row['verdict']} {row['by']} ({row['seconds']} s)", flush=True)

    def run(self) -> None:
        places = [workplace.Workplace(ROOT, self.options.work, n) for n in range(self.options.jobs)]
        tests = prepare(places, self.options.jobs)
        history = History(tests)
        for row in [*report.read_table(self.options.output), *self.known.values()]:
            if row["verdict"] == "killed":
                history.add(row["file"], row["by"])
        files: queue.SimpleQueue = queue.SimpleQueue()
        for file in sorted(self.share, key=lambda f: (-self.share[f], f)):
            files.put(file)
        threads = []
        for place in places:
            own = History(of_place(tests, places[0], place))
            own.kills, own.lock = history.kills, history.lock
            threads.append(threading.Thread(target=self.work, args=(place, own, files), daemon=True))
            threads[-1].start()
        for thread in threads:
            thread.join()
        if self.errors:
            sys.exit("not finished; --resume goes on")
        self.write(len(tests))

    def write(self, tests: int) -> None:
        partial = bool(self.options.files or self.options.only)
        command = " ".join(["tests/mutation/run.py", *sys.argv[1:]])
        report.write(ROOT, self.options.output, self.rows, mutants.all_mutants(ROOT), partial, command, tests)

    def report(self) -> None:
        """What an interrupted run has found, as far as its files are what they were."""
        now = {f: hashlib.sha1((ROOT / f).read_bytes()).hexdigest() for f in self.order}
        self.rows = [row for row in self.known.values() if row["content"] == now.get(row["file"])]
        timed = json.loads((self.options.work / "job0/unmutated.json").read_text())
        self.write(sum(not test["left_out"] for test in timed.values()))


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
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time (2)")
    parser.add_argument("--work", type=Path, default=ROOT / "build/mutation", help="where to build")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/results/mutation",
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
