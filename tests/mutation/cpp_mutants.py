# SPDX-License-Identifier: MIT
"""Finds where C++ source can be changed so that a test should fail, and how.

The source is cut into tokens, not parsed: a change that does not compile is left out later. What relies
on the layout (a relation has blanks around it, the list of a template has none) is what clang-format
makes of it.
"""

import re

from cpp_tokens import Token, tokenize
from mutant import Changes, Mutant

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
# What ends an operand.
_ENDS = {")", "]", "}", ";", ",", "?", ":", "||"} | {"="}
_BINARY = {"&&", *_KIND_OF}
# Orders and scopes of the memory model, by name and in assembly.
_WEAKER = {"load_acquire": "load_relaxed", "store_release": "store_relaxed",
           "load_pair_acquire": "load_pair_relaxed",
           "__HIP_MEMORY_SCOPE_SYSTEM": "__HIP_MEMORY_SCOPE_AGENT"}
_ORDER = re.compile(r"(__ATOMIC_|memory_order_)(?:acquire|release|acq_rel|seq_cst)$", re.IGNORECASE)
_WEAKER_INSTRUCTIONS = (("mfence", "lfence"), ("sfence", ""), (r"^(?!.*fence)(.*)\.(?:acquire|release|acq_rel)\b", r"\1.relaxed"),
                        (r"\.sys\b", ".gpu"))
_LOCKS = {"lock_guard", "unique_lock", "scoped_lock", "shared_lock"}
_ASSIGNS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="}


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
        self.text = text
        self.tokens = tokenize(text)
        self.changes = Changes(file, text, r"//[^\n]*")

    def add(self, operator: str, first: int, last: int, replacement: str) -> None:
        self.changes.add(operator, self.tokens[first].function, self.tokens[first].begin,
                         self.tokens[last].end, replacement)

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
            if token.text in ("%", "&", "&&", "||") and token.function and self.blanks(index):
                self.operand(index)
            if token.function:
                self.statement(index)
        return self.changes.all()

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
        text = self.tokens[index].text
        for pattern, weaker in _WEAKER_INSTRUCTIONS:
            self.add("fence" if "fence" in text else "order", index, index, re.sub(pattern, weaker, text))

    def operand(self, index: int) -> None:
        """Leaves out one side of a condition, or the bound of a number."""
        sign = self.tokens[index].text
        ends = _ENDS | ({"&&"} if sign == "&&" else set() if sign == "||" else _BINARY)
        last = index + 1
        while self.tokens[last + 1].text not in ends or self.tokens[last].pair > last:
            last = max(self.tokens[last].pair, last + 1)
        self.add("operand", index, last, "")
        if sign in ("&&", "||"):
            first = index - 1
            while self.tokens[first - 1].text not in ends | {"(", "[", "{", "return"} or \
                    0 <= self.tokens[first].pair < first:
                first = self.tokens[first].pair if 0 <= self.tokens[first].pair < first else first - 1
            self.add("operand", first, index, "")

    def name(self, index: int) -> None:
        text = self.tokens[index].text
        replacement = {"true": "false", "false": "true", "min": "max", "max": "min",
                       "any_of": "all_of", "all_of": "any_of", "none_of": "any_of"}.get(text)
        if replacement:
            self.add("value" if text in ("true", "false") else "function", index, index, replacement)
        order = _ORDER.match(text)
        weaker = _WEAKER.get(text) or order and order[1] + ("RELAXED" if text.isupper() else "relaxed")
        if weaker:
            self.add("order", index, index, weaker)
        if text == "catch" and self.tokens[index + 1].pair > index:
            self.handler(index + 2, self.tokens[index + 1].pair - 1)
        if text in _LOCKS and self.tokens[index].function:
            self.lock(index)
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

    def handler(self, first: int, last: int) -> None:
        """Fewer exceptions are caught, or none."""
        what = self.source(first, last)
        if what == "...":
            self.add("handler", first, last, "std::bad_exception const&")
        elif "std::exception" in what:
            self.add("handler", first, last, what.replace("std::exception", "std::runtime_error"))
        else:
            self.add("handler", first, last, re.sub(r"[\w:]+", "std::bad_exception", what, count=1))

    def lock(self, index: int) -> None:
        """Of an object of that type, the lock is not taken."""
        first = index - 2 if self.tokens[index - 1].text == "::" else index
        if self.tokens[first - 1].text in (";", "{", "}"):
            self.add("lock", first, self.end_of_statement(index), ";")

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
            arguments = _arguments(self.tokens, at)
            if arguments and self.tokens[arguments[0][1]].text == ")":
                first, end = arguments[0]
                self.add("ignored", index, last, f"static_cast<void>({self.source(first, end)});")


def mutants_of(file: str, text: str) -> list[Mutant]:
    """Every mutant of a C++ file, in the order of the text."""
    return _Finder(file, text).run()
