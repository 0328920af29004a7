"""Ranges, real roots and proofs that a polynomial has no zero: against sympy and against points."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from symreln.exact.algebraic import real_roots
from symreln.exact.domain import Range, never_zero
from symreln.exact.factoring import variables
from symreln.exact.scalar import Scalar, polynomial_ring

NAMES = ("a", "b")
RING = polynomial_ring(NAMES)
small = st.fractions(min_value=-3, max_value=3, max_denominator=4)
polynomials = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 3)), st.integers(-5, 5), min_size=1, max_size=5
).map(lambda terms: RING.from_dict({key: value for key, value in terms.items() if value}))


@st.composite
def ranges(draw, name):
    low = draw(st.none() | small)
    high = draw(st.none() | small.map(abs))
    if low is not None and high is not None:
        high = low + high
    return Range(name=name, low=low, open_low=draw(st.booleans()) and low is not None, high=high)


def inside(limits: Range, value: Fraction) -> Fraction:
    """Return the value moved into a range."""
    if limits.low is not None:
        value = limits.low + abs(value - limits.low) + (Fraction(1, 7) if limits.open_low else 0)
    if limits.high is not None and value > limits.high:
        value = limits.high
    return value


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=6), ranges("a"))
def test_roots_are_those_of_sympy_and_lie_in_the_range_exactly_when_they_do(coefficients, limits):
    x = sp.Symbol("a")
    whole = sp.Poly([*coefficients, 1], x)
    for factor, _ in whole.factor_list()[1]:
        terms = {(int(k[0]), 0): int(v) for k, v in factor.terms()}
        found = real_roots(RING.from_dict(terms))
        expected = sorted(sp.real_roots(factor), key=float)
        assert [float(root) for root in found] == pytest.approx([float(r) for r in expected])
        for root, exact in zip(found, expected, strict=True):
            low = limits.low is None or (
                exact > sp.Rational(*limits.low.as_integer_ratio())
                if limits.open_low
                else exact >= sp.Rational(*limits.low.as_integer_ratio())
            )
            high = limits.high is None or exact <= sp.Rational(*limits.high.as_integer_ratio())
            assert limits.contains(root.compare) == bool(low and high)


@given(polynomials, ranges("a"), ranges("b"), st.lists(st.tuples(small, small), max_size=20))
def test_what_is_said_to_have_no_zero_has_none_and_keeps_its_sign(polynomial, one, two, points):
    if polynomial.is_constant() or len(variables(polynomial)) < 2:
        return
    if not never_zero(polynomial, {"a": one, "b": two}):
        return
    values = [
        Scalar(NAMES, polynomial)
        .substitute({"a": inside(one, a), "b": inside(two, b)})
        .to_fraction()
        for a, b in points
    ]
    assert all(value > 0 for value in values) or all(value < 0 for value in values)


A, B = (Scalar.symbol(name, NAMES).numerator for name in NAMES)
REAL = {"a": Range(name="a"), "b": Range(name="b")}
POSITIVE = {name: Range(name=name, low=Fraction(0), open_low=True) for name in NAMES}
NONNEGATIVE = {name: Range(name=name, low=Fraction(0)) for name in NAMES}


@pytest.mark.parametrize(
    ("polynomial", "limits", "decided"),
    [
        (A * B + A, POSITIVE, True),
        (A * B + A, NONNEGATIVE, False),
        (A * B + 1, NONNEGATIVE, True),
        (A * B + 1, REAL, False),
        (A**2 + 3 * B**4 + 1, REAL, True),
        (A**2 + B**2, REAL, False),
        (A**2 + A * B + B**2 + 1, REAL, True),
        (-(A**2) + A * B - B**2 - 1, REAL, True),
        (A**2 + 2 * A * B + B**2 + 1, REAL, True),
        ((A - B) ** 2 + 4, REAL, True),
        (-4 - (A - 3 * B + 1) ** 2, REAL, True),
        ((A - B) ** 2, REAL, False),
        ((A - B) ** 2 - 4, REAL, False),
        ((A - B) ** 2 + A, REAL, False),
        ((A**2 + 1) * B**2 + B + 1, REAL, True),  # discriminant 1 - 4 (a² + 1)
        ((A**2 + 1) * B**2 + 3 * B + 1, REAL, False),
        (A * B**2 - B + 1, {**REAL, "a": Range(name="a", low=Fraction(1, 2))}, True),
        (A * B**2 - B + 1, {**REAL, "a": Range(name="a", low=Fraction(1, 4))}, False),
        (A**2 - B**2 + 1, REAL, False),
        (A * B - A, {"a": POSITIVE["a"], "b": Range(name="b", low=Fraction(3, 2))}, True),
        (A * B - A, {"a": POSITIVE["a"], "b": Range(name="b", high=Fraction(1, 2))}, True),
        (A * B - A, {"a": POSITIVE["a"], "b": Range(name="b", high=Fraction(1))}, False),
    ],
)
def test_what_the_tests_decide(polynomial, limits, decided):
    assert bool(never_zero(polynomial, limits)) is decided
