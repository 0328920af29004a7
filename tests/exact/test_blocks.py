"""Invariant blocks: the equations that they promise, and that equal copies come apart."""

from __future__ import annotations

from random import Random

import pytest
from flint import fmpq_mat, fmpz_mat
from hypothesis import given
from hypothesis import strategies as st

from symreln.exact import integers
from symreln.exact.blocks import Block, invariant_blocks
from tests.strategies import examples, orthogonal, seeds

Family = list[fmpz_mat]


def side_by_side(parts: list[fmpz_mat]) -> fmpz_mat:
    size = sum(part.nrows() for part in parts)
    whole = fmpz_mat(size, size)
    start = 0
    for part in parts:
        for i in range(part.nrows()):
            for j in range(part.ncols()):
                whole[start + i, start + j] = part[i, j]
        start += part.nrows()
    return whole


def mixed(random: Random, parts: list[Family], copies: list[int]) -> Family:
    """Copies of small families side by side, in a basis in which none is to be seen."""
    size = sum(part[0].nrows() * count for part, count in zip(parts, copies, strict=True))
    v, _ = orthogonal(random, size).numer_denom()
    result = []
    for index in range(len(parts[0])):
        blocks = [
            part[index] for part, count in zip(parts, copies, strict=True) for _ in range(count)
        ]
        result.append(v * side_by_side(blocks) * v.transpose())
    return result


def symmetric(random: Random, size: int) -> fmpz_mat:
    root = fmpz_mat(size, size, [random.randint(-2, 2) for _ in range(size * size)])
    return root + root.transpose()


def check(family: Family, blocks: list[Block]) -> None:
    size = family[0].nrows()
    everything = []
    for block in blocks:
        assert len(block.basis) == block.size
        for copy in range(block.copies):
            columns = [integers.select_columns(part, [copy]) for part in block.basis]
            q = fmpq_mat(integers.stack_columns(columns, size))
            everything.append(integers.stack_columns(columns, size))
            for member, action in zip(family, block.actions, strict=True):
                assert fmpq_mat(member) * q == q * action
    assert integers.stack_columns(everything, size).rank() == size
    assert sum(block.size * block.copies for block in blocks) == size


@examples(240)
@given(seed=seeds, members=st.integers(1, 3), kinds=st.integers(1, 2))
def test_blocks_are_invariant_and_fill_the_space(seed: int, members: int, kinds: int) -> None:
    random = Random(seed)
    sizes = [random.randint(1, 3) for _ in range(kinds)]
    parts = [[symmetric(random, size) for _ in range(members)] for size in sizes]
    family = mixed(random, parts, [random.randint(1, 3) for _ in range(kinds)])
    check(family, invariant_blocks(family, random.randrange(members)))


@pytest.mark.parametrize("copies", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_copies_come_apart_though_the_leader_is_irreducible(size: int, copies: int) -> None:
    """The leader's only factor has the degree of a block, so its kernel is all copies at once."""
    random = Random(7)
    corner = fmpz_mat(size, size)
    corner[0, 0] = 1
    path = fmpz_mat(size, size)
    for i in range(size):
        path[i, i] = i % 2 + 1
        if i:
            path[i, i - 1] = path[i - 1, i] = 1
    family = mixed(random, [[corner, path, path * 3 + corner * 5]], [copies])
    (factor, _), *others = integers.integer_factors(family[2].charpoly())
    assert (factor.degree(), others) == (size, [])
    blocks = invariant_blocks(family, 2)
    check(family, blocks)
    assert [(block.size, block.copies) for block in blocks] == [(size, copies)]


def test_unlike_blocks_that_share_an_eigenvalue_of_the_leader() -> None:
    random = Random(2)
    small = [fmpz_mat(1, 1, [3]), fmpz_mat(1, 1, [0])]
    large = [fmpz_mat(2, 2, [3, 0, 0, 1]), fmpz_mat(2, 2, [1, 1, 1, 1])]
    family = mixed(random, [small, large], [2, 3])
    blocks = invariant_blocks(family, 0)
    check(family, blocks)
    assert sorted((block.size, block.copies) for block in blocks) == [(1, 2), (2, 3)]
