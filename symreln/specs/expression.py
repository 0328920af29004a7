"""Formulas in declared parameters: numbers, names, ``+ - * / **`` and parentheses."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from decimal import Decimal
from fractions import Fraction

from flint import fmpz_mpoly

from symreln.base.records import record
from symreln.errors import SpecError
from symreln.exact.scalar import Scalar
from symreln.specs.finding import Finding, cut, nearest, need, quoted, shown
from symreln.specs.number import MAX_BITS, exact_decimal, exact_number
from symreln.specs.spec import Parameter
from symreln.specs.syntax import Parsed, Syntax, Token

Value = Fraction | Scalar

_MAX_POWER = 64
_MAX_TERMS = 512
_MAX_DEGREE = 64
"""Exponents, and terms and total degree of any polynomial on the way: products and gcds of
polynomials of this size take milliseconds."""
_MAX_PRODUCTS = 1 << 14
"""Products of terms in one operation, before it is done."""

_FORMULA = Syntax(
    made_of="numbers, declared names, + - * / ** and parentheses",
    kinds=frozenset({"number", "name"}),
    signs={sign: sign for sign in ("+", "-", "*", "/", "**", "(", ")")},
    hint="Write * for a product.",
)


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
        written: How a name in the spec's formulas is written in results, where it differs.
        integers: Parameters that may stand for sizes, by their names in the spec; None for what
            is declared wrong, which was said.
        sizes: Those that do, by the option; filled as the options of a task are read, of which
            later ones may use them beside the names.
    """

    names: tuple[str, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)
    integers: Mapping[str, Parameter | None] = field(default_factory=dict)
    sizes: dict[str, Parameter] = field(default_factory=dict)

    def value(self, text: object) -> Value:
        """Return the exact value of a formula, a Fraction where no name occurs in it.

        Args:
            text: The formula, or a number.

        Raises:
            Finding: It is no formula, uses an undeclared name, or is too large.
        """
        return _evaluate(text, self._spelled(self.names))

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
        sizes = {size.name: size.value or Fraction(0) for size in self.sizes.values()}
        names = (*self.names, *sizes)
        value = Scalar.of(_evaluate(text, self._spelled(names)), names)
        try:
            return value.substitute(sizes)
        except ZeroDivisionError:
            listed = ", ".join(f"{name} = {size}" for name, size in sizes.items())
            raise Finding(f"a formula that is infinite at {listed}", "a finite value") from None

    def size(self, name: str, option: str) -> int:
        """Return the value of the parameter that stands for a size.

        Raises:
            SpecError: There is no such parameter, or it is another size already.
        """
        hint = nearest(name, self.integers)
        if name in self.written:
            hint = f"Add integer = true and a value to [parameters.{name}]."
        found = f"the name {quoted(name)}, which no parameter with integer = true has"
        expected = "a whole number, or the name of a parameter with integer = true"
        hint = hint or f"Declare it: [parameters.{name[:30]}] integer = true."
        need(name in self.integers, found, expected, hint)
        parameter = self.integers[name]
        if parameter is None:
            raise SpecError([])
        twice = parameter.name in (size.name for size in self.sizes.values())
        need(not twice, f"{name}, which is another size already", "its own")
        self.sizes[option] = replace(parameter, option=option)
        return int(parameter.value or 0)


def _evaluate(text: object, spelled: Mapping[str, str] | None) -> Value:
    """Return the value of a formula in names by their spelling, None where none may stand."""
    if not isinstance(text, str):
        if isinstance(text, int | float | Fraction | Decimal) and not isinstance(text, bool):
            return exact_number(text)
        raise Finding(shown(text), "a number or a formula in quotes")
    formula = _Formula(text, spelled)
    return formula.parsed.evaluated(formula.value)


class _Formula:
    """The value of one formula; the size of every result is bounded."""

    def __init__(self, text: str, spelled: Mapping[str, str] | None) -> None:
        self.parsed = Parsed(text, _FORMULA)
        self.spelled = spelled or {}
        self.parameters = tuple(self.spelled.values())
        self.names_allowed = spelled is not None

    def value(self, node: ast.expr) -> Value:
        chain = []  # a long sum is a deep tree to the left
        while isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow):
            chain.append(node)
            node = node.left
        found = self._part(node)
        for step in reversed(chain):
            found = self._combined(step, found, self.value(step.right))
        return found

    def _part(self, node: ast.expr) -> Value:
        match node:
            case ast.BinOp(left=base, right=exponent):
                return self._power(self.parsed.operator(node), self.value(base), exponent)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self.value(inner)
            case ast.UnaryOp(op=ast.UAdd(), operand=inner):
                return self.value(inner)
            case ast.Name():
                token = self.parsed.token(node)
                return self._name(token) if token.kind == "name" else self._number(token)
        hint = "There are no functions; write * for a product."
        raise self.parsed.unexpected(self.parsed.token(node), _FORMULA.made_of, hint)

    def _number(self, token: Token) -> Fraction:
        try:
            return exact_decimal(token.text)
        except Finding as wrong:
            raise self.parsed.wrong(token, wrong.found, wrong.expected, wrong.hint) from None

    def _name(self, token: Token) -> Scalar:
        if token.text in self.spelled:
            return Scalar.symbol(self.spelled[token.text], self.parameters)
        declare = f"eclare it: [parameters.{token.text[:30]}]."
        hint = (
            f"{nearest(token.text, self.spelled)} Or d{declare}" if self.spelled else f"D{declare}"
        )
        known = f"declared names ({', '.join(self.spelled) or 'none here'})"
        found = f"the undeclared name {quoted(token.text)}"
        hint = hint if self.names_allowed else "This must be a number."
        raise self.parsed.wrong(token, found, known, hint)

    def _combined(self, node: ast.BinOp, a: Value, b: Value) -> Value:
        sign = self.parsed.operator(node)
        if isinstance(node.op, ast.Div):
            b = self._inverse(sign, b)
        if isinstance(node.op, ast.Sub):
            b = -b
        if isinstance(node.op, ast.Add | ast.Sub):
            return self._bounded(sign, operator.add, a, b)
        return self._bounded(sign, operator.mul, a, b)

    def _power(self, sign: Token, base: Value, node: ast.expr) -> Value:
        exponent = self._exponent(sign, self.value(node))
        if exponent < 0:
            base = self._inverse(sign, base)
        found: Value = Fraction(1)
        for _ in range(abs(exponent)):
            found = self._bounded(sign, operator.mul, found, base)
        return found

    def _inverse(self, sign: Token, value: Value) -> Value:
        if value == 0:
            raise self.parsed.wrong(sign, "a division by zero", "a divisor that is not zero")
        return 1 / value

    def _exponent(self, sign: Token, value: Value) -> int:
        number = _as_fraction(value)
        if number is None or number.denominator != 1:
            found = "an exponent that is no whole number"
        elif abs(number) > _MAX_POWER:
            found = f"the exponent {cut(str(number))}"
        else:
            return int(number)
        expected = f"a whole exponent from -{_MAX_POWER} to {_MAX_POWER}"
        raise self.parsed.wrong(sign, found, expected)

    def _bounded(self, sign: Token, combine: Callable[..., Value], a: Value, b: Value) -> Value:
        """Return a + b or a * b, neither it nor the work for it too large."""
        hint, many = "Write the formula in a smaller form.", "a result of too many terms"
        terms_a, terms_b = (max(len(part.coeffs()) for part in _parts(x)) for x in (a, b))
        if terms_a * terms_b > _MAX_PRODUCTS:
            raise self.parsed.wrong(sign, many, f"at most {_MAX_TERMS} terms", hint)
        found = combine(a, b)
        for part in _parts(found):
            degree, coefficients = int(part.total_degree()), part.coeffs()
            bits = max((int(x).bit_length() for x in coefficients), default=0)
            for amount, most, what, unit in (
                (degree, _MAX_DEGREE, f"a result of degree {degree}", "degree at most {}"),
                (bits, MAX_BITS, f"a result of {bits} bits", "at most {} bits"),
                (len(coefficients), _MAX_TERMS, many, "at most {} terms"),
            ):
                if amount > most:
                    raise self.parsed.wrong(sign, what, unit.format(most), hint)
        return found


def _parts(value: Value) -> tuple[fmpz_mpoly, fmpz_mpoly]:
    """Return numerator and denominator as polynomials."""
    scalar = Scalar.of(value) if isinstance(value, Fraction) else value
    return scalar.numerator, scalar.denominator


def _as_fraction(value: Value) -> Fraction | None:
    """Return the number that a constant is, or None."""
    if isinstance(value, Fraction):
        return value
    return value.to_fraction() if value.is_constant else None
