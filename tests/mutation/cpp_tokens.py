# SPDX-License-Identifier: MIT
"""The tokens of C++ source, and what is known of each: its bracket's other end, its function."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<string>(?:u8|[LuU])?R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|(?:u8|[LuU])?"(?:\\.|[^"\\\n])*")
  | (?P<character>'(?:\\.|[^'\\\n])*')
  | (?P<number>\d(?:'?[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\[\[|\]\]|[^\s\w])
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

_OPEN, _CLOSE = {"(": ")", "[": "]", "{": "}", "[[": "]]"}, {")", "]", "}", "]]"}


@dataclass
class Token:
    kind: str
    text: str
    begin: int
    end: int
    pair: int = -1       # of a bracket: the index of the other one
    function: str = ""   # in whose body it stands; "" outside of functions
    skip: bool = False   # text for people, checks of the compiler, attributes


def _condition(expression: str) -> bool | None:
    """Whether the condition of an #if holds in a build for x86-64 without sanitizers; None: it depends."""
    known = {"__x86_64__": True, "__cplusplus": True, "__aarch64__": False, "__arm__": False,
             "__i386__": False, "__powerpc64__": False, "__SANITIZE_THREAD__": False,
             "__SANITIZE_ADDRESS__": False}
    text = re.sub(r"//.*|/\*.*?\*/", "", expression.replace("\\\n", " "))
    names = set(re.findall(r"[A-Za-z_]\w*", text)) - {"defined"}
    if not names <= set(known):
        return None
    text = re.sub(r"defined\s*\(?\s*(\w+)\s*\)?", lambda m: str(known[m.group(1)]), text)
    text = text.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
    try:
        return bool(eval(text, {"__builtins__": {}}, known))  # of names and operators only
    except (SyntaxError, TypeError):
        return None


class _Branches:
    """Which lines the compiler sees, as far as a processor decides it."""

    def __init__(self):
        self.stack: list[tuple[bool | None, bool]] = []  # whether any was taken; whether this one is

    def active(self) -> bool:
        return all(now for _, now in self.stack)

    def directive(self, text: str) -> None:
        match = re.match(r"\s*#\s*(\w+)(.*)", text, re.DOTALL)
        word, rest = (match.group(1), match.group(2)) if match else ("", "")
        if word in ("ifdef", "ifndef"):
            rest = f"{'!' if word == 'ifndef' else ''}defined({rest.strip()})"
            word = "if"
        if word == "if":
            holds = _condition(rest)
            self.stack.append((holds, holds is not False))
        elif word in ("elif", "else") and self.stack:
            taken, _ = self.stack.pop()
            holds = True if word == "else" else _condition(rest)
            now = taken is not True and holds is not False
            self.stack.append((True if True in (taken, holds) else None, now))
        elif word == "endif" and self.stack:
            self.stack.pop()


def tokenize(text: str) -> list[Token]:
    """The tokens that a compiler for x86-64 sees, without comments and directives."""
    branches, tokens = _Branches(), []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup if match.lastgroup != "raw" else "string"
        if kind == "directive":
            branches.directive(match.group())
        elif kind != "comment" and branches.active():
            tokens.append(Token(kind, match.group(), match.start(), match.end()))
    _pair(tokens)
    _find_functions(tokens)
    _find_skipped(tokens)
    return tokens


def _pair(tokens: list[Token]) -> None:
    stack = []
    for index, token in enumerate(tokens):
        if token.kind == "sign" and token.text in _OPEN:
            stack.append(index)
        elif token.kind == "sign" and token.text in _CLOSE:
            if stack and _OPEN[tokens[stack[-1]].text] == token.text:
                token.pair = stack.pop()
                tokens[token.pair].pair = index


def _head(tokens: list[Token], brace: int) -> list[Token]:
    """What stands before a brace in its statement, without what is in parentheses."""
    head, at = [], brace - 1
    while at >= 0:
        # A member is initialised in braces there, too.
        initial = tokens[at].text == "}" and tokens[at + 1].text in (",", "{")
        if tokens[at].text in (";", "{", "}") and not initial:
            break
        if (initial or tokens[at].text in (")", "]]")) and tokens[at].pair >= 0:
            head.append(tokens[at])
            at = tokens[at].pair
        head.append(tokens[at])
        at -= 1
    return head[::-1]


def _find_functions(tokens: list[Token]) -> None:
    scopes: list[str] = []  # the function's name, or "" in a namespace or a class
    for index, token in enumerate(tokens):
        if token.text == "}" and token.kind == "sign" and token.pair >= 0 and scopes:
            scopes.pop()
        token.function = scopes[-1] if scopes else ""
        if token.text != "{" or token.kind != "sign" or token.pair < 0:
            continue
        inside = scopes[-1] if scopes else ""
        head = _head(tokens, index)
        words = [t.text for t in head]
        before = tokens[index - 1].text if index else ""
        if inside or {"namespace", "struct", "class", "union", "enum"} & set(words) and "(" not in words:
            scopes.append(inside)
        elif "(" in words and before != "=" and "=" not in words[:words.index("(")]:
            at = words.index("(")
            while at and words[at - 1] in ("alignas", "__attribute__", "]]", "noexcept"):
                at = words.index("(", at + 1) if "(" in words[at + 1:] else 0
            name = words[at - 1] if at else "?"
            if at > 2 and words[at - 2] == "::":
                name = words[at - 3] + "::" + name
            scopes.append(name)
        else:
            scopes.append("")


def _find_skipped(tokens: list[Token]) -> None:
    def skip(begin: int, end: int) -> None:
        for at in range(begin, end + 1):
            tokens[at].skip = True

    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.text in ("static_assert", "alignas", "__attribute__", "log", "template", "operator"):
            if following and following.pair > index:
                skip(index, following.pair)
            elif token.text == "template" and following and following.text == "<":
                at, depth = index + 1, 0
                while at < len(tokens):
                    depth += {"<": 1, ">": -1, ">>": -2}.get(tokens[at].text, 0)
                    if depth <= 0:
                        break
                    at += 1
                skip(index, min(at, len(tokens) - 1))
            elif following:
                following.skip = True
        elif token.text in ("[[", "throw") and token.kind in ("sign", "name"):
            at = index
            while at < len(tokens) and tokens[at].text != ";" and at != token.pair:
                at += 1
            skip(index, min(at, len(tokens) - 1))
