"""Formulas in declared parameters, read by a parser of our own: no text is ever executed.

    formula  = sum
    sum      = product (("+" | "-") product)*
    product  = signed (("*" | "/") signed)*
    signed   = ("+" | "-") signed | power
    power    = atom ["**" signed]
    atom     = number | name | "sqrt" "(" sum ")" | "(" sum ")"
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from math import comb, isqrt

from flint import fmpz_mpoly

from symreln.errors import SpecError
from symreln.exact.scalar import Scalar
from symreln.spec.finding import Finding, nearest, quoted, shown
from symreln.spec.number import MAX_BITS, DecimalText, exact_decimal, exact_number
from symreln.spec.tokens import Token, Tokens

MAX_POWER = 64
MAX_TERMS = 512
MAX_DEGREE = 64
"""Terms and total degree of any polynomial on the way: products and gcds of polynomials of this
size take milliseconds."""

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<operator>\*\*|[-+*/()])",
    re.ASCII,
)
_MADE_OF = "numbers, declared names, + - * / **, parentheses and sqrt"

Value = Fraction | Scalar


def parse_formula(
    text: object,
    parameters: tuple[str, ...] = (),
    where: str = "formula",
    *,
    nonnegative: Collection[str] = (),
) -> Scalar:
    """Return the exact value of a formula.

    Args:
        text: The formula, or a number.
        parameters: Declared names, in order; the result lives in Q(parameters).
        where: Key path for messages.
        nonnegative: The parameters declared >= 0; sqrt(c**2) is c for these only.

    Raises:
        SpecError: It is no formula, uses an undeclared name, or is too large.

    Example:
        >>> parse_formula("(c**2 - 1)/(c - 1) + 0.5", ("c",))
        Scalar((2*c + 3)/(2))
    """
    try:
        return Scalar.of(evaluate(text, parameters, nonnegative), parameters)
    except Finding as finding:
        raise SpecError([finding.at(where)]) from None


def parse_number(text: object, where: str = "number") -> Fraction:
    """Return the exact value of a formula without names.

    Raises:
        SpecError: It is no such formula.
    """
    try:
        return constant(text)
    except Finding as finding:
        raise SpecError([finding.at(where)]) from None


def constant(text: object) -> Fraction:
    """Return the exact value of a formula without names.

    Raises:
        Finding: It is no such formula.
    """
    value = evaluate(text, ())
    return value.to_fraction() if isinstance(value, Scalar) else value


def evaluate(
    text: object, parameters: tuple[str, ...], nonnegative: Collection[str] = ()
) -> Value:
    """Return the value of a formula, a Fraction where no name occurs in it.

    Raises:
        Finding: It is no formula, uses an undeclared name, or is too large.
    """
    if isinstance(text, Scalar):
        return text
    if not isinstance(text, str):
        if isinstance(text, int | float | Fraction | DecimalText) and not isinstance(text, bool):
            return exact_number(text)
        raise Finding(shown(text), "a number or a formula in quotes")
    return _Parser(text, parameters, nonnegative).parse()


@dataclass(frozen=True, kw_only=True)
class Declared:
    """The names that formulas of a spec may use.

    Attributes:
        names: Declared parameters, in order.
        nonnegative: Those of them that are declared >= 0.
    """

    names: tuple[str, ...] = ()
    nonnegative: frozenset[str] = frozenset()

    def parse(self, text: object, where: str) -> Scalar:
        """Return the exact value of a formula in these names; see :func:`parse_formula`."""
        return parse_formula(text, self.names, where, nonnegative=self.nonnegative)


class _Parser:
    """Recursive descent over one formula; values are bounded before each operation."""

    def __init__(
        self, text: str, parameters: tuple[str, ...], nonnegative: Collection[str]
    ) -> None:
        self.tokens = Tokens(text, _TOKEN, _MADE_OF)
        self.parameters = parameters
        self.nonnegative = frozenset(nonnegative)

    def parse(self) -> Value:
        value = self.sum()
        if self.tokens.ahead.kind != "end":
            raise self.tokens.unexpected("an operator or the end", self._hint_for_operand())
        return value

    def _hint_for_operand(self) -> str:
        kind = self.tokens.ahead.kind
        follows = kind in {"number", "name"} or self.tokens.ahead.text == "("
        return "Write * for a product." if follows else ""

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
        self.tokens.enter()
        value = self.signed()
        self.tokens.leave()
        return -value if sign.text == "-" else value

    def power(self) -> Value:
        base = self.atom()
        operator = self.tokens.take_if("**")
        if operator is None:
            return base
        self.tokens.enter()
        exponent = self._exponent(operator, self.signed())
        self.tokens.leave()
        if exponent < 0:
            base = self._inverse(operator, base)
        self._check_power(operator, base, abs(exponent))
        return base ** abs(exponent)

    def atom(self) -> Value:
        token = self.tokens.take()
        if token.kind == "number":
            return self._number(token)
        if token.text == "sqrt" and self.tokens.ahead.text == "(":
            return self._sqrt(token, self._bracket(self.tokens.take()))
        if token.kind == "name":
            return self._name(token)
        if token.text == "(":
            return self._bracket(token)
        found = "the end of the formula" if token.kind == "end" else quoted(token.text)
        raise self.tokens.wrong(found, token.start, "a number, a name or a parenthesis")

    def _bracket(self, opened: Token) -> Value:
        self.tokens.enter()
        value = self.sum()
        self.tokens.need(")", opened)
        self.tokens.leave()
        return value

    def _number(self, token: Token) -> Fraction:
        try:
            return exact_decimal(token.text)
        except Finding as finding:
            raise self._wrong(finding.found, token, finding.expected, finding.hint) from None

    def _name(self, token: Token) -> Scalar:
        if token.text in self.parameters:
            return Scalar.symbol(token.text, self.parameters)
        if self.tokens.ahead.text == "(":
            hint = "The only function is sqrt."
        elif self.parameters:
            hint = nearest(token.text, self.parameters)
            hint += f" Or declare it: [parameters.{token.text[:30]}]."
        else:
            hint = f"Declare it with a table [parameters.{token.text[:30]}], where names are allowed."
        declared = ", ".join(self.parameters) or "none here"
        raise self._wrong(
            f"the undeclared name {quoted(token.text)}", token, f"declared names ({declared})", hint
        )

    def _inverse(self, operator: Token, value: Value) -> Value:
        if value == 0:
            raise self._wrong("a division by zero", operator, "a divisor that is not zero")
        return 1 / value

    def _exponent(self, operator: Token, value: Value) -> int:
        expected = f"a whole exponent from -{MAX_POWER} to {MAX_POWER}"
        number = _as_fraction(value)
        if number is None or number.denominator != 1:
            raise self._wrong("an exponent that is no whole number", operator, expected)
        if abs(number) > MAX_POWER:
            large = number.numerator.bit_length() > 64
            found = "a huge exponent" if large else f"the exponent {number}"
            raise self._wrong(found, operator, expected)
        return int(number)

    def _sqrt(self, token: Token, value: Value) -> Value:
        root = _square_root(value, self.nonnegative)
        if root is None:
            raise self._wrong(
                "a square root that is no rational function known to be >= 0",
                token,
                "sqrt of an exact square, as sqrt(9/4), or sqrt(c**2) with c declared positive",
                "Declare a positive parameter for the root, write its square where the "
                "square is meant, and give it a rational value.",
            )
        return root

    def _apply(self, operator: Token, a: Value, b: Value) -> Value:
        """Add or multiply, after bounding the result's size from the operands'."""
        adds = operator.text in "+-"
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            bits = _bits(a) + _bits(b) + 1
            self._check(operator, bits, 1, 0)
        else:
            self._check(operator, *self._size_of_pair(a, b, adds=adds))
        return a + b if adds else a * b

    def _size_of_pair(self, a: Value, b: Value, *, adds: bool) -> tuple[int, int, int]:
        top_a, bottom_a = self._sizes(a)
        top_b, bottom_b = self._sizes(b)
        bottom = _times(bottom_a, bottom_b)
        if adds:
            top = _plus(_times(top_a, bottom_b), _times(top_b, bottom_a))
        else:
            top = _times(top_a, top_b)
        bits, terms, degree = (max(x, y) for x, y in zip(top, bottom, strict=True))
        return bits, terms, degree

    def _check_power(self, operator: Token, base: Value, exponent: int) -> None:
        bits = terms = degree = 0
        for b, t, d in self._sizes(base):
            bits = max(bits, exponent * (b + t.bit_length() - (t == 1)))
            terms = max(terms, comb(t + exponent - 1, exponent) if t else 0)
            degree = max(degree, d * exponent)
        self._check(operator, bits, terms, degree)

    def _check(self, operator: Token, bits: int, terms: int, degree: int) -> None:
        if degree > MAX_DEGREE:
            found, limit = f"a result of degree {degree}", f"degree at most {MAX_DEGREE}"
        elif bits > MAX_BITS:
            found, limit = f"a result of up to {bits} bits", f"at most {MAX_BITS} bits"
        # No polynomial of this degree in these names has more terms than that.
        elif min(terms, comb(degree + len(self.parameters), degree)) > MAX_TERMS:
            found, limit = "a result of too many terms", f"at most {MAX_TERMS} terms"
        else:
            return
        raise self._wrong(found, operator, limit, "Write the formula in a smaller form.")

    def _sizes(self, value: Value) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        if isinstance(value, Fraction):
            top, bottom = value.numerator, value.denominator
            return (top.bit_length(), 1, 0), (bottom.bit_length(), 1, 0)
        return _size(value.numerator), _size(value.denominator)

    def _wrong(self, found: str, token: Token, expected: str, hint: str = "") -> Finding:
        return self.tokens.wrong(found, token.start, expected, hint)


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _size(polynomial: fmpz_mpoly) -> tuple[int, int, int]:
    """Return (bits, terms, total degree)."""
    coefficients = polynomial.coeffs()
    bits = max((int(x).bit_length() for x in coefficients), default=0)
    return bits, len(coefficients), max(0, int(polynomial.total_degree()))


def _times(a: tuple[int, int, int], b: tuple[int, int, int]) -> tuple[int, int, int]:
    carry = min(a[1], b[1]).bit_length()
    return a[0] + b[0] + carry, a[1] * b[1], a[2] + b[2]


def _plus(a: tuple[int, int, int], b: tuple[int, int, int]) -> tuple[int, int, int]:
    return max(a[0], b[0]) + 1, a[1] + b[1], max(a[2], b[2])


def _as_fraction(value: Value) -> Fraction | None:
    if isinstance(value, Fraction):
        return value
    return value.to_fraction() if value.is_constant else None


def _square_root(value: Value, nonnegative: frozenset[str]) -> Value | None:
    """Return the root that is >= 0 for all allowed values of the parameters, or None."""
    number = _as_fraction(value)
    if number is not None:
        if number < 0:
            return None
        top, bottom = isqrt(number.numerator), isqrt(number.denominator)
        return Fraction(top, bottom) if Fraction(top, bottom) ** 2 == number else None
    assert isinstance(value, Scalar)
    top, bottom = (_root_of(p, value, nonnegative) for p in (value.numerator, value.denominator))
    if top is None or bottom is None:
        return None
    return Scalar(value.parameters, top, bottom)


def _root_of(
    polynomial: fmpz_mpoly, scalar: Scalar, nonnegative: frozenset[str]
) -> fmpz_mpoly | None:
    from flint.utils.flint_exceptions import DomainError

    try:
        root = polynomial.sqrt()
    except DomainError:
        return None
    names = {scalar.parameters[i] for key in root.to_dict() for i, e in enumerate(key) if e}
    if not names <= nonnegative:
        return None
    # A polynomial with coefficients of one sign, in parameters >= 0, has that sign everywhere.
    coefficients = [int(c) for c in root.coeffs()]
    if all(c >= 0 for c in coefficients):
        return root
    return -root if all(c <= 0 for c in coefficients) else None
