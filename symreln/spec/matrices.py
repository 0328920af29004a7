"""Matrices written in the spec: lists of rows of numbers and formulas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from flint import fmpz_mat

from symreln.errors import Problem, SpecError
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar, polynomial_ring
from symreln.spec.expression import Declared, evaluate
from symreln.spec.finding import Finding, counted, shown
from symreln.spec.rational import MAX_DEGREE, Value

MAX_COMMON_BITS = 16_384
"""Bits of the common denominator of a matrix: it multiplies every entry."""
MAX_LISTED = 10
"""Wrong entries of one matrix that are listed."""


def matrix_from_rows(rows: object, declared: Declared, where: str) -> ExactMatrix:
    """Return a matrix that was written as a list of rows.

    Args:
        rows: Features in rows, samples in columns; numbers or formulas.
        declared: Names that formulas may use.
        where: Key path for messages.

    Raises:
        SpecError: It is no matrix, or entries are wrong; the first MAX_LISTED of them are listed.
    """
    checked = _checked_rows(rows, where)
    problems: list[Problem] = []
    values: list[list[Value]] = []
    for i, row in enumerate(checked):
        values.append([])
        for j, entry in enumerate(row):
            try:
                values[-1].append(evaluate(entry, declared.names, declared.nonnegative))
            except Finding as finding:
                problems.append(finding.at(f"{where}[{i}][{j}]"))
                if len(problems) == MAX_LISTED:
                    raise SpecError(problems) from None
    if problems:
        raise SpecError(problems)
    try:
        if all(isinstance(value, Fraction) for row in values for value in row):
            return matrix_of_fractions(values)  # type: ignore[arg-type]
        _check_denominators([v for row in values for v in row if isinstance(v, Scalar)])
    except Finding as finding:
        raise SpecError([finding.at(where)]) from None
    return ExactMatrix.from_rows(values, declared.names)


def matrix_of_fractions(rows: Sequence[Sequence[Fraction]]) -> ExactMatrix:
    """Return a constant matrix, its entries over one denominator.

    Raises:
        Finding: The common denominator is too large.
    """
    common = common_denominator({value.denominator for row in rows for value in row})
    scaled = [[value.numerator * (common // value.denominator) for value in row] for row in rows]
    return ExactMatrix.from_integers(fmpz_mat(scaled), common)


def common_denominator(denominators: Iterable[int]) -> int:
    """Return the least common multiple.

    Raises:
        Finding: It has more than MAX_COMMON_BITS bits.
    """
    common = 1
    for denominator in denominators:
        common = lcm(common, denominator)
        if common.bit_length() > MAX_COMMON_BITS:
            found = f"entries whose common denominator has more than {MAX_COMMON_BITS} bits"
            raise Finding(
                found=found, expected="a smaller one", hint="Round the entries to fewer digits."
            )
    return common


def _checked_rows(rows: object, where: str) -> list[list[Any]]:
    expected = "a list of rows of equal length, as in [[1, 0], [0, 1]]"
    hint = "Features in rows, samples in columns."
    if hasattr(rows, "tolist"):
        hint += " Call tolist() on an array."
    if not isinstance(rows, list | tuple):
        raise SpecError([Finding(found=shown(rows), expected=expected, hint=hint).at(where)])
    if not rows:
        raise SpecError([Finding(found="no rows", expected=expected, hint=hint).at(where)])
    problems = []
    for i, row in enumerate(rows):
        if not isinstance(row, list | tuple):
            problems.append(
                Finding(found=shown(row), expected="a row, as in [1, 0]", hint=hint).at(
                    f"{where}[{i}]"
                )
            )
        elif not row:
            problems.append(
                Finding(found="an empty row", expected="one entry a sample").at(f"{where}[{i}]")
            )
        elif isinstance(rows[0], list | tuple) and len(row) != len(rows[0]):
            found = f"a row of {counted(len(row), 'entry')}"
            need = f"{len(rows[0])} as in row 0"
            problems.append(
                Finding(found=found, expected=need, hint="One entry a sample.").at(f"{where}[{i}]")
            )
    if problems:
        raise SpecError(problems[:MAX_LISTED])
    return [list(row) for row in rows]


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
            raise Finding(
                found=found,
                expected=expected,
                hint="Multiply the data by it, or declare fewer forms.",
            )
