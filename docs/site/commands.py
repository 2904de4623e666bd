# SPDX-License-Identifier: MIT
"""The reference of the program `barmap`, from what it says with --help."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "packaging" / "man"))
import program_help  # noqa: E402


def plain(text):
    return re.sub(r"([\\`*_<>\[\]|])", r"\\\1", text)


def page(name, said):
    """One subcommand's section."""
    lines = [f"(barmap-{name})=", f"## barmap {name}", "", plain(said.title) + ".", "", "```text",
             said.usage.removeprefix("Usage: "), "```", ""]
    for option in [*said.arguments, *said.options]:
        lines += [f"`{option.head}`", f": {plain(option.text)}", ""]
    if said.remark:
        lines += [plain(said.remark), ""]
    lines += ["Exit codes:", ""]
    for code, meaning in said.exit_codes:
        lines += [f"`{code}`", f": {plain(meaning)}", ""]
    lines += ["```sh", *said.examples, "```", ""]
    return "\n".join(lines)


def pages(program):
    """The page of the program and its subcommands."""
    helps = program_help.of_subcommands(program)
    listed = "".join(f"- [barmap {name}](#barmap-{name})\n" for name in helps)
    opening = f"# The program barmap\n\n```text\n{program_help.text_of(program)}```\n\n"
    return opening + listed + "\n" + "\n".join(page(name, said) for name, said in helps.items())
