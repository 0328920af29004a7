"""Integer matrices as entries and as FLINT's: two routes to every operation."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import given

from symreln.errors import FloatRangeError
from symreln.exact import integer_matrix
from symreln.exact.integer_matrix import IntegerMatrix
from tests.strategies import examples, seeds

# Sizes of entries on both sides of every bound: small, near 2^53, near 2^62, far beyond.
SIZES = (3, 2**26, 2**31, 2**53, 2**62, 2**63, 10**40)


def drawn(random: Random, rows: int, columns: int) -> list[list[int]]:
    density, size = random.choice([0.0, 0.05, 0.4, 1.0]), random.choice(SIZES)
    return [
        [random.randint(-size, size) if random.random() < density else 0 for _ in range(columns)]
        for _ in range(rows)
    ]


def both(table: list[list[int]], columns: int) -> tuple[IntegerMatrix, IntegerMatrix]:
    """The same matrix held by FLINT and, where its numbers fit, by scipy."""
    flint = fmpz_mat(len(table), columns, [entry for row in table for entry in row])
    dense = IntegerMatrix.of_flint(flint)
    return dense, dense.moved(np.arange(len(table)), np.arange(columns), dense.shape)


def same(found: IntegerMatrix, expected: fmpz_mat) -> None:
    """Whatever a matrix is held as, its two forms and its entries' order are right."""
    assert found.shape == (expected.nrows(), expected.ncols())
    assert found.flint == expected
    assert found.is_zero == bool(expected.is_zero())
    assert [*found.triples()] == [*IntegerMatrix.of_flint(expected).triples()]


@pytest.fixture(params=[0, 1024], ids=["sparse", "small by FLINT"])
def small(request, monkeypatch):
    monkeypatch.setattr(integer_matrix, "_SMALL", request.param)


@pytest.mark.usefixtures("small")
@examples(600)
@given(seed=seeds)
def test_every_operation_by_both_routes(seed):
    random = Random(seed)
    rows, inner, columns = (random.choice([1, 3, 9, 40]) for _ in range(3))
    a, sparse_a = both(drawn(random, rows, inner), inner)
    b, sparse_b = both(drawn(random, inner, columns), columns)
    c, sparse_c = both(drawn(random, rows, inner), inner)
    for left, right in ((sparse_a, sparse_b), (sparse_a, b), (a, sparse_b)):
        same(left @ right, a.flint * b.flint)
    for left, right in ((sparse_a, sparse_c), (sparse_a, c), (a, sparse_c)):
        same(left + right, a.flint + c.flint)
    same(sparse_a.T, a.flint.transpose())
    same(sparse_a.T @ sparse_a, a.flint.transpose() * a.flint)
    same(sparse_a + sparse_a * -1, a.flint * 0)
    factor = random.choice([0, 1, -3, 2**31, 2**63, -(2**200)])
    same(sparse_a * factor, a.flint * factor)
    if factor:
        same((sparse_a * factor).divided(factor), a.flint)
        assert (sparse_a * factor).content() == abs(factor) * a.content()
    assert sparse_a.content(12) == a.content(12)
    products = (x * y for x, y in zip(a.flint.entries(), c.flint.entries(), strict=True))
    assert sparse_a.dot(sparse_c) == a.dot(c) == sum(products, start=0)
    i, j = random.randrange(rows), random.randrange(inner)
    assert sparse_a.entry(i, j) == a.entry(i, j) == a.flint[i, j]
    assert sparse_a.largest() == max(abs(int(x)) for x in a.flint.entries())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("density", [0.05, 1.0])
def test_every_route_of_a_product_is_exact(size, density):
    # Large enough that the dense float64, the sparse and FLINT's route are all taken somewhere.
    random = Random(size)
    table = [
        [random.choice([size, -size, size - 1]) * (random.random() < density) for _ in range(70)]
        for _ in range(70)
    ]
    dense, sparse = both(table, 70)
    same(sparse @ sparse.T, dense.flint * dense.flint.transpose())


def test_values_at_one_place_add_up_beyond_int64():
    at = np.array([1, 0, 1])
    found = IntegerMatrix.of_triples((2, 2), (at, at, np.array([2**61, 3, 2**61]) * 2 - 1))
    assert list(found.triples()) == [(0, 0, 5), (1, 1, 2**63 - 2)]


@pytest.mark.parametrize(("value", "bottom"), [(2**53 - 1, 3), (2**53 + 1, 3), (10**40, 7)])
def test_quotients_are_rounded_correctly(value, bottom):
    sparse = both([[0, value], [-value, 1]], 2)[1]
    assert sparse.quotients(bottom).tolist() == [value / bottom, -value / bottom, 1 / bottom]
    with pytest.raises(FloatRangeError, match="row 2 and column 1"):
        both([[0, 1], [10**400, 1]], 2)[1].quotients(bottom)
