"""A function with one number, sign or operation of it wrong, again and again."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

_OTHER = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
#: What only says something, and chooses nothing that is printed as an equation.
_WORDS = {"says", "because", "check", "main"}


class _Wrong(ast.NodeTransformer):
    """Make the place number ``place`` wrong, in the order in which they are met."""

    def __init__(self, place: int, text: str) -> None:
        self.left, self.what, self.rows = place, "", text.splitlines()

    def _here(self, node: ast.expr, what: str) -> bool:
        self.left -= 1
        if self.left == -1:
            row = self.rows[node.lineno - 1].strip()
            self.what = f"{what} {ast.unparse(node)} of {row}"
        return self.left == -1

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        return node if node.arg in _WORDS else self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) in _OTHER and self._here(node, "operation"):
            node.op = _OTHER[type(node.op)]()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        wrong = isinstance(node.op, ast.USub) and self._here(node, "sign")
        return node.operand if wrong else node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        node.left = self.visit(node.left)  # what it is compared with chooses a form
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) is int and self._here(node, "number"):
            return ast.copy_location(ast.Constant(node.value + 1), node)
        return node


def mutants(function: FunctionType) -> Iterator[tuple[str, CodeType]]:
    """Yield (what is wrong, the code) of every mutant of a function."""
    file = inspect.getfile(function)
    text, flags = Path(file).read_text(encoding="utf-8"), function.__code__.co_flags
    names = [name for name in function.__qualname__.split(".") if name != "<locals>"]
    for place in range(10_000):
        tree = ast.parse(text)
        node: Any = tree
        for name in names:
            node = next(n for n in node.body if getattr(n, "name", None) == name)
        wrong = _Wrong(place, text)
        node.body = [wrong.visit(each) for each in node.body]
        if not wrong.what:
            return
        code = compile(ast.fix_missing_locations(tree), file, "exec", flags & 0x1000000)
        for name in names:
            code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
        yield wrong.what, code


@contextmanager
def running(function: FunctionType, code: CodeType) -> Iterator[None]:
    """Let a function run other code."""
    own = function.__code__
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = own


def not_refused(function: FunctionType, check: Callable[[], object]) -> list[str]:
    """Return the mutants of a function with which ``check`` raises nothing."""
    found = []
    for what, code in mutants(function):
        with running(function, code):
            try:
                check()
            except Exception:
                continue
        found.append(what)
    return found
