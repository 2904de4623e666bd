# SPDX-License-Identifier: MIT
"""Which results of docs/results are of code that has changed since: for scripts/measure --stale.

Each result names the commits that it is of; docs/results/code.tsv names the code that its figures depend on. A file of
that code has changed if no file of the commit had its content, or if a file of the commit has gone whose content is
nowhere now. So moves do not count; nor do lines that are nothing but a comment or an #include, and white space.
"""

import csv
import fnmatch
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

COMMIT = re.compile(r"\b[0-9a-f]{7,40}\b")
C_LIKE = {".c", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".in"}
C_COMMENT = re.compile(rb"\s*(//|/\*|\*/|\* |\*$|#\s*include\b)")
OTHER_COMMENT = re.compile(rb"\s*#")


class CannotTell(Exception):
    """There is no history to compare with."""


@dataclass
class Result:
    name: str
    commits: list[str]  # as it names them
    line: tuple[str, list[str]]  # of code.tsv: its key, and the paths of the code; both empty where there is none


def read_table(path: Path) -> list[tuple[str, list[str]]]:
    sets: dict[str, list[str]] = {}
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        key, words = line.split("\t")
        paths = [path for word in words.split() for path in (sets[word] if word in sets else [word])]
        if key.startswith("@"):
            sets[key] = paths
        else:
            lines.append((key, paths))
    return lines


def commits_in(text: str) -> list[str]:
    return list(dict.fromkeys(COMMIT.findall(text)))


def line_of(table: list[tuple[str, list[str]]], file: str, *cells: str) -> tuple[str, list[str]]:
    for key, paths in table:
        if key.startswith("runs: "):
            if any(cell.startswith(key[len("runs: "):]) for cell in cells):
                return key, paths
        elif not cells and fnmatch.fnmatch(file, key):
            return key, paths
    return "", []


def results_of(folder: Path) -> list[Result]:
    """Each file of results, and each row of runs.csv."""
    table = read_table(folder / "code.tsv")
    found = []
    for path in sorted(folder.rglob("*.csv")):
        lines = path.read_text(encoding="utf-8").splitlines()
        if path == folder / "runs.csv":
            for row in csv.DictReader(line for line in lines if not line.startswith("# ")):
                found.append(Result(f"runs.csv: {row['what']} ({row['machine']})", commits_in(row["recorded_by"]),
                                    line_of(table, path.name, row["command"], row["what"])))
        else:
            head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
            found.append(Result(str(path.relative_to(folder)),
                                commits_in(head.get("commit", "") + " " + head.get("recorded by", "")),
                                line_of(table, path.name)))
    return found


def belongs(path: str, place: str) -> bool:
    if place.endswith("/"):
        return path.startswith(place) and Path(path).name not in ("CMakeLists.txt", "README.md")
    return path == place


class History:
    """Contents of files, by commit."""

    def __init__(self, root: Path):
        self.root = root
        self.essences: dict[str, bytes] = {}
        self.trees: dict[str, dict[str, str]] = {}
        self.changes: dict[tuple[str, ...], list[str]] = {}
        try:
            shallow = self.git("rev-parse", "--is-shallow-repository").strip()
        except (OSError, subprocess.CalledProcessError) as wrong:
            raise CannotTell("these sources are not a clone by git") from wrong
        if shallow != b"false":
            raise CannotTell("this clone has not all of the history (git fetch --unshallow)")

    def git(self, *words: str, given: bytes = b"") -> bytes:
        return subprocess.run(["git", *words], cwd=self.root, input=given, capture_output=True, check=True).stdout

    def tree(self, commit: str) -> dict[str, str]:
        """The content's number of each file; of none, where there is no such commit."""
        if commit not in self.trees:
            try:
                lines = self.git("ls-tree", "-r", "-z", f"{commit}^{{commit}}").decode().split("\0")
            except subprocess.CalledProcessError:
                lines = []
            self.trees[commit] = {path: about.split()[2] for about, path in
                                  (line.split("\t") for line in lines if line)}
        return self.trees[commit]

    def read_essences(self, files: list[tuple[str, str]]) -> None:
        """Keeps the part of these files' contents that decides whether they have changed."""
        wanted = {number: path for path, number in files if number not in self.essences}
        answer = self.git("cat-file", "--batch", given="".join(f"{each}\n" for each in wanted).encode())
        at = 0
        for number, path in wanted.items():
            end = answer.index(b"\n", at)
            size = int(answer[at:end].split()[2])
            self.essences[number] = essence(path, answer[end + 1:end + 1 + size])
            at = end + size + 2

    def changed(self, commit: str, paths: list[str]) -> list[str]:
        """The files of this code that have changed between that commit and now."""
        key = (commit, *paths)
        if key not in self.changes:
            self.changes[key] = self.compare(self.tree(commit), self.tree("HEAD"), paths)
        return self.changes[key]

    def compare(self, before: dict[str, str], now: dict[str, str], paths: list[str]) -> list[str]:
        result = []
        for one, other in ((now, before), (before, now)):
            numbers = set(other.values())
            mine = {path: number for path, number in one.items()
                    if number not in numbers and any(belongs(path, each) for each in paths)}
            if not mine:
                continue
            suffixes = {Path(path).suffix for path in mine}
            theirs = {path: number for path, number in other.items() if Path(path).suffix in suffixes}
            self.read_essences([*mine.items(), *theirs.items()])
            known = {self.essences[number] for number in theirs.values()}
            result += [path for path, number in mine.items() if self.essences[number] not in known]
        return list(dict.fromkeys(result))


def essence(path: str, content: bytes) -> bytes:
    suffix = Path(path).suffix
    comment = C_COMMENT if suffix in C_LIKE else OTHER_COMMENT
    lines = (line.rstrip() for line in content.splitlines() if line.strip() and not comment.match(line))
    if suffix in C_LIKE:
        lines = (b" ".join(line.split()) for line in lines)
    return b"\n".join(lines)


def stale(root: Path) -> list[str]:
    """A line for each result that is stale, or that does not say of what it is. @throw CannotTell"""
    results = results_of(root / "docs/results")
    history = History(root)
    found = []
    for each in results:
        paths = each.line[1]
        if not paths:
            found.append(f"{each.name}: docs/results/code.tsv does not say what it depends on")
        if not each.commits:
            found.append(f"{each.name}: it names no commit")
        for name in each.commits:
            if not history.tree(name):
                found.append(f"{each.name}: this clone has no commit {name}")
                continue
            changed = history.changed(name, paths)
            if changed:
                others = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
                found.append(f"{each.name}: since {name}, there is a change in {changed[0]}{others}")
                break
    return found
