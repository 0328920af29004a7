"""Matrices written in the spec: lists of rows of numbers and formulas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm

from flint import fmpz_mat

from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar, polynomial_ring
from symreln.spec.expression import Declared
from symreln.spec.finding import Finding, counted, read_all, shown
from symreln.spec.rational import MAX_DEGREE

MAX_COMMON_BITS = 16_384
"""Bits of the common denominator of a matrix: it multiplies every entry."""


def matrix_from_rows(rows: object, declared: Declared) -> ExactMatrix:
    """Return a matrix that was written as a list of rows.

    Args:
        rows: Features in rows, samples in columns; numbers or formulas.
        declared: Names that formulas may use.

    Raises:
        SpecError: It is no matrix, or entries are wrong; the first MAX_LISTED of them are listed.
    """
    checked = _checked_rows(rows)
    entries = (
        (f"[{i}][{j}]", entry) for i, row in enumerate(checked) for j, entry in enumerate(row)
    )
    flat = read_all(entries, declared.value)
    width = len(checked[0])
    values = [flat[start : start + width] for start in range(0, len(flat), width)]
    if all(isinstance(value, Fraction) for value in flat):
        return matrix_of_fractions(values)  # type: ignore[arg-type]
    _check_denominators([value for value in flat if isinstance(value, Scalar)])
    return ExactMatrix.from_rows(values, declared.names)


def matrix_of_fractions(rows: Sequence[Sequence[Fraction]]) -> ExactMatrix:
    """Return a constant matrix, its entries over one denominator.

    Raises:
        Finding: The common denominator is too large.
    """
    common = _common_denominator({value.denominator for row in rows for value in row})
    scaled = [[value.numerator * (common // value.denominator) for value in row] for row in rows]
    return ExactMatrix.from_integers(fmpz_mat(scaled), common)


def _common_denominator(denominators: Iterable[int]) -> int:
    """Return the least common multiple.

    Raises:
        Finding: It has more than MAX_COMMON_BITS bits.
    """
    common = 1
    for denominator in denominators:
        common = lcm(common, denominator)
        if common.bit_length() > MAX_COMMON_BITS:
            found = f"entries whose common denominator has more than {MAX_COMMON_BITS} bits"
            raise Finding(found, "a smaller one", "Round the entries to fewer digits.")
    return common


def _checked_rows(rows: object) -> list[Sequence[object]]:
    hint = "Features in rows, samples in columns."
    if not isinstance(rows, list | tuple) or not rows:
        found = "no rows" if isinstance(rows, list | tuple) else shown(rows)
        array = " Call tolist() on an array." * hasattr(rows, "tolist")
        raise Finding(found, "a list of rows of equal length, as in [[1, 0], [0, 1]]", hint + array)
    first = rows[0]

    def row(entries: object) -> Sequence[object]:
        if not isinstance(entries, list | tuple):
            raise Finding(shown(entries), "a row, as in [1, 0]", hint)
        if not entries:
            raise Finding("an empty row", "one entry a sample")
        if isinstance(first, list | tuple) and len(entries) != len(first):
            found = f"a row of {counted(len(entries), 'entry')}"
            raise Finding(found, f"{len(first)} as in row 0", "One entry a sample.")
        return entries

    return read_all(((f"[{i}]", entries) for i, entries in enumerate(rows)), row)


def _check_denominators(scalars: list[Scalar]) -> None:
    """Check that the common denominator, a polynomial, stays small.

    Raises:
        Finding: Its degree could pass MAX_DEGREE, or its content MAX_COMMON_BITS.
    """
    distinct = {str(s.denominator): s.denominator for s in scalars}
    if not distinct:
        return
    common = polynomial_ring(scalars[0].parameters).constant(1)
    for denominator in distinct.values():
        common = common * (denominator // common.gcd(denominator))
        bits = max(int(c).bit_length() for c in common.coeffs())
        if common.total_degree() > MAX_DEGREE or bits > MAX_COMMON_BITS:
            found = "entries with many different denominators"
            expected = f"a common denominator of degree at most {MAX_DEGREE}"
            raise Finding(found, expected, "Multiply the data by it, or declare fewer forms.")
