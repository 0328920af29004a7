"""Where parameters may lie, and whether a polynomial can vanish there: proven, or left open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpz_mpoly

from symreln.base.records import record
from symreln.exact import enclosure
from symreln.exact.factoring import factorisation, univariate, variables
from symreln.exact.scalar import Scalar

_MAX_TERMS = 60
"""Terms of a polynomial up to which discriminants are taken: they have the square of as many."""


@record
class Range:
    """The values that one parameter may take: an interval of the real line.

    Attributes:
        name: The parameter.
        low: Lower end, or None.
        open_low: Whether the lower end itself is excluded.
        high: Upper end, which is included, or None.
    """

    name: str
    low: Fraction | None = None
    open_low: bool = False
    high: Fraction | None = None

    def contains(self, compare: Callable[[Fraction], int]) -> bool:
        """Return whether a real number is in the range, by its comparison with a rational one."""
        if self.low is not None:
            side = compare(self.low)
            if side < 0 or (side == 0 and self.open_low):
                return False
        return self.high is None or compare(self.high) <= 0

    @property
    def inner(self) -> Fraction:
        """A number in the range."""
        if self.low is None:
            return Fraction(0) if self.high is None else self.high - 1
        return self.low + 1 if self.high is None else (self.low + self.high) / 2

    @property
    def text(self) -> str:
        """The range in words, "" where it is the whole line."""
        parts = []
        if self.low is not None:
            parts.append(f"{self.name} {'>' if self.open_low else '>='} {self.low}")
        if self.high is not None:
            parts.append(f"{self.name} <= {self.high}")
        return " and ".join(parts)


def keeps_sign(polynomial: fmpz_mpoly, ranges: Mapping[str, Range]) -> bool:
    """Return whether an irreducible polynomial is proven to have no zero in its domain.

    In one parameter that is decided, in several see :func:`never_zero`.
    """
    if len(variables(polynomial)) > 1:
        return bool(never_zero(polynomial, ranges))
    (name,), coefficients = variables(polynomial), univariate(polynomial)
    places = range(len(enclosure.real_roots(coefficients, 64)))
    sides = (partial(enclosure.compare_root, coefficients, place) for place in places)
    return not any(map(ranges[name].contains, sides))


def never_zero(polynomial: fmpz_mpoly, ranges: Mapping[str, Range]) -> str:
    """Return why a polynomial in several parameters has no zero in its domain, or "".

    Sufficient tests: seen from a corner of the domain all terms have one sign; of degree 2 in one
    parameter, a discriminant that is negative for all values of the others. "" means that neither
    decides.

    Args:
        polynomial: Not constant.
        ranges: Range of every parameter.
    """
    names = polynomial.context().names()
    ring = fmpq_mpoly_ctx.get(names, Ordering.lex)
    rational = ring.from_dict(polynomial.to_dict())
    for corner in product(*(_shifts(ranges[name]) for name in names)):
        moved = (shift.of(u) for shift, u in zip(corner, ring.gens(), strict=True))
        if _one_sign(rational.compose(*moved).to_dict(), corner):
            return "all terms have one sign"
    for name in variables(polynomial) if len(polynomial) <= _MAX_TERMS else ():
        degree = polynomial.degrees()[names.index(name)]
        if degree == 2 and _negative(polynomial.discriminant(name), ranges):
            return f"the discriminant in {name} is negative"
    return ""


def _negative(polynomial: fmpz_mpoly, ranges: Mapping[str, Range]) -> bool:
    """Return whether a polynomial is proven negative on the domain, which is connected."""
    names = polynomial.context().names()
    inner = {name: ranges[name].inner for name in names}
    if Scalar(names, polynomial).substitute(inner).to_fraction() >= 0:
        return False
    factors = (factor for factor, _ in factorisation(polynomial)[1] if not factor.is_constant())
    return all(keeps_sign(factor, ranges) for factor in factors)


@record(kw_only=False)
class _Shift:
    """A parameter as base + sign·u: u real (``free``), u > 0 (``strict``) or u >= 0."""

    base: Fraction = Fraction(0)
    sign: int = 1
    free: bool = False
    strict: bool = False

    def of(self, u: fmpq_mpoly) -> fmpq_mpoly:
        """Return the parameter by u."""
        return self.sign * u + fmpq(self.base.numerator, self.base.denominator)


def _shifts(limits: Range) -> list[_Shift]:
    found = []
    if limits.low is not None:
        found.append(_Shift(base=limits.low, strict=limits.open_low))
    if limits.high is not None:
        found.append(_Shift(base=limits.high, sign=-1))
    return found or [_Shift(free=True)]


def _one_sign(terms: Mapping[tuple[int, ...], fmpq], corner: Sequence[_Shift]) -> bool:
    """Return whether all terms have one sign on the domain and one of them never vanishes."""
    signs = {value > 0 for value in terms.values()}
    even = all(
        power % 2 == 0 or not shift.free
        for key in terms
        for power, shift in zip(key, corner, strict=True)
    )
    strict = any(
        all(power == 0 or shift.strict for power, shift in zip(key, corner, strict=True))
        for key in terms
    )
    return len(signs) == 1 and even and strict
