"""Eigenspaces over Z: known spaces, hard numbers, and the routes that guesses fall back on."""

from __future__ import annotations

from random import Random

import pytest
from flint import fmpz_mat, fmpz_poly
from hypothesis import given
from hypothesis import strategies as st

from symreln.exact import integers, kernels
from tests.strategies import examples, orthogonal, seeds


def symmetric(random: Random, values: list[int]) -> fmpz_mat:
    """An integer symmetric matrix, a multiple of V diag(values) Vᵀ with V rational."""
    size = len(values)
    v, _ = orthogonal(random, size).numer_denom()
    diagonal = fmpz_mat(size, size)
    for index, value in enumerate(values):
        diagonal[index, index] = value
    return v * diagonal * v.transpose()


def check(matrix: fmpz_mat) -> list[tuple[fmpz_poly, int]]:
    """Every space is annihilated by its irreducible factor, and they fill the whole."""
    size = matrix.nrows()
    found = list(kernels.eigenspaces(matrix))
    for factor, space in found:
        assert [exponent for _, exponent in factor.factor()[1]] == [1]
        assert integers.of_matrix(factor, matrix, space).is_zero()
        assert all(fmpz_poly(c).content() == 1 for c in integers.columns_of(space))
    spaces = [space for _, space in found]
    assert sum(space.ncols() for space in spaces) == size
    assert integers.stack_columns(spaces, size).rank() == size
    whole = fmpz_poly([1])
    for factor, space in found:
        whole *= factor ** (space.ncols() // factor.degree())
    assert whole == matrix.charpoly()
    return [(factor, space.ncols()) for factor, space in found]


@examples(320)
@given(seed=seeds, few=st.booleans())
def test_spaces_of_known_eigenvalues(seed: int, few: bool) -> None:
    random = Random(seed)
    size = random.randint(1, 9)
    values = [random.randint(-2, 2) if few else random.randint(-99, 99) for _ in range(size)]
    check(symmetric(random, values))


@examples(240)
@given(seed=seeds, size=st.integers(1, 9), bits=st.sampled_from([2, 20, 80]))
def test_random_matrices(seed: int, size: int, bits: int) -> None:
    """Also entries and kernels that no prime of 31 bits can tell."""
    random = Random(seed)
    root = fmpz_mat(size, size, [random.randint(-(2**bits), 2**bits) for _ in range(size * size)])
    check(root * root.transpose())


def test_few_eigenvalues_are_found_without_a_characteristic_polynomial() -> None:
    random = Random(4)
    matrix = symmetric(random, [5] * 6 + [0] * 4 + [-3] * 2)
    short = kernels._short_annihilator(matrix)
    assert short is not None
    assert short.degree() == 3
    assert integers.of_matrix(short, matrix, integers.identity(12)).is_zero()
    assert sorted(width for _, width in check(matrix)) == [2, 4, 6]
    assert kernels._short_annihilator(symmetric(random, list(range(9)))) is None


def test_a_vector_that_misses_an_eigenspace_is_made_up_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "_short_annihilator", lambda matrix: fmpz_poly([-5, 1]))
    matrix = fmpz_mat(3, 3, [5, 0, 0, 0, 5, 0, 0, 0, 2])
    assert check(matrix) == [(fmpz_poly([-5, 1]), 2), (fmpz_poly([-2, 1]), 1)]


def test_a_wrong_guess_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prime that divides the eigenvalues' difference takes two spaces for one."""
    p = kernels.SMALL_PRIME
    matrix = fmpz_mat(2, 2, [1, 0, 0, 1 + p])
    assert check(matrix) == [(fmpz_poly([-1 - p, 1]), 1), (fmpz_poly([-1, 1]), 1)]
    monkeypatch.setattr(kernels, "_modular_kernel", lambda f, m: integers.identity(2))
    space = kernels.kernel_of(fmpz_poly([-1, 1]), matrix)
    assert space.ncols() == 1
    assert matrix * space == space


@pytest.mark.parametrize(("numerator", "denominator"), [(1, 2), (-7, 30000), (32767, 32749)])
def test_fractions_come_back_from_their_residues(numerator: int, denominator: int) -> None:
    p = kernels.SMALL_PRIME
    residue = numerator * pow(denominator, -1, p) % p
    assert kernels._denominator(residue) == denominator


def test_a_residue_of_no_small_fraction_is_refused() -> None:
    assert kernels._denominator(7**9) is None
