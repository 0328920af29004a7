"""Sparse exact matrices over Q(parameters), for data that are mostly zeros.

As :class:`symreln.exact.matrix.ExactMatrix`, a matrix is Σ_m m(parameters)·C_m / q; here the
integer matrices C_m are lists of entries (:mod:`symreln.exact.entries`), so that work and memory
follow the number of entries that are not zero.
"""

from __future__ import annotations

from functools import cached_property
from math import gcd, lcm
from typing import TYPE_CHECKING

import numpy as np

from symreln.errors import InputError
from symreln.exact import by_entries, reduction
from symreln.exact import entries as coo
from symreln.exact.cancelling import without_common_factor
from symreln.exact.entries import Entries
from symreln.exact.scalar import Number, Scalar, polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction

    from flint import fmpz_mat, fmpz_mpoly

    from symreln.exact.matrix import ExactMatrix

Exponents = tuple[int, ...]


class SparseMatrix:
    """An immutable sparse matrix over Q(parameters).

    Attributes:
        shape: (rows, columns).
        parameters: Names of the parameters, in the order declared.
        terms: Entries of the integer matrix of every monomial that occurs; sorted, none empty.
        denominator: Common denominator, a polynomial over Z, not zero.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        parameters: tuple[str, ...],
        terms: Mapping[Exponents, Entries],
        denominator: fmpz_mpoly | int = 1,
    ) -> None:
        self.shape = shape
        self.parameters = parameters
        self.terms = {key: terms[key] for key in sorted(terms) if terms[key].size}
        self.denominator: fmpz_mpoly = (
            polynomial_ring(parameters).constant(denominator)
            if isinstance(denominator, int)
            else denominator
        )
        if self.denominator.is_zero():
            msg = "a sparse matrix needs a non-zero denominator"
            raise ZeroDivisionError(msg)

    # -- construction ---------------------------------------------------------------------------

    @classmethod
    def from_entries(
        cls,
        shape: tuple[int, int],
        rows: Sequence[int] | np.ndarray,
        columns: Sequence[int] | np.ndarray,
        values: Sequence[int] | np.ndarray,
        denominator: int = 1,
        parameters: tuple[str, ...] = (),
    ) -> SparseMatrix:
        """Build a constant matrix from integers at places, over one denominator.

        Several values at one place add up.

        Raises:
            InputError: A place lies outside the matrix.
        """
        at = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
        for place, size in zip(at, shape, strict=True):
            if len(place) and not 0 <= place.min() <= place.max() < size:
                msg = f"an entry lies outside a matrix of shape {shape}"
                raise InputError(msg)
        numbers = coo.integer_array(values)
        largest = max((abs(int(numbers.max())), abs(int(numbers.min()))) if len(numbers) else (0,))
        found = coo.collected(*at, numbers, shape[1], largest * max(len(numbers), 1))
        return cls(shape, parameters, {(0,) * len(parameters): found}, denominator)

    @classmethod
    def from_exact(cls, matrix: ExactMatrix) -> SparseMatrix:
        """Return the same matrix without its zeros; a view gives back what it stands for."""
        from symreln.exact.backed import SparseBacked

        if isinstance(matrix, SparseBacked):
            return matrix.sparse
        terms = {key: coo.from_flint(part) for key, part in matrix.terms.items()}
        return cls(matrix.shape, matrix.parameters, terms, matrix.denominator)

    @classmethod
    def beside(cls, parts: Sequence[SparseMatrix]) -> SparseMatrix:
        """Return matrices with equally many rows side by side."""
        width = sum(part.shape[1] for part in parts)
        placed, start = [], 0
        for part in parts:
            placed.append(part._shifted(start, width))
            start += part.shape[1]
        while len(placed) > 1:  # in pairs, so that the work is n log n
            pairs = [placed[k : k + 2] for k in range(0, len(placed), 2)]
            placed = [pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
        return placed[0]

    def _shifted(self, start: int, width: int) -> SparseMatrix:
        terms = {k: Entries(p.rows, p.columns + start, p.values) for k, p in self.terms.items()}
        return SparseMatrix((self.shape[0], width), self.parameters, terms, self.denominator)

    @classmethod
    def zeros(cls, rows: int, columns: int, parameters: tuple[str, ...] = ()) -> SparseMatrix:
        """Return the zero matrix."""
        return cls((rows, columns), parameters, {})

    @cached_property
    def exact(self) -> ExactMatrix:
        """The same matrix for code that takes an ExactMatrix; dense only once it must be."""
        from symreln.exact.backed import SparseBacked

        return SparseBacked(self)

    def promoted(self, parameters: tuple[str, ...]) -> SparseMatrix:
        """Return the same matrix over a larger set of parameters."""
        if parameters == self.parameters:
            return self
        place = [parameters.index(name) for name in self.parameters]
        terms = {}
        for exponents, part in self.terms.items():
            key = [0] * len(parameters)
            for position, exponent in zip(place, exponents, strict=True):
                key[position] = exponent
            terms[tuple(key)] = part
        bottom = self.denominator.project_to_context(polynomial_ring(parameters))
        return SparseMatrix(self.shape, parameters, terms, bottom)

    def aligned(self, other: SparseMatrix) -> tuple[SparseMatrix, SparseMatrix]:
        """Return both matrices over the union of their parameters."""
        if self.parameters == other.parameters:
            return self, other
        extra = tuple(name for name in other.parameters if name not in self.parameters)
        names = self.parameters + extra
        return self.promoted(names), other.promoted(names)

    # -- arithmetic -----------------------------------------------------------------------------

    def __add__(self, other: SparseMatrix) -> SparseMatrix:
        a, b = self.aligned(other)
        if a.shape != b.shape:
            msg = f"cannot add matrices of shapes {a.shape} and {b.shape}"
            raise InputError(msg)
        common = a.denominator.gcd(b.denominator)
        left, right = b.denominator // common, a.denominator // common
        terms = a._times(left)
        for key, part in b._times(right).items():
            terms[key] = coo.added(terms[key], part, a.shape[1]) if key in terms else part
        return SparseMatrix(a.shape, a.parameters, terms, a.denominator * left)

    def _times(self, polynomial: fmpz_mpoly) -> dict[Exponents, Entries]:
        """Return the terms times a polynomial."""
        if by_entries.pays(len(self.terms) * len(polynomial), self.shape[0] * self.shape[1]):
            found = by_entries.scaled(self._flint, polynomial, self.parameters)
            return {key: coo.from_flint(part) for key, part in found.items()}
        return reduction.times_polynomial(
            self.terms, polynomial, coo.scaled, lambda a, b: coo.added(a, b, self.shape[1])
        )

    @property
    def _flint(self) -> dict[Exponents, fmpz_mat]:
        """The terms as FLINT's matrices."""
        return {key: coo.to_flint(part, self.shape) for key, part in self.terms.items()}

    def __neg__(self) -> SparseMatrix:
        terms = {key: coo.scaled(part, -1) for key, part in self.terms.items()}
        return SparseMatrix(self.shape, self.parameters, terms, self.denominator)

    def __sub__(self, other: SparseMatrix) -> SparseMatrix:
        return self + (-other)

    def __matmul__(self, other: SparseMatrix) -> SparseMatrix:
        a, b = self.aligned(other)
        if a.shape[1] != b.shape[0]:
            msg = f"cannot multiply matrices of shapes {a.shape} and {b.shape}"
            raise InputError(msg)
        size = (a.shape[0], a.shape[1], b.shape[1])
        if by_entries.pays(len(a.terms) * len(b.terms), size[0] * size[1] * size[2]):
            found = by_entries.product(a._flint, b._flint, a.parameters)
            whole = {key: coo.from_flint(part) for key, part in found.items()}
            bottom = a.denominator * b.denominator
            return SparseMatrix((size[0], size[2]), a.parameters, whole, bottom)
        terms: dict[Exponents, Entries] = {}
        for key_a, left in a.terms.items():
            for key_b, right in b.terms.items():
                key = _sum(key_a, key_b)
                part = coo.product(left, right, size)
                terms[key] = coo.added(terms[key], part, size[2]) if key in terms else part
        return SparseMatrix((size[0], size[2]), a.parameters, terms, a.denominator * b.denominator)

    def scale(self, factor: Scalar | Number) -> SparseMatrix:
        """Return the matrix times a scalar."""
        scalar = factor if isinstance(factor, Scalar) else Scalar.of(factor, self.parameters)
        if scalar.parameters != self.parameters:
            extra = tuple(name for name in scalar.parameters if name not in self.parameters)
            names = self.parameters + extra
            return self.promoted(names).scale(Scalar.of(scalar, names))
        common = scalar.numerator.gcd(self.denominator)
        terms = self._times(scalar.numerator // common)
        bottom = (self.denominator // common) * scalar.denominator
        return SparseMatrix(self.shape, self.parameters, terms, bottom)

    def scaled_columns(self, weights: Sequence[int | Scalar]) -> SparseMatrix:
        """Return the matrix with column j times weights[j]; a weight of 0 clears the column."""
        total = SparseMatrix.zeros(*self.shape, self.parameters)
        for kind in dict.fromkeys(weights):
            if kind != 0:
                columns = [j for j, weight in enumerate(weights) if weight == kind]
                part = self.masked(columns=columns)
                total = total + (part if kind == 1 else part.scale(kind))
        return total

    @cached_property
    def T(self) -> SparseMatrix:
        """The transpose."""
        terms = {key: part.transposed() for key, part in self.terms.items()}
        shape = (self.shape[1], self.shape[0])
        return SparseMatrix(shape, self.parameters, terms, self.denominator)

    def reduced(self) -> SparseMatrix:
        """Return the same matrix with the factors common to all entries cancelled."""
        if self.denominator.is_one():
            return self
        if not self.terms:
            return SparseMatrix(self.shape, self.parameters, {})
        if not self.denominator.is_constant():
            divided = without_common_factor(
                self.terms, self.denominator, polynomial_ring(self.parameters), self.shape[1]
            )
            if divided is not None:
                return SparseMatrix(self.shape, self.parameters, *divided).reduced()
        bottom = self.denominator
        divisor = gcd(
            *(coo.content(part) for part in self.terms.values()),
            *(int(c) for c in bottom.to_dict().values()),
        )
        if bottom.leading_coefficient() < 0:
            divisor = -divisor
        terms = {key: coo.divided(part, divisor) for key, part in self.terms.items()}
        return SparseMatrix(self.shape, self.parameters, terms, bottom // divisor)

    # -- parts ----------------------------------------------------------------------------------

    def select(
        self, rows: Sequence[int] | None = None, columns: Sequence[int] | None = None
    ) -> SparseMatrix:
        """Return the submatrix of the given (distinct) rows and columns, in that order."""
        shape = (
            self.shape[0] if rows is None else len(rows),
            self.shape[1] if columns is None else len(columns),
        )
        to_row, to_column = _places(rows, self.shape[0]), _places(columns, self.shape[1])
        terms = {}
        for key, part in self.terms.items():
            at = to_row[part.rows], to_column[part.columns]
            keep = (at[0] >= 0) & (at[1] >= 0)
            terms[key] = coo.collected(
                at[0][keep], at[1][keep], part.values[keep], shape[1], part.largest()
            )
        return SparseMatrix(shape, self.parameters, terms, self.denominator)

    def masked(
        self, rows: Iterable[int] | None = None, columns: Iterable[int] | None = None
    ) -> SparseMatrix:
        """Return the matrix with every row and column that is not listed set to zero."""
        open_rows, open_columns = _open(rows, self.shape[0]), _open(columns, self.shape[1])
        terms = {}
        for key, part in self.terms.items():
            keep = open_rows[part.rows] & open_columns[part.columns]
            terms[key] = Entries(part.rows[keep], part.columns[keep], part.values[keep])
        return SparseMatrix(self.shape, self.parameters, terms, self.denominator)

    def nonzero(self) -> Iterator[tuple[int, int, Scalar]]:
        """Yield (row, column, value) of every entry that is not zero, in reading order."""
        known: dict[tuple[tuple[Exponents, int], ...], Scalar] = {}
        found: dict[tuple[int, int], list[tuple[Exponents, int]]] = {}
        for key, part in self.terms.items():
            for row, column, value in _triples(part):
                found.setdefault((row, column), []).append((key, value))
        for (row, column), listed in sorted(found.items()):
            spelled = tuple(listed)
            if spelled not in known:
                known[spelled] = self._scalar(dict(listed))
            yield row, column, known[spelled]

    def _scalar(self, polynomial: dict[Exponents, int]) -> Scalar:
        ring = polynomial_ring(self.parameters)
        return Scalar(self.parameters, ring.from_dict(polynomial), self.denominator)

    def frobenius(self, other: SparseMatrix) -> Scalar:
        """Return the Frobenius inner product tr(selfᵀ other)."""
        a, b = self.aligned(other)
        if by_entries.pays(len(a.terms) * len(b.terms), a.shape[0] * a.shape[1]):
            total = by_entries.frobenius(a._flint, b._flint, a.parameters)
            return Scalar(a.parameters, total, a.denominator * b.denominator)
        total = polynomial_ring(a.parameters).constant(0)
        for key_a, left in a.terms.items():
            for key_b, right in b.terms.items():
                value = coo.dot(left, right, a.shape[1])
                total += polynomial_ring(a.parameters).from_dict({_sum(key_a, key_b): value})
        return Scalar(a.parameters, total, a.denominator * b.denominator)

    @property
    def is_zero(self) -> bool:
        """Whether every entry is the zero function."""
        return not self.terms

    @property
    def is_constant(self) -> bool:
        """Whether no parameter occurs in any entry."""
        return bool(self.denominator.is_constant()) and all(not any(key) for key in self.terms)

    @property
    def count(self) -> int:
        """How many places have an entry that is not zero, at most."""
        return sum(part.size for part in self.terms.values())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseMatrix):
            return NotImplemented
        return self.shape == other.shape and (self - other).is_zero

    def __hash__(self) -> int:
        return hash(self.shape)  # equal matrices may be stored with different denominators

    # -- values ---------------------------------------------------------------------------------

    def substitute(self, values: Mapping[str, Fraction]) -> SparseMatrix:
        """Return the matrix with some parameters replaced by rational values.

        Raises:
            ZeroDivisionError: The denominator vanishes at these values.
        """
        if not any(name in values for name in self.parameters):
            return self
        ring, left = polynomial_ring, tuple(n for n in self.parameters if n not in values)
        weights = {
            key: Scalar(self.parameters, ring(self.parameters).from_dict({key: 1})).substitute(
                values
            )
            for key in self.terms
        }
        bottom = Scalar(self.parameters, self.denominator).substitute(values)
        common = lcm(*(int(w.denominator.leading_coefficient()) for w in weights.values()), 1)
        total = SparseMatrix.zeros(*self.shape, left)
        for key, part in self.terms.items():
            monomial = SparseMatrix(self.shape, left, {(0,) * len(left): part}, common)
            total = total + monomial.scale(weights[key] * common)
        return total.scale(1 / bottom)

    def to_numpy(self) -> np.ndarray:
        """Return a constant matrix as dense float64, every entry correctly rounded.

        Raises:
            InputError: A parameter occurs, or float64 has no room for an entry.
        """
        if not self.is_constant:
            msg = f"the matrix depends on {', '.join(self.parameters)}; substitute values first"
            raise InputError(msg)
        result = np.zeros(self.shape)
        bottom = int(self.denominator.leading_coefficient())
        for part in self.terms.values():
            places = zip(part.rows, part.columns, strict=True)
            quotients = coo.quotients(part.values.tolist(), bottom, places, self.shape)
            result[part.rows, part.columns] = quotients
        return result

    def __repr__(self) -> str:
        return f"SparseMatrix({self.shape[0]}×{self.shape[1]}, {self.count} entries)"


def _sum(a: Exponents, b: Exponents) -> Exponents:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _triples(part: Entries) -> Iterator[tuple[int, int, int]]:
    return zip(part.rows.tolist(), part.columns.tolist(), part.values.tolist(), strict=True)


def _places(chosen: Sequence[int] | None, size: int) -> np.ndarray:
    """Return the new place of every index, -1 for those that are not chosen."""
    if chosen is None:
        return np.arange(size)
    result = np.full(size, -1, dtype=np.int64)
    result[np.asarray(chosen, dtype=np.int64)] = np.arange(len(chosen))
    return result


def _open(chosen: Iterable[int] | None, size: int) -> np.ndarray:
    result = np.full(size, chosen is None)
    if chosen is not None:
        result[np.fromiter(chosen, dtype=np.int64)] = True
    return result
