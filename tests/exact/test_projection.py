"""Right inverses and projections of features over Q(parameters)."""

from __future__ import annotations

from random import Random

import pytest

from symreln.exact.linear import projected, right_inverse
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar, polynomial_ring

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
