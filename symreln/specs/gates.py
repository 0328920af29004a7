"""Gate patterns: Boolean formulas over the labels of samples, or lists of 0, 1 and gains.

    gate        = either
    either      = both (("or" | "|") both)*
    both        = negation (("and" | "&") negation)*
    negation    = "not" negation | "(" either ")" | comparison
    comparison  = operand (("==" | "!=" | "<" | "<=" | ">" | ">=") operand)+
                | operand ["not"] "in" ("(" | "[" | "{") constant ("," constant)* (")" | "]" | "}")
    operand     = label | constant
    constant    = ["-"] integer | quoted text

``&`` and ``|`` are the words ``and`` and ``or``: they bind more loosely than a comparison.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from symreln.exact.scalar import Scalar
from symreln.networks.parts import Gain, Gate
from symreln.specs.expression import Declared
from symreln.specs.finding import Finding, counted, nearest, quoted, shown
from symreln.specs.model import Label
from symreln.specs.number import DecimalText
from symreln.specs.rational import as_fraction
from symreln.specs.tokens import Token, Tokens

_MAX_INTEGER_DIGITS = 18
"""Labels are class or item numbers; this keeps them inside 64 bits for every file format."""

_TOKEN = re.compile(
    r"(?P<integer>\d+)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<text>\"(?:[^\"\\]|\\[\"'\\])*\"|'(?:[^'\\]|\\[\"'\\])*')"
    r"|(?P<operator>==|!=|<=|>=|[<>&|()\[\]{},-])",
    re.ASCII,
)
_MADE_OF = 'labels, whole numbers, "texts", == != < <= > >= in and or not, and parentheses'
_WORDS = frozenset({"and", "or", "not", "in"})
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_COMPARISONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


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
    if not closed and all(value == 0 for value in values):
        what = f"the gate {quoted(gate)}" if isinstance(gate, str) else "a gate"
        expected = "a gate open on at least one sample"
        raise Finding(f"{what} that is 0 on every sample", expected, _label_values(labels))
    return values


def _label_values(labels: Mapping[str, tuple[Label, ...]]) -> str:
    parts = []
    for name, values in list(labels.items())[:6]:
        distinct = list(dict.fromkeys(values))
        listed = ", ".join(quoted(v) if isinstance(v, str) else str(v) for v in distinct[:6])
        parts.append(f"{name} is {listed}{', …' if len(distinct) > 6 else ''}")
    return f"Values of the labels: {'; '.join(parts)}." if parts else ""


def _from_list(gate: Sequence[object], samples: int, declared: Declared) -> Gate:
    values = tuple(_gain(value, index, declared) for index, value in enumerate(gate))
    if len(gate) != samples:
        raise Finding(
            f"{counted(len(gate), 'entry')} for {counted(samples, 'sample')}",
            f"one 0, 1 or gain for every sample ({samples} of them)",
            'Add or remove entries, or write a formula over labels, or "all".',
        )
    return values


def _gain(value: object, index: int, declared: Declared) -> Gain:
    """Return one entry of a list.

    A bare whole number is 0 or 1, so that a list of sample indices is seen to be none.

    Raises:
        Finding: It is neither 0, 1 nor a formula.
    """
    where = f"at index {index} of a gate"
    if isinstance(value, int) and not isinstance(value, bool) and value in (0, 1):
        return int(value)
    if not isinstance(value, str | float | Fraction | DecimalText):
        expected = 'an entry 0 or 1, or a gain in quotes, such as "g" or "1/2"'
        raise Finding(f"{shown(value)} {where}", expected)
    try:
        gain = declared.value(value)
    except Finding as finding:
        raise finding.reworded(f"{finding.found}, {where}") from None
    number = as_fraction(gain)
    return int(number) if number in (0, 1) else Scalar.of(gain, declared.names)


def _from_text(gate: str, labels: Mapping[str, tuple[Label, ...]], samples: int) -> Gate:
    if gate.strip() == "all":
        return (1,) * samples
    if re.fullmatch(r"[01\s,]+", gate):
        hint = "A list has no quotes: gate = [1, 0, …]."
        raise Finding(f"the text {quoted(gate)}", "a formula over labels or a list", hint)
    return tuple(int(value) for value in _Parser(gate, labels, samples).parse())


class _Parser:
    """Recursive descent; every rule returns one truth value a sample."""

    def __init__(self, text: str, labels: Mapping[str, tuple[Label, ...]], samples: int) -> None:
        self.tokens = Tokens(text, _TOKEN, _MADE_OF)
        self.labels = labels
        self.samples = samples

    def parse(self) -> list[bool]:
        gate = self.either()
        if self.tokens.ahead.kind != "end":
            raise self.tokens.unexpected('"and", "or" or the end')
        return gate

    def either(self) -> list[bool]:
        gate = self.both()
        while self.tokens.take_if("or", "|"):
            gate = [a or b for a, b in zip(gate, self.both(), strict=True)]
        return gate

    def both(self) -> list[bool]:
        gate = self.negation()
        while self.tokens.take_if("and", "&"):
            gate = [a and b for a, b in zip(gate, self.negation(), strict=True)]
        return gate

    def negation(self) -> list[bool]:
        if self.tokens.take_if("not"):
            with self.tokens.deeper():
                return [not value for value in self.negation()]
        if opened := self.tokens.take_if("("):
            with self.tokens.deeper():
                gate = self.either()
                self.tokens.need(")", opened)
            return gate
        return self.comparison()

    def comparison(self) -> list[bool]:
        start = self.tokens.ahead
        left = self.operand()
        negated = self.tokens.take_if("not") is not None
        if self.tokens.take_if("in"):
            return self._membership(start, left, negated=negated)
        if negated:
            raise self.tokens.unexpected('"in" after "not"')
        if self.tokens.ahead.text not in _COMPARISONS:
            hint = f"Compare it, as in {start.text} == 1." if start.kind == "name" else ""
            raise self.tokens.unexpected("a comparison such as == or in", hint)
        gate = [True] * self.samples
        while self.tokens.ahead.text in _COMPARISONS and self.tokens.ahead.kind == "operator":
            sign = self.tokens.take()
            right = self.operand()
            self._check_types(sign, left[0], right[0])
            if isinstance(left[0], str) and sign.text not in ("==", "!="):
                found = f'"{sign.text}" between texts'
                raise self.tokens.wrong(sign, found, "== or != or in", "Texts have no order.")
            compare: Callable[[Any, Any], bool] = _COMPARISONS[sign.text]
            gate = [g and compare(a, b) for g, a, b in zip(gate, left, right, strict=True)]
            left = right
        return gate

    def operand(self) -> tuple[Label, ...]:
        token = self.tokens.ahead
        if token.kind != "name" or token.text in _WORDS:
            return (self.constant(),) * self.samples
        self.tokens.take()
        if token.text in self.labels:
            return self.labels[token.text]
        hint = nearest(token.text, [*self.labels, "all"])
        if any(token.text in values for values in self.labels.values()):
            hint = f"Quote the value of a label: {quoted(token.text)}."
        if not self.labels and not hint.startswith("Did"):
            hint = "Add labels: [dataset.labels], one list a label, one entry a sample."
        expected = f"a label of the dataset ({', '.join(self.labels) or 'it has none'})"
        raise self.tokens.wrong(token, f"the unknown label {quoted(token.text)}", expected, hint)

    def constant(self) -> Label:
        sign = -1 if self.tokens.take_if("-") else 1
        token = self.tokens.ahead
        if token.kind == "integer":
            if len(token.text) > _MAX_INTEGER_DIGITS:
                found = f"a number of {len(token.text)} digits"
                raise self.tokens.wrong(token, found, f"at most {_MAX_INTEGER_DIGITS}")
            return sign * int(self.tokens.take().text)
        if token.kind == "text" and sign == 1:
            return re.sub(r"\\(.)", r"\1", self.tokens.take().text[1:-1])
        raise self.tokens.unexpected('a label, a whole number or a "text"')

    def _membership(self, start: Token, left: tuple[Label, ...], *, negated: bool) -> list[bool]:
        opened = self.tokens.take_if(*_CLOSING)
        if opened is None:
            raise self.tokens.unexpected('a list after "in", as in (1, 2)')
        closing = _CLOSING[opened.text]
        allowed = [self.constant()]
        while self.tokens.take_if(",") and self.tokens.ahead.text != closing:
            allowed.append(self.constant())
        self.tokens.need(closing, opened)
        for value in allowed:
            self._check_types(start, left[0], value)
        members = frozenset(allowed)
        return [(value in members) != negated for value in left]

    def _check_types(self, token: Token, left: Label, right: Label) -> None:
        if isinstance(left, str) != isinstance(right, str):
            number = right if isinstance(left, str) else left
            hint = (
                f'Write "{number}" in quotes if the label is a text, no quotes if it is a number.'
            )
            found = "a text compared with a number"
            raise self.tokens.wrong(token, found, "two texts or two numbers", hint)
