"""Exact matrices over Q(parameters), stored so that the work is done on integer matrices.

A matrix is Σ_m m(parameters) · C_m / q with integer coefficient matrices C_m, one for every
monomial m that occurs, and one common denominator polynomial q. Without parameters there is one
coefficient matrix and an integer q. How a coefficient matrix is held, sparse or dense, is its own
affair (:mod:`symreln.exact.integer_matrix`).

That is fast for large matrices of few monomials: a product goes through all pairs of monomials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm, prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from flint import fmpz_mat, fmpz_mpoly

from symreln.errors import InputError
from symreln.exact.integer_matrix import IntegerMatrix, integer_array, merged
from symreln.exact.scalar import Number, Scalar, cleared, polynomial_ring

if TYPE_CHECKING:
    import sympy as sp

_Made = TypeVar("_Made")
Exponents = tuple[int, ...]
Terms = Mapping[Exponents, IntegerMatrix]


class ExactMatrix:
    """An immutable matrix over Q(parameters).

    Attributes:
        shape: (rows, columns).
        parameters: Names of the parameters, in the order declared.
        denominator: Common denominator, a polynomial over Z, not zero.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        parameters: tuple[str, ...],
        terms: Terms | Callable[[], Terms],
        denominator: fmpz_mpoly | int = 1,
    ) -> None:
        """Hold a matrix.

        Args:
            shape: (rows, columns).
            parameters: Names of the parameters.
            terms: Integer coefficient matrix of every monomial, or what makes them when they are
                first needed.
            denominator: Common denominator.

        Raises:
            ZeroDivisionError: The denominator is zero.
        """
        self.shape = shape
        self.parameters = parameters
        self._given = terms
        self.denominator: fmpz_mpoly = (
            denominator
            if isinstance(denominator, fmpz_mpoly)
            else polynomial_ring(parameters).constant(denominator)
        )
        if self.denominator.is_zero():
            msg = "an exact matrix needs a non-zero denominator"
            raise ZeroDivisionError(msg)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes it again."""
        return ExactMatrix, (self.shape, self.parameters, self.terms, self.denominator)

    @cached_property
    def terms(self) -> dict[Exponents, IntegerMatrix]:
        """Integer coefficient matrix of every monomial whose coefficient is not zero.

        Keys are exponents in the order of ``parameters``, sorted, so that equal matrices print and
        serialise to the same bytes; empty for the zero matrix.
        """
        given = self._given() if callable(self._given) else self._given
        return {key: given[key] for key in sorted(given) if not given[key].is_zero}

    def _with(self, terms: Terms, denominator: fmpz_mpoly | int | None = None) -> ExactMatrix:
        """Return a matrix of this shape over these parameters."""
        bottom = self.denominator if denominator is None else denominator
        return ExactMatrix(self.shape, self.parameters, terms, bottom)

    # -- construction ---------------------------------------------------------------------------

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[Sequence[Scalar | Number]],
        parameters: tuple[str, ...] = (),
        columns: int | None = None,
    ) -> ExactMatrix:
        """Build from entries; ``columns`` is needed only when there are no rows.

        Raises:
            InputError: The rows differ in length.
        """
        width = len(rows[0]) if rows else (columns or 0)
        ragged = next((i for i, row in enumerate(rows) if len(row) != width), None)
        if ragged is not None:
            msg = (
                f"row {ragged} has {len(rows[ragged])} entries where row 0 has {width}; "
                "give every row the same length"
            )
            raise InputError(msg)
        shape = (len(rows), width)
        flat = [entry for row in rows for entry in row]
        whole = [entry for entry in flat if isinstance(entry, int)]
        if not parameters and len(whole) == len(flat):
            return cls(shape, (), {(): IntegerMatrix.of_flat(shape, whole)})
        tops, bottom = cleared([Scalar.of(entry, parameters) for entry in flat], parameters)
        return cls.of_polynomials(shape, parameters, tops, bottom)

    @classmethod
    def of_polynomials(
        cls,
        shape: tuple[int, int],
        parameters: tuple[str, ...],
        entries: Sequence[fmpz_mpoly],
        denominator: fmpz_mpoly | int = 1,
    ) -> ExactMatrix:
        """Build from polynomials over Z, all entries row by row, over one denominator."""
        found: dict[Exponents, list[int]] = {}
        for place, entry in enumerate(entries):
            for exponents, coefficient in entry.to_dict().items():
                key = tuple(int(e) for e in exponents)
                found.setdefault(key, [0] * len(entries))[place] = int(coefficient)
        terms = {key: IntegerMatrix.of_flat(shape, flat) for key, flat in found.items()}
        return cls(shape, parameters, terms, denominator)

    @classmethod
    def from_integers(
        cls, matrix: fmpz_mat, denominator: int = 1, parameters: tuple[str, ...] = ()
    ) -> ExactMatrix:
        """Build a constant matrix from an integer matrix and a common denominator."""
        held = IntegerMatrix.of_flint(matrix)
        return cls(held.shape, parameters, {(0,) * len(parameters): held}, denominator)

    @classmethod
    def from_entries(
        cls,
        shape: tuple[int, int],
        rows: Sequence[int] | np.ndarray,
        columns: Sequence[int] | np.ndarray,
        values: Sequence[int] | np.ndarray,
        denominator: int = 1,
        parameters: tuple[str, ...] = (),
    ) -> ExactMatrix:
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
        held = IntegerMatrix.of_triples(shape, (*at, integer_array(values)))
        return cls(shape, parameters, {(0,) * len(parameters): held}, denominator)

    @classmethod
    def zeros(cls, rows: int, columns: int, parameters: tuple[str, ...] = ()) -> ExactMatrix:
        """Return the zero matrix."""
        return cls((rows, columns), parameters, {})

    @classmethod
    def identity(cls, size: int, parameters: tuple[str, ...] = ()) -> ExactMatrix:
        """Return the identity."""
        each = range(size)
        return cls.from_entries((size, size), each, each, [1] * size, 1, parameters)

    @classmethod
    def beside(cls, parts: Sequence[ExactMatrix]) -> ExactMatrix:
        """Return matrices with equally many rows side by side; constant ones have no parameters."""
        if len(parts) == 1:
            return parts[0]
        names = max((part.parameters for part in parts), key=len)
        parts = [part.promoted(names) for part in parts]
        starts = np.cumsum([0, *(part.shape[1] for part in parts)])
        shape, common = (parts[0].shape[0], int(starts[-1])), polynomial_ring(names).constant(1)
        for part in parts:
            common = common * (part.denominator // common.gcd(part.denominator))
        found: dict[Exponents, list[tuple[np.ndarray, ...]]] = {}
        for part, start in zip(parts, starts.tolist(), strict=False):
            for key, each in part._times(common // part.denominator).items():
                found.setdefault(key, []).append((each.rows, each.columns + start, each.values))
        terms = {
            key: IntegerMatrix.of_triples(shape, map(np.concatenate, zip(*pieces, strict=True)))
            for key, pieces in found.items()
        }
        return cls(shape, names, terms, common)

    # -- arithmetic -----------------------------------------------------------------------------

    def promoted(self, parameters: tuple[str, ...]) -> ExactMatrix:
        """Return the same matrix over a larger set of parameters."""
        if parameters == self.parameters:
            return self
        terms = {}
        for key, part in self.terms.items():
            known = dict(zip(self.parameters, key, strict=True))
            terms[tuple(known.get(name, 0) for name in parameters)] = part
        bottom = self.denominator.project_to_context(polynomial_ring(parameters))
        return ExactMatrix(self.shape, parameters, terms, bottom)

    def aligned(self, other: ExactMatrix) -> tuple[ExactMatrix, ExactMatrix]:
        """Return both matrices over the union of their parameters."""
        names = tuple(dict.fromkeys((*self.parameters, *other.parameters)))
        return self.promoted(names), other.promoted(names)

    def __add__(self, other: ExactMatrix) -> ExactMatrix:
        a, b = self.aligned(other)
        if a.shape != b.shape:
            msg = f"cannot add matrices of shapes {a.shape} and {b.shape}"
            raise InputError(msg)
        common = a.denominator.gcd(b.denominator)
        left, right = b.denominator // common, a.denominator // common
        terms = dict(a._times(left))
        for key, part in b._times(right).items():
            _add(terms, key, part)
        return a._with(terms, a.denominator * left)

    def __neg__(self) -> ExactMatrix:
        return self._with({key: part * -1 for key, part in self.terms.items()})

    def __sub__(self, other: ExactMatrix) -> ExactMatrix:
        return self + (-other)

    def __matmul__(self, other: ExactMatrix) -> ExactMatrix:
        a, b = self.aligned(other)
        if a.shape[1] != b.shape[0]:
            msg = f"cannot multiply matrices of shapes {a.shape} and {b.shape}"
            raise InputError(msg)
        shape, bottom = (a.shape[0], b.shape[1]), a.denominator * b.denominator
        terms: dict[Exponents, IntegerMatrix] = {}
        for key_a, left in a.terms.items():
            for key_b, right in b.terms.items():
                _add(terms, _sum(key_a, key_b), left @ right)
        return ExactMatrix(shape, a.parameters, terms, bottom)

    @cached_property
    def gram(self) -> ExactMatrix:
        """The Gram matrix of the columns, selfᵀ self."""
        return self.T @ self

    def scale(self, factor: Scalar | Number) -> ExactMatrix:
        """Return the matrix times a scalar, with their common factors cancelled."""
        scalar = factor if isinstance(factor, Scalar) else Scalar.of(factor, self.parameters)
        if scalar.parameters != self.parameters:
            names = tuple(dict.fromkeys((*self.parameters, *scalar.parameters)))
            return self.promoted(names).scale(Scalar.of(scalar, names))
        common = scalar.numerator.gcd(self.denominator)
        terms = self._times(scalar.numerator // common)
        return self._with(terms, (self.denominator // common) * scalar.denominator)

    def scaled_columns(self, weights: Sequence[int | Scalar]) -> ExactMatrix:
        """Return the matrix with column j times weights[j]; a weight of 0 clears the column."""
        total = ExactMatrix.zeros(*self.shape, self.parameters)
        for kind in dict.fromkeys(weights):
            if kind != 0:
                columns = [j for j, weight in enumerate(weights) if weight == kind]
                part = self.masked(columns=columns)
                total = total + (part if kind == 1 else part.scale(kind))
        return total

    def _times(self, polynomial: fmpz_mpoly) -> Terms:
        """Return the terms times a polynomial."""
        if polynomial.is_one():
            return self.terms
        result: dict[Exponents, IntegerMatrix] = {}
        for exponents, coefficient in polynomial.to_dict().items():
            for key, part in self.terms.items():
                _add(result, _sum(key, exponents), part * int(coefficient))
        return result

    @cached_property
    def T(self) -> ExactMatrix:
        """The transpose."""
        terms = {key: part.T for key, part in self.terms.items()}
        return ExactMatrix((self.shape[1], self.shape[0]), self.parameters, terms, self.denominator)

    def reduced(self) -> ExactMatrix:
        """Return the same matrix with the factors common to all entries cancelled."""
        if self.denominator.is_one():
            return self
        if self.is_zero:
            return self._with({}, 1)
        if not self.denominator.is_constant():
            less = self._without_common_factor()
            if less is not self:
                return less.reduced()
        divisor = self.content(gcd(*(int(c) for c in self.denominator.to_dict().values())))
        if self.denominator.leading_coefficient() < 0:
            divisor = -divisor
        return self if divisor == 1 else self.divided(divisor, self.denominator // divisor)

    def _without_common_factor(self) -> ExactMatrix:
        """Return the matrix with the polynomial cancelled that divides all of it, if any does."""
        some = next(iter(self.terms.values()))
        entry = self._numerator(int(some.rows[0]), int(some.columns[0]))
        common = self.denominator.gcd(entry).primitive()[1]
        terms = self._quotient(common)
        if terms is None:  # most often what divides one entry divides all of them
            for _, _, numerator in self._spelled(lambda numerator: numerator):
                common = common.gcd(numerator).primitive()[1]
            terms = self._quotient(common)
        assert terms is not None
        return self if common.is_constant() else self._with(terms, self.denominator // common)

    def _quotient(self, divisor: fmpz_mpoly) -> Terms | None:
        """Return the terms divided by a primitive polynomial; None where it does not divide all."""
        if divisor.is_constant():
            return self.terms
        rows = [(tuple(map(int, e)), int(c)) for e, c in divisor.to_dict().items()]
        lead, leading = max(rows)
        left, found = dict(self.terms), {}
        while left:
            top = max(left)
            key, part = tuple(x - y for x, y in zip(top, lead, strict=True)), left[top]
            if min(key, default=0) < 0 or part.content(leading) != abs(leading):
                return None
            found[key] = part.divided(leading)
            for exponents, coefficient in rows:
                _add(left, _sum(key, exponents), found[key] * -coefficient)
            left = {key: part for key, part in left.items() if not part.is_zero}
        return found

    def content(self, start: int = 0) -> int:
        """Return the greatest common divisor of ``start`` and all coefficients."""
        for part in self.terms.values():
            if start == 1:
                break
            start = part.content(start)
        return start

    def divided(self, divisor: int, denominator: fmpz_mpoly | int) -> ExactMatrix:
        """Return the coefficients divided exactly by an integer, over another denominator."""
        return self._with({k: part.divided(divisor) for k, part in self.terms.items()}, denominator)

    # -- parts ----------------------------------------------------------------------------------

    def select(
        self, rows: Sequence[int] | None = None, columns: Sequence[int] | None = None
    ) -> ExactMatrix:
        """Return the submatrix of the given rows and columns, in that order; None keeps all."""
        rows = range(self.shape[0]) if rows is None else rows
        columns = range(self.shape[1]) if columns is None else columns
        if len(set(rows)) < len(rows) or len(set(columns)) < len(columns):
            left, right = (
                ExactMatrix.from_entries((len(at), size), range(len(at)), at, [1] * len(at))
                for at, size in zip((rows, columns), self.shape, strict=True)
            )
            return left @ self @ right.T
        to_row, to_column = map(_places, (rows, columns), self.shape)
        return self._moved(to_row, to_column, (len(rows), len(columns)))

    def masked(
        self, rows: Sequence[int] | None = None, columns: Sequence[int] | None = None
    ) -> ExactMatrix:
        """Return the matrix with every row and column that is not listed set to zero."""
        height, width = self.shape
        to_row, to_column = _places(rows, height, rows), _places(columns, width, columns)
        return self._moved(to_row, to_column, self.shape)

    def placed(
        self, rows: Sequence[int], columns: Sequence[int], shape: tuple[int, int]
    ) -> ExactMatrix:
        """Return a matrix with this one at the given (distinct) rows and columns, else zero."""
        return self._moved(np.asarray(rows), np.asarray(columns), shape)

    def repeated(self, copies: int) -> ExactMatrix:
        """Return the matrix with every entry e replaced by e times an identity of a size."""
        shape = (self.shape[0] * copies, self.shape[1] * copies)
        if copies == 1:
            return self
        terms, each = {}, np.arange(copies)
        for key, part in self.terms.items():
            rows = (part.rows[:, None] * copies + each).ravel()
            columns = (part.columns[:, None] * copies + each).ravel()
            triples = (rows, columns, np.repeat(part.values, copies))
            terms[key] = IntegerMatrix.of_triples(shape, triples)
        return ExactMatrix(shape, self.parameters, terms, self.denominator)

    def _moved(
        self, to_row: np.ndarray, to_column: np.ndarray, shape: tuple[int, int]
    ) -> ExactMatrix:
        terms = {key: part.moved(to_row, to_column, shape) for key, part in self.terms.items()}
        return ExactMatrix(shape, self.parameters, terms, self.denominator)

    def entry(self, row: int, column: int) -> Scalar:
        """Return one entry."""
        return Scalar(self.parameters, self._numerator(row, column), self.denominator)

    def _numerator(self, row: int, column: int) -> fmpz_mpoly:
        found = {key: part.entry(row, column) for key, part in self.terms.items()}
        return polynomial_ring(self.parameters).from_dict(found)

    def rows(self) -> list[list[Scalar]]:
        """Return all entries, row by row."""
        return self._table(self.nonzero(), Scalar(self.parameters, 0))

    def numerators(self) -> list[list[fmpz_mpoly]]:
        """Return the entries over the common denominator, as polynomials over Z, row by row."""
        filled = self._spelled(lambda numerator: numerator)
        return self._table(filled, polynomial_ring(self.parameters).constant(0))

    def _table(self, filled: Iterable[tuple[int, int, _Made]], zero: _Made) -> list[list[_Made]]:
        table = [[zero] * self.shape[1] for _ in range(self.shape[0])]
        for row, column, value in filled:
            table[row][column] = value
        return table

    def _spelled(self, made: Callable[[fmpz_mpoly], _Made]) -> Iterator[tuple[int, int, _Made]]:
        """Yield (row, column, what is made of the numerator) of all entries but 0, in order."""
        ring, parts = polynomial_ring(self.parameters), list(self.terms.values())
        if all(part.by_flint for part in parts):
            flats = zip(*(part.flint.entries() for part in parts), strict=True)
            filled = ((place, row) for place, row in enumerate(flats) if any(row))
        else:
            places = merged([part.places for part in parts])
            big = any(part.values.dtype == object for part in parts)
            table = np.zeros((len(places), len(parts)), dtype=object if big else np.int64)
            for column, part in enumerate(parts):
                table[np.searchsorted(places, part.places), column] = part.values
            filled = zip(places.tolist(), map(tuple, table.tolist()), strict=True)
        known: dict[tuple[int, ...], _Made] = {}  # entries of data repeat
        for place, row in filled:
            if row not in known:
                entry = {key: value for key, value in zip(self.terms, row, strict=True) if value}
                known[row] = made(ring.from_dict(entry))
            yield *divmod(place, self.shape[1]), known[row]

    def nonzero(self) -> Iterator[tuple[int, int, Scalar]]:
        """Return (row, column, value) of every entry that is not zero, in reading order."""
        return self._spelled(lambda top: Scalar(self.parameters, top, self.denominator))

    def trace(self) -> Scalar:
        """Return the trace of a square matrix."""
        return self.frobenius(ExactMatrix.identity(self.shape[0]))

    def frobenius(self, other: ExactMatrix) -> Scalar:
        """Return the Frobenius inner product tr(selfᵀ other)."""
        a, b = self.aligned(other)
        found: dict[Exponents, int] = {}
        for key_a, left in a.terms.items():
            for key_b, right in b.terms.items():
                key = _sum(key_a, key_b)
                found[key] = found.get(key, 0) + left.dot(right)
        total = polynomial_ring(a.parameters).from_dict(found)
        return Scalar(a.parameters, total, a.denominator * b.denominator)

    @property
    def is_zero(self) -> bool:
        """Whether every entry is the zero function."""
        return not self.terms

    @property
    def is_constant(self) -> bool:
        """Whether no parameter occurs in any entry."""
        return bool(self.denominator.is_constant()) and all(not any(key) for key in self.terms)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactMatrix):
            return NotImplemented
        return self.shape == other.shape and (self - other).is_zero

    def __hash__(self) -> int:
        return hash(self.shape)  # equal matrices may be stored with different denominators

    # -- values ---------------------------------------------------------------------------------

    def substitute(self, values: Mapping[str, Fraction]) -> ExactMatrix:
        """Return the matrix with some parameters replaced by rational values.

        Raises:
            ZeroDivisionError: The denominator vanishes at these values.
        """
        if not any(name in values for name in self.parameters):
            return self
        keep = [i for i, name in enumerate(self.parameters) if name not in values]
        drop = [(i, values[name]) for i, name in enumerate(self.parameters) if name in values]
        one = Fraction(1)
        weights = {key: prod((v ** key[i] for i, v in drop), start=one) for key in self.terms}
        common = lcm(*(weight.denominator for weight in weights.values()))
        terms: dict[Exponents, IntegerMatrix] = {}
        for key, part in self.terms.items():
            _add(terms, tuple(key[i] for i in keep), part * int(weights[key] * common))
        left = tuple(self.parameters[i] for i in keep)
        factor = 1 / Scalar(self.parameters, self.denominator).substitute(values)
        return ExactMatrix(self.shape, left, terms, common).scale(factor)

    def _constant(self) -> tuple[IntegerMatrix, int]:
        if not self.is_constant:
            msg = (
                f"the matrix depends on {', '.join(self.parameters)}; "
                "substitute values before asking for numbers"
            )
            raise InputError(msg)
        zero = IntegerMatrix(self.shape, flint=fmpz_mat(*self.shape))
        part = next(iter(self.terms.values()), zero)
        return part, int(self.denominator.leading_coefficient())

    def integers(self) -> tuple[fmpz_mat, int]:
        """Return (integer matrix, common denominator) of a constant matrix.

        Raises:
            InputError: A parameter occurs.
        """
        part, denominator = self._constant()
        return part.flint, denominator

    def triples(self) -> tuple[Iterable[tuple[int, int, int]], int]:
        """Return (row, column, integer) of what is not zero, and the common denominator.

        Raises:
            InputError: A parameter occurs.
        """
        part, denominator = self._constant()
        return part.triples(), denominator

    def to_fractions(self) -> list[list[Fraction]]:
        """Return the entries of a constant matrix as fractions."""
        matrix, denominator = self.integers()
        return [[Fraction(int(x), denominator) for x in row] for row in matrix.tolist()]

    def to_numpy(self) -> np.ndarray:
        """Return a constant matrix as float64, every entry correctly rounded.

        Raises:
            InputError: A parameter occurs, or float64 has no room for an entry.
        """
        result = np.zeros(self.shape)
        at, values = self.floats()
        result[at] = values
        return result

    def floats(self) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """Return ((rows, columns), float64) of what is not zero; raises what :meth:`to_numpy` does.

        In reading order, every entry correctly rounded.
        """
        part, denominator = self._constant()
        return (part.rows, part.columns), part.quotients(denominator)

    def to_sympy(self, symbols: Mapping[str, sp.Symbol] | None = None) -> sp.ImmutableMatrix:
        """Return the matrix as SymPy's, entries factored."""
        import sympy as sp

        return sp.ImmutableMatrix(
            *self.shape, [entry.to_sympy(symbols) for row in self.rows() for entry in row]
        )

    def __repr__(self) -> str:
        return f"ExactMatrix({self.shape[0]}×{self.shape[1]} over Q{list(self.parameters)})"


def _sum(a: Exponents, b: Sequence[int]) -> Exponents:
    return tuple(x + int(y) for x, y in zip(a, b, strict=True))


def _add(total: dict[Exponents, IntegerMatrix], key: Exponents, part: IntegerMatrix) -> None:
    total[key] = total[key] + part if key in total else part


def _places(chosen: Sequence[int] | None, size: int, to: Sequence[int] | None = None) -> np.ndarray:
    """Return the new place of every index, -1 for those that are not chosen; None keeps all.

    Places are counted from 0, in the order of ``chosen``, or given.
    """
    if chosen is None:
        return np.arange(size)
    result = np.full(size, -1, dtype=np.int64)
    result[np.asarray(chosen, dtype=np.int64)] = np.arange(len(chosen)) if to is None else to
    return result
