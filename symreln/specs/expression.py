"""Formulas in declared parameters, read by a parser of our own: no text is ever executed.

Grammar, a name being a declared parameter:

    formula  = sum
    sum      = product (("+" | "-") product)*
    product  = signed (("*" | "/") signed)*
    signed   = ("+" | "-") signed | power
    power    = atom ["**" signed]
    atom     = number | name | "sqrt" "(" sum ")" | "(" sum ")"
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import field
from fractions import Fraction

from symreln.base.records import record
from symreln.exact.scalar import Scalar
from symreln.specs.finding import Finding, nearest, quoted, shown
from symreln.specs.number import DecimalText, exact_decimal, exact_number
from symreln.specs.rational import Size, Value, as_fraction, sizes, sizes_of_pair, square_root
from symreln.specs.tokens import Token, Tokens

_MAX_POWER = 64
"""Largest exponent: one step above it any polynomial passes MAX_DEGREE."""

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<operator>\*\*|[-+*/()])",
    re.ASCII,
)
_MADE_OF = "numbers, declared names, + - * / **, parentheses and sqrt"


def constant(text: object) -> Fraction:
    """Return the exact value of a number, or of a formula without names.

    Raises:
        Finding: It is no such formula.
    """
    value = _evaluate(text, None)
    assert isinstance(value, Fraction)
    return value


@record
class Declared:
    """The names that formulas of a spec may use.

    Attributes:
        names: Declared parameters, in order, as they are written in results.
        nonnegative: Those of them that are declared >= 0; sqrt(c**2) is c for these only.
        sizes: Values of the symbols that stand for sizes; options may use them beside the names.
        written: How a name in the spec's formulas is written in results, where it differs.
    """

    names: tuple[str, ...] = ()
    nonnegative: Collection[str] = frozenset()
    sizes: Mapping[str, int] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)

    def value(self, text: object) -> Value:
        """Return the exact value of a formula, a Fraction where no name occurs in it.

        Args:
            text: The formula, or a number.

        Raises:
            Finding: It is no formula, uses an undeclared name, or is too large.
        """
        return _evaluate(text, self._spelled(self.names), self.nonnegative)

    def _spelled(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return names in results by how formulas of the spec spell them."""
        given = {written: name for name, written in self.written.items()}
        return {given.get(name, name): name for name in names}

    def respelled(self, text: str) -> str:
        """Return a text of the spec with its names as they are written in results."""
        return re.sub(r"\w+", lambda match: self.written.get(match[0], match[0]), text)

    def parse(self, text: object) -> Scalar:
        """Return the exact value of a formula in these names and sizes, in Q(names).

        The formula must make sense for every size; the value is that at the declared sizes.

        Raises:
            Finding: It is no such formula, or infinite at the declared sizes.

        Example:
            >>> Declared(names=("c",)).parse("(c**2 - 1)/(c - 1) + 0.5")
            Scalar((2*c + 3)/2)
        """
        names = (*self.names, *self.sizes)
        nonnegative = {*self.nonnegative, *self.sizes}
        value = Scalar.of(_evaluate(text, self._spelled(names), nonnegative), names)
        try:
            return value.substitute({name: Fraction(size) for name, size in self.sizes.items()})
        except ZeroDivisionError:
            sizes = ", ".join(f"{name} = {size}" for name, size in self.sizes.items())
            raise Finding(f"a formula that is infinite at {sizes}", "a finite value") from None


def _evaluate(
    text: object, spelled: Mapping[str, str] | None, nonnegative: Collection[str] = ()
) -> Value:
    """Return the value of a formula in names by their spelling, None where none may stand."""
    if not isinstance(text, str):
        if isinstance(text, int | float | Fraction | DecimalText) and not isinstance(text, bool):
            return exact_number(text)
        raise Finding(shown(text), "a number or a formula in quotes")
    return _Parser(text, spelled, nonnegative).parse()


class _Parser:
    """Recursive descent over one formula; values are bounded before each operation."""

    def __init__(
        self, text: str, spelled: Mapping[str, str] | None, nonnegative: Collection[str]
    ) -> None:
        self.tokens = Tokens(text, _TOKEN, _MADE_OF)
        self.spelled = spelled or {}
        self.parameters = tuple(self.spelled.values())
        self.names_allowed = spelled is not None
        self.nonnegative = frozenset(nonnegative)

    def parse(self) -> Value:
        value = self.sum()
        if self.tokens.ahead.kind != "end":
            ahead = self.tokens.ahead
            follows = ahead.kind in {"number", "name"} or ahead.text == "("
            hint = "Write * for a product." if follows else ""
            raise self.tokens.unexpected("an operator or the end", hint)
        return value

    def sum(self) -> Value:
        value = self.product()
        while sign := self.tokens.take_if("+", "-"):
            right = self.product()
            value = self._apply(sign, value, right if sign.text == "+" else -right)
        return value

    def product(self) -> Value:
        value = self.signed()
        while operator := self.tokens.take_if("*", "/"):
            right = self.signed()
            if operator.text == "/":
                right = self._inverse(operator, right)
            value = self._apply(operator, value, right)
        return value

    def signed(self) -> Value:
        sign = self.tokens.take_if("+", "-")
        if sign is None:
            return self.power()
        with self.tokens.deeper():
            value = self.signed()
        return -value if sign.text == "-" else value

    def power(self) -> Value:
        base = self.atom()
        operator = self.tokens.take_if("**")
        if operator is None:
            return base
        with self.tokens.deeper():
            exponent = self._exponent(operator, self.signed())
        if exponent < 0:
            base = self._inverse(operator, base)
        self._check(operator, *(size.power(abs(exponent)) for size in sizes(base)))
        return base ** abs(exponent)

    def atom(self) -> Value:
        token = self.tokens.take()
        if token.kind == "number":
            try:
                return exact_decimal(token.text)
            except Finding as wrong:
                raise self.tokens.wrong(token, wrong.found, wrong.expected, wrong.hint) from None
        if token.text == "sqrt" and self.tokens.ahead.text == "(":
            return self._sqrt(token, self._bracket(self.tokens.take()))
        if token.kind == "name":
            return self._name(token)
        if token.text == "(":
            return self._bracket(token)
        found = "the end of the formula" if token.kind == "end" else quoted(token.text)
        raise self.tokens.wrong(token, found, "a number, a name or a parenthesis")

    def _bracket(self, opened: Token) -> Value:
        with self.tokens.deeper():
            value = self.sum()
            self.tokens.need(")", opened)
        return value

    def _name(self, token: Token) -> Scalar:
        if token.text in self.spelled:
            return Scalar.symbol(self.spelled[token.text], self.parameters)
        declare = f"Declare it: [parameters.{token.text[:30]}]."
        if self.tokens.ahead.text == "(":
            hint = "The only function is sqrt."
        elif not self.names_allowed:
            hint = "This must be a number."
        elif self.spelled:
            hint = f"{nearest(token.text, self.spelled)} Or d{declare[1:]}"
        else:
            hint = declare
        known = f"declared names ({', '.join(self.spelled) or 'none here'})"
        raise self.tokens.wrong(token, f"the undeclared name {quoted(token.text)}", known, hint)

    def _inverse(self, operator: Token, value: Value) -> Value:
        if value == 0:
            raise self.tokens.wrong(operator, "a division by zero", "a divisor that is not zero")
        return 1 / value

    def _exponent(self, operator: Token, value: Value) -> int:
        number = as_fraction(value)
        if number is not None and number.denominator == 1 and abs(number) <= _MAX_POWER:
            return int(number)
        if number is None or number.denominator != 1:
            found = "an exponent that is no whole number"
        else:
            large = number.numerator.bit_length() > 64
            found = "a huge exponent" if large else f"the exponent {number}"
        expected = f"a whole exponent from -{_MAX_POWER} to {_MAX_POWER}"
        raise self.tokens.wrong(operator, found, expected)

    def _sqrt(self, token: Token, value: Value) -> Value:
        root = square_root(value, self.nonnegative)
        if root is None:
            raise self.tokens.wrong(
                token,
                "a square root that is no rational function known to be >= 0",
                "an exact square: sqrt(9/4), or sqrt(c**2) with c declared positive",
                "Declare a positive parameter r for the root, write r where the root is "
                "meant and r**2 where its square is, and give r a rational value.",
            )
        return root

    def _apply(self, operator: Token, a: Value, b: Value) -> Value:
        adds = operator.text in "+-"
        self._check(operator, *sizes_of_pair(a, b, adds=adds))
        return a + b if adds else a * b

    def _check(self, operator: Token, *bounds: Size) -> None:
        """Check how large a result can be before it is computed."""
        for bound in bounds:
            if excess := bound.excess(len(self.parameters)):
                hint = "Write the formula in a smaller form."
                raise self.tokens.wrong(operator, *excess, hint)
