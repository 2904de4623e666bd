#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a manual page from the declarations and comments of a C header.

Usage: from_header.py HEADER "SHORT DESCRIPTION" PAGE.3

A comment belongs to the declarations that follow it without an empty line. The first one of the header
is the page's description.
"""

import re
import sys
from pathlib import Path

import release

# A comment of its own, a declaration with what is in braces, a directive, or an empty line.
PART = re.compile(r"""(?P<comment>^/\*.*?\*/) | (?P<directive>^\#(?:[^\n]*\\\n)*[^\n]*)
                      | (?P<declaration>^[A-Za-z](?:[^;{]*\{.*?^\}[^;]*;|[^;{]*;)) | (?P<gap>^$)""",
                  re.M | re.S | re.X)
FUNCTION = re.compile(r"(\w+)\([^{]*\)\s*;$", re.S)


def text_of(comment):
    lines = comment.removeprefix("/*").removesuffix("*/").splitlines()
    inner = [lines[0], *(re.sub(r"^ \* ?", "", line) for line in lines[1:])]
    return "\n".join(line.strip() for line in inner).strip()


def groups(header):
    """(comment, declarations) of all that has either."""
    comment, declarations = "", []
    for part in PART.finditer(header):
        kind = part.lastgroup
        if kind in ("gap", "comment"):
            if comment or declarations:
                if declarations or kind == "comment":
                    yield comment, declarations
                    comment, declarations = "", []
        if kind == "comment":
            comment = text_of(part.group())
        elif kind == "declaration" and not part.group().startswith("extern"):
            declarations.append(part.group())
    if comment or declarations:
        yield comment, declarations


def escaped(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def running(text, paragraph=".PP"):
    """Text as it is set: an error's sentence begins a line."""
    lines = []
    for line in escaped(text).splitlines():
        if re.match(r"E[A-Z]+\b.*:", line) and lines:
            lines.append(".br")
        lines.append("\\&" + line if line.startswith((".", "'")) else line or paragraph)
    return "\n".join(lines)


def functions(declarations):
    return [found.group(1) for found in map(FUNCTION.search, declarations) if found]


def verbatim(declaration):
    return ".in +4n\n.nf\n" + escaped(declaration) + "\n.fi\n.in\n.sp"


def page(header, file_name, summary):
    name = file_name.removesuffix(".h")
    found = list(groups(header))
    calls = [each for _, all_ in found for each in all_ if FUNCTION.search(each)]
    out = ['.\\" SPDX-License-Identifier: MIT',
           f'.\\" Made from {file_name} by from_header.py.',
           f'.TH {name.upper()} 3 {release.date()} "barmap {release.version()}" "Library functions"',
           ".SH NAME", f"{escaped(name)} \\- {escaped(summary)}",
           ".SH SYNOPSIS", ".nf", f".B #include <{file_name}>", ".fi", ".ad l", ".nh", ".PP"]
    for at, each in enumerate(calls):
        out += [".br"] * (at > 0) + [".B " + escaped(re.sub(r"\s+", " ", each))]
    comments = [comment for comment, declarations in found if not declarations]
    notice = 1 if comments[0].startswith("SPDX") else 0
    out += [".ad b", ".hy", ".SH DESCRIPTION", running(comments[notice]), ".SH FUNCTIONS"]
    for comment, declarations in found:
        if names := functions(declarations):
            out += [".TP", ".B " + ", ".join(escaped(each) for each in names), running(comment, ".IP")]
    types = [(comment, [each for each in all_ if not FUNCTION.search(each)]) for comment, all_ in found]
    out += [".SH TYPES"]
    for comment, declarations in types:
        if declarations:
            out += [running(comment)] * bool(comment) + [verbatim(each) for each in declarations]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    path, summary, to = sys.argv[1:]
    Path(to).write_text(page(Path(path).read_text(), Path(path).name, summary))
