# SPDX-License-Identifier: MIT
"""The reference of the program `barmap`, from what it says with --help."""

import re
import subprocess

ENTRY = re.compile(r"  (-?\S.*?)(?:\s{2,}(\S.*))?$")


def help_of(program, *words):
    """What the program says, as if it were called by its name."""
    asked = subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True)
    return asked.stdout.replace(program, "barmap")


def subcommands(program):
    listed = help_of(program).partition("\nSubcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  (\w+)", listed, flags=re.M)


def plain(text):
    return re.sub(r"([\\`*_<>\[\]|])", r"\\\1", text)


def page(name, text):
    """One subcommand's section."""
    title, usage, *rest = text.splitlines()
    lines = [f"(barmap-{name})=", f"## barmap {name}", "", plain(title) + ".", "", "```text",
             usage.removeprefix("Usage: "), "```", ""]
    entries = []  # name and text of each option
    free = []
    for line in rest:
        entry = ENTRY.match(line)
        if re.match(r"(Options|Positionals):$", line):
            continue
        if line.startswith(" " * 10) and entries:
            entries[-1][1] = f"{entries[-1][1]} {line.strip()}".strip()
        elif entry:
            entries.append([entry.group(1), entry.group(2) or ""])
        else:
            free.append(line)
    for option, meaning in entries:
        lines += [f"`{option}`", f": {plain(meaning)}", ""]
    remark = "\n".join(free).strip()
    if remark:
        lines += ["```text", remark, "```", ""]
    return "\n".join(lines)


def pages(program):
    """The page of the program and its subcommands."""
    names = subcommands(program)
    if not names:
        raise LookupError(f"{program} --help lists no subcommand")
    listed = "".join(f"- [barmap {name}](#barmap-{name})\n" for name in names)
    opening = f"# The program barmap\n\n```text\n{help_of(program)}```\n\n"
    return opening + listed + "\n" + "\n".join(page(name, help_of(program, name)) for name in names)
