"""Rational functions of the declared parameters, exact and in normal form."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import TYPE_CHECKING, Self

from flint import Ordering, fmpq, fmpq_mpoly_ctx, fmpz, fmpz_mpoly, fmpz_mpoly_ctx

from symreln.errors import InputError
from symreln.exact.factoring import factorisation

if TYPE_CHECKING:
    import sympy as sp

Number = int | Fraction


@lru_cache(maxsize=256)
def polynomial_ring(parameters: tuple[str, ...]) -> fmpz_mpoly_ctx:
    """Return the ring Z[parameters], the same object for the same names."""
    return fmpz_mpoly_ctx.get(parameters, Ordering.lex)


def _polynomial(parameters: tuple[str, ...], terms: Mapping[tuple[int, ...], int]) -> fmpz_mpoly:
    return polynomial_ring(parameters).from_dict(dict(terms))


copyreg.pickle(  # FLINT does not say how
    fmpz_mpoly,
    lambda each: (
        _polynomial,
        (each.context().names(), {power: int(value) for power, value in each.to_dict().items()}),
    ),
)


class Scalar:
    """A rational function numerator/denominator over Q in the declared parameters.

    Kept in normal form (coprime, denominator with a positive leading coefficient), so that equal
    functions have equal parts; without parameters it is a rational number.

    Attributes:
        parameters: Names of the ring's parameters, in the order declared.
        numerator: Polynomial over Z.
        denominator: Polynomial over Z, not zero.
    """

    __slots__ = ("denominator", "numerator", "parameters")

    parameters: tuple[str, ...]
    numerator: fmpz_mpoly
    denominator: fmpz_mpoly

    def __init__(
        self,
        parameters: tuple[str, ...],
        numerator: fmpz_mpoly | int,
        denominator: fmpz_mpoly | int = 1,
    ) -> None:
        ring = polynomial_ring(parameters)
        top = numerator if isinstance(numerator, fmpz_mpoly) else ring.constant(numerator)
        bottom = denominator if isinstance(denominator, fmpz_mpoly) else ring.constant(denominator)
        if bottom.is_zero():
            msg = "division by zero: the denominator of a rational function is the zero polynomial"
            raise ZeroDivisionError(msg)
        if not bottom.is_one():
            common = top.gcd(bottom)
            if not common.is_one():
                top, bottom = top // common, bottom // common
            if bottom.leading_coefficient() < 0:
                top, bottom = -top, -bottom
        self.parameters = parameters
        self.numerator = top
        self.denominator = bottom

    @classmethod
    def of(cls, value: Scalar | Number | fmpz, parameters: tuple[str, ...] = ()) -> Self:
        """Return ``value`` as a scalar over ``parameters``, promoting a constant."""
        if isinstance(value, Scalar):
            if value.parameters == parameters:
                return cls(parameters, value.numerator, value.denominator)
            ring = polynomial_ring(parameters)
            parts = (value.numerator, value.denominator)
            return cls(parameters, *(part.project_to_context(ring) for part in parts))
        if isinstance(value, Fraction):
            return cls(parameters, value.numerator, value.denominator)
        return cls(parameters, int(value))

    @classmethod
    def symbol(cls, name: str, parameters: tuple[str, ...]) -> Self:
        """Return the parameter ``name`` itself."""
        return cls(parameters, polynomial_ring(parameters).gen(parameters.index(name)))

    def _pair(self, other: Scalar | Number) -> tuple[Scalar, Scalar]:
        if isinstance(other, Scalar):
            if other.parameters == self.parameters:
                return self, other
            names = tuple(dict.fromkeys((*self.parameters, *other.parameters)))
            return Scalar.of(self, names), Scalar.of(other, names)
        return self, Scalar.of(other, self.parameters)

    def __add__(self, other: Scalar | Number) -> Scalar:
        a, b = self._pair(other)
        return Scalar(
            a.parameters,
            a.numerator * b.denominator + b.numerator * a.denominator,
            a.denominator * b.denominator,
        )

    __radd__ = __add__

    def __neg__(self) -> Scalar:
        return Scalar(self.parameters, -self.numerator, self.denominator)

    def __sub__(self, other: Scalar | Number) -> Scalar:
        return self + (-other)

    def __rsub__(self, other: Number) -> Scalar:
        return -self + other

    def __mul__(self, other: Scalar | Number) -> Scalar:
        a, b = self._pair(other)
        return Scalar(a.parameters, a.numerator * b.numerator, a.denominator * b.denominator)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar | Number) -> Scalar:
        a, b = self._pair(other)
        return Scalar(a.parameters, a.numerator * b.denominator, a.denominator * b.numerator)

    def __rtruediv__(self, other: Number) -> Scalar:
        return Scalar.of(other, self.parameters) / self

    def __pow__(self, exponent: int) -> Scalar:
        if exponent < 0:
            return Scalar(self.parameters, self.denominator**-exponent, self.numerator**-exponent)
        return Scalar(self.parameters, self.numerator**exponent, self.denominator**exponent)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | Fraction):
            other = Scalar.of(other, self.parameters)
        if not isinstance(other, Scalar):
            return NotImplemented
        a, b = self._pair(other)
        return a.numerator == b.numerator and a.denominator == b.denominator

    def __hash__(self) -> int:
        if self.is_constant:
            return hash(self.to_fraction())
        return hash((str(self.numerator), str(self.denominator)))

    @property
    def is_zero(self) -> bool:
        """Whether this is the zero function."""
        return bool(self.numerator.is_zero())

    @property
    def is_constant(self) -> bool:
        """Whether no parameter occurs."""
        return bool(self.numerator.is_constant() and self.denominator.is_constant())

    def to_fraction(self) -> Fraction:
        """Return the rational number that a constant is.

        Raises:
            InputError: A parameter occurs; substitute a value first.
        """
        if not self.is_constant:
            msg = f"{self} depends on a parameter; substitute values before asking for a number"
            raise InputError(msg)
        return Fraction(
            int(self.numerator.leading_coefficient()) if not self.is_zero else 0,
            int(self.denominator.leading_coefficient()),
        )

    def substitute(self, values: Mapping[str, Fraction]) -> Scalar:
        """Return the scalar with some parameters replaced by rational values.

        The result keeps only the parameters that are left.

        Raises:
            ZeroDivisionError: The denominator vanishes at these values.
        """
        left = tuple(name for name in self.parameters if name not in values)
        if len(left) == len(self.parameters):
            return self
        return _evaluate(self.numerator, self.parameters, values, left) / _evaluate(
            self.denominator, self.parameters, values, left
        )

    def to_sympy(self, symbols: Mapping[str, sp.Symbol] | None = None) -> sp.Expr:
        """Return the factored SymPy expression; ``symbols`` carry the parameters' assumptions."""
        return factored(self.numerator, symbols) / factored(self.denominator, symbols)

    def __str__(self) -> str:
        upper = spelled(self.numerator)
        if self.denominator.is_one():
            return upper
        lower = spelled(self.denominator)
        if len(self.numerator) > 1:
            upper = f"({upper})"
        # One factor needs no brackets below the line: a sum, a product or a coefficient does.
        if "*" in lower.replace("**", "") or " " in lower:
            lower = f"({lower})"
        return f"{upper}/{lower}"

    def __repr__(self) -> str:
        return f"Scalar({self})"


def spelled(polynomial: fmpz_mpoly) -> str:
    """Return a polynomial as text that :mod:`symreln.specs.expression` and SymPy read."""
    return str(polynomial).replace("^", "**")


def univariate_text(coefficients: Sequence[fmpz_mpoly], variable: str = "x") -> str:
    """Return Σ coefficients[j]·variable^j as text, highest power first."""
    parts = []
    for power in reversed(range(len(coefficients))):
        value = coefficients[power]
        if not power or value.is_zero():
            parts += [] if value.is_zero() else [spelled(value)]
            continue
        sign = "-" if value.leading_coefficient() < 0 else ""
        size = spelled(-value if sign else value)
        factor = "" if size == "1" else f"({size})*" if len(value) > 1 else f"{size}*"
        parts.append(sign + factor + (variable if power == 1 else f"{variable}**{power}"))
    return " + ".join(parts).replace("+ -", "- ") or "0"


def cleared(
    values: Sequence[Scalar], parameters: tuple[str, ...] | None = None
) -> tuple[list[fmpz_mpoly], fmpz_mpoly]:
    """Return (polynomials, q) with values = polynomials/q, q the least common denominator."""
    names = values[0].parameters if parameters is None else parameters
    common = polynomial_ring(names).constant(1)
    for bottom in {str(value.denominator): value.denominator for value in values}.values():
        common = common * (bottom // common.gcd(bottom))
    return [value.numerator * (common // value.denominator) for value in values], common


def _evaluate(
    polynomial: fmpz_mpoly,
    parameters: tuple[str, ...],
    values: Mapping[str, Fraction],
    left: tuple[str, ...],
) -> Scalar:
    rationals, rest = (fmpq_mpoly_ctx.get(names, Ordering.lex) for names in (parameters, left))
    known: dict[str | int, fmpq] = {
        n: fmpq(*values[n].as_integer_ratio()) for n in parameters if n in values
    }
    found = rationals.from_dict(polynomial.to_dict()).subs(known).project_to_context(rest).to_dict()
    below = lcm(*(int(value.q) for value in found.values()))
    terms = {key: (value * below).p for key, value in found.items()}
    return Scalar(left, polynomial_ring(left).from_dict(terms), below)


def factored(polynomial: fmpz_mpoly, symbols: Mapping[str, sp.Symbol] | None = None) -> sp.Expr:
    """Return the factored SymPy expression of a polynomial, in some symbols given by name."""
    import sympy as sp

    if polynomial.is_zero():
        return sp.S.Zero
    content, factors = factorisation(polynomial)
    result: sp.Expr = sp.Integer(int(content))
    for factor, exponent in factors:
        result = sp.Mul(result, expanded(factor, symbols) ** int(exponent))
    return result


def expanded(polynomial: fmpz_mpoly, symbols: Mapping[str, sp.Symbol] | None = None) -> sp.Expr:
    """Return the sum of a polynomial's terms; SymPy would expand its factors for minutes."""
    import sympy as sp

    names, known = polynomial.context().names(), symbols or {}
    letters = [known.get(name) or sp.Symbol(name) for name in names]
    terms = [
        sp.Mul(
            sp.Integer(int(coefficient)),
            *(letter ** int(e) for letter, e in zip(letters, exponents, strict=True)),
        )
        for exponents, coefficient in polynomial.to_dict().items()
    ]
    return sp.Add(*terms)
