"""Square roots and roots of quadratics as SymPy expressions in the shortest honest form.

``sqrt((a - b)**2)`` never survives: squares are pulled out as absolute values, and the bars are
dropped only where the parameters' assumptions prove the sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import gcd, isqrt

import sympy as sp
from flint import fmpz, fmpz_mpoly
from sympy.ntheory.factor_ import FactorCache, factor_cache

from symreln.base.records import record
from symreln.exact import domain
from symreln.exact.factoring import factorisation, variables
from symreln.exact.scalar import Scalar, expanded, factored, polynomial_ring


def _remember_primes(n: int, factors: list[int]) -> None:
    """Remember the factors of n that are prime.

    SymPy 1.14 hands over factors that it has not factored any further, and then refuses them:
    sqrt(p·q) raises for neighbouring p and q with large factors, and so does everything that
    builds such a root again (2·sqrt(p·q), an expression that is read).
    """
    FactorCache.add(factor_cache, n, [p for p in factors if sp.isprime(p)])


factor_cache.add = _remember_primes


def _split_square(value: Scalar) -> tuple[Scalar, fmpz_mpoly]:
    """Return (h, r) with h²·r a non-zero rational function, r a square-free polynomial over Z.

    The sign of h is not fixed.
    """
    ring = polynomial_ring(value.parameters)
    # p/q = p·q/q², so one factorisation of p·q serves both.
    content, factors = factorisation(value.numerator * value.denominator)
    outside = ring.constant(1)
    inside = ring.constant(1)
    for factor, exponent in factors:
        outside *= factor ** (int(exponent) // 2)
        inside *= factor ** (int(exponent) % 2)
    square, free = _square_part(int(content))
    return Scalar(value.parameters, outside * square, value.denominator), inside * free


#: Bits up to which a number is factored for certain, 0.1 s at the worst, and the number of primes
#: tried beyond: a value given to 30 digits would otherwise never come back.
_FACTORED_BITS = 128
_TRIAL_PRIMES = 10_000


def _square_part(number: int) -> tuple[int, int]:
    """Return (h, r) with number = h²·r and r square-free.

    Of a number above ``_FACTORED_BITS`` r may keep the square of a large prime: the root is then
    as exact, and longer than need be.
    """
    if not number:
        return 0, 1
    square, free = 1, -1 if number < 0 else 1
    size = abs(number)
    large = size.bit_length() > _FACTORED_BITS
    factors = fmpz(size).factor(trial_limit=_TRIAL_PRIMES) if large else fmpz(size).factor()
    for found, exponent in factors:
        factor = int(found)
        root = isqrt(factor) if large else 0
        base, power = (root, 2 * int(exponent)) if root**2 == factor else (factor, int(exponent))
        square *= base ** (power // 2)
        free *= base ** (power % 2)
    return square, free


def in_radicals(
    minpoly: tuple[Scalar, ...],
    coefficients: tuple[Scalar, ...],
    root: int,
    symbols: Mapping[str, sp.Symbol],
    *,
    is_sqrt: bool,
) -> sp.Expr:
    """Return g(theta), or its non-negative square root, of theta of degree 2 or without theta."""
    value, *others = coefficients
    if all(other.is_zero for other in others):
        return _square_root(value, symbols) if is_sqrt else value.to_sympy(symbols)
    # theta = (-f1 ± √disc)/(2 f2), disc = h²·r.
    f0, f1, f2 = minpoly
    b = others[0] / (f2 * 2)
    outside, inside = _split_square(f1 * f1 - f0 * f2 * 4)
    found = _Quadratic(value - b * f1, b, outside, inside, 1 if root == 1 else -1)
    return found.square_root(symbols) if is_sqrt else found.to_sympy(symbols)


def _square_root(value: Scalar, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    """Return the non-negative square root of a rational function that is not negative."""
    if value.is_zero:
        return sp.S.Zero
    outside, inside = _split_square(value)
    size = _absolute_factors(outside, symbols)
    return size if inside.is_one() else size * sp.sqrt(expanded(inside, symbols))


def _absolute_factors(value: Scalar, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    """Return |value|, factor by factor, so that bars stay only where a sign is open."""
    result: sp.Expr = sp.S.One
    for polynomial, sign in ((value.numerator, 1), (value.denominator, -1)):
        content, factors = factorisation(polynomial)
        result *= sp.Integer(abs(int(content))) ** sign
        for factor, exponent in factors:
            part = factored(factor, symbols)
            fixed = _factor_sign(factor, symbols)
            size = part * fixed if fixed else sp.Abs(part)
            result *= size ** (sign * int(exponent))
    return result


@record(kw_only=False)
class _Quadratic:
    """a + sign·b·|h|·√r with rational functions a, b, h and a square-free polynomial r.

    Attributes:
        a: Rational part.
        b: Cofactor of the radical.
        outside: h.
        r: Radicand.
        sign: +1 or -1.
    """

    a: Scalar
    b: Scalar
    outside: Scalar
    r: fmpz_mpoly
    sign: int

    def to_sympy(self, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
        """Return it over one denominator."""
        rational, cofactor, bottom = self._over_common(symbols)
        radical = sp.sqrt(expanded(self.r, symbols))
        return (rational + self.sign * cofactor * radical) / bottom

    def square_root(self, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
        """Return the non-negative square root, denested where that is exact and sign-proof."""
        denested = self._denest(symbols)
        if denested is not None:
            return denested
        square = _common_square(self.a.numerator, (self.b * self.outside).numerator)
        if not square.is_constant():
            # √(h²·x) = |h|·√x, and dividing |outside| by h² > 0 keeps the sign of b·|outside|.
            h = Scalar(self.a.parameters, square)
            less = replace(self, a=self.a / (h * h), outside=self.outside / (h * h))
            return _absolute_factors(h, symbols) * less.square_root(symbols)
        rational, cofactor, bottom = self._over_common(symbols, square=True)
        common = 1
        if rational.is_Add or cofactor != 0:
            numbers = [int(n) for n in (_content(rational), _content(cofactor)) if n]
            common, _ = _square_part(gcd(*numbers)) if numbers else (1, 1)
        radical = sp.sqrt(expanded(self.r, symbols))
        inner = sp.expand(rational / common**2) + self.sign * (cofactor / common**2) * radical
        return common * sp.sqrt(inner) / bottom

    def _denest(self, symbols: Mapping[str, sp.Symbol]) -> sp.Expr | None:
        """√(a ± w) = √((a+n)/2) ± √((a-n)/2) with w = |b h|√r ≥ 0 and n = √(a² - w²) ≥ 0."""
        names = self.a.parameters
        w_squared = (self.b * self.outside) ** 2 * Scalar(names, self.r)
        norm, rest = _split_square(self.a * self.a - w_squared)
        if not rest.is_one():
            return None
        sign = _sign(self.b, symbols)
        n_sign = _sign(norm, symbols)
        if sign == 0 or n_sign == 0:
            return None
        n = norm * n_sign
        plus = _square_root((self.a + n) / 2, symbols)
        minus = _square_root((self.a - n) / 2, symbols)
        return plus + self.sign * sign * minus

    def _over_common(
        self, symbols: Mapping[str, sp.Symbol], *, square: bool = False
    ) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
        """Return (A, B, Q) with the number (A ± B√r)/Q, or /Q² where ``square``."""
        a, size = self.a, self.b * self.outside
        bottom = a.denominator * (size.denominator // a.denominator.gcd(size.denominator))
        scale = Scalar(a.parameters, bottom)
        if square:
            outer, inner = _split_square(scale)
            root = outer * Scalar(a.parameters, inner)  # bottom·inner = root²
            scale, bottom = root * root, root.numerator
        sign = _sign(self.outside, symbols)
        if sign:
            cofactor = (size * scale).to_sympy(symbols) * sign
        else:
            cofactor = _absolute_factors(self.outside, symbols)
            cofactor *= (self.b * scale).to_sympy(symbols)
        below = _absolute_factors(Scalar(a.parameters, bottom), symbols)
        top = sp.expand((a * scale).to_sympy(symbols))
        return top, cofactor, below if square else factored(bottom, symbols)


def _common_square(first: fmpz_mpoly, second: fmpz_mpoly) -> fmpz_mpoly:
    """Return a polynomial h of content 1, as large as it gets, whose square divides both."""
    common = first.gcd(second)
    _, factors = factorisation(common)
    square = common.context().constant(1)
    for factor, exponent in factors:
        square *= factor ** (int(exponent) // 2)
    return square


def _sign(value: Scalar, symbols: Mapping[str, sp.Symbol]) -> int:
    """Return 1 where the value is proven >= 0, -1 where it is proven <= 0, else 0."""
    if value.is_zero:
        return 1
    result = 1
    for polynomial in (value.numerator, value.denominator):
        content, factors = factorisation(polynomial)
        result *= 1 if int(content) > 0 else -1
        for factor, exponent in factors:
            if int(exponent) % 2:
                result *= _factor_sign(factor, symbols)
    return result


def _factor_sign(factor: fmpz_mpoly, symbols: Mapping[str, sp.Symbol]) -> int:
    """Return the sign that an irreducible polynomial keeps for all real parameters, or 0.

    The assumptions are those of the symbols: positive, not negative, or none but real.
    """
    names, ranges = factor.context().names(), {}
    for name in names:
        symbol = symbols.get(name)
        low = Fraction(0) if symbol is not None and symbol.is_nonnegative else None
        # Without 0 itself: a sign that holds beside it holds there, or the value is 0.
        ranges[name] = domain.Range(name=name, low=low, open_low=True)
    if domain.keeps_sign(factor, ranges):
        # Without a zero on a connected domain the sign is that at any point of it.
        return 1 if factor(*[1] * len(names)) > 0 else -1
    if len(variables(factor)) == 1:
        return 0
    # SymPy looks for the roots of derivatives, minutes for long coefficients: it comes last.
    expr = factored(factor, symbols)
    return 1 if expr.is_nonnegative else -1 if expr.is_nonpositive else 0


def _content(expr: sp.Expr) -> sp.Integer:
    content, _ = expr.as_content_primitive()
    if expr.free_symbols and expr.is_polynomial():
        content, _ = sp.Poly(expr, *sorted(expr.free_symbols, key=str)).primitive()
    return abs(sp.Integer(content)) if content.is_Integer else sp.S.One
