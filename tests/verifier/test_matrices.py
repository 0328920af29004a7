"""The verifier's packed matrices against plain polynomial arithmetic."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from symreln.verifier.matrices import Matrix, Rows, combined, products
from symreln.verifier.numbers import Poly, Ratio, add, multiply
from tests.strategies import examples

#: Small, at the edges of slots of 4 and 8 bytes, and beyond them.
NUMBERS = st.one_of(
    st.integers(-9, 9),
    st.integers(-(2**31) - 2, 2**31 + 2),
    st.sampled_from([2**63 - 1, -(2**63), 2**63, -(2**31), 2**31 - 1, 2**200, -(2**127)]),
)
MONOMIALS = st.tuples(st.integers(0, 3), st.integers(0, 2))
POLYNOMIALS = st.dictionaries(MONOMIALS, NUMBERS.filter(bool), max_size=3)
NONZERO = POLYNOMIALS.filter(bool)
Dense = dict[tuple[int, int], Poly]
ONE: Poly = {(0, 0): 1}


@st.composite
def matrices(draw: st.DrawFn, rows: int, columns: int) -> tuple[Matrix, Dense]:
    places = st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1))
    dense = draw(st.dictionaries(places, NONZERO, max_size=6))
    below = draw(st.sampled_from([ONE, {(0, 0): 6}, {(1, 0): 2, (0, 0): 1}]))
    terms: dict = {}
    for (i, j), polynomial in dense.items():
        for key, value in polynomial.items():
            terms.setdefault(key, {}).setdefault(i, {})[j] = value
    return Matrix((rows, columns), terms, below), dense


def plain(matrix: Matrix) -> Dense:
    return matrix.entries()


def same(found: Dense, below: Poly, expected: Dense, expected_below: Poly) -> bool:
    places = found.keys() | expected.keys()
    return all(
        multiply(found.get(p, {}), expected_below) == multiply(expected.get(p, {}), below)
        for p in places
    )


@given(matrices(3, 4))
def test_packing_loses_nothing(case: tuple[Matrix, Dense]) -> None:
    given, dense = case
    rows = given.packed
    again = Matrix(given.shape, None, given.below, rows)
    assert plain(again) == dense
    size = max(16, 2 * rows.size)
    wider = Rows(again.in_slots(size), size, rows.bound)
    assert plain(Matrix(given.shape, None, given.below, wider)) == dense
    assert plain(again.rows({0: 2, 2: 0})) == {
        (2 - i, j): p for (i, j), p in dense.items() if i in (0, 2)
    }
    turned = Matrix(again.T.shape, None, given.below, again.T.packed)
    assert turned.T.entries() == dense


@examples(1200)
@given(matrices(3, 4), matrices(4, 2), matrices(3, 4), NONZERO, NONZERO)
def test_products_are_those_of_polynomials(
    a: tuple[Matrix, Dense], b: tuple[Matrix, Dense], c: tuple[Matrix, Dense], f: Poly, g: Poly
) -> None:
    (left, x), (right, y), (other, z) = a, b, c
    places = {0: 1, 1: 2, 2: 0}
    factors = Ratio(f, ONE), Ratio(ONE, g)
    found = products([(factors[0], left, right, None), (factors[1], other, right, places)])
    below = multiply(multiply(g, right.below), multiply(left.below, other.below))
    expected: Dense = {}
    for dense, extra, factor in ((x, other.below, multiply(f, g)), (z, left.below, ONE)):
        for (i, k), p in dense.items():
            for (m, j), q in y.items():
                if m == k:
                    at = (i if dense is x else places[i]), j
                    term = multiply(multiply(p, q), multiply(extra, factor))
                    expected[at] = add(expected.get(at, {}), term)
    assert same(plain(found), found.below, expected, below)
    largest = max((abs(v) for p in plain(found).values() for v in p.values()), default=0)
    assert largest <= found.packed.bound


@given(matrices(2, 3), NONZERO, NONZERO)
def test_combinations_vanish_exactly_where_they_do(
    case: tuple[Matrix, Dense], f: Poly, g: Poly
) -> None:
    matrix = case[0]
    minus = {key: -value for key, value in f.items()}
    both = [(Ratio(multiply(f, g), ONE), matrix), (Ratio(multiply(minus, g), ONE), matrix)]
    assert not combined(both)
    more = [(Ratio(f, g), matrix), (Ratio(minus, g), matrix), (Ratio(ONE, g), matrix)]
    assert bool(combined(more)) is bool(case[1])
