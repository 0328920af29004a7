"""Right inverses and projections of features over Q(parameters)."""

from __future__ import annotations

from random import Random

import pytest
import sympy as sp

from symreln.exact import projection
from symreln.exact.matrix import ExactMatrix
from symreln.exact.projection import projected, right_inverse
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


def test_eliminating_sparse_rows_is_eliminating_dense_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large constant features are eliminated as dictionaries: the same projection, as many rows."""
    rng = Random(5)
    for rank, width in ((3, 8), (6, 8), (8, 8), (0, 4)):
        left = [[rng.randint(-3, 3) for _ in range(rank)] for _ in range(12)]
        right = [[rng.choice((0, 0, 0, 1, -2)) for _ in range(width)] for _ in range(rank)]
        table = [
            [sum(x * line[c] for x, line in zip(row, right, strict=True)) for c in range(width)]
            for row in left
        ]
        features = ExactMatrix.from_rows(table)
        rows = ExactMatrix.from_rows([[rng.randint(-5, 5) for _ in range(width)] for _ in range(3)])
        known = sp.Matrix(table)
        expected = sp.Matrix(rows.to_fractions()) * known.pinv() * known
        monkeypatch.setattr(projection, "_DENSE_WORK", 0)
        chosen = projection.independent_rows(features) if rank else []
        assert len(chosen) == known.rank()
        assert known.extract(chosen, list(range(width))).rank() == known.rank()
        assert sp.Matrix(projected(rows, features).to_fractions()) == expected
