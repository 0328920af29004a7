"""Exact matrices over Q(parameters), stored so that the work is done on integer matrices.

A matrix is Σ_m m(parameters) · C_m / q with integer coefficient matrices C_m, one for every
monomial m that occurs, and one common denominator polynomial q. Without parameters there is one
coefficient matrix and an integer q.

The coefficients are FLINT matrices, or int64 arrays (:mod:`symreln.exact.arrays`), which large
correlations are built as: they stay arrays through products and sums for as long as a bound proves
that exact, and become FLINT's where something asks for ``terms``.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, cast

from flint import fmpz_mat, fmpz_mpoly

from symreln.errors import InputError
from symreln.exact import by_entries, construction, reduction
from symreln.exact.reading import Readable
from symreln.exact.scalar import Number, Scalar, polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np

    from symreln.exact.arrays import Arrays

Exponents = tuple[int, ...]


class ExactMatrix(Readable):
    """An immutable matrix over Q(parameters).

    Attributes:
        shape: (rows, columns).
        parameters: Names of the parameters, in the order declared.
        denominator: Common denominator, a polynomial over Z, not zero.
    """

    __slots__ = ("_arrays", "_terms", "denominator", "parameters", "shape")

    def __init__(
        self,
        shape: tuple[int, int],
        parameters: tuple[str, ...],
        terms: Mapping[Exponents, fmpz_mat],
        denominator: fmpz_mpoly | int = 1,
    ) -> None:
        ring = polynomial_ring(parameters)
        self.shape = shape
        self.parameters = parameters
        # Sorted, so that equal matrices print and serialise to the same bytes.
        self._terms: dict[Exponents, fmpz_mat] | None = {
            key: terms[key] for key in sorted(terms) if not terms[key].is_zero()
        }
        self._arrays: Arrays | None = None
        self.denominator: fmpz_mpoly = (
            denominator if isinstance(denominator, fmpz_mpoly) else ring.constant(denominator)
        )
        if self.denominator.is_zero():
            msg = "an exact matrix needs a non-zero denominator"
            raise ZeroDivisionError(msg)

    @property
    def terms(self) -> dict[Exponents, fmpz_mat]:
        """Integer coefficient matrix of every monomial whose coefficient is not zero.

        Keys are exponents in the order of ``parameters``; empty for the zero matrix.
        """
        if self._terms is None:
            from symreln.exact import arrays

            assert self._arrays is not None
            self._terms = {key: arrays.to_flint(array) for key, array in self._arrays.items()}
        return self._terms

    @property
    def arrays(self) -> Arrays | None:
        """``terms`` as int64 arrays, where the matrix is held so; not to be written to."""
        return self._arrays

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
            return cls(shape, (), {(): fmpz_mat(*shape, whole)})
        scalars = [Scalar.of(entry, parameters) for entry in flat]
        terms, common = construction.of_scalars(shape, scalars, parameters)
        return cls(shape, parameters, terms, common)

    @classmethod
    def from_integers(
        cls, matrix: fmpz_mat, denominator: int = 1, parameters: tuple[str, ...] = ()
    ) -> ExactMatrix:
        """Build a constant matrix from an integer matrix and a common denominator."""
        shape = (matrix.nrows(), matrix.ncols())
        return cls(shape, parameters, {(0,) * len(parameters): matrix}, denominator)

    @classmethod
    def from_arrays(
        cls,
        terms: Mapping[Exponents, np.ndarray],
        parameters: tuple[str, ...] = (),
        denominator: fmpz_mpoly | int = 1,
        *,
        shape: tuple[int, int] | None = None,
    ) -> ExactMatrix:
        """Build from integer arrays of one shape, one a monomial; nothing is converted.

        Args:
            terms: Array of an integer type for every monomial, entries below 2^62 in size.
            parameters: Names of the parameters.
            denominator: Common denominator.
            shape: Needed only where there are no terms.

        Raises:
            InputError: An array is not of an integer type, or has an entry of 2^62 or more.
        """
        from symreln.exact import arrays

        found = shape if shape is not None else next(iter(terms.values())).shape
        return cls._held(
            cast("tuple[int, int]", found), parameters, arrays.checked(terms), denominator
        )

    @classmethod
    def _held(
        cls,
        shape: tuple[int, int],
        parameters: tuple[str, ...],
        terms: Arrays,
        denominator: fmpz_mpoly | int,
    ) -> ExactMatrix:
        """Return a matrix that holds checked arrays without zero terms."""
        result = cls(shape, parameters, {}, denominator)
        result._arrays = terms
        result._terms = None
        return result

    @classmethod
    def zeros(cls, rows: int, columns: int, parameters: tuple[str, ...] = ()) -> ExactMatrix:
        """Return the zero matrix."""
        return cls((rows, columns), parameters, {})

    @classmethod
    def identity(cls, size: int, parameters: tuple[str, ...] = ()) -> ExactMatrix:
        """Return the identity."""
        return cls.diagonal([1] * size, parameters)

    @classmethod
    def diagonal(cls, entries: Sequence[int], parameters: tuple[str, ...] = ()) -> ExactMatrix:
        """Return an integer diagonal matrix."""
        size = len(entries)
        matrix = fmpz_mat(size, size)
        for index, entry in enumerate(entries):
            matrix[index, index] = entry
        return cls.from_integers(matrix, 1, parameters)

    # -- arithmetic -----------------------------------------------------------------------------

    def promoted(self, parameters: tuple[str, ...]) -> ExactMatrix:
        """Return the same matrix over a larger set of parameters."""
        if parameters == self.parameters:
            return self
        place = [parameters.index(name) for name in self.parameters]
        keys = self.terms if self._arrays is None else self._arrays
        moved = {}
        for exponents in keys:
            key = [0] * len(parameters)
            for position, exponent in zip(place, exponents, strict=True):
                key[position] = exponent
            moved[exponents] = tuple(key)
        bottom = self.denominator.project_to_context(polynomial_ring(parameters))
        if self._arrays is not None:
            held = {moved[key]: self._arrays[key] for key in sorted(keys, key=moved.__getitem__)}
            return self._held(self.shape, parameters, held, bottom)
        terms = {moved[key]: matrix for key, matrix in self.terms.items()}
        return ExactMatrix(self.shape, parameters, terms, bottom)

    @classmethod
    def beside(cls, parts: Sequence[ExactMatrix]) -> ExactMatrix:
        """Return matrices over the same parameters side by side."""
        terms, common, shape = construction.beside(parts)
        return cls(shape, parts[0].parameters, terms, common)

    @classmethod
    def stacked(cls, parts: Sequence[ExactMatrix]) -> ExactMatrix:
        """Return matrices over the same parameters one below the other."""
        return cls.beside([part.T for part in parts]).T

    def reduced(self) -> ExactMatrix:
        """Return the same matrix with the factors common to all entries cancelled."""
        if self.denominator.is_one():
            return self
        if self.is_zero:
            return ExactMatrix(self.shape, self.parameters, {})
        if not self.denominator.is_constant():
            terms, bottom = reduction.by_polynomial(self.terms, self.parameters, self.denominator)
            if bottom is not self.denominator:
                return ExactMatrix(self.shape, self.parameters, terms, bottom).reduced()
        divisor = gcd(*(int(c) for c in self.denominator.to_dict().values()))
        divisor = self.content(divisor)
        if self.denominator.leading_coefficient() < 0:
            divisor = -divisor
        return self if divisor == 1 else self.divided(divisor, self.denominator // divisor)

    def divided(self, divisor: int, denominator: fmpz_mpoly | int) -> ExactMatrix:
        """Return the coefficients divided exactly by an integer, over another denominator."""
        if self._arrays is not None:
            terms = {key: array // divisor for key, array in self._arrays.items()}
            return self._held(self.shape, self.parameters, terms, denominator)
        whole = {key: reduction.quotient(matrix, divisor) for key, matrix in self.terms.items()}
        return ExactMatrix(self.shape, self.parameters, whole, denominator)

    def aligned(self, other: ExactMatrix) -> tuple[ExactMatrix, ExactMatrix]:
        """Return both matrices over the union of their parameters."""
        if self.parameters == other.parameters:
            return self, other
        extra = tuple(name for name in other.parameters if name not in self.parameters)
        names = self.parameters + extra
        return self.promoted(names), other.promoted(names)

    def __add__(self, other: ExactMatrix) -> ExactMatrix:
        a, b = self.aligned(other)
        if a.shape != b.shape:
            msg = f"cannot add matrices of shapes {a.shape} and {b.shape}"
            raise InputError(msg)
        if a._arrays is not None and b._arrays is not None and a.denominator == b.denominator:
            from symreln.exact import arrays

            held = arrays.added(a._arrays, b._arrays)
            if held is not None:
                return self._held(a.shape, a.parameters, held, a.denominator)
        common = a.denominator.gcd(b.denominator)
        left, right = b.denominator // common, a.denominator // common
        terms = dict(reduction.times_polynomial(a.terms, left))
        for key, matrix in reduction.times_polynomial(b.terms, right).items():
            terms[key] = terms[key] + matrix if key in terms else matrix
        return ExactMatrix(a.shape, a.parameters, terms, a.denominator * left)

    def __neg__(self) -> ExactMatrix:
        if self._arrays is not None:
            terms = {key: -array for key, array in self._arrays.items()}
            return self._held(self.shape, self.parameters, terms, self.denominator)
        terms = {key: -matrix for key, matrix in self.terms.items()}
        return ExactMatrix(self.shape, self.parameters, terms, self.denominator)

    def __sub__(self, other: ExactMatrix) -> ExactMatrix:
        return self + (-other)

    def __matmul__(self, other: ExactMatrix) -> ExactMatrix:
        a, b = self.aligned(other)
        if a.shape[1] != b.shape[0]:
            msg = f"cannot multiply matrices of shapes {a.shape} and {b.shape}"
            raise InputError(msg)
        shape, denominator = (a.shape[0], b.shape[1]), a.denominator * b.denominator
        if a._arrays is not None and b._arrays is not None:
            from symreln.exact import arrays

            held = arrays.product(a._arrays, b._arrays, a.shape[1])
            if held is not None:
                return self._held(shape, a.parameters, held, denominator)
        if by_entries.pays(len(a.terms) * len(b.terms), shape[0] * a.shape[1] * shape[1]):
            found = by_entries.product(a.terms, b.terms, a.parameters)
            return ExactMatrix(shape, a.parameters, found, denominator)
        terms: dict[Exponents, fmpz_mat] = {}
        for key_a, left in a.terms.items():
            for key_b, right in b.terms.items():
                key = tuple(x + y for x, y in zip(key_a, key_b, strict=True))
                product = left * right
                terms[key] = terms[key] + product if key in terms else product
        return ExactMatrix(shape, a.parameters, terms, denominator)

    def gram(self) -> ExactMatrix:
        """Return selfᵀ self."""
        if self._arrays is not None:
            from symreln.exact import arrays

            held = arrays.gram(self._arrays, self.shape[0])
            if held is not None:
                shape = (self.shape[1], self.shape[1])
                return self._held(shape, self.parameters, held, self.denominator**2)
        return self.T @ self

    def scale(self, factor: Scalar | Number) -> ExactMatrix:
        """Return the matrix times a scalar, with common factors of integers cancelled."""
        scalar = Scalar.of(factor, self.parameters) if not isinstance(factor, Scalar) else factor
        if scalar.parameters != self.parameters:
            names = self.parameters + tuple(
                name for name in scalar.parameters if name not in self.parameters
            )
            return self.promoted(names).scale(Scalar.of(scalar, names))
        common = scalar.numerator.gcd(self.denominator)
        if self._arrays is not None and (scalar.numerator // common).is_one():
            bottom = (self.denominator // common) * scalar.denominator
            return self._held(self.shape, self.parameters, self._arrays, bottom)
        terms = reduction.times_polynomial(self.terms, scalar.numerator // common)
        denominator = (self.denominator // common) * scalar.denominator
        return ExactMatrix(self.shape, self.parameters, terms, denominator)

    @property
    def T(self) -> ExactMatrix:
        """The transpose."""
        if self._arrays is not None:
            turned = {key: array.T for key, array in self._arrays.items()}
            shape = (self.shape[1], self.shape[0])
            return self._held(shape, self.parameters, turned, self.denominator)
        terms = {key: matrix.transpose() for key, matrix in self.terms.items()}
        return ExactMatrix((self.shape[1], self.shape[0]), self.parameters, terms, self.denominator)

    # -- parts ----------------------------------------------------------------------------------

    def select(
        self, rows: Sequence[int] | None = None, columns: Sequence[int] | None = None
    ) -> ExactMatrix:
        """Return the submatrix of the given rows and columns, in that order; None keeps all."""
        row_list = range(self.shape[0]) if rows is None else rows
        column_list = range(self.shape[1]) if columns is None else columns
        shape = (len(row_list), len(column_list))
        if self._arrays is not None:
            import numpy as np

            from symreln.exact import arrays

            place = np.ix_(list(row_list), list(column_list))
            held = arrays.nonzero_terms({key: a[place] for key, a in self._arrays.items()})
            return self._held(shape, self.parameters, held, self.denominator)
        rows, columns = list(row_list), list(column_list)
        terms = {k: construction.selected(m, rows, columns) for k, m in self.terms.items()}
        return ExactMatrix(shape, self.parameters, terms, self.denominator)

    def masked(
        self, rows: Iterable[int] | None = None, columns: Iterable[int] | None = None
    ) -> ExactMatrix:
        """Return the matrix with every row and column that is not listed set to zero."""
        keep_rows = None if rows is None else set(rows)
        keep_columns = None if columns is None else set(columns)
        terms = {
            key: construction.masked(matrix, keep_rows, keep_columns)
            for key, matrix in self.terms.items()
        }
        return ExactMatrix(self.shape, self.parameters, terms, self.denominator)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactMatrix):
            return NotImplemented
        return self.shape == other.shape and (self - other).is_zero

    def __hash__(self) -> int:
        return hash(self.shape)  # equal matrices may be stored with different denominators

    def substitute(self, values: Mapping[str, Fraction]) -> ExactMatrix:
        """Return the matrix with some parameters replaced by rational values.

        Raises:
            ZeroDivisionError: The denominator vanishes at these values.
        """
        if not any(name in values for name in self.parameters):
            return self
        left = tuple(name for name in self.parameters if name not in values)
        keep = [i for i, name in enumerate(self.parameters) if name not in values]
        keys = self.terms if self._arrays is None else self._arrays
        weights, common = construction.weights_at(keys, self.parameters, values)
        factor = 1 / Scalar(self.parameters, self.denominator).substitute(values)
        if self._arrays is not None:
            from symreln.exact import arrays

            held = arrays.weighted(self._arrays, weights, keep)
            if held is not None:
                return self._held(self.shape, left, held, common).scale(factor)
        terms = construction.weighted(self.terms, weights, keep)
        return ExactMatrix(self.shape, left, terms, common).scale(factor)

    def __repr__(self) -> str:
        return f"ExactMatrix({self.shape[0]}×{self.shape[1]} over Q{list(self.parameters)})"
