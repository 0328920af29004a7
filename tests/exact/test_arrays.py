"""Matrices held as int64 arrays against the same matrices in FLINT's integers."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symreln.errors import InputError
from symreln.exact import arrays
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from tests.strategies import seeds

# Sizes of entries: products below, around and far above 2^53, where arrays give way to FLINT.
SIZES = st.sampled_from([3, 2**20, 2**26, 2**31, 2**61])


def pair(seed: int, size: int, rows: int, columns: int) -> tuple[ExactMatrix, ExactMatrix]:
    """The same random matrix held as arrays and in FLINT's integers."""
    random = Random(seed)
    names = ((), ("c",), ("a", "b"))[seed % 3]
    terms = {}
    for _ in range(random.randint(1, 3)):
        key = tuple(random.randint(0, 2) for _ in names)
        flat = [random.choice([0, 1, -1]) * random.randint(0, size) for _ in range(rows * columns)]
        terms[key] = np.array(flat, dtype=np.int64).reshape(rows, columns)
    bottom = random.choice([1, 2, 6, 64])
    held = ExactMatrix.from_arrays(terms, names, bottom)
    plain = ExactMatrix(
        held.shape, names, {key: arrays.to_flint(a) for key, a in terms.items()}, bottom
    )
    return held, plain


def same(held: ExactMatrix, plain: ExactMatrix) -> None:
    assert held == plain
    assert held.shape == plain.shape
    assert held.terms == plain.terms
    assert held.denominator == plain.denominator


@settings(max_examples=150, deadline=None)
@given(seed=seeds, size=SIZES)
def test_arithmetic(seed: int, size: int) -> None:
    random = Random(seed)
    rows, inner, columns = (random.randint(1, 5) for _ in range(3))
    a, a_plain = pair(seed, size, rows, inner)
    b, b_plain = pair(seed + 3, size, inner, columns)
    c, c_plain = pair(seed + 6, size, rows, inner)
    same(a @ b, a_plain @ b_plain)
    same(a + c, a_plain + c_plain)
    same(a - c, a_plain - c_plain)
    same(-a, -a_plain)
    same(a.T, a_plain.T)
    same(a.gram(), a_plain.T @ a_plain)
    same(a.reduced(), a_plain.reduced())
    same(a.scale(Fraction(1, 3)), a_plain.scale(Fraction(1, 3)))
    same(a.scale(Fraction(5, 3)), a_plain.scale(Fraction(5, 3)))
    assert a.content() == a_plain.content()
    assert a.is_zero == a_plain.is_zero
    assert a.is_constant == a_plain.is_constant


@settings(max_examples=60, deadline=None)
@given(seed=seeds, size=SIZES)
def test_parts_and_values(seed: int, size: int) -> None:
    random = Random(seed)
    a, plain = pair(seed, size, 4, 3)
    rows = [random.randrange(4) for _ in range(random.randint(0, 4))]
    same(a.select(rows=rows), plain.select(rows=rows))
    same(a.select(rows=rows, columns=[2, 0]), plain.select(rows=rows, columns=[2, 0]))
    same(a.masked(rows=rows), plain.masked(rows=rows))
    assert [a.entry(i, j) for i in range(4) for j in range(3)] == [
        plain.entry(i, j) for i in range(4) for j in range(3)
    ]
    point = {name: Fraction(random.randint(-9, 9), random.randint(1, 7)) for name in a.parameters}
    same(a.substitute(point), plain.substitute(point))
    assert np.array_equal(a.substitute(point).to_numpy(), plain.substitute(point).to_numpy())
    if len(a.parameters) == 2:
        half = {"a": point["a"]}
        same(a.substitute(half), plain.substitute(half))


def test_products_stay_arrays_exactly_as_long_as_float64_is_exact() -> None:
    """Four products of 2^25 and 2^25 add up to 2^52; of 2^25 and 2^26 to 2^53, one too many."""
    small, large = np.full((1, 4), 2**25), np.full((4, 1), 2**26)
    below = ExactMatrix.from_arrays({(): small}) @ ExactMatrix.from_arrays({(): large // 2})
    above = ExactMatrix.from_arrays({(): small}) @ ExactMatrix.from_arrays({(): large})
    assert below.arrays is not None
    assert above.arrays is None
    assert above.entry(0, 0) == 2**53


def test_sums_of_products_are_exact_where_a_float_is_not() -> None:
    a = np.array([[2**31, 1]])
    held = ExactMatrix.from_arrays({(): a})
    assert (held @ held.T).entry(0, 0) == 2**62 + 1
    assert held.gram().entry(0, 0) == 2**62


def test_a_content_of_1_is_found_in_the_first_rows_and_others_in_all() -> None:
    array = np.full((1000, 3), 6)
    assert arrays.content(array) == 6
    array[999, 2] = 9
    assert arrays.content(array) == 3
    assert arrays.content(array, 2) == 1
    assert arrays.content(np.zeros((2, 2), dtype=np.int64)) == 0


@pytest.mark.parametrize("array", [np.array([[0.5]]), np.array([[2**62]])])
def test_from_arrays_takes_integers_below_2_to_the_62(array: np.ndarray) -> None:
    with pytest.raises(InputError, match="integers below"):
        ExactMatrix.from_arrays({(): array})


def test_a_zero_matrix_of_arrays() -> None:
    zero = ExactMatrix.from_arrays({(): np.zeros((2, 3), dtype=np.int64)}, (), 4)
    assert zero.is_zero
    assert zero.reduced() == ExactMatrix.zeros(2, 3)
    assert (zero @ zero.T).shape == (2, 2)
    assert zero.gram() == ExactMatrix.zeros(3, 3)
    empty = ExactMatrix.from_arrays({}, ("c",), shape=(2, 2))
    assert empty == ExactMatrix.zeros(2, 2, ("c",))
    assert empty.scale(Scalar.symbol("c", ("c",))) == empty
