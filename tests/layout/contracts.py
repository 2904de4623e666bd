# SPDX-License-Identifier: MIT
"""The contract of a function stands once, in its C header, and the member of C++ that calls it names it."""

import re
from collections.abc import Iterator
from pathlib import Path

from c_style import without_comments

REFERENCE = r"Contract and errors: (barmap_\w+)\(\)\.$"
OWN_CONTRACTS = {"copy.hpp"}  # which declares its functions, with their contracts, in front of their definitions


def _functions_of_c(folder: Path) -> dict[str, tuple[Path, str]]:
    """The headers and comments of the functions of C."""
    declared = r"((?:^///.*\n)*)^BARMAP_API [^;]*?\b(barmap_\w+)\("
    return {name: (path, comment) for path in sorted(folder.glob("*.h"))
            for comment, name in re.findall(declared, path.read_text(), re.MULTILINE)}


def _public_members(text: str) -> Iterator[tuple[int, str]]:
    """The index of the first line, and the code, of what is declared in public, as clang-format has laid it out."""
    hidden = r"^( *)(?:private|protected):\n(?:\1 .*\n|\n)*|^namespace detail \{\n(?:.*\n)*?\} // namespace detail$|^#.*"
    shown = re.sub(hidden, lambda found: "\n" * found.group().count("\n"), text, flags=re.MULTILINE)
    first, member = 0, ""
    for number, line in enumerate(without_comments(shown, keep_strings=False).splitlines()):
        if not member and not re.match(r"\s*[\w\[]", line) or re.match(r"\s*(?:public:|(?:inline )?namespace\b)", line):
            continue
        first, member = (first, member + "\n" + line) if member else (number, line)
        is_at_edge = re.match(" *", line).end() == re.match(" *", member).end()
        if re.match(r"\s*(?:template <.*>\n\s*)?(?:class|struct|union) [^(]*\{$", member):
            member = ""
        elif is_at_edge and re.search(r"[;}]\s*$", line):
            yield first, member
            member = ""


def _documents_return(name: str, functions: dict[str, tuple[Path, str]], seen: frozenset[str] = frozenset()) -> bool:
    comment = functions[name][1] if name in functions else ""
    others = re.findall(r"\bas(?:\s|///)+(barmap_\w+)\(\)", comment, re.IGNORECASE)
    return "@return" in comment or any(_documents_return(each, functions, seen | {name}) for each in {*others} - seen)


def contracts_that_stand_elsewhere(root: Path) -> list[str]:
    """A public member of C++ that calls C names, at the end of its comment, the function that has its contract; and what
    C++ throws for, that function documents."""
    functions = _functions_of_c(root / "core/include/barmap")
    found, thrown = [], set()
    for path in sorted((root / "core/include/barmap").glob("*.hpp")):
        text = path.read_text()
        lines = text.splitlines()
        thrown.update(re.findall(r"(?:check\(|out\) \{\s*return |reports<\w+>\()(barmap_\w+)", text))
        wrong = {}
        for number, line in enumerate(lines):
            named = re.search(rf" {REFERENCE}", line)
            if " Contract and errors" in line and (not named or lines[number + 1].lstrip().startswith("///")):
                wrong[number] = f"the fixed form ends a comment: {line.strip()}"
            elif named and named[1] not in functions:
                wrong[number] = f"no C header has {named[1]}()"
        for number, member in _public_members(text) if path.name not in OWN_CONTRACTS else ():
            calls = [each for each in re.findall(r"\bbarmap_\w+", member) if each in functions]
            takes_over = re.match(r"\s*explicit \w+\(barmap_\w+\* of\)", member)
            if calls and not takes_over and " Contract and errors" not in lines[number - 1]:
                wrong[number] = f"calls {calls[0]}(), and names no function's contract"
        found += [f"{path.relative_to(root)}:{number + 1}: {what}" for number, what in sorted(wrong.items())]
    return found + [f"{functions[name][0].relative_to(root)}: {name}() has no @return" for name in sorted(thrown)
                    if name in functions and not _documents_return(name, functions)]
