"""Certified enclosures: they hold the exact eigenvalues, each as often as it occurs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import example, given, settings
from hypothesis import strategies as st

from symreln.exact.certified import Enclosed, enclose_spectrum, interval_text
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import joint_spectrum


def matrix(rows: list[list[int]], denominator: int = 1) -> ExactMatrix:
    return ExactMatrix.from_integers(fmpz_mat(rows), denominator)


def contains(found: tuple[Enclosed, ...], pairs: list[tuple[Fraction, Fraction]]) -> bool:
    """Whether the boxes can be matched one to one with the exact pairs (greedy, by nearness)."""
    left = list(found)
    for first, second in pairs:
        near = min(left, key=lambda e: abs(e.s_squared - first) + abs((e.d or 0) - second))
        ok = abs(near.s_squared - first) <= near.radius
        if near.d is not None:
            ok = ok and abs(near.d - second) <= near.radius
        if not ok:
            return False
        left.remove(near)
    return not left


def rotated(eigenvalues: list[list[int]], seed: int) -> list[ExactMatrix]:
    """Return commuting matrices with these eigenvalues, in a rational orthonormal basis."""
    size = len(eigenvalues[0])
    rng = np.random.default_rng(seed)
    vector = [int(v) for v in rng.integers(1, 9, size)]
    length = sum(v * v for v in vector)
    # A reflection 1 - 2vvᵀ/|v|²: rational, orthogonal and dense.
    reflection = matrix(
        [[length * (i == j) - 2 * vector[i] * vector[j] for j in range(size)] for i in range(size)],
        length,
    )
    return [reflection @ ExactMatrix.diagonal(list(v)) @ reflection.T for v in eigenvalues]


values = st.lists(st.integers(0, 4), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(values, st.integers(0, 10**6), st.booleans())
def test_repeated_joint_eigenvalues_lie_in_their_boxes(squares, seed, refine):
    other = np.random.default_rng(seed).integers(-3, 4, len(squares)).tolist()
    m, b = rotated([squares, other], seed)
    found = enclose_spectrum(m, b, refine=refine)
    pairs = [(Fraction(x), Fraction(y)) for x, y in zip(squares, other, strict=True)]
    assert contains(found, pairs)
    # Boxes that hold everything would prove nothing.
    assert all(e.radius <= Fraction(1, 10**12) * 10 for e in found)


def test_a_refined_radius_is_near_the_square_of_the_float_one():
    rng = np.random.default_rng(3)
    a = matrix(rng.integers(-9, 10, (40, 30)).tolist(), 7)
    coarse = enclose_spectrum(a.T @ a, refine=False)[0]
    fine = enclose_spectrum(a.T @ a)[0]
    assert fine.radius < coarse.radius / 10**6
    assert fine.radius < Fraction(1, 10**20)


def test_structureless_eigenvalues_agree_with_roots_of_the_minimal_polynomial():
    rng = np.random.default_rng(11)
    a = matrix(rng.integers(-5, 6, (9, 8)).tolist())
    m = a.T @ a
    exact = joint_spectrum(a, ExactMatrix.identity(8))
    found = enclose_spectrum(m)
    for mode, box in zip(exact.modes, found, strict=True):
        middle, radius = box.s
        ball = mode.s.enclose(digits=60)
        difference = abs(ball - _as_ball(middle))
        assert difference < _as_ball(radius) + ball.rad() * 2
        assert radius < Fraction(1, 10**18)


def _as_ball(value: Fraction):
    from symreln.exact.enclosure import ball, precision

    with precision(300):
        return ball(value)


def test_null_modes_have_an_enclosure_of_zero():
    a = matrix([[1, 2, 3], [2, 4, 6]])
    found = enclose_spectrum(a.T @ a)
    middle, radius = found[-1].s
    assert middle - radius == 0
    assert radius < Fraction(1, 10**10)
    assert abs(found[0].s_squared - 70) <= found[0].radius


def test_a_cluster_that_floats_cannot_split_is_enclosed():
    near = [10**18, 10**18 + 1, 10**18 + 2, 5]
    (m,) = rotated([near], 2)
    assert contains(enclose_spectrum(m), [(Fraction(v), Fraction(0)) for v in near])


@pytest.mark.parametrize("size", [1, 2])
def test_the_zero_matrix(size):
    zero = ExactMatrix.zeros(size, size)
    assert contains(enclose_spectrum(zero, zero), [(Fraction(0), Fraction(0))] * size)


def test_numbers_beyond_floats_are_refused():
    with pytest.raises(ArithmeticError):
        enclose_spectrum(matrix([[10**400]]))


@settings(max_examples=200, deadline=None)
@given(st.fractions(), st.fractions(min_value=0), st.integers(-40, 40))
@example(Fraction(1, 2), Fraction(0), 0)  # exact in decimals: nothing is rounded
def test_the_text_of_an_interval_holds_it(middle, radius, power):
    radius = radius * Fraction(10) ** power
    decimal, bound = interval_text(middle, radius)
    low, high = Fraction(decimal) - Fraction(bound), Fraction(decimal) + Fraction(bound)
    assert low <= middle - radius
    assert middle + radius <= high
    assert not radius or Fraction(bound) <= 20 * radius
