"""Gates as formulas over labels: comparisons, ``in``, ``and``, ``or``, ``not``."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from symreln.networks.dataset import Label
from symreln.networks.parts import Gate
from symreln.specs.expression import Parsed, Syntax
from symreln.specs.finding import Finding, nearest, quoted

_MAX_INTEGER_DIGITS = 18
"""Labels are class or item numbers; this keeps them inside 64 bits for every file format."""

_COMPARISONS = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SIGNS = (*"<>,-()[]{}", "==", "!=", "<=", ">=", "in", "not in", "not", "and", "or")
_GATE_SYNTAX = Syntax(
    made_of='labels, whole numbers, "texts", == != < <= > >= in and or not, and parentheses',
    kinds=frozenset({"number", "name", "text"}),
    signs={sign: sign for sign in _SIGNS} | {"&": "and", "|": "or"},
)


def gate_of_text(gate: str, labels: Mapping[str, tuple[Label, ...]], samples: int) -> Gate:
    """Return 0 or 1 for every sample.

    Args:
        gate: "all", or a Boolean formula over labels.
        labels: Labels of the samples, each of length P.
        samples: P, the number of samples.

    Raises:
        Finding: It is no gate for this dataset.

    Example:
        >>> labels = {"context": (1, 2, 2), "item": (1, 1, 3)}
        >>> gate_of_text("context != 1 and not item in (2, 3)", labels, samples=3)
        (0, 1, 0)
    """
    if gate.strip() == "all":
        return (1,) * samples
    if re.fullmatch(r"[01\s,]+", gate):
        hint = "A list has no quotes: gate = [1, 0, …]."
        raise Finding(f"the text {quoted(gate)}", "a formula over labels or a list", hint)
    formula = _GateFormula(gate, labels, samples)
    return tuple(map(int, formula.parsed.evaluated(formula.truth)))


class _GateFormula:
    """A formula over labels; every part of it has one truth value a sample."""

    def __init__(self, text: str, labels: Mapping[str, tuple[Label, ...]], samples: int) -> None:
        self.parsed = Parsed(text, _GATE_SYNTAX)
        self.labels = labels
        self.samples = samples

    def truth(self, node: ast.expr) -> list[bool]:
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return [not value for value in self.truth(inner)]
            case ast.BoolOp(op=sign, values=inner):
                parts, fold = (
                    list(map(self.truth, inner)),
                    all if isinstance(sign, ast.And) else any,
                )
            case ast.Compare(left=left, ops=signs, comparators=others):
                sides = zip(signs, (left, *others), others, strict=False)
                parts, fold = [self._compared(*each) for each in sides], all
            case _:
                token = self.parsed.token(node)
                hint = f"Compare it, as in {token.text} == 1." if token.kind == "name" else ""
                raise self.parsed.unexpected(token, "a comparison such as == or in", hint)
        return [fold(each) for each in zip(*parts, strict=True)]

    def _compared(self, sign: ast.cmpop, left: ast.expr, right: ast.expr) -> list[bool]:
        values = self._operand(left)
        if isinstance(sign, ast.In | ast.NotIn):
            members = [self._constant(entry) for entry in self._entries(right)]
            for member in members:
                self._check_types(left, values[0], member)
            return [(value in members) == isinstance(sign, ast.In) for value in values]
        others = self._operand(right)
        self._check_types(right, values[0], others[0])
        if isinstance(values[0], str) and not isinstance(sign, ast.Eq | ast.NotEq):
            token = self.parsed.token(right, -1)
            found = f'"{token.text}" between texts'
            raise self.parsed.wrong(token, found, "== or != or in", "Texts have no order.")
        compare: Callable[[Any, Any], bool] = _COMPARISONS[type(sign)]
        return [compare(a, b) for a, b in zip(values, others, strict=True)]

    def _entries(self, node: ast.expr) -> list[ast.expr]:
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return node.elts
        if self.parsed.token(node, -1).text == "(":
            return [node]
        raise self.parsed.unexpected(self.parsed.token(node), 'a list after "in", as in (1, 2)')

    def _operand(self, node: ast.expr) -> tuple[Label, ...]:
        token = self.parsed.token(node)
        if not isinstance(node, ast.Name) or token.kind != "name":
            return (self._constant(node),) * self.samples
        if token.text in self.labels:
            return self.labels[token.text]
        hint = nearest(token.text, [*self.labels, "all"])
        if any(token.text in values for values in self.labels.values()):
            hint = f"Quote the value of a label: {quoted(token.text)}."
        if not self.labels and not hint.startswith("Did"):
            hint = "Add labels: [dataset.labels], one list a label, one entry a sample."
        expected = f"a label of the dataset ({', '.join(self.labels) or 'it has none'})"
        found = f"the unknown label {quoted(token.text)}"
        raise self.parsed.wrong(token, found, expected, hint)

    def _constant(self, node: ast.expr) -> Label:
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        inner = node.operand if isinstance(node, ast.UnaryOp) and negative else node
        token = self.parsed.token(inner)
        if isinstance(inner, ast.Name) and token.text.isdigit():
            if len(token.text) > _MAX_INTEGER_DIGITS:
                found = f"a number of {len(token.text)} digits"
                raise self.parsed.wrong(token, found, f"at most {_MAX_INTEGER_DIGITS}")
            return -int(token.text) if negative else int(token.text)
        if isinstance(node, ast.Name) and token.kind == "text":
            return re.sub(r"\\(.)", r"\1", token.text[1:-1])
        raise self.parsed.unexpected(token, 'a label, a whole number or a "text"')

    def _check_types(self, node: ast.expr, left: Label, right: Label) -> None:
        if isinstance(left, str) != isinstance(right, str):
            number = right if isinstance(left, str) else left
            hint = (
                f'Write "{number}" in quotes if the label is a text, no quotes if it is a number.'
            )
            found, expected = "a text compared with a number", "two texts or two numbers"
            raise self.parsed.wrong(self.parsed.token(node), found, expected, hint)
