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
    """Also entries and kernels that no prime of 61 bits can tell."""
    random = Random(seed)
    root = fmpz_mat(size, size, [random.randint(-(2**bits), 2**bits) for _ in range(size * size)])
    check(root * root.transpose())


def test_a_wrong_guess_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prime that divides the eigenvalues' difference takes two spaces for one."""
    p = integers.PRIME
    matrix = fmpz_mat(2, 2, [1, 0, 0, 1 + p])
    assert check(matrix) == [(fmpz_poly([-1 - p, 1]), 1), (fmpz_poly([-1, 1]), 1)]
    monkeypatch.setattr(kernels, "_modular_kernel", lambda f, m: integers.identity(2))
    space = kernels.kernel_of(fmpz_poly([-1, 1]), matrix)
    assert space.ncols() == 1
    assert matrix * space == space


@pytest.mark.parametrize(("numerator", "denominator"), [(1, 2), (-7, 30000), (2**29, 2**29 - 1)])
def test_fractions_come_back_from_their_residues(numerator: int, denominator: int) -> None:
    residue = numerator * pow(denominator, -1, integers.PRIME) % integers.PRIME
    assert kernels._fraction(residue) == (numerator, denominator)
