"""Real roots by bisection against FLINT's, and where FLINT takes for ever."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from flint import arb, fmpq, fmpz_poly
from hypothesis import given

from symreln.exact import enclosure
from tests.strategies import examples, seeds


def polynomial(random: Random) -> fmpz_poly:
    """Small coefficients, zeros among them, often with a double rational root."""
    degree = random.randint(1, 7)
    drawn = [random.choice([0, random.randint(-9, 9)]) for _ in range(degree)]
    found = fmpz_poly([*drawn, random.choice([-3, -1, 1, 2])])
    return found * fmpz_poly([random.randint(-3, 3), 1]) ** random.choice([0, 0, 2])


@given(seeds)
@examples(400)
def test_roots_are_those_of_flint(seed):
    p = polynomial(Random(seed))
    with enclosure.precision(128):
        mine = sorted(enclosure._isolated_roots(p, 128), key=lambda pair: pair[0].mid())
        flint = [(x.real, m) for x, m in p.complex_roots() if x.imag == 0]
    flint.sort(key=lambda pair: pair[0].mid())
    assert [m for _, m in mine] == [m for _, m in flint]
    for (x, _), (y, _) in zip(mine, flint, strict=True):
        assert x.overlaps(y)
        assert x == 0 or x.rel_accuracy_bits() > 100


def test_roots_that_differ_by_hundreds_of_digits():
    exponents = [-900, -400, 0, 3, 350, 1000]
    p = fmpz_poly([1])
    for e in exponents:
        root = Fraction(10) ** e
        p *= fmpz_poly([-root.numerator, root.denominator])
    p *= fmpz_poly([10**500, 0, 1])  # no real root
    found = enclosure.real_roots(tuple(Fraction(int(c)) for c in p), 64)
    assert len(found) == len(exponents)
    for ball, e in zip(found, exponents, strict=True):
        with enclosure.precision(4000):
            assert ball.contains(arb(10) ** e)


def test_roots_so_near_that_newton_takes_one_for_the_other():
    """x = 3 and 3 + 2^-700, beside 10^200 and -1: every ball holds its root and no other."""
    near = Fraction(3) + Fraction(1, 2**700)
    roots = [Fraction(-1), Fraction(3), near, Fraction(10**200)]
    p = fmpz_poly([1])
    for root in roots:
        p *= fmpz_poly([-root.numerator, root.denominator])
    with enclosure.precision(4000):
        for bits in (800, 3000):
            found = sorted((ball for ball, _ in enclosure._isolated_roots(p, bits)), key=arb.mid)
            for n, ball in enumerate(found):
                held = [ball.contains(fmpq(r.numerator, r.denominator)) for r in roots]
                assert held == [n == k for k in range(4)]
                assert ball.rel_accuracy_bits() >= bits - 2
