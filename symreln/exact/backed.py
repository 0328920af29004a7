"""A sparse matrix for code that asks for a dense one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.exact import entries as coo
from symreln.exact.matrix import ExactMatrix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from fractions import Fraction

    import numpy as np
    from flint import fmpz_mat

    from symreln.exact.scalar import Number, Scalar
    from symreln.exact.sparse import SparseMatrix

Exponents = tuple[int, ...]


class SparseBacked(ExactMatrix):
    """An ExactMatrix that is held as a sparse one; dense forms are built when first read."""

    __slots__ = ("_cells", "_dense", "_make", "_sparse")

    def __init__(
        self, sparse: SparseMatrix, make: Callable[[], SparseMatrix] | None = None
    ) -> None:
        """Hold a matrix.

        Args:
            sparse: The matrix, or one of its shape over the same parameters and denominator.
            make: Makes the matrix when it is first needed; None where ``sparse`` is the matrix.
        """
        self.shape = sparse.shape
        self.parameters = sparse.parameters
        self.denominator = sparse.denominator
        self._make = make
        self._sparse = None if make else sparse
        self._dense: dict[Exponents, fmpz_mat] | None = None
        self._cells: dict[Exponents, np.ndarray] | None = None

    @property
    def sparse(self) -> SparseMatrix:
        """The matrix."""
        if self._sparse is None:
            assert self._make is not None
            self._sparse = self._make()
        return self._sparse

    @property
    def terms(self) -> dict[Exponents, fmpz_mat]:
        """Integer coefficient matrices of the monomials, dense."""
        if self._dense is None:
            self._dense = {
                key: coo.to_flint(part, self.shape) for key, part in self.sparse.terms.items()
            }
        return self._dense

    @property
    def _arrays(  # pyright: ignore[reportIncompatibleVariableOverride]
        self,
    ) -> dict[Exponents, np.ndarray] | None:
        """The same as int64 arrays, or None where an entry is too large."""
        parts = self.sparse.terms
        if any(part.values.dtype == object for part in parts.values()):
            return None
        if self._cells is None:
            self._cells = {key: coo.to_cells(part, self.shape) for key, part in parts.items()}
        return self._cells

    @classmethod
    def _held(cls, *args: Any, **options: Any) -> ExactMatrix:
        return ExactMatrix._held(*args, **options)

    def gram(self) -> ExactMatrix:
        """Return selfᵀ self."""
        return (self.sparse.T @ self.sparse).exact

    @property
    def T(self) -> ExactMatrix:
        """The transpose."""
        return self.sparse.T.exact

    @property
    def is_zero(self) -> bool:
        """Whether every entry is the zero function."""
        return self.sparse.is_zero

    @property
    def is_constant(self) -> bool:
        """Whether no parameter occurs in any entry."""
        return self.sparse.is_constant

    def promoted(self, parameters: tuple[str, ...]) -> ExactMatrix:
        """Return the same matrix over a larger set of parameters."""
        return self if parameters == self.parameters else self.sparse.promoted(parameters).exact

    def reduced(self) -> ExactMatrix:
        """Return the same matrix with the factors common to all entries cancelled."""
        return self if self.denominator.is_one() else self.sparse.reduced().exact

    def substitute(self, values: Mapping[str, Fraction]) -> ExactMatrix:
        """Return the matrix with some parameters replaced by rational values."""
        return self.sparse.substitute(values).exact

    def scale(self, factor: Scalar | Number) -> ExactMatrix:
        """Return the matrix times a scalar."""
        return self.sparse.scale(factor).exact

    def select(
        self, rows: Sequence[int] | None = None, columns: Sequence[int] | None = None
    ) -> ExactMatrix:
        """Return the submatrix of the given rows and columns, in that order."""
        return self.sparse.select(rows, columns).exact

    def masked(
        self, rows: Iterable[int] | None = None, columns: Iterable[int] | None = None
    ) -> ExactMatrix:
        """Return the matrix with every row and column that is not listed set to zero."""
        return self.sparse.masked(rows, columns).exact

    def to_numpy(self) -> np.ndarray:
        """Return a constant matrix as float64, every entry correctly rounded."""
        return self.sparse.to_numpy()
