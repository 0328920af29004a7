"""Sparse matrices against dense ones: two routes to every operation."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from symreln.errors import InputError
from symreln.exact import entries as coo
from symreln.exact.backed import SparseBacked
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.sparse import SparseMatrix
from tests.strategies import parametric_matrix, polynomial, rational_point, seeds

NAMES = ("a", "b")
# Sizes of entries on both sides of every bound: small, near 2^53, near 2^62, far beyond.
SIZES = (3, 2**26, 2**31, 2**53, 2**62, 10**40)


def drawn(random: Random, rows: int, columns: int) -> ExactMatrix:
    """A random matrix: whole numbers of any size, rationals, or polynomials over a polynomial."""
    density = random.choice([0.0, 0.1, 0.4, 1.0])
    if random.random() < 0.4:
        matrix = parametric_matrix(random, rows, columns, NAMES, density)
        return matrix.scale(1 / (polynomial(random, NAMES) ** 2 + 1))
    size = random.choice(SIZES)
    bottom = random.choice([1, 1, 6, 10**20])
    table = [
        [
            Fraction(random.randint(-size, size), bottom) if random.random() < density else 0
            for _ in range(columns)
        ]
        for _ in range(rows)
    ]
    return ExactMatrix.from_rows(table, (), columns)


def pair(random: Random, rows: int, columns: int) -> tuple[ExactMatrix, SparseMatrix]:
    dense = drawn(random, rows, columns)
    return dense, SparseMatrix.from_exact(dense)


def same(sparse: SparseMatrix, dense: ExactMatrix) -> bool:
    for part in sparse.terms.values():
        places = part.rows * sparse.shape[1] + part.columns
        assert np.all(places[1:] > places[:-1])
        assert np.all(part.values != 0)
    # Rebuilt from the entries, not through the view's own overrides.
    rebuilt = ExactMatrix(sparse.shape, sparse.parameters, sparse.exact.terms, sparse.denominator)
    return rebuilt == dense


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_arithmetic(seed):
    random = Random(seed)
    rows, inner, columns = (random.randint(1, 9) for _ in range(3))
    a, sparse_a = pair(random, rows, inner)
    b, sparse_b = pair(random, inner, columns)
    c, sparse_c = pair(random, rows, inner)
    assert same(sparse_a @ sparse_b, a @ b)
    assert same(sparse_a.T @ sparse_a, a.T @ a)
    assert same(sparse_a + sparse_c, a + c)
    assert same(sparse_a - sparse_c, a - c)
    assert same(sparse_a - sparse_a, a - a)
    assert (sparse_a - sparse_a).is_zero
    factor = Scalar.of(Fraction(random.randint(-9, 9), 7)) * polynomial(random, NAMES)
    assert same(sparse_a.scale(factor), a.scale(factor))
    assert same(sparse_a.reduced(), a.reduced())
    assert str(sparse_a.reduced().denominator) == str(a.reduced().denominator)
    common = polynomial(random, NAMES) ** 2 + 1
    times = SparseMatrix.from_exact(
        ExactMatrix.identity(inner, NAMES).scale(common) @ ExactMatrix.identity(inner, NAMES)
    )
    cancelled = (sparse_a @ times).scale(1 / common).reduced()
    assert same(cancelled, a)
    assert str(cancelled.denominator) == str(a.promoted(NAMES).reduced().denominator)
    assert sparse_a.frobenius(sparse_c) == a.frobenius(c)
    assert (sparse_a == sparse_c) == (a == c)


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_parts(seed):
    random = Random(seed)
    rows, columns = random.randint(1, 9), random.randint(1, 9)
    dense, sparse = pair(random, rows, columns)
    some = random.sample(range(rows), random.randint(0, rows))
    others = random.sample(range(columns), random.randint(0, columns))
    assert same(sparse.select(rows=some, columns=others), dense.select(rows=some, columns=others))
    assert same(sparse.masked(rows=some), dense.masked(rows=some))
    assert same(sparse.masked(columns=others), dense.masked(columns=others))
    assert same(sparse.T, dense.T)
    listed = list(sparse.nonzero())
    assert listed == sorted(listed, key=lambda entry: entry[:2])
    assert {(i, j): v for i, j, v in listed} == {
        (i, j): v for i, row in enumerate(dense.rows()) for j, v in enumerate(row) if v != 0
    }
    gains = [random.choice([0, 1, polynomial(random, NAMES)]) for _ in range(columns)]
    rows_of_gains = [[g if i == j else 0 for j in range(columns)] for i, g in enumerate(gains)]
    assert same(sparse.scaled_columns(gains), dense @ ExactMatrix.from_rows(rows_of_gains, NAMES))


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_values(seed):
    random = Random(seed)
    dense, sparse = pair(random, random.randint(1, 6), random.randint(1, 6))
    point = rational_point(random, NAMES)
    part = {"b": point["b"]}
    try:
        expected, partly = dense.substitute(point), dense.substitute(part)
    except ZeroDivisionError:
        return
    assert same(sparse.substitute(point), expected)
    assert same(sparse.substitute(part), partly)
    np.testing.assert_array_equal(sparse.substitute(point).to_numpy(), expected.to_numpy())


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_a_view_is_the_matrix(seed):
    random = Random(seed)
    dense, sparse = pair(random, random.randint(1, 6), random.randint(1, 6))
    view = sparse.exact
    assert isinstance(view, SparseBacked)
    assert SparseMatrix.from_exact(view) is sparse
    for seen in (view, view.T.T, view.promoted(view.parameters), view.reduced(), view.masked()):
        assert seen == dense
    assert view @ view.T == dense @ dense.T
    assert (view.is_zero, view.is_constant) == (dense.is_zero, dense.is_constant)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("density", [0.05, 1.0])
def test_every_route_of_a_product_is_exact(size, density):
    # Large enough that the dense float64, the joined and FLINT's route are all taken somewhere.
    random = Random(size)
    values = [
        random.choice([size, -size, size - 1]) if random.random() < density else 0
        for _ in range(60 * 60)
    ]
    dense = ExactMatrix.from_rows([values[60 * i : 60 * (i + 1)] for i in range(60)])
    sparse = SparseMatrix.from_exact(dense)
    assert same(sparse @ sparse.T, dense @ dense.T)


@pytest.mark.parametrize("cached", [1, 4, 8, 2**16])
@pytest.mark.parametrize("rows", [[0, 0, 1, 3, 3, 3], [2, 2, 2, 2, 2, 2], [0, 1, 2, 3, 4, 4]])
def test_rows_gathered_from_a_dense_factor_are_exact(rows, cached, monkeypatch):
    monkeypatch.setattr(coo, "_CACHED_CELLS", cached)
    random = Random(len(set(rows)))
    columns = [0, 2, 1, 0, 1, 2]
    left = SparseMatrix.from_entries((5, 3), rows, columns, [2**20, -3, 1, 7, 2**21, -1])
    dense = np.array([[random.randint(-(2**30), 2**30) for _ in range(4)] for _ in range(3)])
    found = coo._gathered(left.terms[()], dense.astype(float), 5)
    expected = coo.to_cells(left.terms[()], (5, 3)) @ dense
    assert np.array_equal(coo.to_cells(found, (5, 4)), expected)


def test_places_outside_are_refused_and_values_at_one_place_add_up():
    with pytest.raises(InputError, match="outside"):
        SparseMatrix.from_entries((2, 2), [0, 2], [0, 0], [1, 1])
    found = SparseMatrix.from_entries((2, 2), [1, 0, 1], [1, 0, 1], [2**62, 3, 2**62], 2)
    assert list(found.nonzero()) == [(0, 0, Fraction(3, 2)), (1, 1, 2**62)]
    with pytest.raises(ZeroDivisionError):
        SparseMatrix((1, 1), (), {}, 0)


def test_sums_that_leave_int64_are_exact():
    big = SparseMatrix.from_entries((1, 1), [0], [0], [2**62 - 1])
    total = big
    for _ in range(3):
        total = total + total
    assert total.exact.entry(0, 0) == 8 * (2**62 - 1)
    assert coo.dot(big.terms[()], big.terms[()], 1) == (2**62 - 1) ** 2


@pytest.mark.parametrize("factor", [0, -3, 2**63, -(2**200)])
@pytest.mark.parametrize("values", [[], [5, -7]])
def test_any_factor_scales_any_number_of_entries(factor, values):
    places = np.arange(len(values))
    part = coo.Entries(places, places, np.array(values, dtype=np.int64))
    scaled = coo.scaled(part, factor)
    assert scaled.values.tolist() == [factor * value for value in values if factor]
    assert len(scaled.rows) == len(scaled.columns) == len(scaled.values)


@pytest.mark.parametrize("width", [2**16 - 1, 2**16, 2**16 + 1, 2**20])
def test_columns_of_any_number_are_transposed_in_order(width):
    random = Random(width)
    places = sorted({*random.sample(range(3 * width), 40), 3 * width - 1})
    rows, columns = [p // width for p in places], [p % width for p in places]
    values = range(1, len(places) + 1)
    part = SparseMatrix.from_entries((3, width), rows, columns, values).T.terms[()]
    turned = zip(part.rows.tolist(), part.columns.tolist(), part.values.tolist(), strict=True)
    assert list(turned) == sorted(zip(columns, rows, values, strict=True))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("rows", [(0, 1, 2, 3), (1, 2), ()])
def test_full_matrices_add_up_exactly_whatever_rows_they_fill(size, rows):
    random = Random(size)
    tables = [
        [[random.choice([size, -size]) if i in filled else 0 for _ in range(6)] for i in range(4)]
        for filled in (range(3), rows)
    ]
    a, b = (ExactMatrix.from_rows(table) for table in tables)
    assert same(SparseMatrix.from_exact(a) + SparseMatrix.from_exact(b), a + b)


def test_parts_of_large_matrices_meet_small_ones():
    """What is left of a matrix of objects may fit int64: sums and products take it so."""
    large = SparseMatrix.from_exact(ExactMatrix.from_rows([[3, 10**40], [5, 0]]))
    part = large.masked(columns=[0])
    small = SparseMatrix.from_exact(ExactMatrix.from_rows([[1, 2], [0, 4]]))
    assert (part + small).exact.to_fractions() == [[4, 2], [5, 4]]
    assert (small @ part).exact.to_fractions() == [[13, 0], [20, 0]]
    assert (part.T @ part).exact.to_fractions() == [[34, 0], [0, 0]]
    assert part.frobenius(small).to_fraction() == 3
    assert part.scale(2).exact.to_fractions() == [[6, 0], [10, 0]]


def test_polynomials_of_many_terms_by_entries_and_by_monomials(monkeypatch):
    """Two routes to products, Frobenius products and multiples."""
    a, b = (Scalar.symbol(name, NAMES) for name in NAMES)
    rows = [[(a + b) ** 9, 1 - a], [b**3, (a - 2 * b) ** 8]]
    dense = ExactMatrix.from_rows(rows, NAMES)
    sparse, factor = SparseMatrix.from_exact(dense), (a + b + 1) ** 7
    by_entries = [dense @ dense, (sparse @ sparse.T).exact, sparse.scale(factor).exact]
    inner = [dense.frobenius(dense), sparse.frobenius(sparse)]
    monkeypatch.setattr("symreln.exact.by_entries.FEWEST_PAIRS", 10**9)
    assert by_entries == [dense @ dense, (sparse @ sparse.T).exact, sparse.scale(factor).exact]
    assert inner == [dense.frobenius(dense), sparse.frobenius(sparse)]
    assert inner[0] == inner[1]
