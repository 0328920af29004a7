"""Exact matrices over Q(parameters): entries, operations and parts by two routes."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given

from symreln.errors import InputError
from symreln.exact import integer_matrix
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from tests.strategies import examples, parametric_matrix, polynomial, rational_point, seeds

NAMES = ("a", "b")
SIZES = (3, 2**26, 2**31, 2**53, 2**62, 10**40)


def drawn(random: Random, rows: int, columns: int) -> ExactMatrix:
    """A random matrix: whole numbers of any size, rationals, or polynomials over a polynomial."""
    density = random.choice([0.0, 0.1, 0.4, 1.0])
    if random.random() < 0.4:
        matrix = parametric_matrix(random, rows, columns, NAMES, density)
        return matrix.scale(1 / (polynomial(random, NAMES) ** 2 + 1))
    size, bottom = random.choice(SIZES), random.choice([1, 1, 6, 10**20])
    table = [
        [
            Fraction(random.randint(-size, size), bottom) if random.random() < density else 0
            for _ in range(columns)
        ]
        for _ in range(rows)
    ]
    return ExactMatrix.from_rows(table, (), columns)


def table_of(matrix: ExactMatrix) -> list[list[Scalar]]:
    """The entries, one by one."""
    rows, columns = (range(size) for size in matrix.shape)
    return [[matrix.entry(i, j) for j in columns] for i in rows]


@pytest.fixture(params=[0, 1024], ids=["entries", "small by FLINT"])
def small(request, monkeypatch):
    monkeypatch.setattr(integer_matrix, "_SMALL", request.param)


def as_entries(matrix: ExactMatrix) -> ExactMatrix:
    """The same matrix held as entries."""
    return matrix.masked(rows=range(matrix.shape[0]))


@pytest.mark.usefixtures("small")
@examples(160)
@given(seed=seeds)
def test_arithmetic_is_that_of_the_entries(seed):
    random = Random(seed)
    rows, inner, columns = (random.randint(1, 5) for _ in range(3))
    a, b, c = drawn(random, rows, inner), drawn(random, inner, columns), drawn(random, rows, inner)
    x, y, z = table_of(a), table_of(b), table_of(c)
    product = [[sum((p * q for p, q in zip(row, col, strict=True)), Scalar((), 0))
                for col in zip(*y, strict=True)] for row in x]  # fmt: skip
    for left, right in ((a, b), (as_entries(a), b), (as_entries(a), as_entries(b))):
        assert table_of(left @ right) == product
    paired = [list(zip(p, q, strict=True)) for p, q in zip(x, z, strict=True)]
    for left, right in ((a, c), (as_entries(a), c), (as_entries(a), as_entries(c))):
        assert table_of(left + right) == [[p + q for p, q in row] for row in paired]
        assert table_of(left - right) == [[p - q for p, q in row] for row in paired]
        assert left.frobenius(right) == sum(
            (p * q for row in paired for p, q in row), Scalar((), 0)
        )
        assert (left == right) == (x == z)
    assert (a - as_entries(a)).is_zero
    assert table_of(a.T) == [list(column) for column in zip(*x, strict=True)]
    assert a.gram == a.T @ a
    assert a.gram.trace() == a.frobenius(a)
    factor = Scalar.of(Fraction(random.randint(-9, 9), 7)) * polynomial(random, NAMES)
    assert table_of(as_entries(a).scale(factor)) == [[factor * p for p in row] for row in x]


@pytest.mark.usefixtures("small")
@examples(160)
@given(seed=seeds)
def test_what_is_common_cancels(seed):
    random = Random(seed)
    a = drawn(random, random.randint(1, 5), random.randint(1, 5)).promoted(NAMES)
    common = polynomial(random, NAMES) ** 2 + 1
    whole = ExactMatrix.identity(a.shape[1], NAMES).scale(common * 6)
    back = (as_entries(a) @ whole).scale(1 / common).scale(Fraction(1, 6)).reduced()
    assert back == a
    assert str(back.denominator) == str(a.reduced().denominator)


def test_common_factors_of_coefficients_of_any_size_cancel():
    c, long = Scalar.symbol("c", ("c",)), 10**250
    common = (c * long + 1) * (c + long)
    found = ExactMatrix.from_rows([[common * c, common * 3]], ("c",))
    found = found.scale(1 / (common * (c - long))).reduced()
    assert str(found.denominator) == f"c - {long}"
    assert found.rows() == [[c / (c - long), 3 / (c - long)]]


@pytest.mark.usefixtures("small")
@examples(160)
@given(seed=seeds)
def test_parts(seed):
    random = Random(seed)
    rows, columns = random.randint(1, 7), random.randint(1, 7)
    matrix = drawn(random, rows, columns)
    table = table_of(matrix)
    some = [random.randrange(rows) for _ in range(random.randint(0, rows))]
    others = random.sample(range(columns), random.randint(0, columns))
    assert table_of(matrix.select(some, others)) == [[table[i][j] for j in others] for i in some]
    assert table_of(matrix.select(columns=[0, 0])) == [[row[0]] * 2 for row in table]
    assert table_of(matrix.masked(some, others)) == [
        [value if i in some and j in others else 0 for j, value in enumerate(row)]
        for i, row in enumerate(table)
    ]
    at, beyond = random.sample(range(rows + 2), rows), random.sample(range(columns + 2), columns)
    placed = matrix.placed(at, beyond, (rows + 2, columns + 2))
    assert placed.select(at, beyond) == matrix
    assert (
        ExactMatrix.beside([matrix, placed.select(at)]).select(
            columns=[columns + k for k in beyond]
        )
        == matrix
    )
    listed = [(i, j, v) for i, row in enumerate(table) for j, v in enumerate(row) if v != 0]
    assert list(matrix.nonzero()) == listed
    assert matrix.rows() == table
    below = Scalar(matrix.parameters, matrix.denominator)
    assert [
        [Scalar(matrix.parameters, entry) / below for entry in row] for row in matrix.numerators()
    ] == table
    gains = [random.choice([0, 1, polynomial(random, NAMES)]) for _ in range(columns)]
    assert table_of(matrix.scaled_columns(gains)) == [
        [value * gain for value, gain in zip(row, gains, strict=True)] for row in table
    ]


@pytest.mark.usefixtures("small")
@examples(240)
@given(seed=seeds)
def test_values(seed):
    random = Random(seed)
    matrix = as_entries(drawn(random, random.randint(1, 5), random.randint(1, 5)))
    point = rational_point(random, NAMES)
    part = {"b": point["b"]}
    try:
        expected = [[v.substitute(point) for v in row] for row in table_of(matrix)]
        partly = [[v.substitute(part) for v in row] for row in table_of(matrix)]
        found = matrix.substitute(point)
    except ZeroDivisionError:
        return
    assert table_of(found) == expected
    assert table_of(matrix.substitute(part)) == partly
    fractions = [[value.to_fraction() for value in row] for row in expected]
    assert found.to_fractions() == fractions
    assert found.to_numpy().tolist() == [[float(value) for value in row] for row in fractions]


def test_rows_of_unequal_length_and_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="row 1 has 1 entries"):
        ExactMatrix.from_rows([[1, 2], [3]])
    one, two = ExactMatrix.identity(1), ExactMatrix.identity(2)
    for operation in (one.__add__, one.__matmul__):
        with pytest.raises(InputError, match="shapes"):
            operation(two)
    with pytest.raises(InputError, match="depends on c"):
        ExactMatrix.from_rows([[Scalar.symbol("c", ("c",))]], ("c",)).to_numpy()
