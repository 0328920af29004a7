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
from math import gcd, lcm
from typing import TYPE_CHECKING, cast

from flint import fmpz, fmpz_mat, fmpz_mpoly

from symreln.errors import InputError
from symreln.exact import reduction
from symreln.exact.scalar import Number, Scalar, polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    import sympy as sp

    from symreln.exact.arrays import Arrays

Exponents = tuple[int, ...]


class ExactMatrix:
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
        return cls._from_scalars(shape, scalars, parameters)

    @classmethod
    def _from_scalars(
        cls, shape: tuple[int, int], flat: list[Scalar], parameters: tuple[str, ...]
    ) -> ExactMatrix:
        common = polynomial_ring(parameters).constant(1)
        for denominator in {str(s.denominator): s.denominator for s in flat}.values():
            common = common * (denominator // common.gcd(denominator))
        entries: dict[Exponents, dict[int, int]] = {}
        for position, scalar in enumerate(flat):
            if scalar.is_zero:
                continue
            polynomial = scalar.numerator * (common // scalar.denominator)
            for exponents, coefficient in polynomial.to_dict().items():
                key = tuple(int(e) for e in exponents)
                entries.setdefault(key, {})[position] = int(coefficient)
        size = shape[0] * shape[1]
        terms = {
            key: fmpz_mat(*shape, [found.get(i, 0) for i in range(size)])
            for key, found in entries.items()
        }
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
        import numpy as np

        from symreln.exact import arrays

        for array in terms.values():
            if array.dtype.kind not in "iu" or arrays.largest(array) >= 2**62:
                msg = (
                    f"from_arrays: an array of type {array.dtype}, largest entry "
                    f"{arrays.largest(array)}; needed are integers below 2^62 (use from_rows)"
                )
                raise InputError(msg)
        found = shape if shape is not None else next(iter(terms.values())).shape
        whole = {key: array.astype(np.int64) for key, array in terms.items()}
        return cls._held(
            cast("tuple[int, int]", found), parameters, arrays.nonzero_terms(whole), denominator
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
        terms = {}
        for exponents, matrix in self.terms.items():
            key = [0] * len(parameters)
            for position, exponent in zip(place, exponents, strict=True):
                key[position] = exponent
            terms[tuple(key)] = matrix
        ring = polynomial_ring(parameters)
        return ExactMatrix(self.shape, parameters, terms, self.denominator.project_to_context(ring))

    @classmethod
    def beside(cls, parts: Sequence[ExactMatrix]) -> ExactMatrix:
        """Return matrices over the same parameters side by side."""
        first = parts[0]
        ring = polynomial_ring(first.parameters)
        common = ring.constant(1)
        for part in parts:
            common = common * (part.denominator // common.gcd(part.denominator))
        width = sum(part.shape[1] for part in parts)
        columns: dict[Exponents, list[list[fmpz]]] = {}
        start = 0
        for part in parts:
            for key, matrix in _times_polynomial(part.terms, common // part.denominator).items():
                table = columns.setdefault(key, [[fmpz(0)] * first.shape[0] for _ in range(width)])
                for index, column in enumerate(matrix.transpose().tolist()):
                    table[start + index] = column
            start += part.shape[1]
        terms = {key: fmpz_mat(table).transpose() for key, table in columns.items()}
        return cls((first.shape[0], width), first.parameters, terms, common)

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

    def content(self, start: int = 0) -> int:
        """Return the greatest common divisor of ``start`` and all coefficients."""
        common = start
        if self._arrays is not None:
            from symreln.exact import arrays

            for array in self._arrays.values():
                common = arrays.content(array, common)
            return common
        for matrix in self.terms.values():
            common = reduction.content(matrix, common)
        return common

    def divided(self, divisor: int, denominator: fmpz_mpoly | int) -> ExactMatrix:
        """Return the coefficients divided exactly by an integer, over another denominator."""
        if self._arrays is not None:
            terms = {key: array // divisor for key, array in self._arrays.items()}
            return self._held(self.shape, self.parameters, terms, denominator)
        whole = {key: reduction.quotient(matrix, divisor) for key, matrix in self.terms.items()}
        return ExactMatrix(self.shape, self.parameters, whole, denominator)

    def aligned(self, other: ExactMatrix) -> tuple[ExactMatrix, ExactMatrix]:
        """Return both matrices over the union of their parameters."""
        return self._pair(other)

    def _pair(self, other: ExactMatrix) -> tuple[ExactMatrix, ExactMatrix]:
        if self.parameters == other.parameters:
            return self, other
        extra = tuple(name for name in other.parameters if name not in self.parameters)
        names = self.parameters + extra
        return self.promoted(names), other.promoted(names)

    def __add__(self, other: ExactMatrix) -> ExactMatrix:
        a, b = self._pair(other)
        if a.shape != b.shape:
            msg = f"cannot add matrices of shapes {a.shape} and {b.shape}"
            raise InputError(msg)
        if a.denominator == b.denominator:
            held = a._combined(b, 1)
            if held is not None:
                return held
        common = a.denominator.gcd(b.denominator)
        left, right = b.denominator // common, a.denominator // common
        terms = dict(_times_polynomial(a.terms, left))
        for key, matrix in _times_polynomial(b.terms, right).items():
            terms[key] = terms[key] + matrix if key in terms else matrix
        return ExactMatrix(a.shape, a.parameters, terms, a.denominator * left)

    def _combined(self, other: ExactMatrix, sign: int) -> ExactMatrix | None:
        """Return self + sign·other over one denominator, where both are held as arrays."""
        if self._arrays is None or other._arrays is None:
            return None
        from symreln.exact import arrays

        terms = arrays.combined(self._arrays, other._arrays, sign)
        if terms is None:
            return None
        return self._held(self.shape, self.parameters, terms, self.denominator)

    def __neg__(self) -> ExactMatrix:
        if self._arrays is not None:
            terms = {key: -array for key, array in self._arrays.items()}
            return self._held(self.shape, self.parameters, terms, self.denominator)
        terms = {key: -matrix for key, matrix in self.terms.items()}
        return ExactMatrix(self.shape, self.parameters, terms, self.denominator)

    def __sub__(self, other: ExactMatrix) -> ExactMatrix:
        return self + (-other)

    def __matmul__(self, other: ExactMatrix) -> ExactMatrix:
        a, b = self._pair(other)
        if a.shape[1] != b.shape[0]:
            msg = f"cannot multiply matrices of shapes {a.shape} and {b.shape}"
            raise InputError(msg)
        shape, denominator = (a.shape[0], b.shape[1]), a.denominator * b.denominator
        if a._arrays is not None and b._arrays is not None:
            from symreln.exact import arrays

            held = arrays.product(a._arrays, b._arrays, a.shape[1])
            if held is not None:
                return self._held(shape, a.parameters, held, denominator)
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
        terms = _times_polynomial(self.terms, scalar.numerator // common)
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
        terms = {}
        for key, matrix in self.terms.items():
            table = matrix.tolist()
            flat = [table[i][j] for i in row_list for j in column_list]
            terms[key] = fmpz_mat(*shape, flat)
        return ExactMatrix(shape, self.parameters, terms, self.denominator)

    def masked(
        self, rows: Iterable[int] | None = None, columns: Iterable[int] | None = None
    ) -> ExactMatrix:
        """Return the matrix with every row and column that is not listed set to zero."""
        keep_rows = None if rows is None else set(rows)
        keep_columns = None if columns is None else set(columns)
        terms = {}
        for key, matrix in self.terms.items():
            flat = [
                entry
                if (keep_rows is None or i in keep_rows)
                and (keep_columns is None or j in keep_columns)
                else 0
                for i, row in enumerate(matrix.tolist())
                for j, entry in enumerate(row)
            ]
            terms[key] = fmpz_mat(*self.shape, flat)
        return ExactMatrix(self.shape, self.parameters, terms, self.denominator)

    def entry(self, row: int, column: int) -> Scalar:
        """Return one entry."""
        ring = polynomial_ring(self.parameters)
        found: dict[Exponents, fmpz | int]
        if self._arrays is not None:
            found = {key: int(array[row, column]) for key, array in self._arrays.items()}
        else:
            found = {key: matrix[row, column] for key, matrix in self.terms.items()}
        return Scalar(self.parameters, ring.from_dict(found), self.denominator)

    def rows(self) -> list[list[Scalar]]:
        """Return all entries, row by row."""
        return [[self.entry(i, j) for j in range(self.shape[1])] for i in range(self.shape[0])]

    def first_nonzero(self) -> tuple[int, int, Scalar] | None:
        """Return (row, column, entry) of the first non-zero entry in reading order, or None."""
        positions = [
            next(k for k, entry in enumerate(matrix.entries()) if entry != 0)
            for matrix in self.terms.values()
        ]
        if not positions:
            return None
        row, column = divmod(min(positions), self.shape[1])
        return row, column, self.entry(row, column)

    def trace(self) -> Scalar:
        """Return the trace of a square matrix."""
        ring = polynomial_ring(self.parameters)
        size = range(self.shape[0])
        polynomial = ring.from_dict(
            {key: sum(matrix[i, i] for i in size) for key, matrix in self.terms.items()}
        )
        return Scalar(self.parameters, polynomial, self.denominator)

    def frobenius(self, other: ExactMatrix) -> Scalar:
        """Return the Frobenius inner product tr(selfᵀ other)."""
        a, b = self._pair(other)
        ring = polynomial_ring(a.parameters)
        total = ring.constant(0)
        for key_a, left in a.terms.items():
            flat = left.entries()
            for key_b, right in b.terms.items():
                dot = sum(
                    (x * y for x, y in zip(flat, right.entries(), strict=True) if x and y), start=0
                )
                key = tuple(x + y for x, y in zip(key_a, key_b, strict=True))
                total += ring.from_dict({key: dot})
        return Scalar(a.parameters, total, a.denominator * b.denominator)

    @property
    def is_zero(self) -> bool:
        """Whether every entry is the zero function."""
        return not (self.terms if self._arrays is None else self._arrays)

    @property
    def is_constant(self) -> bool:
        """Whether no parameter occurs in any entry."""
        keys = self.terms if self._arrays is None else self._arrays
        return bool(self.denominator.is_constant()) and all(not any(key) for key in keys)

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
        left = tuple(name for name in self.parameters if name not in values)
        keep = [i for i, name in enumerate(self.parameters) if name not in values]
        drop = [(i, values[name]) for i, name in enumerate(self.parameters) if name in values]
        weights = {}
        for key in self.terms if self._arrays is None else self._arrays:
            weight = Fraction(1)
            for index, value in drop:
                weight *= value ** key[index]
            weights[key] = weight
        common = lcm(*(weight.denominator for weight in weights.values()))
        whole = {key: int(weight * common) for key, weight in weights.items()}
        bottom = Scalar(self.parameters, self.denominator).substitute(values)
        return self._weighted(whole, keep, left, common).scale(1 / bottom)

    def _weighted(
        self, weights: Mapping[Exponents, int], keep: list[int], left: tuple[str, ...], common: int
    ) -> ExactMatrix:
        """Return Σ weight·coefficient/common, collected by the exponents that are kept."""
        if self._arrays is not None:
            from symreln.exact import arrays

            held = arrays.weighted(self._arrays, weights, keep)
            if held is not None:
                return self._held(self.shape, left, held, common)
        terms: dict[Exponents, fmpz_mat] = {}
        for key, matrix in self.terms.items():
            scaled = matrix * weights[key]
            short = tuple(key[i] for i in keep)
            terms[short] = terms[short] + scaled if short in terms else scaled
        return ExactMatrix(self.shape, left, terms, common)

    def integers(self) -> tuple[fmpz_mat, int]:
        """Return (integer matrix, common denominator) of a constant matrix.

        Raises:
            InputError: A parameter occurs.
        """
        if not self.is_constant:
            msg = (
                f"the matrix depends on {', '.join(self.parameters)}; "
                "substitute values before asking for numbers"
            )
            raise InputError(msg)
        matrix = next(iter(self.terms.values()), fmpz_mat(*self.shape))
        return matrix, int(self.denominator.leading_coefficient())

    def to_fractions(self) -> list[list[Fraction]]:
        """Return the entries of a constant matrix as fractions."""
        matrix, denominator = self.integers()
        return [[Fraction(int(x), denominator) for x in row] for row in matrix.tolist()]

    def to_numpy(self) -> np.ndarray:
        """Return a constant matrix as float64, every entry correctly rounded."""
        import numpy as np

        if self._arrays and self.is_constant:
            array = next(iter(self._arrays.values()))
            bottom = int(self.denominator.leading_coefficient())
            # Both exact in float64, so that one division rounds correctly.
            if np.abs(array).max(initial=0) < 2**53 and abs(bottom) < 2**53:
                return array / bottom
        # int/int division is correctly rounded in Python for integers of any size.
        matrix, denominator = self.integers()
        flat = [int(x) / denominator for x in matrix.entries()]
        return np.array(flat, dtype=float).reshape(self.shape)

    def to_sympy(self, symbols: Mapping[str, sp.Symbol] | None = None) -> sp.ImmutableMatrix:
        """Return the matrix as SymPy's, entries factored."""
        import sympy as sp

        return sp.ImmutableMatrix(
            *self.shape, [entry.to_sympy(symbols) for row in self.rows() for entry in row]
        )

    def __repr__(self) -> str:
        return f"ExactMatrix({self.shape[0]}×{self.shape[1]} over Q{list(self.parameters)})"


def _times_polynomial(
    terms: Mapping[Exponents, fmpz_mat], polynomial: fmpz_mpoly
) -> dict[Exponents, fmpz_mat]:
    """Multiply every coefficient matrix by a polynomial, monomial by monomial."""
    if polynomial.is_one():
        return dict(terms)
    result: dict[Exponents, fmpz_mat] = {}
    for exponents, coefficient in polynomial.to_dict().items():
        for key, matrix in terms.items():
            place = tuple(x + int(y) for x, y in zip(key, exponents, strict=True))
            product = matrix * coefficient
            result[place] = result[place] + product if place in result else product
    return result
