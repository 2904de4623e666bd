# SPDX-License-Identifier: MIT
"""The text of ``barmap --help`` and ``barmap SUBCOMMAND --help``, as CLI11 lays it out, in lines of 80 columns."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

HEADING = re.compile(r"(Positionals|Options|Subcommands|Exit codes|Examples):")
ENTRY = re.compile(r"  (\S.*?)(?:\s{2,}(\S.*))?\s*")
# A default stands after = or, by later versions of CLI11, in brackets.
HEAD = re.compile(r"""(?P<names>\S+)
                      (?:\ (?!\.\.\.|REQUIRED)(?P<value>\S+?)(?::\{(?P<choices>[^}]*)\})?
                         (?:=(?P<default>\S+)|\ \[(?P<bracketed>[^]]*)\])?)?
                      (?P<several>\ +\.\.\.)?(?P<required>\ +REQUIRED)?""", re.X)


@dataclass(frozen=True)
class Option:
    """An option, or an argument by its place."""

    head: str  # all that help has before the text
    names: list[str]
    value: str  # what help calls it; empty for a flag
    choices: list[str]
    default: str
    several: bool  # takes more than one value
    required: bool
    text: str


@dataclass(frozen=True)
class Help:
    """The help of the program or of a subcommand."""

    title: str
    usage: str
    arguments: list[Option]
    options: list[Option]
    subcommands: dict[str, str]
    remark: str
    exit_codes: list[tuple[str, str]]
    examples: list[str]  # lines; one with # first says what the next ones do


def _entries(lines: list[str]) -> list[tuple[str, str]]:
    """Names and texts: a text may begin in the line after its name."""
    found: list[tuple[str, str]] = []
    for line in lines:
        entry = ENTRY.fullmatch(line)
        if entry and not line.startswith(" " * 10):
            found.append((entry[1], entry[2] or ""))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}".strip())
    return found


def _option(head: str, text: str) -> Option:
    parts = HEAD.fullmatch(head)
    if not parts:
        raise ValueError(f"--help has an option that cannot be read: {head}")
    return Option(head, parts["names"].split(","), parts["value"] or "", (parts["choices"] or "").split(",")
                  if parts["choices"] else [], parts["default"] or parts["bracketed"] or "",
                  bool(parts["several"]), bool(parts["required"]), text)


def parsed(said: str) -> Help:
    """The parts of a help text."""
    title, usage, *rest = said.splitlines()
    parts: dict[str, list[str]] = {}
    part = ""
    for line in rest:
        heading = HEADING.fullmatch(line)
        if heading or not line:
            part = heading[1] if heading else ""
        else:
            parts.setdefault(part, []).append(line)
    codes: list[tuple[str, str]] = []
    for line in parts.get("Exit codes", []):
        if line.startswith("    "):  # goes on
            codes[-1] = (codes[-1][0], f"{codes[-1][1]} {line.strip()}")
        else:
            code, _, meaning = line.strip().partition(" ")
            codes.append((code, meaning))
    return Help(title, usage,
                [_option(*entry) for entry in _entries(parts.get("Positionals", []))],
                [_option(*entry) for entry in _entries(parts.get("Options", []))],
                dict(_entries(parts.get("Subcommands", []))), " ".join(parts.get("", [])),
                codes, [line.strip() for line in parts.get("Examples", [])])


def text_of(program: str, *words: str) -> str:
    """The program's help."""
    asked = [program, *words, "--help"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout


def of(program: str, *words: str) -> Help:
    """The help of the program, or of one subcommand."""
    return parsed(text_of(program, *words))


def of_subcommands(program: str) -> dict[str, Help]:
    """The help of each subcommand by its name."""
    found = {name: of(program, name) for name in of(program).subcommands}
    if not found:
        raise LookupError(f"{program} --help lists no subcommand")
    return found
