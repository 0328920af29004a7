"""Inverses, pseudo-inverses, ranks, determinants over Q and Q(parameters)."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from symreln.errors import InputError
from symreln.exact.linear import (
    coordinates,
    inverse,
    projected,
    pseudo_inverse,
    rank,
    right_inverse,
)
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar, polynomial_ring
from tests.strategies import exact, parametric_matrix, rational_matrix


def assert_moore_penrose(root: ExactMatrix) -> None:
    a = root @ root.T
    p = pseudo_inverse(a)
    assert a @ p @ a == a
    assert p @ a @ p == p
    assert a @ p == (a @ p).T
    assert p == p.T


def test_pseudo_inverses_over_q_and_with_parameters() -> None:
    for seed in range(50):
        random = Random(seed)
        sizes = random.randint(1, 6), random.randint(1, 6)
        assert_moore_penrose(exact(rational_matrix(random, *sizes)))
        names = ("c",) if seed % 3 else ("a", "b")
        sizes = random.randint(1, 4 if seed % 3 else 3), random.randint(1, 4)
        assert_moore_penrose(parametric_matrix(random, *sizes, names, density=0.5))


def test_pseudo_inverse_refuses_what_is_not_symmetric() -> None:
    with pytest.raises(InputError, match="symmetric"):
        pseudo_inverse(ExactMatrix.from_rows([[0, 1], [0, 0]]))
    with pytest.raises(InputError, match="square"):
        inverse(ExactMatrix.zeros(2, 3))


def test_inverse() -> None:
    done = 0
    for seed in range(60):
        random = Random(seed)
        names = ((), ("c",), ("a", "b"))[seed % 3]
        size = random.randint(1, 3)
        a = parametric_matrix(random, size, size, names, density=0.9)
        if rank(a) < size:
            with pytest.raises(ZeroDivisionError):
                inverse(a)
            continue
        done += 1
        one = ExactMatrix.identity(size, names)
        assert a @ inverse(a) == one
        assert inverse(a) @ a == one
    assert done > 30


# -- polynomials ----------------------------------------------------------------------------------


def test_coordinates_of_what_is_there_and_none_of_what_is_not() -> None:
    done = 0
    for seed in range(80):
        random = Random(seed)
        columns = parametric_matrix(random, 4, 2, ("c",)).scale(Fraction(1, 3))
        if rank(columns) < 2:
            assert coordinates(columns, columns) is None
            continue
        weights = parametric_matrix(random, 2, 3, ("c",)).scale(Fraction(2, 5))
        target = columns @ weights
        assert coordinates(columns, target) == weights
        other = target + ExactMatrix.from_rows([[1, 0, 0]] + [[0] * 3] * 3)
        outside = rank(ExactMatrix.beside([columns, other])) == 3
        assert (coordinates(columns, other) is None) == outside
        done += outside
    assert done > 30


# -- right inverses and projections ----------------------------------------------------------------

NAMES = ("a", "b")
#: (features, samples, rank): spanning, fewer samples, fewer features, dependent both ways.
SHAPES = [(5, 3, 3), (3, 3, 3), (4, 3, 2), (2, 4, 2), (3, 4, 2), (4, 3, 0)]


def mixed(height: int, width: int, rank: int, seed: int) -> ExactMatrix:
    """Return features of several monomials a row, over a polynomial, of this rank."""
    rng = Random(seed)
    a, b = (Scalar(NAMES, polynomial_ring(NAMES).gen(k)) for k in range(2))

    def entry() -> Scalar:
        return rng.randint(-3, 3) + rng.randint(-2, 2) * a + rng.randint(-2, 2) * a * b

    left = ExactMatrix.from_rows(
        [[entry() for _ in range(rank)] for _ in range(height)], NAMES, rank
    )
    right = ExactMatrix.from_rows(
        [[entry() for _ in range(width)] for _ in range(rank)], NAMES, width
    )
    whole = left @ right if rank else ExactMatrix.zeros(height, width, NAMES)
    return whole.scale(1 / (a + 1))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_right_inverse_leaves_nothing_in_the_span(shape: tuple[int, int, int]) -> None:
    for seed in range(3):
        features = mixed(*shape, seed)
        one = ExactMatrix.identity(shape[1], NAMES)
        assert ((one - right_inverse(features) @ features) @ features.T).is_zero


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_projected_lies_in_the_span_and_the_rest_is_orthogonal_to_it(
    shape: tuple[int, int, int],
) -> None:
    features, rows = mixed(*shape, 1), mixed(2, shape[1], 2, 7)
    inside = projected(rows, features)
    assert ((rows - inside) @ features.T).is_zero
    assert projected(inside, features) == inside
    if shape[2] == shape[1]:
        assert inside == rows
