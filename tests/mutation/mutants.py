# SPDX-License-Identifier: MIT
"""Finds where C++ source can be changed so that a test should fail, and how.

The source is cut into tokens, not parsed: a change that does not compile is left out later. What relies
on the layout (a relation has blanks around it, the list of a template has none) is what clang-format
makes of it.
"""

import hashlib
import random
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

from cpp_tokens import Token, tokenize

SUFFIXES = {".cpp", ".hpp", ".c", ".h"}
# A change of a public header rebuilds nearly everything.
PUBLIC = "include/barmap"
# Compiled for other processors only.
ELSEWHERE = {"src/copy/neon.cpp", "src/copy/ls64.cpp"}
# Run only where the processor has it, by its name in /proc/cpuinfo.
INSTRUCTIONS = {"src/copy/sse41.cpp": "sse4_1", "src/copy/avx2.cpp": "avx2", "src/copy/avx512.cpp": "avx512f",
                "src/copy/erms.cpp": "erms", "src/copy/movdir64b.cpp": "movdir64b"}

_SWAPS = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
    "==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",),
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",),
    "|": ("&",), "&": ("|",), "^": ("|",), "<<": (">>",), ">>": ("<<",),
    "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",), "|=": ("&=",), "&=": ("|=",),
    "<<=": (">>=",), ">>=": ("<<=",), "++": ("--",), "--": ("++",),
}
_KIND = {"relation": {"<", "<=", ">", ">=", "==", "!="}, "logic": {"&&", "||"},
         "arithmetic": {"+", "-", "*", "/", "%", "+=", "-=", "*=", "/=", "++", "--"},
         "bits": {"|", "&", "^", "<<", ">>", "|=", "&=", "<<=", ">>="}}
_KIND_OF = {sign: kind for kind, signs in _KIND.items() for sign in signs}

_NO_EXPRESSION = {
    "return", "if", "else", "for", "while", "do", "switch", "case", "default", "using", "static",
    "const", "constexpr", "auto", "typedef", "struct", "class", "union", "enum", "throw", "goto",
    "namespace", "template", "public", "private", "protected", "extern", "inline", "friend", "try",
    "catch", "static_assert", "operator", "virtual", "explicit", "thread_local", "volatile", "register"}
_ASSIGNS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="}


@dataclass
class Mutant:
    file: str
    function: str
    line: int
    operator: str
    begin: int
    end: int
    replacement: str
    original: str        # the lines that change, in one
    mutated: str         # the same, changed
    occurrence: int = 0  # which one, where the same stands in a function twice
    id: str = field(default="", compare=False)

    def key(self) -> tuple[str, str, str, str, int]:
        """What names it as long as its line stays what it is, wherever that moves."""
        return self.file, self.function, self.original, self.mutated, self.occurrence

    def apply(self, text: str) -> str:
        return text[:self.begin] + self.replacement + text[self.end:]


def _arguments(tokens: list[Token], opening: int) -> list[tuple[int, int]]:
    """The first and last token of each argument of a call."""
    result, first, at = [], opening + 1, opening + 1
    closing = tokens[opening].pair
    while at < closing:
        if tokens[at].pair > at:
            at = tokens[at].pair
        elif tokens[at].text == ",":
            result.append((first, at - 1))
            first = at + 1
        at += 1
    if first < closing:
        result.append((first, closing - 1))
    return result


class _Finder:
    def __init__(self, file: str, text: str):
        self.file, self.text = file, text
        self.tokens = tokenize(text)
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.found: list[Mutant] = []

    def add(self, operator: str, first: int, last: int, replacement: str) -> None:
        begin, end = self.tokens[first].begin, self.tokens[last].end
        if self.text[begin:end] == replacement:
            return
        line = bisect_right(self.starts, begin)
        line_begin = self.starts[line - 1]
        line_end = self.text.find("\n", end)
        line_end = len(self.text) if line_end < 0 else line_end
        def in_one(text: str) -> str:
            return " ".join(re.sub(r"//[^\n]*", "", text).split())
        self.found.append(Mutant(
            self.file, self.tokens[first].function, line, operator, begin, end, replacement,
            in_one(self.text[line_begin:line_end]),
            in_one(self.text[line_begin:begin] + replacement + self.text[end:line_end])))

    def source(self, first: int, last: int) -> str:
        return self.text[self.tokens[first].begin:self.tokens[last].end]

    def blanks(self, index: int) -> bool:
        token = self.tokens[index]
        return (token.begin > 0 and self.text[token.begin - 1].isspace()
                and token.end < len(self.text) and self.text[token.end].isspace())

    def next_to_text(self, index: int) -> bool:
        """Whether an operand is text: no number, and nobody compares it."""
        near = self.tokens[max(0, index - 2):index + 3]
        return any(t.kind == "string" or t.text in ("string", "to_string", "hexadecimal") for t in near)

    def run(self) -> list[Mutant]:
        for index, token in enumerate(self.tokens):
            if token.skip:
                continue
            if token.kind == "sign":
                self.sign(index)
            elif token.kind == "number":
                self.number(index)
            elif token.kind == "string":
                self.instruction(index)
            elif token.kind == "name":
                self.name(index)
            if token.function:
                self.statement(index)
        seen: dict[tuple, int] = {}
        self.found = list({(m.begin, m.end, m.replacement): m for m in self.found}.values())
        for mutant in self.found:
            mutant.occurrence = seen.get(mutant.key(), 0)
            seen[mutant.key()[:4] + (0,)] = mutant.occurrence + 1
            mutant.id = hashlib.sha1("\0".join(map(str, mutant.key())).encode()).hexdigest()[:8]
        return self.found

    def sign(self, index: int) -> None:
        token = self.tokens[index]
        unary = token.text in ("++", "--")
        if token.text in _SWAPS and (unary or self.blanks(index)) and not self.next_to_text(index):
            for replacement in _SWAPS[token.text]:
                self.add(_KIND_OF[token.text], index, index, replacement)
        following = self.text[token.end:token.end + 1]
        if token.text in ("!", "~") and following and not following.isspace():
            if not re.match(r"~\w+\(\)", self.text[token.begin:]): # a destructor
                self.add("negation", index, index, "")
        if token.text == "?" and token.function:
            self.add("condition", index, index, "&& false ?")
            self.add("condition", index, index, "|| true ?")
        if token.text == "(" and token.function and index and token.pair > index:
            if self.tokens[index - 1].kind == "name":
                self.swapped(index)

    def number(self, index: int) -> None:
        token = self.tokens[index]
        match = re.fullmatch(r"(0[xX][\da-fA-F']+|0[bB][01']+|[\d']+)([uUlLzZ]*)", token.text)
        if not match:
            return
        digits, suffix = match.group(1).replace("'", ""), match.group(2)
        octal = re.fullmatch(r"0\d+", digits)
        value = int(digits, 8 if octal else 0)
        def written(n: int) -> str:
            return (hex(n) if digits[:2].lower() == "0x" else oct(n).replace("o", "") if octal
                    else str(n)) + suffix
        self.add("constant", index, index, written(value + 1))
        if value > 0:
            self.add("constant", index, index, written(value - 1))

    def instruction(self, index: int) -> None:
        weaker = self.tokens[index].text.replace("mfence", "lfence").replace("sfence", "")
        if weaker != self.tokens[index].text:
            self.add("fence", index, index, weaker)

    def name(self, index: int) -> None:
        text = self.tokens[index].text
        replacement = {"true": "false", "false": "true", "min": "max", "max": "min",
                       "any_of": "all_of", "all_of": "any_of", "none_of": "any_of"}.get(text)
        if replacement:
            self.add("value" if text in ("true", "false") else "function", index, index, replacement)
        if text in ("if", "while") and self.tokens[index].function:
            opening = index + 1
            if self.tokens[opening].text == "constexpr":
                return
            closing = self.tokens[opening].pair
            inside = [t.text for t in self.tokens[opening + 1:closing]]
            # What is declared in it is used behind it.
            semicolon = len(inside) - 1 - inside[::-1].index(";") if ";" in inside else -1
            first = opening + 2 + semicolon
            if first >= closing or "=" in inside[semicolon + 1:] or inside == ["true"]:
                return
            condition = self.source(first, closing - 1)
            self.add("condition", first, closing - 1, f"({condition}) && false")
            if text == "if":
                self.add("condition", first, closing - 1, f"({condition}) || true")
        if text == "return" and self.tokens[index].function:
            last = self.end_of_statement(index)
            value = self.source(index + 1, last - 1) if last > index + 1 else ""
            text_only = all(t.kind == "string" for t in self.tokens[index + 1:last])
            if not text_only and value not in ("{}", "0", "nullptr", "true", "false", "*this"):
                self.add("return", index + 1, last - 1, "{}")

    def end_of_statement(self, index: int) -> int:
        while index < len(self.tokens) - 1 and self.tokens[index].text not in (";", "}"):
            index = max(index, self.tokens[index].pair) + 1
        return index

    def swapped(self, opening: int) -> None:
        if self.tokens[opening - 1].text in ("if", "while", "for", "switch", "catch", "return"):
            return
        arguments = _arguments(self.tokens, opening)
        for (first, last), (second, end) in zip(arguments, arguments[1:]):
            one, two = self.source(first, last), self.source(second, end)
            parts = [self.tokens[i] for i in (*range(first, last + 1), *range(second, end + 1))]
            if one == two or any(t.kind == "string" for t in parts):
                continue
            kinds = [self.tokens[i].kind for i in (first, second)]
            # A number for a pointer does not compile; nor does a parameter's type.
            if kinds[0] != kinds[1] or re.search(r"\w[&*]* \w", one) or re.search(r"\w[&*]* \w", two):
                continue
            between = self.text[self.tokens[last].end:self.tokens[second].begin]
            self.add("arguments", first, end, two + between + one)

    def statement(self, index: int) -> None:
        before = self.tokens[index - 1]
        if before.text not in (";", "{", "}", ")", "else", "do", ":") or before.kind == "string":
            return
        if before.text == ")":  # only that of an if or a loop
            keyword = self.tokens[before.pair - 1].text if before.pair > 0 else ""
            if keyword not in ("if", "while", "for", "constexpr"):
                return
        token = self.tokens[index]
        if token.text in ("break", "continue") and self.tokens[index + 1].text == ";":
            self.add("statement", index, index + 1, ";")
            return
        is_asm = token.text in ("__asm__", "asm")
        if token.text in _NO_EXPRESSION or not (token.kind == "name" or token.text in ("*", "++", "--", "(")):
            return
        at = index
        while not is_asm and at < len(self.tokens):
            text = self.tokens[at].text
            if text in ("(", "[") and at > index and self.tokens[at].pair > at or \
                    text in _ASSIGNS or text in ("++", "--"):
                break
            if text in (";", "{", "}", ":", "?") or at > index and self.tokens[at].kind == "name" \
                    and self.tokens[at - 1].kind == "name":
                return  # a declaration
            if text in ("&", "&&", "<") and at > index or text == "*" and at > index:
                return
            at += 1
        last = self.end_of_statement(index)
        if self.tokens[last].text != ";":
            return
        operator = "fence" if is_asm or "fence" in self.source(index, last) else "statement"
        self.add(operator, index, last, ";")
        called = re.match(r"(?:\w+::)*check\w*$", self.source(index, at - 1)) if at > index else None
        if called and self.tokens[at].text == "(":
            first, end = _arguments(self.tokens, at)[0]
            if self.tokens[end].text == ")":
                self.add("ignored", index, last, f"static_cast<void>({self.source(first, end)});")


def mutants_of(file: str, text: str) -> list[Mutant]:
    """Every mutant of a file, in the order of the text."""
    if file in ELSEWHERE:
        return []
    return sorted(_Finder(file, text).run(), key=lambda m: (m.begin, m.end, m.replacement))


def in_turn(mutants: list[Mutant], seed: str) -> list[Mutant]:
    """The mutants in the order of trial: shuffled, the operators taking turns, lines once before twice."""
    groups: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        groups.setdefault(mutant.operator, []).append(mutant)
    for group in groups.values():
        group.sort(key=lambda m: hashlib.sha1(f"{seed}{m.id}".encode()).digest())
    order = sorted(groups)
    random.Random(seed).shuffle(order)
    result, later, lines = [], [], set()
    while any(groups.values()):
        for operator in order:
            if groups[operator]:
                mutant = groups[operator].pop()
                (later if mutant.line in lines else result).append(mutant)
                lines.add(mutant.line)
    return result + later


def shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """How many mutants each file gets: at least one, the rest in proportion to its size."""
    result = {name: 1 for name, size in sizes.items() if size}
    rest, total = count - len(result), sum(sizes[name] for name in result)
    if rest <= 0 or not total:
        return result
    exact = {name: rest * sizes[name] / total for name in result}
    for name in result:
        result[name] += int(exact[name])
    by_fraction = sorted(result, key=lambda name: (int(exact[name]) - exact[name], name))
    for name in by_fraction[:count - sum(result.values())]:
        result[name] += 1
    return {name: min(n, sizes[name]) for name, n in result.items()}


def all_mutants(root: Path) -> dict[str, list[Mutant]]:
    """By file, of src, shims and the public headers, as far as this processor can run them."""
    processor = set(Path("/proc/cpuinfo").read_text().split())
    found = {}
    for folder in ("src", "shims", PUBLIC):
        for path in sorted((root / folder).rglob("*")):
            name = str(path.relative_to(root))
            if path.suffix in SUFFIXES and INSTRUCTIONS.get(name, "") in processor | {""}:
                found[name] = mutants_of(name, path.read_text())
    return found
