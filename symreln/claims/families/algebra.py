r"""Matrices that commute with the permutations of N exchangeable values, with N a symbol.

A space has basis vectors of two kinds: plain ones :math:`b_a`, and indexed ones :math:`b_{a,k}`,
one for every value k = 1…N. A matrix between two such spaces that commutes with all permutations
of the values has entries :math:`D_{ab}\delta_{kl} + E_{ab}`, with D only where both are indexed.
So it is a pair of small matrices, whatever N is, and

.. math:: (D_1, E_1)(D_2, E_2) = (D_1 D_2,\; D_1 E_2 + E_1 D_2 + E_1 W E_2),

with W = N on indexed inner vectors and 1 on plain ones. Every rule here is an identity of
polynomials in N, true for N = 0, 1, 2, …: what is proven with N as a symbol holds for each number.

A gate that treats one value apart leaves N - 1 exchangeable ones: :meth:`FamilyMatrix.refined`
splits every indexed vector into that of the special value, plain, and the others.
:meth:`FamilyMatrix.summed` adds up over the choice of the special value.

Where N is a number below 2 a pair says more than the matrix has entries: with N = 1 only D + E is
seen between indexed vectors, with N = 0 there are none of them, and with N < 0 there is nothing at
all, because two different values are missing. :func:`seen` leaves out what is not seen, and all
matrices are held so: a matrix is zero exactly where its pair is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from symreln.base.summaries import short_repr
from symreln.exact.matrix import ExactMatrix

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from fractions import Fraction

    from symreln.exact.scalar import Scalar

PLAIN = ""
OTHERS = "*"


@dataclass(frozen=True)
class Kind:
    """One type of basis vector.

    Attributes:
        base: Index of the type in the space as first given.
        tag: PLAIN, OTHERS for one vector a value, or the name of a special value.
        weight: Squared length of the vector.
        group: Name of the group of inputs, outputs or samples that it belongs to.
    """

    base: int
    tag: str
    weight: Scalar
    group: str = ""


@dataclass(frozen=True, eq=False)
class Space:
    """A list of types over one number of exchangeable values.

    Attributes:
        kinds: The types; specials of one base stand together, sorted, before the others.
        count: N, the number of values that are not special.
    """

    kinds: tuple[Kind, ...]
    count: Scalar

    @property
    def size(self) -> int:
        """The number of types."""
        return len(self.kinds)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the symbols."""
        return self.count.parameters

    @cached_property
    def indexed(self) -> tuple[int, ...]:
        """Places of the types with one vector a value."""
        return tuple(i for i, kind in enumerate(self.kinds) if kind.tag == OTHERS)

    @cached_property
    def few(self) -> int | None:
        """N where it is a number below 2, else None."""
        return few(self.count)

    @property
    def present(self) -> tuple[int, ...]:
        """Places of the types that have a vector: a vector of the trivial sector each."""
        if self.few is None or self.few == 1:
            return tuple(range(self.size))
        return tuple(i for i in range(self.size) if not self.few and i not in self.indexed)

    @property
    def spread(self) -> tuple[int, ...]:
        """Places of the types with N - 1 > 0 vectors in the standard sector."""
        return self.indexed if self.few is None else ()

    @cached_property
    def counts(self) -> ExactMatrix:
        """W: diagonal, N on indexed types and 1 on plain ones."""
        return self._diagonal(lambda kind: self.count if kind.tag == OTHERS else self.count**0)

    @cached_property
    def inverse_counts(self) -> ExactMatrix:
        """Inverse of W on the types that have a vector."""
        one = self.count**0
        inverse = one if self.count.is_zero else 1 / self.count
        return self._diagonal(lambda kind: inverse if kind.tag == OTHERS else one)

    @cached_property
    def weights(self) -> ExactMatrix:
        """Diagonal of the squared lengths."""
        return self._diagonal(lambda kind: kind.weight)

    @cached_property
    def inverse_weights(self) -> ExactMatrix:
        """Diagonal of the reciprocal squared lengths."""
        return self._diagonal(lambda kind: 1 / kind.weight)

    @cached_property
    def lengths(self) -> FamilyMatrix:
        """Squared lengths of all basis vectors, one a type and value, and 0 between two of them."""
        plain = [i for i in range(self.size) if i not in self.indexed]
        d, e = (self.weights.masked(kept, kept) for kept in (self.indexed, plain))
        return FamilyMatrix(self, self, d, e)

    def _diagonal(self, value: Callable[[Kind], Scalar]) -> ExactMatrix:
        zero = self.count * 0
        rows = [[value(k) if i == j else zero for j in range(self.size)]
                for i, k in enumerate(self.kinds)]  # fmt: skip
        return ExactMatrix.from_rows(rows, self.parameters, columns=self.size)

    def vectors(self, count: int) -> list[tuple[int, int]]:
        """Return (type, value from 1, or 0 for a plain type) of every basis vector, N a number."""
        values = {a: range(1, count + 1) for a in self.indexed}
        return [(a, k) for a in range(self.size) for k in values.get(a, (0,))]

    def selected(self, places: Sequence[int]) -> Space:
        """Return the space of some of the types."""
        return replace(self, kinds=tuple(self.kinds[i] for i in places))

    def renamed(self, old: str, new: str) -> Space:
        """Return the space with another name for a special value."""
        kinds = tuple(replace(k, tag=new) if k.tag == old else k for k in self.kinds)
        return replace(self, kinds=kinds)

    def refined(self, special: str) -> tuple[Space, tuple[int, ...]]:
        """Return (the space with one value made special, place of each new type's old type)."""
        new = []
        for place, kind in enumerate(self.kinds):
            new.append((kind, place))
            if kind.tag == OTHERS:
                new.append((replace(kind, tag=special), place))
        new.sort(key=lambda item: (item[0].base, item[0].tag == OTHERS, item[0].tag))
        kinds = tuple(kind for kind, _ in new)
        return Space(kinds, self.count - 1), tuple(place for _, place in new)

    def coarsened(self, special: str) -> tuple[Space, tuple[int, ...], tuple[int, ...]]:
        """Return (the space without a special value, places of others, places of the special).

        Plain types stand at their own place in both lists.
        """
        kept = [i for i, kind in enumerate(self.kinds) if kind.tag != special]
        found = {kind.base: i for i, kind in enumerate(self.kinds) if kind.tag == special}
        special_places = tuple(
            found[self.kinds[i].base] if self.kinds[i].tag == OTHERS else i for i in kept
        )
        return replace(self.selected(kept), count=self.count + 1), tuple(kept), special_places


def few(count: Scalar) -> int | None:
    """Return N where it is a number below 2, else None."""
    if not count.is_constant:
        return None
    number = int(count.to_fraction())
    return number if number < 2 else None


def seen(
    d: ExactMatrix, e: ExactMatrix, rows: Space, columns: Space, number: int
) -> tuple[ExactMatrix, ExactMatrix]:
    """Return (D, E) of the same matrix without what N values do not show, N being below 2."""
    nothing = ExactMatrix.zeros(*d.shape, d.parameters)
    if number == 1:
        return nothing, d + e
    if number < 0:
        return nothing, nothing
    plain = [[i for i in range(s.size) if i not in s.indexed] for s in (rows, columns)]
    return nothing, e.masked(*plain)


@short_repr
@dataclass(frozen=True, eq=False)
class FamilyMatrix:
    """The matrix with entries D δ + E between two spaces over the same N.

    Attributes:
        rows: Space of the image.
        columns: Space of the argument.
        d: D, one row a type of ``rows``; zero outside indexed types.
        e: E, of the same shape. What N values do not show is left out of both when they are set.
    """

    rows: Space
    columns: Space
    d: ExactMatrix
    e: ExactMatrix

    def __post_init__(self) -> None:
        number = self.rows.few
        if number is None:
            return
        for name, part in zip(
            "de", seen(self.d, self.e, self.rows, self.columns, number), strict=True
        ):
            object.__setattr__(self, name, part)

    @classmethod
    def identity(cls, space: Space) -> FamilyMatrix:
        """Return the identity."""
        indexed = [int(i in space.indexed) for i in range(space.size)]
        names = space.parameters
        return cls(
            space,
            space,
            ExactMatrix.diagonal(indexed, names),
            ExactMatrix.diagonal([1 - i for i in indexed], names),
        )

    @classmethod
    def zeros(cls, rows: Space, columns: Space) -> FamilyMatrix:
        """Return the zero matrix."""
        zero = ExactMatrix.zeros(rows.size, columns.size, rows.parameters)
        return cls(rows, columns, zero, zero)

    def __matmul__(self, other: FamilyMatrix) -> FamilyMatrix:
        inner = self.columns.counts @ other.e
        e = self.d @ other.e + self.e @ (other.d + inner)
        return FamilyMatrix(self.rows, other.columns, (self.d @ other.d).reduced(), e.reduced())

    def __add__(self, other: FamilyMatrix) -> FamilyMatrix:
        d, e = self.d + other.d, self.e + other.e
        return FamilyMatrix(self.rows, self.columns, d.reduced(), e.reduced())

    def __sub__(self, other: FamilyMatrix) -> FamilyMatrix:
        return self + other.scale(-1)

    def scale(self, factor: Scalar | int) -> FamilyMatrix:
        """Return the matrix times a scalar."""
        d, e = self.d.scale(factor), self.e.scale(factor)
        return FamilyMatrix(self.rows, self.columns, d.reduced(), e.reduced())

    @property
    def adjoint(self) -> FamilyMatrix:
        """The adjoint for the squared lengths of the basis vectors."""

        def flipped(matrix: ExactMatrix) -> ExactMatrix:
            return (self.columns.inverse_weights @ matrix.T @ self.rows.weights).reduced()

        return FamilyMatrix(self.columns, self.rows, flipped(self.d), flipped(self.e))

    @property
    def is_zero(self) -> bool:
        """Whether the matrix is zero, for every N where N is a symbol."""
        return self.d.is_zero and self.e.is_zero

    def frobenius(self, other: FamilyMatrix) -> Scalar:
        """Return the inner product tr(self* other), a polynomial in N."""
        return (self.adjoint @ other).trace()

    def trace(self) -> Scalar:
        """Return the trace, a polynomial in N."""
        return (self.columns.counts @ (self.d + self.e)).trace()

    def selected(
        self, rows: Sequence[int] | None = None, columns: Sequence[int] | None = None
    ) -> FamilyMatrix:
        """Return the part between some of the types."""
        return FamilyMatrix(
            self.rows if rows is None else self.rows.selected(rows),
            self.columns if columns is None else self.columns.selected(columns),
            self.d.select(rows, columns),
            self.e.select(rows, columns),
        )

    def masked(
        self, rows: Sequence[int] | None = None, columns: Sequence[int] | None = None
    ) -> FamilyMatrix:
        """Return the matrix with the types that are not listed set to zero."""
        d, e = self.d.masked(rows, columns), self.e.masked(rows, columns)
        return FamilyMatrix(self.rows, self.columns, d, e)

    def renamed(self, old: str, new: str) -> FamilyMatrix:
        """Return the matrix with another name for a special value."""
        return replace(
            self, rows=self.rows.renamed(old, new), columns=self.columns.renamed(old, new)
        )

    def refined(self, special: str) -> FamilyMatrix:
        """Return the same matrix with one value named, N - 1 left."""
        rows, row_of = self.rows.refined(special)
        columns, column_of = self.columns.refined(special)
        d, e = self.d.select(row_of, column_of), self.e.select(row_of, column_of)
        named = [
            [i for i, k in enumerate(space.kinds) if k.tag == special] for space in (rows, columns)
        ]
        # At equal values both D and E count: for the special value that is a plain entry.
        return FamilyMatrix(
            rows, columns, d.masked(rows.indexed, columns.indexed), e + d.masked(*named)
        )

    def summed(self, special: str) -> FamilyMatrix:
        r"""Return the sum over all choices of a special value; N is then one more.

        With the new N: equal values k = l get the entry at the special value once and that of two
        equal others N - 1 times; k ≠ l gets each of them as the special one once, and neither
        N - 2 times. Plain types follow the same rule, because their entry is the same in all.
        """
        rows, row_others, row_special = self.rows.coarsened(special)
        columns, column_others, column_special = self.columns.coarsened(special)
        count = rows.count
        others = self.e.select(row_others, column_others)
        unequal = (
            self.e.select(row_special, column_others)
            + self.e.select(row_others, column_special)
            + others.scale(count - 2)
        )
        equal = self.e.select(row_special, column_special) + (
            self.d.select(row_others, column_others) + others
        ).scale(count - 1)
        d = (equal - unequal).masked(rows.indexed, columns.indexed)
        return FamilyMatrix(rows, columns, d.reduced(), unequal.reduced())

    def at(self, values: Mapping[str, Fraction]) -> ExactMatrix:
        """Return the matrix itself at a number N of values, type by type, one row a value."""
        count = int(self.rows.count.substitute(values).to_fraction())
        rows, columns = self.rows.vectors(count), self.columns.vectors(count)
        whole = self.e.substitute(values).select([a for a, _ in rows], [b for b, _ in columns])
        if self.d.is_zero:
            return whole
        equal = self.d.substitute(values).select(self.rows.indexed, self.columns.indexed)
        for k in range(1, count + 1):
            down, along = (
                [i for i, key in enumerate(keys) if key[1] == k] for keys in (rows, columns)
            )
            whole = whole + equal.placed(down, along, whole.shape)
        return whole

    # -- the two sectors --------------------------------------------------------------------------

    def trivial(self) -> ExactMatrix:
        """Return the action on vectors that are equal for all values, one a present type."""
        whole = (self.d + self.e @ self.columns.counts).reduced()
        return whole.select(self.rows.present, self.columns.present)

    def standard(self) -> ExactMatrix:
        """Return the action on indexed vectors whose sum over the values is zero, one a type."""
        return self.d.select(self.rows.spread, self.columns.spread)


def from_trivial(space: Space, matrix: ExactMatrix) -> FamilyMatrix:
    """Return the matrix that acts so on the trivial sector and vanishes on the standard one."""
    zero = ExactMatrix.zeros(space.size, space.size, space.parameters)
    e = _placed(matrix, space.present, space.size) @ space.inverse_counts
    return FamilyMatrix(space, space, zero, e.reduced())


def from_standard(space: Space, matrix: ExactMatrix) -> FamilyMatrix:
    """Return the matrix that acts so on the standard sector and vanishes on the trivial one."""
    d = _placed(matrix, space.spread, space.size)
    return FamilyMatrix(space, space, d, d.scale(-1 / space.count))


def _placed(matrix: ExactMatrix, places: Sequence[int], size: int) -> ExactMatrix:
    """Return a square matrix of the given size with ``matrix`` at the given rows and columns."""
    return matrix.placed(places, places, (size, size))
