"""Gate patterns: Boolean formulas over the labels of samples, or lists of 0, 1 and gains.

Formulas have labels, whole numbers and quoted texts, ``== != < <= > >= in``, ``and or not`` and
parentheses. ``&`` and ``|`` are the words ``and`` and ``or``: they bind more loosely than a
comparison.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from symreln.exact.scalar import Scalar
from symreln.networks.parts import Gain, Gate
from symreln.specs.expression import Declared
from symreln.specs.finding import Finding, counted, nearest, need, quoted, read_all, shown
from symreln.specs.model import Label
from symreln.specs.number import DecimalText
from symreln.specs.rational import as_fraction
from symreln.specs.syntax import Parsed, Syntax

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
_GATE = Syntax(
    made_of='labels, whole numbers, "texts", == != < <= > >= in and or not, and parentheses',
    kinds=frozenset({"number", "name", "text"}),
    signs={sign: sign for sign in _SIGNS} | {"&": "and", "|": "or"},
)


def gate_values(
    gate: object,
    labels: Mapping[str, tuple[Label, ...]],
    samples: int,
    declared: Declared | None = None,
    *,
    closed: bool = False,
) -> Gate:
    """Return 0, 1 or a gain for every sample.

    Args:
        gate: "all", a Boolean formula over labels, or a list of 0, 1 and gains in quotes.
        labels: Labels of the samples, each of length P.
        samples: P, the number of samples.
        declared: Names that gains may use.
        closed: Whether it may be closed on all samples.

    Raises:
        Finding: It is no gate for this dataset, or is never open.

    Example:
        >>> labels = {"context": (1, 2, 2), "item": (1, 1, 3)}
        >>> gate_values("context != 1 and not item in (2, 3)", labels, samples=3)
        (0, 1, 0)
    """
    if isinstance(gate, str):
        values = _from_text(gate, labels, samples)
    elif isinstance(gate, Sequence):
        values = _from_list(gate, samples, declared or Declared())
    else:
        raise Finding(shown(gate), '"all", a formula over labels, or a list of 0, 1 and gains')
    what = f"the gate {quoted(gate)}" if isinstance(gate, str) else "a gate"
    fits, expected = closed or any(values), "a gate open on at least one sample"
    need(fits, f"{what} that is 0 on every sample", expected, _label_values(labels))
    return values


def _label_values(labels: Mapping[str, tuple[Label, ...]]) -> str:
    parts = []
    for name, values in list(labels.items())[:6]:
        distinct = list(dict.fromkeys(values))
        listed = ", ".join(quoted(v) if isinstance(v, str) else str(v) for v in distinct[:6])
        parts.append(f"{name} is {listed}{', …' if len(distinct) > 6 else ''}")
    return f"Values of the labels: {'; '.join(parts)}." if parts else ""


def _from_list(gate: Sequence[object], samples: int, declared: Declared) -> Gate:
    entries = ((f"[{index}]", value) for index, value in enumerate(gate))
    values = tuple(read_all(entries, partial(_gain, declared)))
    found = f"{counted(len(gate), 'entry')} for {counted(samples, 'sample')}"
    expected = f"one 0, 1 or gain for every sample ({samples} of them)"
    hint = 'Add or remove entries, or write a formula over labels, or "all".'
    need(len(gate) == samples, found, expected, hint)
    return values


def _gain(declared: Declared, value: object) -> Gain:
    """Return one entry of a list.

    A bare whole number is 0 or 1, so that a list of sample indices is seen to be none.

    Raises:
        Finding: It is neither 0, 1 nor a formula.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value in (0, 1):
        return int(value)
    expected = 'an entry 0 or 1, or a gain in quotes, such as "g" or "1/2"'
    need(isinstance(value, str | float | Fraction | DecimalText), shown(value), expected)
    gain = declared.value(value)
    number = as_fraction(gain)
    return int(number) if number in (0, 1) else Scalar.of(gain, declared.names)


def _from_text(gate: str, labels: Mapping[str, tuple[Label, ...]], samples: int) -> Gate:
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
        self.parsed = Parsed(text, _GATE)
        self.labels = labels
        self.samples = samples

    def truth(self, node: ast.expr) -> list[bool]:
        match node:
            case ast.BoolOp(op=sign, values=parts):
                fold = all if isinstance(sign, ast.And) else any
                return [fold(each) for each in zip(*map(self.truth, parts), strict=True)]
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return [not value for value in self.truth(inner)]
            case ast.Compare(left=left, ops=signs, comparators=others):
                gates = []
                for sign, right in zip(signs, others, strict=True):
                    gates.append(self._compared(sign, left, right))
                    left = right
                return [all(each) for each in zip(*gates, strict=True)]
        token = self.parsed.token(node)
        hint = f"Compare it, as in {token.text} == 1." if token.kind == "name" else ""
        raise self.parsed.unexpected(token, "a comparison such as == or in", hint)

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
            token = self.parsed.before(right)
            found = f'"{token.text}" between texts'
            raise self.parsed.wrong(token, found, "== or != or in", "Texts have no order.")
        compare: Callable[[Any, Any], bool] = _COMPARISONS[type(sign)]
        return [compare(a, b) for a, b in zip(values, others, strict=True)]

    def _entries(self, node: ast.expr) -> list[ast.expr]:
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return node.elts
        if self.parsed.before(node).text == "(":
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
        inner = node.operand if isinstance(node, ast.UnaryOp) else node
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
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
