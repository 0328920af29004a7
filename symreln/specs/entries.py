"""Kinds of keys of ``[[pathway]]``, ``[[node]]`` and ``[[edge]]``: gates, inputs and outputs."""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, PlainValidator, ValidationInfo

from symreln.base.records import record
from symreln.exact.scalar import Scalar
from symreln.networks.dataset import Dataset, Label
from symreln.networks.parts import Gain, Gate
from symreln.specs.expression import Declared, as_fraction
from symreln.specs.finding import (
    Finding,
    check_text,
    counted,
    nearest,
    need,
    quoted,
    read_all,
    shown,
)
from symreln.specs.kinds import FORMULA, one_of, text_or_list
from symreln.specs.number import DecimalText
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
_GATE_SYNTAX = Syntax(
    made_of='labels, whole numbers, "texts", == != < <= > >= in and or not, and parentheses',
    kinds=frozenset({"number", "name", "text"}),
    signs={sign: sign for sign in _SIGNS} | {"&": "and", "|": "or"},
)


def _gate_values(
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
        >>> _gate_values("context != 1 and not item in (2, 3)", labels, samples=3)
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
        self.parsed = Parsed(text, _GATE_SYNTAX)
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


NAME_LENGTH = 80
#: In a list of gates: the pathway's inputs are made orthogonal to the sample.
BOUNDARY = "/"


@record
class AskedEntry:
    """What entries refer to.

    Attributes:
        dataset: Samples, labels and groups; None where it is wrong itself, and then only what needs
            no dataset is checked.
        declared: Names that gains may use.
    """

    dataset: Dataset | None
    declared: Declared


@record
class Written:
    """A gate, or inputs or outputs, as read.

    Attributes:
        values: 0, 1 or a gain for every sample; or indices, ascending.
        text: What the user wrote.
        boundary: Samples to which the inputs are made orthogonal.
    """

    values: tuple[Any, ...] = ()
    text: str = ""
    boundary: tuple[int, ...] = ()


def _gate(value: object, info: ValidationInfo, *, gains: bool = True) -> Written:
    asked: AskedEntry = info.context  # type: ignore[assignment]
    written = one_of(value, str, list, tuple)
    data, declared = asked.dataset, asked.declared if gains else Declared()
    if data is None:
        return Written()
    closed = bool(info.data.get("then"))
    values = _gate_values(written, data.labels, data.samples, declared, closed=closed)
    plain = gains or all(isinstance(gain, int) for gain in values)
    need(plain, "a gain in a gate that is taken later", "0 and 1")
    return Written(values=values, text=_text(written))


def _gate_of_pathway(value: object, info: ValidationInfo) -> Written:
    if not isinstance(value, list | tuple) or BOUNDARY not in value:
        return _gate(value, info)
    found = f"{quoted(BOUNDARY)} in the gate of a pathway with then"
    expected = "one gate for the whole training where samples are on the boundary"
    need(not info.data.get("then"), found, expected)
    found = _gate([0 if entry == BOUNDARY else entry for entry in value], info)
    on = tuple(place for place, entry in enumerate(value) if entry == BOUNDARY)
    return replace(found, boundary=on, text=_text(value))


def _indices(kind: str, value: object, info: ValidationInfo) -> Written:
    """Return what "all", a group's name or a list stands for."""
    asked: AskedEntry = info.context  # type: ignore[assignment]
    written, data = one_of(value, str, list, tuple), asked.dataset
    if data is None:
        return Written()
    groups, count = (
        (data.input_groups, data.n_x) if kind == "inputs" else (data.output_groups, data.n_y)
    )
    if not isinstance(written, str):
        return Written(values=indices_of(written, count, kind), text=_text(written))
    name = written.strip()
    known = {"all": tuple(range(count)), **groups}
    expected = f'"all", a group of {kind}, or a list of indices'
    need(name in known, f"the unknown group {quoted(name)}", expected, nearest(name, known))
    return Written(values=known[name], text=name)


def indices_of(value: object, count: int, kind: str) -> tuple[int, ...]:
    """Return a list of indices, ascending.

    Args:
        value: What was read: a list of indices from 0.
        count: How many inputs or outputs there are.
        kind: "inputs" or "outputs".

    Raises:
        Finding: It is no list, empty, or an index is wrong, out of range or repeated.
    """
    one = kind.removesuffix("s")
    expected = f"indices from 0 to {count - 1}, each once"
    if not isinstance(value, list | tuple):
        raise Finding(shown(value), f"a list of {expected}")
    need(value, f"no {kind}", f"at least one {one}", f'Write "all" for all {count}.')
    hint = f"There are {count} {kind}; indices count from 0."
    for place, index in enumerate(value):
        whole = isinstance(index, int) and not isinstance(index, bool)
        fits = whole and 0 <= index < count
        need(fits, f"{shown(index)} at place {place}", expected, hint)
    twice = [index for index, times in Counter(value).items() if times > 1]
    need(not twice, f"the {one} {', '.join(map(str, twice[:1]))} twice", expected)
    return tuple(sorted(value))


def _text(value: str | Sequence[object]) -> str:
    """Return what the user wrote for a gate or for indices, as text in TOML's words."""
    if isinstance(value, str):
        return value.strip()
    written = [f'"{entry}"' if isinstance(entry, str) else str(entry) for entry in value]
    return f"[{', '.join(written)}]"


_GATE: Any = text_or_list(FORMULA)
_INDICES: Any = text_or_list({"type": "integer"})

Name = Annotated[str, AfterValidator(partial(check_text, longest=NAME_LENGTH))]
"""A text that can be shown."""

GateEntries = Annotated[Written, PlainValidator(_gate), _GATE]
"""A formula over labels as text, or a list of 0, 1 and gains."""

PathwayGate = Annotated[Written, PlainValidator(_gate_of_pathway), _GATE]
"""The same, or "/" in the list."""

SwitchGate = Annotated[Written, PlainValidator(partial(_gate, gains=False)), _GATE]
"""The same without gains."""

Inputs = Annotated[Written, PlainValidator(partial(_indices, "inputs")), _INDICES]
"""The name of a group, or a list of indices."""

Outputs = Annotated[Written, PlainValidator(partial(_indices, "outputs")), _INDICES]
"""The same, of outputs."""
