# SPDX-License-Identifier: MIT
"""The verdicts as a table, and what follows from them."""

import json
import subprocess
from collections import Counter
from pathlib import Path

COUNTED = ("killed", "timeout", "survived")
COLUMNS = ("id", "file", "line", "function", "operator", "verdict", "by", "seconds", "original", "mutated")
EXPLAINED = Path("tests/mutation/explained.json")
BY_HAND = "## How these verdicts came about\n"  # what stands from there on stays


def read_table(folder: Path) -> list[dict]:
    path = folder / "mutants.tsv"
    if not path.exists():
        return []
    lines = path.read_text().splitlines()
    names = lines[0].split("\t")
    return [dict(zip(names, line.split("\t"))) for line in lines[1:]]


def explanations(path: Path) -> dict[tuple[str, str, str, str], str]:
    """Why a survivor cannot be killed, by file, function, original and mutated text."""
    if not path.exists():
        return {}
    return {(e["file"], e["function"], e["original"], e["mutated"]): e["why"]
            for e in json.loads(path.read_text())}


def key(row: dict) -> tuple[str, str, str, str]:
    return row["file"], row["function"], row["original"], row["mutated"]


def percentage(rows: list[dict]) -> str:
    counted = [r for r in rows if r["verdict"] in COUNTED]
    dead = sum(r["verdict"] != "survived" for r in counted)
    return f"{dead} of {len(counted)} ({100 * dead / len(counted):.1f} %)" if counted else "none of 0"


def summary(rows: list[dict], why: dict, command: str, tests: int, commit: str) -> str:
    tried = Counter(r["verdict"] for r in rows)
    rows = [r for r in rows if r["verdict"] in COUNTED]
    survivors = [r for r in rows if r["verdict"] == "survived"]
    explained = [r for r in survivors if key(r) in why]
    open_ = [r for r in survivors if key(r) not in why]
    text = ["# Mutation run", "",
            "One change at a time in a source of ours; a mutant is killed if a test fails or hangs.",
            "All verdicts: [mutants.tsv](mutants.tsv).", "",
            f"- command: `{command}`, commit {commit}, {tests} tests",
            f"- not counted: {tried['invalid']} that do not compile, {tried['same']} that compile to the "
            "same machine code, optimised or not",
            f"- killed: {percentage(rows)}, {sum(r['verdict'] == 'timeout' for r in rows)} of them by "
            "running into the limit of time",
            f"- survived: {len(survivors)}, of which {len(explained)} are explained below",
            f"- killed, without those explained: {percentage([r for r in rows if r not in explained])}",
            ""]
    for title, of in (("folder", lambda r: r["file"].rsplit("/", 1)[0]),
                      ("operator", lambda r: r["operator"])):
        text += [f"| {title} | mutants | survived |", "|---|---|---|"]
        total, left = Counter(map(of, rows)), Counter(map(of, survivors))
        text += [f"| {name} | {total[name]} | {left[name]} |" for name in sorted(total)] + [""]
    for title, some in (("Survivors", open_), ("Survivors that are explained", explained)):
        if some:
            text += [f"## {title}", ""]
        for r in some:
            text += [f"`{r['id']}` {r['file']}:{r['line']}, {r['function'] or 'outside of functions'} "
                     f"({r['operator']}) {r['by']}".rstrip(), "```", r["original"], r["mutated"], "```"]
            text += [why[key(r)], ""] if key(r) in why else [""]
    return "\n".join(text).rstrip() + "\n"


def write(root: Path, folder: Path, rows: list[dict], existing: dict, partial: bool, command: str,
          tests: int) -> None:
    """Writes both; a partial run keeps the rows of the other mutants that still exist."""
    folder.mkdir(parents=True, exist_ok=True)
    if partial:
        new = {r["id"] for r in rows}
        lines = {m.id: m.line for all_ in existing.values() for m in all_}
        rows = rows + [r | {"line": lines[r["id"]]} for r in read_table(folder)
                       if r["id"] in lines and r["id"] not in new]
    rows.sort(key=lambda r: (r["file"], int(r["line"]), r["id"]))
    table = ["\t".join(COLUMNS)] + ["\t".join(str(r[c]).replace("\t", " ") for c in COLUMNS) for r in rows]
    (folder / "mutants.tsv").write_text("\n".join(table) + "\n")
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=root, check=False,
                            capture_output=True, text=True).stdout.strip()
    why = explanations(root / EXPLAINED)
    readme = folder / "README.md"
    by_hand = readme.read_text().partition(BY_HAND)[2] if readme.exists() else ""
    readme.write_text(summary(rows, why, command, tests, commit) + (by_hand and f"\n{BY_HAND}{by_hand}"))
    keys = {(m.file, m.function, m.original, m.mutated) for all_ in existing.values() for m in all_}
    for stale in sorted(set(why) - keys):
        print("explained, but there is no such mutant now:", *stale)
    print(f"killed {percentage(rows)}; see {folder}")
