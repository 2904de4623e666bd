#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the manual pages of the program barmap from its --help.

Usage: from_help.py PROGRAM DIRECTORY

Text for which help is too short is in barmap.roff and in barmap-SUBCOMMAND.roff, beside this file. A section of
these is DESCRIPTION, ENVIRONMENT, EXAMPLES (after those of help), SEE ALSO (pages beside barmap(1), a name
in each line), or an option, whose text follows that of help.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import program_help
import release
from program_help import Help, Option

HERE = Path(__file__).parent
SECTIONS = {"DESCRIPTION", "ENVIRONMENT", "EXAMPLES", "SEE ALSO"}
SIZES = "Sizes are numbers with an optional unit in powers of 1024: 512, 4K, 1MiB."


def escaped(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def bold(text: str) -> str:
    return f"\\fB{escaped(text)}\\fR"


def italic(text: str) -> str:
    return f"\\fI{escaped(text)}\\fR"


def running(text: str) -> str:
    """A text of help, with what is typed in bold."""
    parts = re.split(r"((?<![\w-])--[a-z][\w-]*|\bBARMAP_\w+|\bbarmap (?:info|run|sim)\b)", text)
    return "".join(bold(part) if at % 2 else escaped(part) for at, part in enumerate(parts))


def sentence(text: str) -> str:
    return running(text[0].upper() + text[1:].rstrip(".") + ".")


def listed(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def head(option: Option, between: str) -> str:
    """An option as it is typed."""
    names = between.join(bold(name) if name.startswith("-") else italic(name) for name in option.names)
    if not option.names[0].startswith("-"):
        return names + "..." * option.several
    return f"{names} {italic(option.value)}" if option.value else names


def synopsis(help_: Help) -> list[str]:
    lines = []
    for option in help_.options:
        if "--help" not in option.names:
            typed = head(option, "|")
            again = "..." if option.several and not option.value.endswith("...") else ""
            lines.append((typed if option.required else f"[{typed}]") + again)
    for argument in help_.arguments:
        lines.append((bold("--") + " ") * argument.text.endswith("after --") + head(argument, ""))
    return lines


def entry(option: Option, more: str) -> list[str]:
    text = option.text
    if option.default:
        default = f"{int(option.default):,}" if option.default.isdigit() else option.default
        text += f"; {default} by default"
    said = [sentence(text)]
    if not all(re.search(rf"\b{re.escape(choice)}\b", text) for choice in option.choices):
        said.append(f"{italic(option.value.partition(',')[0])} is {escaped(listed(option.choices))}.")
    return [".TP", head(option, ", "), *said, *([more] if more else [])]


def examples(lines: list[str]) -> list[str]:
    """Each remark, and what is typed."""
    out = []
    for at, line in enumerate(lines):
        if line.startswith("# "):
            out += [".TP", escaped(line[2:]), ".EX"]
        else:
            out.append(escaped(line).replace("'", "\\(aq"))
            if at + 1 == len(lines) or lines[at + 1].startswith("# "):
                out.append(".EE")
    return out


def fragment(text: str, file_name: str) -> dict[str, str]:
    """The sections of a handwritten source."""
    before, *parts = re.split(r"^\.SH (.*)\n", text, flags=re.M)
    if re.sub(r"^\.\\\".*\n", "", before, flags=re.M):
        raise ValueError(f"{file_name}: there is text before the first .SH")
    found = {name: body.strip("\n") for name, body in zip(parts[::2], parts[1::2])}
    for name, body in found.items():
        if not body:
            raise ValueError(f"{file_name}: {name} is empty")
    return found


def page(name: str, help_: Help, source: str) -> str:
    """The page of the program (barmap) or of a subcommand (barmap-lat)."""
    said_by = f"{name.replace('-', ' ')} --help"
    more = fragment(source, f"{name}.roff")
    options = {each for option in help_.options for each in option.names}
    for section in more:
        if section not in SECTIONS and section not in options:
            raise ValueError(f"{name}.roff: {section} is not in {said_by}")
    for option in [*help_.options, *help_.arguments]:
        if not option.text:
            raise ValueError(f"{said_by}: {option.names[0]} has no text")
    for part, there in (("DESCRIPTION", "DESCRIPTION" in more), ("option", help_.options),
                        ("exit code", help_.exit_codes), ("example", help_.examples or "EXAMPLES" in more)):
        if not there:
            raise ValueError(f"{name}: there is no {part}, neither in {said_by} nor in {name}.roff")

    title = help_.title.rstrip(".")
    if title[1].islower():
        title = title[0].lower() + title[1:]
    out = ['.\\" SPDX-License-Identifier: MIT',
           f'.\\" Made by from_help.py from {said_by} and {name}.roff.',
           f'.TH {escaped(name.upper())} 1 {release.date()} "barmap {release.version()}" "User commands"',
           ".SH NAME", f"{escaped(name)} \\- {escaped(title)}",
           ".SH SYNOPSIS", f".B {escaped(name.replace('-', ' ', 1))}", *synopsis(help_)]
    if help_.subcommands:
        out += [".br", ".B barmap", ".I SUBCOMMAND", f"[{italic('OPTION')}...]"]
    out += [".SH DESCRIPTION", more["DESCRIPTION"]]
    if help_.remark:
        out += [".PP", running(help_.remark)]
    if any(option.value.startswith("SIZE") for option in help_.options):
        out += [".PP", SIZES]
    if help_.subcommands:
        out += [".SH SUBCOMMANDS", f"Each has a page of its own, and {bold('--help')}."]
        for each, text in help_.subcommands.items():
            out += [".TP", f".BR barmap\\-{each} (1)", sentence(text)]
    out += [".SH OPTIONS"]
    for option in [*help_.arguments, *help_.options]:
        out += entry(option, "\n".join(more[each] for each in option.names if each in more))
    out += [".SH EXIT STATUS"]
    for code, meaning in help_.exit_codes:
        out += [".TP", code if code.isdigit() else italic(code), sentence(meaning)]
    if "ENVIRONMENT" in more:
        out += [".SH ENVIRONMENT", more["ENVIRONMENT"]]
    out += [".SH EXAMPLES", *examples(help_.examples), *filter(None, [more.get("EXAMPLES")])]
    pages = [f"barmap-{each}" for each in help_.subcommands] or ["barmap"]
    pages += more["SEE ALSO"].splitlines() if "SEE ALSO" in more else []
    out += [".SH SEE ALSO", ",\n".join(f".BR {escaped(each)} (1)" for each in pages)]
    return "\n".join(out) + "\n"


def made(program: str) -> dict[str, str]:
    """Every page by its file's name."""
    helps = {"barmap": program_help.of(program)}
    helps.update((f"barmap-{name}", each) for name, each in program_help.of_subcommands(program).items())
    sources = {path.stem: path.read_text() for path in HERE.glob("*.roff")}
    for name in sorted(set(sources) ^ set(helps)):
        raise LookupError(f"{name}.roff is missing" if name in helps else f"{name}.roff is of no subcommand")
    return {f"{name}.1": page(name, each, sources[name]) for name, each in helps.items()}


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: from_help.py PROGRAM DIRECTORY")
    try:
        for file_name, text in made(sys.argv[1]).items():
            Path(sys.argv[2], file_name).write_text(text)
    except (LookupError, ValueError) as wrong:
        sys.exit(f"from_help.py: {wrong}")
