r"""Exact linear programming: a direction with given signs, or the proof that there is none.

Motzkin's theorem: of the two

* a direction w with :math:`s\cdot w > 0` for every strict row and :math:`n\cdot w \le 0` for every
  weak row,
* numbers :math:`\lambda, \mu \ge 0`, not all :math:`\lambda` zero, with
  :math:`\sum \lambda_s s = \sum \mu_n n`,

exactly one exists. Phase 1 of the simplex method with Bland's rule, which ends, looks for the
second and leaves the first as its dual solution. It runs over any ordered field (``fmpq``, or
:class:`symreln.exact.real_algebraic.Real`); what it finds is checked before it is given back.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import fmpq

from symreln.base.records import record

#: An element of an ordered field.
Number = Any
Row = Sequence[Number]


@record
class Direction:
    """A direction with the signs asked for.

    Attributes:
        vector: w, one entry a column.
    """

    vector: tuple[Number, ...]


@record
class Farkas:
    """Proof that no direction has the signs asked for: Σ strict·s = Σ weak·n, strict not all 0.

    Attributes:
        strict: Multipliers of the strict rows, none negative, at least one positive.
        weak: Multipliers of the weak rows, none negative.
    """

    strict: tuple[Number, ...]
    weak: tuple[Number, ...]


def direction(strict: Sequence[Row], weak: Sequence[Row], size: int) -> Direction | Farkas:
    """Return w with s·w > 0 on strict rows and n·w ≤ 0 on weak ones, or the proof of none.

    Args:
        strict: Rows of length ``size``.
        weak: Likewise.
        size: Number of columns.

    Raises:
        TypeError: A row holds floats.
    """
    zero, one = fmpq(0), fmpq(1)
    strict = [[_exact(value) for value in row] for row in strict]
    weak = [[_exact(value) for value in row] for row in weak]
    if not strict:
        return Direction(vector=(zero,) * size)
    columns = [[*row, one] for row in strict] + [[-value for value in row] + [zero] for row in weak]
    multipliers, dual, height = _phase_one(columns, size + 1)
    if height:
        found = Direction(vector=tuple(-value for value in dual[:size]))
        if not all(dot(row, found.vector) > 0 for row in strict) or any(
            dot(row, found.vector) > 0 for row in weak
        ):
            msg = "linear programming: the direction found has wrong signs"
            raise ArithmeticError(msg)
        return found
    proof = Farkas(strict=tuple(multipliers[: len(strict)]), weak=tuple(multipliers[len(strict) :]))
    if not _proves(proof, strict, weak, size):
        msg = "linear programming: the multipliers found prove nothing"
        raise ArithmeticError(msg)
    return proof


def _proves(proof: Farkas, strict: Sequence[Row], weak: Sequence[Row], size: int) -> bool:
    """Return whether multipliers prove that there is no direction; sums and signs only."""
    if len(proof.strict) != len(strict) or len(proof.weak) != len(weak):
        return False
    if any(value < 0 for value in (*proof.strict, *proof.weak)):
        return False
    if not any(value > 0 for value in proof.strict):
        return False
    return all(
        dot([row[k] for row in strict], proof.strict) == dot([row[k] for row in weak], proof.weak)
        for k in range(size)
    )


def dot(a: Row, b: Row) -> Number:
    """Return Σ a_i b_i."""
    total: Number = 0
    for x, y in zip(a, b, strict=True):
        if x and y:
            total = x * y + total
    return total


def fractions(values: Sequence[Number]) -> tuple[Fraction, ...]:
    """Return rational numbers as fractions."""
    found = [fmpq(value) for value in values]
    return tuple(Fraction(int(value.p), int(value.q)) for value in found)


def _exact(value: Number) -> Number:
    """Return whole numbers and fractions as ``fmpq``: a quotient of integers is a float."""
    if isinstance(value, int | Fraction):
        return fmpq(value.numerator, value.denominator)
    if isinstance(value, float):
        msg = f"linear programming: found the float {value}; give exact numbers"
        raise TypeError(msg)
    return value


def _phase_one(columns: list[list[Number]], height: int) -> tuple[list, list, bool]:
    """Look for z ≥ 0 with Σ z_j c_j = e_last.

    Returns:
        (z, dual vector y, whether there is none). Then y·c_j ≤ 0 for all j and y_last > 0.
    """
    zero, one = fmpq(0), fmpq(1)
    count = len(columns)
    # Structural columns, then the artificial identity, then the right-hand side.
    table = [
        [column[i] for column in columns]
        + [one if k == i else zero for k in range(height)]
        + [one if i == height - 1 else zero]
        for i in range(height)
    ]
    basis = [count + i for i in range(height)]
    width = count + height
    # Reduced costs of minimising the sum of artificial variables; the last is -(the minimum).
    cost = [-_sum(row[j] for row in table) for j in range(count)] + [zero] * height
    cost.append(-_sum(row[-1] for row in table))
    while True:
        entering = next((j for j in range(count) if cost[j] < 0), None)
        if entering is None:
            break
        leaving = _leaving(table, basis, entering)
        _pivot(table, cost, leaving, entering)
        basis[leaving] = entering
    solution: list[Number] = [zero] * count
    for row, index in zip(table, basis, strict=True):
        if index < count:
            solution[index] = row[-1]
    # The reduced cost of artificial i is 1 - y_i, counted from cost 1: its start here was 0.
    dual = [-cost[count + i] + 1 for i in range(height)]
    return solution, dual, bool(cost[width])


def _leaving(table: list[list[Number]], basis: list[int], entering: int) -> int:
    """Return Bland's row: the least ratio, the least index among equal ones."""
    best, least = -1, None
    for i, row in enumerate(table):
        if row[entering] > 0:
            ratio = row[-1] / row[entering]
            if least is None or ratio < least or (ratio == least and basis[i] < basis[best]):
                best, least = i, ratio
    return best  # bounded: the costs are a sum of variables that are not negative


def _pivot(table: list[list[Number]], cost: list[Number], leaving: int, entering: int) -> None:
    pivot = table[leaving][entering]
    inverse = 1 / pivot  # once: in a number field it takes an extended greatest common divisor
    own = [value * inverse if value else value for value in table[leaving]]
    table[leaving] = own
    places = [j for j, value in enumerate(own) if value]
    for row in (*table, cost):
        factor = row[entering]
        if row is not own and factor:
            for j in places:
                row[j] = row[j] - own[j] * factor


def _sum(values: Any) -> Number:
    total: Number = fmpq(0)
    for value in values:
        if value:
            total = value + total
    return total
