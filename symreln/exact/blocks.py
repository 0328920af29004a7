"""Cut Q^n into small subspaces that are invariant under a family of symmetric matrices.

A family of symmetric matrices generates a semisimple algebra, so Q^n is a direct sum of blocks.
A generic member of the family's span separates unlike blocks by its characteristic polynomial;
from a vector in the kernel of one factor the family spins a block, and the same words, spoken
over other seeds of that kernel, give its equal copies. Nothing rests on the generic choice: the
equations C Q = Q c hold over Z for every block that is returned, and the blocks fill Q^n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import lcm

from flint import fmpq_mat, fmpz_mat, fmpz_poly

from symreln.base.records import record
from symreln.exact import integers
from symreln.exact.integer_matrix import IntegerMatrix
from symreln.exact.matrix import ExactMatrix, Exponents

_Word = tuple[int, int] | None
"""A word of an invariant block: the seed itself (None), or family[i] times word j."""


@record
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

    def combined(self, index: Mapping[Exponents, int], parameters: tuple[str, ...]) -> ExactMatrix:
        """Return Σ monomial·c, N × N, from the place of every monomial's member of the family."""
        parts = {key: self.actions[place].numer_denom() for key, place in index.items()}
        common = lcm(*(int(bottom) for _, bottom in parts.values()))
        terms = {
            key: IntegerMatrix.of_flint(top * (common // int(bottom)))
            for key, (top, bottom) in parts.items()
        }
        return ExactMatrix((self.size, self.size), parameters, terms, common)


def invariant_blocks(family: Sequence[fmpz_mat], generic: int | None = None) -> list[Block]:
    """Return blocks whose direct sum is the whole space.

    Args:
        family: Symmetric integer matrices of one shape.
        generic: Index of the member that tells unlike blocks apart; one that separates more
            makes smaller blocks. None adds a mixture of all as a last member, of which every
            block's last action is.
    """
    if generic is None:
        generic = 0 if len(family) == 1 else len(family)
        family = family if len(family) == 1 else [*family, _mixture(family)]
    size = family[generic].nrows()
    blocks: list[Block] = []
    wide = fmpz_mat(size, 0)  # blocks that meet the kernels of several factors
    for factor, space in _eigenspaces(family[generic]):
        degree = factor.degree()
        seeds = _outside(space, wide)
        # Ends: a block holds its part of the seed that it came from, and all its parts are among
        # the seeds, so that fewer seeds are orthogonal to it.
        while seeds.ncols():
            block = _single(seeds, family) if seeds.ncols() == degree else None
            if block is None:
                vector = integers.select_columns(seeds, [0])
                block = _grow(_spin(seeds, vector, family, generic, degree), family, wide)
            blocks.append(block)
            if block.size == degree and block.size * block.copies == space.ncols():
                break
            basis = integers.stack_columns(block.basis, size)
            if block.size > degree:
                wide = integers.stack_columns([wide, basis], size)
            seeds = _outside(seeds, basis)
    _check_filled(blocks, size)
    return blocks


def _eigenspaces(matrix: fmpz_mat) -> Iterator[tuple[fmpz_poly, fmpz_mat]]:
    """Yield (f, integer columns that span the kernel of f(matrix)) for all factors f.

    The matrix is symmetric, so that the kernels of the irreducible factors of its characteristic
    polynomial are orthogonal and fill the space.
    """
    factors = [factor for factor, _ in integers.integer_factors(matrix.charpoly())]
    factors.sort(key=lambda f: (f.degree(), [int(c) for c in f.coeffs()]))
    for factor in factors:
        # By Cayley and Hamilton the only factor annihilates a diagonalisable matrix.
        alone = len(factors) == 1
        yield factor, integers.identity(matrix.nrows()) if alone else _kernel_of(factor, matrix)


def _kernel_of(factor: fmpz_poly, matrix: fmpz_mat) -> fmpz_mat:
    """Return primitive columns that span the kernel of factor(matrix)."""
    return integers.kernel(integers.of_matrix(factor, matrix))


def _mixture(family: Sequence[fmpz_mat]) -> fmpz_mat:
    """Return a fixed integer combination that is unlikely to be special."""
    weight = 1
    total = fmpz_mat(family[0].nrows(), family[0].ncols())
    for member in family:
        weight = weight * 48271 % 101 + 1  # a short multiplicative generator; small weights
        total = total + member * weight
    return total


def _check_filled(blocks: Sequence[Block], size: int) -> None:
    everything = integers.stack_columns([part for block in blocks for part in block.basis], size)
    if everything.ncols() != size or not integers.independent(everything):
        msg = "the invariant blocks do not fill the space"
        raise ArithmeticError(msg)


def _outside(space: fmpz_mat, covered: fmpz_mat) -> fmpz_mat:
    """Return the vectors of ``space`` orthogonal to what is covered.

    The complement of an invariant subspace is invariant, because the family is symmetric.
    """
    if not covered.ncols() or not space.ncols():
        return space
    overlap = covered.transpose() * space
    if overlap.is_zero():
        return space
    return integers.primitive_columns(space * integers.kernel(overlap))


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


@record
class _Sprout:
    """A vector with the invariant subspace that it spins, and the space it was taken from.

    Attributes:
        seeds: The kernel of an irreducible polynomial of one member; the vector is one of it.
        degree: Degree of that polynomial.
        vector: The vector.
        words: Words that span the subspace when they are applied to the vector.
        actions: What the family does to them.
    """

    seeds: fmpz_mat
    degree: int
    vector: fmpz_mat
    words: Sequence[_Word]
    actions: Sequence[fmpq_mat]


def _grow(sprout: _Sprout, family: Sequence[fmpz_mat], taken: fmpz_mat) -> Block:
    """Return the block that a vector spins, with all equal copies among the seeds."""
    # One copy meets the kernel in at least ``degree`` dimensions.
    single = sprout.seeds.ncols() < 2 * sprout.degree
    if not single and len(sprout.words) > sprout.degree:
        smaller = _smaller(sprout, family)
        while smaller is not None:  # ends: each spans less than the one before
            sprout = smaller
            smaller = _smaller(sprout, family)
        sprout = replace(sprout, seeds=_outside(sprout.seeds, taken))
    alike = sprout.vector if single else _same_relations(sprout, family)
    chosen = _speak(sprout.words, family, alike)
    if alike.ncols() > 1:
        keep = _independent_copies(chosen)
        if len(keep) < alike.ncols():
            chosen = [integers.select_columns(part, keep) for part in chosen]
    return Block(basis=tuple(chosen), actions=tuple(sprout.actions))


def _smaller(sprout: _Sprout, family: Sequence[fmpz_mat]) -> _Sprout | None:
    """Return a vector of the subspace that spins less, or None where none is found.

    Several copies of a block whose members do not commute may have no vector of the seeds in one
    of them: over Q the seeds are cut no further. Another member of the family, whose polynomial
    has a factor of lower degree there, tells the copies apart.
    """
    actions = sprout.actions
    if all(a * b == b * a for place, a in enumerate(actions) for b in actions[:place]):
        return None
    spoken = integers.stack_columns(
        _speak(sprout.words, family, sprout.vector), sprout.vector.nrows()
    )
    for member, action in enumerate(actions):
        for factor, _ in integers.integer_factors(action.charpoly().numer()):
            numerator, _ = integers.of_matrix(factor, action).numer_denom()
            inside = integers.kernel(numerator)
            if inside.ncols() == len(sprout.words):
                continue
            vector = integers.primitive_columns(spoken * integers.select_columns(inside, [0]))
            found = _spin(vector, vector, family, member, factor.degree())
            if len(found.words) < len(sprout.words):
                return replace(found, seeds=_kernel_of(factor, family[member]))
    return None


def _independent_copies(spoken: Sequence[fmpz_mat]) -> list[int]:
    """Return copies that are independent together, greedily."""
    height, copies = spoken[0].nrows(), spoken[0].ncols()
    everything = integers.stack_columns(spoken, height)
    if integers.independent(everything):
        return list(range(copies))
    columns = [integers.columns_of(part) for part in spoken]
    keep: list[int] = []
    for copy in range(copies):
        trial = [column[index] for index in [*keep, copy] for column in columns]
        if integers.independent(integers.from_columns(trial, height)):
            keep.append(copy)
    return keep


def _same_relations(sprout: _Sprout, family: Sequence[fmpz_mat]) -> fmpz_mat:
    """Return the subspace of the seeds on which the family acts by the same matrices."""
    seeds, words, actions = sprout.seeds, sprout.words, sprout.actions
    spoken = _speak(words, family, seeds)
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
            if not defect.is_zero():
                seeds = integers.primitive_columns(seeds * integers.kernel(defect))
                spoken = _speak(words, family, seeds)
    return seeds


def _speak(words: Sequence[_Word], family: Sequence[fmpz_mat], seeds: fmpz_mat) -> list[fmpz_mat]:
    """Return every word applied to every seed (columns), one matrix a word."""
    spoken: list[fmpz_mat] = []
    for word in words:
        spoken.append(seeds if word is None else family[word[0]] * spoken[word[1]])
    return spoken


def _spin(
    seeds: fmpz_mat, seed: fmpz_mat, family: Sequence[fmpz_mat], generic: int, degree: int
) -> _Sprout:
    """Return the smallest subspace that contains ``seed`` and is invariant under the family.

    Args:
        seeds: The space that the seed was taken from.
        seed: Column, not zero, in the kernel of an irreducible polynomial of family[generic].
        family: Square integer matrices.
        generic: Index of the member whose powers are spoken first.
        degree: Degree of that polynomial; so many powers are independent.

    Returns:
        The words whose values on the seed are a basis Q of the subspace, and for every member C
        of the family the matrix c with C Q = Q c (checked over Z).
    """
    height = seed.nrows()
    words: list[_Word] = [None, *((generic, power) for power in range(degree - 1))]
    values = _speak(words, family, seed)
    fresh = list(range(degree))
    while fresh and len(words) < height:
        candidates = [(i, j) for j in fresh for i in range(len(family)) if (i, j) not in words]
        trial = integers.stack_columns(
            [*values, *(family[i] * values[j] for i, j in candidates)], height
        )
        first = len(words)
        fresh = []
        for pivot in integers.pivot_columns(trial)[first:]:
            i, j = candidates[pivot - first]
            fresh.append(len(words))
            words.append((i, j))
            values.append(family[i] * values[j])
    basis = integers.stack_columns(values, height)
    actions: list[fmpq_mat] = []
    for member in family:
        action = integers.coordinates(basis, member * basis)
        if action is None:
            msg = "a spun subspace is not invariant"
            raise ArithmeticError(msg)
        actions.append(action)
    return _Sprout(seeds=seeds, degree=degree, vector=seed, words=words, actions=actions)
