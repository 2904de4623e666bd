# SPDX-License-Identifier: MIT
"""Finds where Python source can be changed so that a test should fail, and how."""

import ast
import re

from mutant import Changes, Mutant

_COMPARISONS = {
    ast.Lt: ("<", ("<=", ">=")), ast.LtE: ("<=", ("<", ">")), ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")), ast.Eq: ("==", ("!=",)), ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)), ast.IsNot: ("is not", ("is",)), ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",))}
_ARITHMETIC = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "//"), ast.FloorDiv: ("//", "*"),
               ast.Div: ("/", "*"), ast.Mod: ("%", "*"), ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"),
               ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.Pow: ("**", "*")}
_FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any"}


class _Finder(ast.NodeVisitor):
    def __init__(self, file: str, text: str):
        self.text = text
        self.changes = Changes(file, text, r"  # [^\n]*")
        self.lines = [0]
        for line in text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.functions: list[str] = []

    def place(self, line: int, column: int) -> int:
        """Columns are counted in bytes."""
        begin = self.lines[line - 1]
        return begin + len(self.text[begin:self.lines[line]].encode()[:column].decode())

    def begin(self, node: ast.AST) -> int:
        return self.place(node.lineno, node.col_offset)

    def end(self, node: ast.AST) -> int:
        return self.place(node.end_lineno, node.end_col_offset)

    def source(self, node: ast.AST) -> str:
        return self.text[self.begin(node):self.end(node)]

    def add(self, operator: str, begin: int, end: int, replacement: str) -> None:
        self.changes.add(operator, ".".join(self.functions), begin, end, replacement)

    def replace(self, operator: str, node: ast.AST, replacement: str) -> None:
        self.add(operator, self.begin(node), self.end(node), replacement)

    def between(self, operator: str, before: ast.AST, after: ast.AST, sign: str, other: str) -> None:
        """Changes a sign that stands between two operands."""
        begin, end = self.end(before), self.begin(after)
        found = re.search(r"(?<!\w)" + re.escape(sign).replace(r"\ ", r"\s+") + r"(?!\w)",
                          self.text[begin:end])
        if found:
            self.add(operator, begin + found.start(), begin + found.end(), other)

    def visit_scope(self, node) -> None:
        self.functions.append(node.name)
        self.generic_visit(node)
        self.functions.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_scope

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for before, sign, after in zip(operands, node.ops, operands[1:]):
            text, others = _COMPARISONS[type(sign)]
            for other in others:
                self.between("relation", before, after, text, other)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        text, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for before, after in zip(node.values, node.values[1:]):
            self.between("logic", before, after, text, other)
            self.add("operand", self.begin(before), self.begin(after), "")
            self.add("operand", self.end(before), self.end(after), "")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        is_text = any(isinstance(each, (ast.JoinedStr, ast.Constant)) and not
                      isinstance(getattr(each, "value", ""), (int, float)) for each in (node.left, node.right))
        if type(node.op) in _ARITHMETIC and not is_text:
            self.between("arithmetic", node.left, node.right, *_ARITHMETIC[type(node.op)])
            if isinstance(node.op, ast.Mod):
                self.add("operand", self.end(node.left), self.end(node.right), "")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.replace("negation", node, f"bool({self.source(node.operand)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.replace("value", node, str(not node.value))
        elif isinstance(node.value, int):
            for other in (node.value + 1, node.value - 1):
                self.replace("constant", node, str(other))

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in _FUNCTIONS and isinstance(node.ctx, ast.Load):
            self.replace("function", node, _FUNCTIONS[node.id])

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> None:
        # The operators of a condition are changed one by one, too; a name alone would else be left out.
        condition = self.source(node.test)
        self.replace("condition", node.test, f"({condition}) and False")
        if not isinstance(node, ast.While):
            self.replace("condition", node.test, f"({condition}) or True")
        self.generic_visit(node)

    visit_While = visit_IfExp = visit_If

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and self.source(node.value) not in ("None", "True", "False"):
            self.replace("return", node.value, "None")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if self.functions and not isinstance(node.value, ast.Constant):
            self.replace("statement", node, "pass")
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit_assignment(self, node: ast.Assign | ast.AugAssign) -> None:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if self.functions and (isinstance(node, ast.AugAssign) or not isinstance(target, ast.Name)):
            self.replace("statement", node, "pass")
        self.generic_visit(node)

    visit_Assign = visit_AugAssign = visit_assignment

    def visit_Raise(self, node: ast.Raise) -> None:
        self.replace("statement", node, "pass")  # its text is for people

    def visit_With(self, node: ast.With) -> None:
        first, last = node.items[0], node.items[-1]
        if last.optional_vars is None:
            self.add("lock", self.begin(node), self.end(last.context_expr), "if True")
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self.replace("handler", node.type, "ZeroDivisionError")
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arguments(self, node: ast.arguments) -> None:
        for default in (*node.defaults, *filter(None, node.kw_defaults)):
            self.visit(default)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Text for people; its parts have no places of their own before Python 3.12."""


def mutants_of(file: str, text: str) -> list[Mutant]:
    """Every mutant of a Python file, in the order of the text."""
    finder = _Finder(file, text)
    finder.visit(ast.parse(text))
    return finder.changes.all()
