"""The rules of (D, E) against matrices written out in full."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.claims.families.algebra import (
    OTHERS,
    PLAIN,
    FamilyMatrix,
    Kind,
    Space,
    from_standard,
    from_trivial,
)
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from tests.strategies import seeds

NAMES = ("N",)
N = Scalar.symbol("N", NAMES)
sizes = st.integers(min_value=1, max_value=4)


def space(random: Random) -> Space:
    tags = [random.choice([PLAIN, OTHERS]) for _ in range(random.randint(1, 3))]
    weights = [Scalar(NAMES, random.randint(1, 4)) for _ in tags]
    return Space(
        tuple(Kind(i, tag, w) for i, (tag, w) in enumerate(zip(tags, weights, strict=True))), N
    )


def matrix(random: Random, rows: Space, columns: Space) -> FamilyMatrix:
    def entry() -> Scalar:
        return Scalar(NAMES, random.randint(-3, 3)) + random.randint(0, 1) * N

    e = [[entry() for _ in columns.kinds] for _ in rows.kinds]
    both = {(i, j) for i in rows.indexed for j in columns.indexed}
    d = [
        [entry() if (i, j) in both else N * 0 for j in range(columns.size)]
        for i in range(rows.size)
    ]
    return FamilyMatrix(
        rows, columns, ExactMatrix.from_rows(d, NAMES), ExactMatrix.from_rows(e, NAMES)
    )


def written_out(matrix: FamilyMatrix, order: tuple[str, ...], count: int) -> dict:
    """Return the full matrix at N = count, by the base and index of row and column."""

    def kinds(space: Space) -> list[tuple[int, int, str]]:
        named = {k.tag for k in space.kinds} - {PLAIN, OTHERS}
        found = []
        for place, kind in enumerate(space.kinds):
            values = [v for v in order if v not in named] if kind.tag == OTHERS else [kind.tag]
            found += [(place, kind.base, value) for value in values]
        return found

    at = {"N": Fraction(count)}
    d, e = matrix.d.substitute(at).to_fractions(), matrix.e.substitute(at).to_fractions()
    return {
        ((b, k), (c, m)): e[i][j] + (d[i][j] if k == m else 0)
        for i, b, k in kinds(matrix.rows)
        for j, c, m in kinds(matrix.columns)
    }


def product(a: dict, b: dict) -> dict:
    total: dict = {}
    for (i, k), x in a.items():
        for (m, j), y in b.items():
            if k == m:
                total[i, j] = total.get((i, j), 0) + x * y
    return total


def order_of(count: int) -> tuple[str, ...]:
    return tuple("abcdef"[:count])


@given(seeds, sizes)
def test_products_are_products_of_the_full_matrices(seed: int, count: int) -> None:
    random = Random(seed)
    a, b, c = (space(random) for _ in range(3))
    left, right = matrix(random, a, b), matrix(random, b, c)
    order = order_of(count)
    expected = product(written_out(left, order, count), written_out(right, order, count))
    assert written_out(left @ right, order, count) == expected


@given(seeds, sizes)
def test_the_adjoint_moves_a_matrix_to_the_other_side(seed: int, count: int) -> None:
    random = Random(seed)
    a, b = space(random), space(random)
    one = matrix(random, a, b)
    order = order_of(count)
    full, flipped = written_out(one, order, count), written_out(one.adjoint, order, count)
    weight = [{k.base: k.weight.to_fraction() for k in s.kinds} for s in (a, b)]
    for (row, column), value in full.items():
        assert value * weight[0][row[0]] == flipped[column, row] * weight[1][column[0]]


@given(seeds, sizes)
def test_a_trace_is_the_trace(seed: int, count: int) -> None:
    random = Random(seed)
    a = space(random)
    one = matrix(random, a, a)
    full = written_out(one, order_of(count), count)
    expected = sum((value for (i, j), value in full.items() if i == j), Fraction(0))
    assert one.trace().substitute({"N": Fraction(count)}) == expected


@given(seeds, sizes)
def test_naming_a_value_changes_nothing(seed: int, count: int) -> None:
    random = Random(seed)
    one = matrix(random, space(random), space(random))
    order = order_of(count)
    full = written_out(one, order, count)
    refined = one.refined("b") if count > 1 else one.refined("a")
    # The entries still hold N itself, which is not changed by naming a value.
    assert written_out(refined, order, count) == full


@given(seeds, st.integers(min_value=2, max_value=4))
def test_sums_over_the_special_value_are_sums(seed: int, count: int) -> None:
    random = Random(seed)
    rows, columns = (space(random).refined("k")[0] for _ in range(2))
    one = matrix(random, rows, columns)
    order = order_of(count)
    total: dict = {}
    for value in order:
        renamed = one.renamed("k", value)
        for key, entry in written_out(renamed, order, count).items():
            total[key] = total.get(key, 0) + entry
    assert written_out(one.summed("k"), order, count) == total


@given(seeds, sizes)
def test_sectors_make_up_the_whole(seed: int, count: int) -> None:
    random = Random(seed)
    a = space(random)
    one = matrix(random, a, a)
    whole = from_trivial(a, one.trivial())
    if a.indexed:
        whole = whole + from_standard(a, one.standard())
    assert (whole - one).is_zero
    assert written_out(whole, order_of(count), count) == written_out(one, order_of(count), count)


def test_the_order_of_two_named_values_does_not_matter() -> None:
    random = Random(1)
    one = matrix(random, space(random), space(random))
    both = one.refined("k").refined("l"), one.refined("l").refined("k")
    assert (both[0] - both[1]).is_zero
    assert [k.tag for k in both[0].rows.kinds] == [k.tag for k in both[1].rows.kinds]


def test_a_sum_of_unlike_spaces_is_refused() -> None:
    random = Random(2)
    one = matrix(random, space(random), space(random))
    with pytest.raises(Exception, match="shape"):
        _ = one + one.adjoint.adjoint.refined("k").refined("l")


FEW = st.integers(min_value=-1, max_value=3)


def numbers(random: Random, rows: int, columns: int) -> list[list[int]]:
    return [[random.randint(-2, 2) for _ in range(columns)] for _ in range(rows)]


def few_values(random: Random, count: int, spaces: int) -> tuple[Space, ...]:
    number = Scalar(NAMES, count)
    return tuple(Space(space(random).kinds, number) for _ in range(spaces))


def with_its_entries(random: Random, rows: Space, columns: Space) -> tuple[FamilyMatrix, dict]:
    """Return a matrix over a small number of values, and all its entries from the same D and E."""
    d, e = (numbers(random, rows.size, columns.size) for _ in range(2))
    for i in range(rows.size):
        for j in range(columns.size):
            d[i][j] *= int(i in rows.indexed and j in columns.indexed)
    parts = (ExactMatrix.from_rows(part, NAMES) for part in (d, e))
    count = int(rows.count.to_fraction())
    order = order_of(max(0, count))
    places = [
        [(i, k) for i, kind in enumerate(s.kinds) for k in (order if kind.tag == OTHERS else [""])]
        for s in (rows, columns)
    ]
    full = {
        ((i, k), (j, m)): e[i][j] + (d[i][j] if k == m else 0)
        for i, k in places[0]
        for j, m in places[1]
    }
    return FamilyMatrix(rows, columns, *parts), full if count >= 0 else {}


def entries(matrix: FamilyMatrix) -> dict:
    count = int(matrix.rows.count.to_fraction())
    return written_out(matrix, order_of(max(0, count)), count) if count >= 0 else {}


@given(seeds, FEW)
def test_a_matrix_over_few_values_is_zero_exactly_where_it_has_no_entries(
    seed: int, count: int
) -> None:
    random = Random(seed)
    one, full = with_its_entries(random, *few_values(random, count, 2))
    assert entries(one) == full
    assert one.is_zero == (not any(full.values()))


@given(seeds, FEW)
def test_products_and_sectors_over_few_values(seed: int, count: int) -> None:
    random = Random(seed)
    a, b = few_values(random, count, 2)
    (left, full_left), (right, full_right) = (
        with_its_entries(random, a, b),
        with_its_entries(random, b, a),
    )
    found = left @ right
    assert {k: v for k, v in entries(found).items() if v} == {
        k: v for k, v in product(full_left, full_right).items() if v
    }
    whole = from_trivial(a, found.trivial())
    dimension = len(a.present)
    if a.spread:
        whole = whole + from_standard(a, found.standard())
        dimension += len(a.spread) * (count - 1)
    assert (whole - found).is_zero
    assert FamilyMatrix.identity(a).trace().to_fraction() == dimension
    assert (FamilyMatrix.identity(a) @ left - left).is_zero
    assert dimension == len({row for row, _ in entries(FamilyMatrix.identity(a))})


@given(seeds, st.integers(min_value=1, max_value=3))
def test_few_values_named_and_summed_over(seed: int, count: int) -> None:
    random = Random(seed)
    one, full = with_its_entries(random, *few_values(random, count, 2))
    named = one.refined("a")
    assert named.rows.count.to_fraction() == count - 1
    assert written_out(named, order_of(count), count) == full
    # What differs between the values is summed over which of them is special.
    special = replace(
        named, e=named.e + ExactMatrix.from_rows(numbers(random, *named.e.shape), NAMES)
    )
    total: dict = {}
    for value in order_of(count):
        for key, entry in written_out(special.renamed("a", value), order_of(count), count).items():
            total[key] = total.get(key, 0) + entry
    assert written_out(special.summed("a"), order_of(count), count) == total
