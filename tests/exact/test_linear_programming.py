"""Exact linear programming and the ordered fields that it runs over."""

from fractions import Fraction
from itertools import product
from math import sqrt
from random import Random

import pytest
from flint import fmpq, fmpq_poly
from hypothesis import given

from symreln.exact.field import Field
from symreln.exact.linear_programming import direction, dot
from symreln.exact.real_algebraic import Real
from symreln.exact.scalar import Scalar
from tests.strategies import examples, seeds

# The golden ratio's field, and a cubic one with three real roots.
GOLDEN, CUBIC, SQUARE_ROOT_2 = (
    Field(tuple(map(Scalar.of, coefficients)))
    for coefficients in ((-1, -1, 1), (1, -3, 0, 1), (-2, 0, 1))
)


def element(field: Field, *coefficients: int) -> Real:
    return Real(field, 1, fmpq_poly([*coefficients]))


PHI = element(GOLDEN, 0, 1)


def rows_of(random: Random, field: Field | None, count: int, size: int) -> list[list]:
    def entry() -> object:
        if field is None:
            return fmpq(random.randint(-2, 2), random.randint(1, 3))
        return element(field, *(random.randint(-2, 2) for _ in range(field.degree)))

    return [[entry() for _ in range(size)] for _ in range(count)]


@pytest.mark.parametrize("field", [None, GOLDEN, CUBIC])
@given(seed=seeds)
@examples(240)
def test_directions_have_the_signs_asked_for(field: Field | None, seed: int) -> None:
    random = Random(seed)
    size = random.randint(1, 4)
    strict = rows_of(random, field, random.randint(0, 4), size)
    weak = rows_of(random, field, random.randint(0, 4), size)
    found = direction(strict, weak, size)
    if found is not None:
        assert all(dot(row, found) > 0 for row in strict)
        assert not any(dot(row, found) > 0 for row in weak)
    else:
        grid = product((-2, -1, 0, 1, 2), repeat=size)
        assert not any(
            all(dot(row, w) > 0 for row in strict) and not any(dot(row, w) > 0 for row in weak)
            for w in grid
        )


def test_an_irrational_boundary_decides() -> None:
    """x > √2·y, x ≤ (7/5)y and y ≥ 0 contradict each other; with 3/2 for 7/5 they do not."""
    root = element(SQUARE_ROOT_2, 0, 1)
    for bound, possible in ((fmpq(7, 5), False), (fmpq(3, 2), True)):
        weak = [[1, element(SQUARE_ROOT_2, 0) - bound], [0, -1]]
        assert (direction([[1, -root]], weak, 2) is not None) is possible


def test_floats_are_no_exact_numbers() -> None:
    with pytest.raises(TypeError):
        direction([[0.5, 1.0]], [], 2)


@given(seeds)
@examples(240)
def test_real_numbers_behave_as_their_floats(seed: int) -> None:
    random = Random(seed)
    a, b = (element(GOLDEN, random.randint(-9, 9), random.randint(-9, 9)) for _ in range(2))
    x, y = (_float(v) for v in (a, b))
    pairs = [(a + b, x + y), (a - b, x - y), (a * b, x * y), (1 - a, 1 - x)]
    if b:
        pairs += [(a / b, x / y), (1 / b, 1 / y)]
    for exact, value in pairs:
        assert _float(exact) == pytest.approx(value, abs=1e-9)
        assert exact.number.sign() == (0 if not exact else (1 if _float(exact) > 0 else -1))
    assert (a > b) == (x > y + 1e-12)
    assert (a == b) is (not (a - b))


def test_signs_next_to_zero() -> None:
    """Ratios of Fibonacci numbers come as near the golden ratio as one likes."""
    low, high = 1, 1
    for _ in range(200):
        low, high = high, low + high
    near = PHI - fmpq(high, low)
    assert near.number.sign() != 0
    assert (near.number.sign() > 0) is _above(high, low)
    square = PHI * PHI
    assert square - PHI == 1
    with pytest.raises(ZeroDivisionError):
        1 / (square - PHI - 1)


def _above(high: int, low: int) -> bool:
    """Whether the golden ratio is above high/low: r² - r - 1 is negative below it."""
    return high * high - high * low - low * low < 0


def _float(value: Real) -> float:
    coefficients = [Fraction(int(c.p), int(c.q)) for c in value.polynomial.coeffs()]
    theta = (1 + sqrt(5)) / 2
    return float(sum(float(c) * theta**k for k, c in enumerate(coefficients)))
