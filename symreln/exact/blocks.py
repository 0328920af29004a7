"""Cut Q^n into small subspaces that are invariant under a family of symmetric matrices.

A family of symmetric matrices generates a semisimple algebra, so Q^n is a direct sum of blocks.
A generic member of the family's span separates unlike blocks by its characteristic polynomial;
from a vector in the kernel of one factor the family spins a block, and the same words, spoken
over other seeds of that kernel, give its equal copies. Nothing rests on the generic choice: the
equations C Q = Q c hold over Z for every block that is returned, and the blocks fill Q^n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import fmpq_mat, fmpz_mat

from symreln.exact import integers, kernels

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Block:
    """Equal copies of one invariant subspace.

    With Q_i the basis of copy i (column i of every basis matrix), C Q_i = Q_i c for every member
    C of the family, with the same c for all copies.

    Attributes:
        basis: N integer matrices of shape (n, copies).
        actions: For every member of the family its N × N rational matrix c.
    """

    basis: tuple[fmpz_mat, ...]
    actions: tuple[fmpq_mat, ...]

    @property
    def size(self) -> int:
        """N, the dimension of one copy."""
        return len(self.basis)

    @property
    def copies(self) -> int:
        """The number of copies."""
        return int(self.basis[0].ncols())


def invariant_blocks(family: Sequence[fmpz_mat], generic: int) -> list[Block]:
    """Return blocks whose direct sum is the whole space.

    Args:
        family: Symmetric integer matrices of one shape.
        generic: Index of the member that tells unlike blocks apart; one that separates more
            makes smaller blocks.
    """
    size = family[generic].nrows()
    blocks: list[Block] = []
    wide = fmpz_mat(size, 0)  # blocks that meet the kernels of several factors
    for factor, space in kernels.eigenspaces(family[generic]):
        degree = factor.degree()
        seeds = _outside(space, wide)
        while seeds.ncols():
            block = None
            if seeds.ncols() == degree:
                block = _single(seeds, family)
            if block is None:
                block = _grow(seeds, family, generic, degree)
            blocks.append(block)
            if block.size == degree and block.size * block.copies == space.ncols():
                break
            basis = integers.stack_columns(block.basis, size)
            if block.size > degree:
                wide = integers.stack_columns([wide, basis], size)
            seeds = _outside(seeds, basis)
    _check_filled(blocks, size)
    return blocks


def _check_filled(blocks: Sequence[Block], size: int) -> None:
    everything = integers.stack_columns([part for block in blocks for part in block.basis], size)
    if everything.ncols() != size or integers.rank_modulo_prime(everything) != size:
        msg = "the invariant blocks do not fill the space"
        raise ArithmeticError(msg)


def _outside(space: fmpz_mat, covered: fmpz_mat) -> fmpz_mat:
    """Return the vectors of ``space`` orthogonal to what is covered.

    The complement of an invariant subspace is invariant, because the family is symmetric.
    """
    if not covered.ncols() or not space.ncols():
        return space
    overlap = covered.transpose() * space
    if integers.is_zero(overlap):
        return space
    return _primitive_columns(space * integers.kernel(overlap))


def _primitive_columns(matrix: fmpz_mat) -> fmpz_mat:
    columns = [integers.primitive(column) for column in integers.columns_of(matrix)]
    return integers.from_columns(columns, matrix.nrows())


def _single(space: fmpz_mat, family: Sequence[fmpz_mat]) -> Block | None:
    """Return one kernel as a block in the basis that it has, or None where it is not invariant.

    Powers of a matrix on a vector would be a basis as well, of much longer numbers.
    """
    actions = []
    for member in family:
        action = integers.coordinates(space, member * space)
        if action is None:
            return None
        actions.append(action)
    height = space.nrows()
    columns = [integers.from_columns([column], height) for column in integers.columns_of(space)]
    return Block(basis=tuple(columns), actions=tuple(actions))


def _grow(seeds: fmpz_mat, family: Sequence[fmpz_mat], generic: int, degree: int) -> Block:
    """Spin the first seed and return its block with all equal copies among the seeds."""
    first = integers.select_columns(seeds, [0])
    words, actions = integers.spin(first, family, generic, degree)
    # One copy meets the kernel in at least ``degree`` dimensions.
    single = seeds.ncols() < 2 * degree
    alike = first if single else _same_relations(seeds, words, actions, family)
    chosen = integers.speak(words, family, alike)
    if alike.ncols() > 1:
        keep = _independent_copies(chosen)
        if len(keep) < alike.ncols():
            chosen = [integers.select_columns(part, keep) for part in chosen]
    return Block(basis=tuple(chosen), actions=tuple(actions))


def _independent_copies(spoken: Sequence[fmpz_mat]) -> list[int]:
    """Return copies that are independent together (proven modulo a prime), greedily."""
    height, copies = spoken[0].nrows(), spoken[0].ncols()
    everything = integers.stack_columns(spoken, height)
    if integers.rank_modulo_prime(everything) == everything.ncols():
        return list(range(copies))
    columns = [integers.columns_of(part) for part in spoken]
    keep: list[int] = []
    for copy in range(copies):
        trial = [column[index] for index in [*keep, copy] for column in columns]
        if integers.rank_modulo_prime(integers.from_columns(trial, height)) == len(trial):
            keep.append(copy)
    return keep


def _same_relations(
    seeds: fmpz_mat,
    words: Sequence[integers.Word],
    actions: Sequence[fmpq_mat],
    family: Sequence[fmpz_mat],
) -> fmpz_mat:
    """Return the subspace of the seeds on which the family acts by the same matrices."""
    spoken = integers.speak(words, family, seeds)
    defined = set(words)
    for index, (member, action) in enumerate(zip(family, actions, strict=True)):
        numerator, denominator = action.numer_denom()
        for j in range(len(words)):
            if (index, j) in defined:
                continue
            defect = member * spoken[j] * denominator
            for i, part in enumerate(spoken):
                if numerator[i, j] != 0:
                    defect = defect - part * numerator[i, j]
            if not integers.is_zero(defect):
                seeds = _primitive_columns(seeds * integers.kernel(defect))
                spoken = integers.speak(words, family, seeds)
    return seeds
