#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The prose of the README, the documents and the manual pages: proselint's checks, and those of prose.tsv; of comments
and docstrings those of prose.tsv.

proselint comes from PyPI into build/prose, where it is not installed. Exits with 77 where it is not available.

Usage: prose_test.py REPOSITORY [FILE...]
"""

import ast
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "layout"))
import rooms  # noqa: E402

PROSELINT = "proselint==0.16.0"
SKIPPED = 77
# Those of proselint's checks that suit a manual in British English.
CHECKS = ("archaism", "cliches", "hedging", "malapropisms", "misc.phrasal_adjectives", "misc.tense_present",
          "mondegreens", "nonwords", "oxymorons", "redundancy", "skunked_terms")
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/site/**/*.md", "docs/results/README.md",
             *(f"{room}/**/*.md" for room in rooms.STANDS_ON), "tests/README.md",
             "packaging/man/*.roff", "packaging/man/*.3")
# Tests may speak as they like.
CODE_SUFFIXES = (".cpp", ".hpp", ".h", ".c", ".cu", ".cuh", ".py")
CODE = tuple(f"{room}/**/*{suffix}" for room in {*rooms.STANDS_ON, "kernels", "examples", "bench"}
             for suffix in CODE_SUFFIXES)
NOT_OF_COMMENTS = "leave one out"  # as in `/// @param edge  edge(gpu, host, n)`


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


def blank(found):
    """As many lines and columns without a letter."""
    return re.sub(r"[^\n]", " ", found.group())


def prose_of_markdown(text):
    text = re.sub(r"^```.*?^```$|<!--.*?-->|<[a-z/][^>]*>|\A---\n.*?^---$", blank, text, flags=re.M | re.S)
    text = re.sub(r"^(#+ .*)$", r"\1.", text, flags=re.M)
    text = re.sub(r"`[^`\n]*`", lambda code: "x" * len(code.group()), text)  # a word, as in the sentence
    return re.sub(r"\]\([^)]*\)|https?://\S+", blank, text)


def prose_of_manual(text):
    text = re.sub(r"^\.(EX|nf)\b.*?^\.(EE|fi)$", blank, text, flags=re.M | re.S)
    text = re.sub(r"^\.(\\\"|TH|SH|TP|de|ad|nh|so).*$", blank, text, flags=re.M)
    text = re.sub(r"^\.[A-Z]+( .*)", r"\1.", text, flags=re.M)
    return re.sub(r"\\f.|\\[&%\-]", lambda escape: " " * len(escape.group()), text)


def prose_of_c(text):
    """The comments, each in its line and column. Examples in them end with a semicolon."""
    found = []
    for line in text.split("\n"):
        comment = re.match(r"\s*//[/!]?<?( .*)?$", line) or re.match(r".*?///<( .*)$", line)
        words = comment and comment.group(1)
        found.append(line[comment.start(1):].rjust(len(line)) if words and not words.endswith(";") else "")
    return re.sub(r"`[^`\n]*`", lambda code: "x" * len(code.group()), "\n".join(found))


def prose_of_python(text):
    """Docstrings, but for their examples, and whole lines of comment."""
    lines = text.split("\n")
    found = [re.sub(r"^\s*# ", blank, line) if re.match(r"\s*# ", line) else "" for line in lines]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node):
            for number in range(node.body[0].lineno - 1, node.body[0].end_lineno):
                found[number] = "" if re.match(r"\s*(>>>|\.\.\.)", lines[number]) else lines[number]
    return re.sub(r"`[^`\n]*`", lambda code: "x" * len(code.group()), "\n".join(found))


def in_comments(root, files):
    """What prose.tsv finds in comments: (file, line, message)."""
    of_comments = [(re.compile(pattern, re.I), advice) for pattern, advice, _ in rules(pathlib.Path(__file__).parent)
                   if advice != NOT_OF_COMMENTS]
    for path in files:
        prose = (prose_of_python if path.suffix == ".py" else prose_of_c)(path.read_text())
        for pattern, advice in of_comments:
            for found in pattern.finditer(prose):
                yield path, prose.count("\n", 0, found.start()) + 1, f"'{' '.join(found.group().split())}': {advice}"


def rules(folder):
    """Of prose.tsv: pattern, what to write, and a sentence in which the pattern is found."""
    for line in (folder / "prose.tsv").read_text().splitlines():
        if not line.startswith("#"):
            pattern, advice, example = line.split("\t")
            yield pattern.replace(" ", r"\s+"), advice, example


def register(registry, Check, types, engine):
    for number, (pattern, advice, example) in enumerate(rules(pathlib.Path(__file__).parent)):
        if not re.search(pattern, example, re.I):
            sys.exit(f"prose.tsv: {pattern} does not find: {example}")
        registry.register(Check(check_type=types.ExistenceSimple(pattern=pattern), engine=engine,
                                path=f"barmap.rule{number}", message="'{}': " + advice))


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
    config = {"max_errors": 10000, "checks": {name: True for name in ("barmap", *CHECKS)}}
    named = [pathlib.Path(name).resolve() for name in sys.argv[2:]]
    files = named or sorted({path for pattern in DOCUMENTS for path in root.glob(pattern)})
    code = [path for path in files if path.suffix in CODE_SUFFIXES] if named else sorted(
        {path for pattern in CODE for path in root.glob(pattern)
         if not {"tests", "driver_tests"}.intersection(path.relative_to(root).parts)})
    files = [path for path in files if path not in code]
    problems = 0
    for path, line, message in in_comments(root, code):
        problems += 1
        print(f"{path.relative_to(root)}:{line}: {message}")
    for path in files:
        prose = prose_of_markdown if path.suffix == ".md" else prose_of_manual
        for result in LintFile(str(path), prose(path.read_text())).lint(config):
            problems += 1
            print(f"{path.relative_to(root)}:{result.pos[0]}: {' '.join(result.check_result.message.split())}")
    print(f"{len(files)} documents, {len(code)} files of code, {problems} problems")
    return 1 if problems or not files and not code else 0


sys.exit(main())
