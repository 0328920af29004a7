"""A function with one number, sign or operation of it wrong, again and again."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from symreln.laws.line import REFUSAL

_OTHER = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
#: What only says something, and chooses nothing that is printed as an equation.
_WORDS = {"says", "because", "check", "main"}
#: Functions whose numbers are sizes: with another one nothing fits that could be printed.
_SIZES = {"eye", "range", "zeros"}
_REFUSED = "is refused"
#: Functions that return LaTeX.
_TEXTS = {"integral", "moves", "to_latex"}
#: Ways to make a place wrong; the next one is taken where one does not even run.
_WAYS = 2


class _Wrong(ast.NodeTransformer):
    """Make the place number ``place`` wrong, in the order in which they are met.

    Numbers are one more, or one less; operations are others, or a product is doubled, as matrices
    have no quotient.
    """

    def __init__(self, place: int, way: int, text: str) -> None:
        self.left, self.way, self.what, self.rows = place, way, "", text.splitlines()

    def _here(self, node: ast.expr, what: str) -> bool:
        self.left -= 1
        if self.left == -1:
            row = self.rows[node.lineno - 1].strip()
            self.what = f"{what} {ast.unparse(node)} of {row}"
        return self.left == -1

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        return node if node.arg in _WORDS else self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> ast.AST:
        return node  # a size as well

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return node if name in _SIZES else self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) not in _OTHER or _is_text(node) or not self._here(node, "operation"):
            return node
        if self.way and isinstance(node.op, ast.Mult):
            return ast.copy_location(ast.BinOp(node, ast.Mult(), ast.Constant(2)), node)
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
            return ast.copy_location(ast.Constant(node.value + 1 - 2 * self.way), node)
        return node


def _is_text(node: ast.expr) -> bool:
    """Whether an expression is text that is put together."""
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") in _TEXTS
    return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str)


def mutants(function: FunctionType) -> Iterator[tuple[str, list[CodeType]]]:
    """Yield (what is wrong, the code of every way in which it is) of every place of a function."""
    file = inspect.getfile(function)
    text = Path(file).read_text(encoding="utf-8")
    for place in range(10_000):
        found = [_made_wrong(function, file, text, place, way) for way in range(_WAYS)]
        if not found[0][0]:
            return
        yield found[0][0], [code for _, code in found]


def _made_wrong(
    function: FunctionType, file: str, text: str, place: int, way: int
) -> tuple[str, CodeType]:
    """Return (what is wrong, the code) of a function with one place wrong, "" where there is none.

    Args:
        function: The function.
        file: Its file.
        text: What is in the file.
        place: Number of the place.
        way: Number of the way.
    """
    names = [name for name in function.__qualname__.split(".") if name != "<locals>"]
    tree = ast.parse(text)
    node: Any = tree
    for name in names:
        node = next(n for n in node.body if getattr(n, "name", None) == name)
    wrong = _Wrong(place, way, text)
    node.body = [wrong.visit(each) for each in node.body]
    flags = function.__code__.co_flags & 0x1000000
    code = compile(ast.fix_missing_locations(tree), file, "exec", flags)
    for name in names:
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
    return wrong.what, code


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
    """Return the mutants of a function that the check of lines does not refuse, and why not.

    Only its own refusal counts: of what raises something else nobody knows whether it is checked.
    """
    found = []
    for what, codes in mutants(function):
        verdicts = []
        for code in codes:
            with running(function, code):
                verdicts.append(_verdict(check))
            if "raises" not in verdicts[-1]:
                break
        if verdicts[-1] != _REFUSED:
            found.append(f"{what}: {verdicts[-1]}")
    return found


def _verdict(check: Callable[[], object]) -> str:
    try:
        check()
    except ArithmeticError as error:  # what checked() raises, as it alone does with these words
        refused = type(error) is ArithmeticError and REFUSAL in str(error)
        return _REFUSED if refused else f"raises {error!r}"
    except Exception as error:
        return f"raises {error!r}"
    return "passes"
