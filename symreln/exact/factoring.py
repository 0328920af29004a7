"""Irreducible factors over Z of polynomials in any number of parameters."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from flint import Ordering, fmpq_mpoly, fmpq_mpoly_ctx, fmpz, fmpz_mpoly


def factorisation(polynomial: fmpz_mpoly) -> tuple[fmpz, list[tuple[fmpz_mpoly, int]]]:
    """Return (content with its sign, [(irreducible factor, exponent), …]).

    Factors are primitive; their order depends on the polynomial alone.
    """
    try:
        content, found = polynomial.factor()
    except OverflowError:
        # python-flint 0.9 sorts the factors by coefficients in C longs; over Q it does not.
        return _over_rationals(polynomial)
    return content, [(factor, int(exponent)) for factor, exponent in found]


def factors(polynomial: fmpz_mpoly) -> list[fmpz_mpoly]:
    """Return the irreducible factors, each once, primitive, with positive leading coefficient."""
    _, found = factorisation(polynomial)
    return [f if f.leading_coefficient() > 0 else -f for f, _ in found if not f.is_constant()]


def variables(polynomial: fmpz_mpoly) -> tuple[str, ...]:
    """Return the parameters that occur in a polynomial."""
    degrees = zip(polynomial.context().names(), polynomial.degrees(), strict=True)
    return tuple(name for name, degree in degrees if int(degree) > 0)


def univariate(polynomial: fmpz_mpoly) -> tuple[Fraction, ...]:
    """Return the coefficients of a polynomial in which one parameter occurs, low to high."""
    terms = {sum(map(int, key)): value for key, value in polynomial.to_dict().items()}
    return tuple(Fraction(int(terms.get(power, 0))) for power in range(max(terms) + 1))


def _over_rationals(polynomial: fmpz_mpoly) -> tuple[fmpz, list[tuple[fmpz_mpoly, int]]]:
    integers = polynomial.context()
    rationals = fmpq_mpoly_ctx.get(integers.names(), Ordering.lex)
    _, found = rationals.from_dict(polynomial.to_dict()).factor()
    factors, product = [], integers.constant(1)
    for factor, exponent in found:
        primitive = _primitive(factor, polynomial)
        factors.append((primitive, int(exponent)))
        product *= primitive ** int(exponent)
    content = polynomial.leading_coefficient() // product.leading_coefficient()
    if product * content != polynomial:
        msg = "a factorisation over Q does not multiply back"
        raise ArithmeticError(msg)
    return content, factors


def _primitive(factor: fmpq_mpoly, like: fmpz_mpoly) -> fmpz_mpoly:
    """Return the multiple of a factor with whole coprime coefficients, the first positive."""
    terms = factor.to_dict()
    bottom = lcm(*(int(value.q) for value in terms.values()))
    numbers = {key: (value * bottom).p for key, value in terms.items()}
    whole = like.context().from_dict(numbers).primitive()[1]
    return -whole if whole.leading_coefficient() < 0 else whole
