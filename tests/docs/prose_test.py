#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The texts of barmap that people read: the README, the documents and the manual pages; in code the comments, docstrings, errors,
help and messages; and the subjects of the last commits. proselint's checks and those of prose.tsv are applied to all.

proselint comes from PyPI into build/prose, where it is not installed. Exits with 77 where it is not available.

Usage: prose_test.py REPOSITORY [FILE...]
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "layout"))
import prose_of  # noqa: E402
import rooms  # noqa: E402

PROSELINT = "proselint==0.16.0"
SKIPPED = 77
# Those of proselint's checks that suit a manual in British English.
CHECKS = ("archaism", "cliches", "hedging", "malapropisms", "misc.phrasal_adjectives", "misc.tense_present",
          "mondegreens", "nonwords", "oxymorons", "redundancy", "skunked_terms")
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md", ".github/*.md", "docs/*.md", "docs/site/**/*.md", "docs/results/README.md",
             *(f"{room}/**/*.md" for room in rooms.STANDS_ON), "tests/README.md",
             "packaging/man/*.roff", "packaging/man/*.3")
# Tests may speak as they like.
CODE = (*rooms.STANDS_ON, "examples", "packaging", "scripts", "docs/site", ".ci")
NOT_OF_CODE = "leave one out"  # as in `/// @param edge  edge(gpu, host, n)`
# The rules for subjects hold from the commit on that added prose_of.py; a shallow clone has fewer subjects.
SUBJECTS = 20
LONGEST_SUBJECT = 72
NOT_IMPERATIVE = re.compile(r"(?!(Embed|Bring|Ring|String|\w*eed|\w*[su]s)\b)"
                            r"([a-z]|\w+(ed|ing|s)\b|(An?|The|No|More|New)\b|\S+:)")
NOT_SUBJECTS = ("Added a test", "Adds a test", "Adding a test", "A test of words", "add a test", "Tests: add one",
                "New tests: one", "Say " + "more " * 14)
SAID_BY_SUBJECTS = ("Add a test", "Bring the words along", "Pass them", "Feed the ring: it waits", "Say poll: it is shorter", "Focus the page")


def in_an_environment(root):
    """Runs this program again in a Python that has proselint."""
    environment = root / "build" / "prose"
    python = environment / "bin" / "python"
    marker = environment / PROSELINT
    if pathlib.Path(sys.prefix) == environment.resolve():
        sys.exit(f"{environment} has no proselint: remove it")
    if not marker.exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True, capture_output=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PROSELINT],
                           check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as failure:
            print(f"skipped: {PROSELINT} cannot be installed: {failure}")
            sys.exit(SKIPPED)
        marker.touch()
    os.execv(python, [python, "-B", *sys.argv])


def rules(folder):
    """Of prose.tsv: pattern, what to write, and a sentence in which the pattern is found."""
    for line in (folder / "prose.tsv").read_text().splitlines():
        if not line.startswith("#"):
            pattern, advice, example = line.split("\t")
            yield pattern.replace(" ", r"\s+"), advice, example


def register(registry, Check, types, engine):
    for pattern, advice, example in rules(pathlib.Path(__file__).parent):
        if not re.search(pattern, example, re.I):
            sys.exit(f"prose.tsv: {pattern} does not find: {example}")
        place = "documents" if advice == NOT_OF_CODE else "barmap"
        registry.register(Check(check_type=types.ExistenceSimple(pattern=pattern), engine=engine,
                                path=place, message="'{}': " + advice))


def files_of_code(root):
    for room in CODE:
        for path in sorted((root / room).rglob("*")):
            inside = path.relative_to(root)
            if path.is_file() and not {"tests", "driver_tests", "__pycache__"}.intersection(inside.parts):
                if prose_of.is_code(path):
                    yield path


def subjects(root):
    """The subjects of the last commits, each with its number; None without the repository's history."""
    if not (root / ".git").exists():
        return None
    log = ["git", "-C", root, "log", "--no-merges"]
    added = subprocess.run([*log, "-1", "--diff-filter=A", "--format=%H", "--", "tests/docs/prose_of.py"],
                           capture_output=True, text=True, check=False)
    if added.returncode or not added.stdout:
        return None
    listed = subprocess.run([*log, f"-{SUBJECTS}", "--format=%h %s", f"{added.stdout.strip()}..HEAD"],
                            capture_output=True, text=True, check=True)
    return [line.split(" ", 1) for line in listed.stdout.splitlines()]


def wrong_with(subject):
    if len(subject) > LONGEST_SUBJECT:
        return f"{len(subject)} characters; at most {LONGEST_SUBJECT}"
    if NOT_IMPERATIVE.match(subject):
        return f"'{subject.split()[0]}': begin with what the commit does, as a command"
    return None


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if not importlib.util.find_spec("proselint"):
        in_an_environment(root)
    from proselint.checks import __register__
    from proselint.registry import CheckRegistry
    from proselint.registry.checks import Check, types
    from proselint.registry.checks.engine import Fancy
    from proselint.tools import LintFile

    registry = CheckRegistry()
    registry.register_many(__register__)
    register(registry, Check, types, Fancy())
    of_code = {name: True for name in ("barmap", *CHECKS)}

    def found(name, prose, checks):
        return [f"{name}:{result.pos[0]}: {' '.join(result.check_result.message.split())}"
                for result in LintFile(name, prose).lint({"max_errors": 10000, "checks": checks})] if prose.strip() else []

    assert all(map(wrong_with, NOT_SUBJECTS)) and not any(map(wrong_with, SAID_BY_SUBJECTS))
    files = ([pathlib.Path(name).resolve() for name in sys.argv[2:]]
             or [*sorted({path for pattern in DOCUMENTS for path in root.glob(pattern)}), *files_of_code(root)])
    problems = []
    for path in files:
        checks = of_code if prose_of.is_code(path) else {"documents": True, **of_code}
        problems += found(str(path.relative_to(root)), prose_of.reader(path)(path.read_text()), checks)
    commits = subjects(root)
    for commit, subject in commits or ():
        problems += found(f"commit {commit}", subject, of_code)
        problems += [f"commit {commit}: {wrong}" for wrong in [wrong_with(subject)] if wrong]
    print(*problems, sep="\n", end="\n" if problems else "")
    history = "subjects skipped: no git history here" if commits is None else f"{len(commits)} subjects"
    print(f"{len(files)} files, {history}, {len(problems)} problems")
    return 1 if problems or not files else 0


sys.exit(main())
