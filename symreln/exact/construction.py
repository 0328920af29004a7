"""Coefficient matrices of FLINT put together and taken apart, entry by entry."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from flint import fmpz, fmpz_mat, fmpz_mpoly

from symreln.exact import reduction
from symreln.exact.scalar import Scalar, polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from symreln.exact.matrix import ExactMatrix

Exponents = tuple[int, ...]
Terms = dict[Exponents, fmpz_mat]


def of_scalars(
    shape: tuple[int, int], flat: Sequence[Scalar], parameters: tuple[str, ...]
) -> tuple[Terms, fmpz_mpoly]:
    """Return (coefficients, common denominator) of entries given row by row."""
    distinct = {str(s.denominator): s.denominator for s in flat}
    common = least_multiple(distinct.values(), parameters)
    entries: dict[Exponents, dict[int, int]] = {}
    for position, scalar in enumerate(flat):
        if scalar.is_zero:
            continue
        polynomial = scalar.numerator * (common // scalar.denominator)
        for exponents, coefficient in polynomial.to_dict().items():
            key = tuple(int(e) for e in exponents)
            entries.setdefault(key, {})[position] = int(coefficient)
    size = range(shape[0] * shape[1])
    terms = {
        key: fmpz_mat(*shape, [found.get(i, 0) for i in size]) for key, found in entries.items()
    }
    return terms, common


def least_multiple(polynomials: Iterable[fmpz_mpoly], parameters: tuple[str, ...]) -> fmpz_mpoly:
    """Return the least common multiple."""
    common = polynomial_ring(parameters).constant(1)
    for polynomial in polynomials:
        common = common * (polynomial // common.gcd(polynomial))
    return common


def beside(parts: Sequence[ExactMatrix]) -> tuple[Terms, fmpz_mpoly, tuple[int, int]]:
    """Return (coefficients, common denominator, shape) of matrices side by side."""
    height = parts[0].shape[0]
    common = least_multiple([part.denominator for part in parts], parts[0].parameters)
    width = sum(part.shape[1] for part in parts)
    columns: dict[Exponents, list[list[fmpz]]] = {}
    start = 0
    for part in parts:
        scaled = reduction.times_polynomial(part.terms, common // part.denominator)
        for key, matrix in scaled.items():
            table = columns.setdefault(key, [[fmpz(0)] * height for _ in range(width)])
            for index, column in enumerate(matrix.transpose().tolist()):
                table[start + index] = column
        start += part.shape[1]
    terms = {key: fmpz_mat(table).transpose() for key, table in columns.items()}
    return terms, common, (height, width)


def selected(matrix: fmpz_mat, rows: Sequence[int], columns: Sequence[int]) -> fmpz_mat:
    """Return the submatrix of the given rows and columns, in that order."""
    table = matrix.tolist()
    flat = [table[i][j] for i in rows for j in columns]
    return fmpz_mat(len(rows), len(columns), flat)


def masked(
    matrix: fmpz_mat, rows: Collection[int] | None, columns: Collection[int] | None
) -> fmpz_mat:
    """Return the matrix with every row and column that is not listed set to zero."""
    flat = [
        entry if (rows is None or i in rows) and (columns is None or j in columns) else 0
        for i, row in enumerate(matrix.tolist())
        for j, entry in enumerate(row)
    ]
    return fmpz_mat(matrix.nrows(), matrix.ncols(), flat)


def weights_at(
    keys: Iterable[Exponents], parameters: tuple[str, ...], values: Mapping[str, Fraction]
) -> tuple[dict[Exponents, int], int]:
    """Return what the replaced parameters make of every monomial, over one denominator."""
    drop = [(i, values[name]) for i, name in enumerate(parameters) if name in values]
    weights = {}
    for key in keys:
        weight = Fraction(1)
        for index, value in drop:
            weight *= value ** key[index]
        weights[key] = weight
    common = lcm(*(weight.denominator for weight in weights.values()))
    return {key: int(weight * common) for key, weight in weights.items()}, common


def weighted(
    terms: Mapping[Exponents, fmpz_mat], weights: Mapping[Exponents, int], keep: Sequence[int]
) -> Terms:
    """Return Σ weight·coefficients, collected by the exponents at the places kept."""
    result: Terms = {}
    for key, matrix in terms.items():
        scaled = matrix * weights[key]
        short = tuple(key[i] for i in keep)
        result[short] = result[short] + scaled if short in result else scaled
    return result
