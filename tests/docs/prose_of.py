# SPDX-License-Identifier: MIT
"""The part of a file that people read, each sentence in its line: of documents and manual pages all but code, of code
the comments and the string literals with a space, which are errors, advice, help and messages."""

import ast
import re

# What the comments and literals of C, C++ and CUDA are told from: include lines, numbers with marks ('), characters.
TOKENS = re.compile(r"""
    //[/!]?<?(?P<line>[^\n]*) | /\*+(?P<block>.*?)\*/
    | R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)" | "(?P<text>(?:\\.|[^"\\\n])*)"
    | ^\s*\#\s*include[^\n]* | \b\d[\w']* | '(?:\\.|[^'\\\n])*' | \S""", re.X | re.S | re.M)
CODE = "|"  # stands for code, so that no pattern reaches from one text into the next


def blank(found):
    """As many lines and columns without a letter."""
    return re.sub(r"[^\n]", " ", found.group())


def without_names(prose):
    """`code` becomes a word, as it is in its sentence."""
    return re.sub(r"`[^`\n]*`", lambda code: "x" * len(code.group()), prose)


def in_code(prose):
    """Without quotes, in which proselint looks for nothing: code has them around all that it says."""
    return re.sub(r"\B[\"']|[\"']\B", " ", without_names(prose))


def of_markdown(text):
    text = re.sub(r"^```.*?^```$|<!--.*?-->|<[a-z/][^>]*>|\A---\n.*?^---$", blank, text, flags=re.M | re.S)
    text = re.sub(r"^(#+ .*)$", r"\1.", text, flags=re.M)
    return re.sub(r"\]\([^)]*\)|https?://\S+", blank, without_names(text))


def of_manual(text):
    text = re.sub(r"^\.(EX|nf)\b.*?^\.(EE|fi)$", blank, text, flags=re.M | re.S)
    text = re.sub(r"^\.(\\\"|TH|SH|TP|de|ad|nh|so).*$", blank, text, flags=re.M)
    text = re.sub(r"^\.[A-Z]+( .*)", r"\1.", text, flags=re.M)
    return re.sub(r"\\f.|\\[&%\-]", lambda escape: " " * len(escape.group()), text)


def of_c(text):
    def prose(token):
        kind = token.lastgroup if token.lastgroup != "mark" else "raw"
        words = token.group(kind) if kind else ""
        if kind in ("line", "block") and not words.endswith(";"):  # examples in comments end so
            words = re.sub(r"^\s*\*+ ", blank, words, flags=re.M)
        elif kind in ("text", "raw") and " " in words:
            words = re.sub(r"\\.", "  ", words, flags=re.S)
        else:
            return re.sub(r"\S", CODE, token.group())
        before = token.start(kind) - token.start()
        return " " * before + words + " " * (token.end() - token.end(kind))

    return in_code(TOKENS.sub(prose, text))


def of_python(text):
    """Docstrings but for their examples, whole lines of comment, and literals."""
    lines = text.split("\n")
    found = [re.sub(r"^\s*# ", blank, line) if re.match(r"\s*# ", line) else "" for line in lines]
    tree = ast.parse(text)
    documented = [node.body[0] for node in ast.walk(tree) if isinstance(
        node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node)]
    for statement in documented:
        for number in range(statement.lineno - 1, statement.end_lineno):
            found[number] = "" if re.match(r"\s*(>>>|\.\.\.)", lines[number]) else lines[number]
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        literal = ("".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
                   if isinstance(node, ast.JoinedStr) else getattr(node, "value", ""))
        if isinstance(literal, str) and " " in literal and id(node) not in parts:
            if not any(node is statement.value for statement in documented):
                found[node.lineno - 1] += f"{CODE} {literal} {CODE}".replace("\n", " ")
    return in_code("\n".join(found))


def of_shell(text):
    """All but the names of variables."""
    return in_code(re.sub(r"^\s*#+ |\$\{?\w+|\b\w+=", blank, text, flags=re.M))


OF_DOCUMENTS = {".md": of_markdown, ".roff": of_manual, ".3": of_manual}
OF_CODE = {**dict.fromkeys((".cpp", ".hpp", ".h", ".c", ".cu", ".cuh"), of_c), ".py": of_python, ".sh": of_shell}


def reader(path):
    """The function above for a file; of a script without a suffix, by its interpreter."""
    if path.suffix in OF_DOCUMENTS:
        return OF_DOCUMENTS[path.suffix]
    if path.suffix:
        return OF_CODE.get(path.suffix)
    with path.open("rb") as file:
        interpreter = re.match(rb"#!.*\b(python3|(?:ba)?sh)$", file.readline().strip())
    return interpreter and OF_CODE[".py" if interpreter.group(1) == b"python3" else ".sh"]


def is_code(path):
    return path.suffix not in OF_DOCUMENTS and reader(path) is not None
