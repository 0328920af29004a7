r"""Exact linear programming: a direction with given signs, or the proof that there is none.

Motzkin's theorem: of the two

* a direction w with :math:`s\cdot w > 0` for every strict row and :math:`n\cdot w \le 0` for every
  weak row,
* numbers :math:`\lambda, \mu \ge 0`, not all :math:`\lambda` zero, with
  :math:`\sum \lambda_s s = \sum \mu_n n`,

exactly one exists. Phase 1 of the simplex method with Bland's rule, which ends, looks for the
second and leaves the first as its dual solution. It runs over any ordered field (``fmpq``, or
:class:`symreln.exact.real_algebraic.Real`); what it finds is checked before it is believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import fmpq

#: An element of an ordered field.
Number = Any
Row = Sequence[Number]


def direction(strict: Sequence[Row], weak: Sequence[Row], size: int) -> tuple[Number, ...] | None:
    """Return w with s·w > 0 on strict rows and n·w ≤ 0 on weak ones, None where there is none.

    Args:
        strict: Rows of length ``size``, of whole numbers, ``fmpq`` or ``Real``.
        weak: Likewise.
        size: Number of columns.
    """
    zero, one = fmpq(0), fmpq(1)
    if not strict:
        return (zero,) * size
    columns = [[*row, one] for row in strict] + [[-value for value in row] + [zero] for row in weak]
    multipliers, dual, there_is = _phase_one(columns, size + 1)
    if there_is:
        found = tuple(-value for value in dual[:size])
        holds = all(dot(row, found) > 0 for row in strict)
        holds = holds and not any(dot(row, found) > 0 for row in weak)
    else:  # the multipliers λ and μ of the other case, with Σ λ = 1
        found, rows = None, zip(*columns, strict=True)
        holds = not any(value < 0 for value in multipliers) and all(
            dot(row, multipliers) == int(place == size) for place, row in enumerate(rows)
        )
    if not holds:
        msg = "linear programming: what was found does not hold"
        raise ArithmeticError(msg)
    return found


def dot(a: Row, b: Row) -> Number:
    """Return Σ a_i b_i."""
    total: Number = 0
    for x, y in zip(a, b, strict=True):
        if x and y:
            total = x * y + total
    return total


def _phase_one(columns: list[list[Number]], height: int) -> tuple[list, list, bool]:
    """Look for z ≥ 0 with Σ z_j c_j = e_last.

    Returns:
        (z, dual vector y, whether there is none). Then y·c_j ≤ 0 for all j and y_last > 0.
    """
    zero, one = fmpq(0), fmpq(1)
    count = len(columns)
    # Structural columns, then the artificial identity, then the right-hand side.
    table = [
        [*row, *(one if k == i else zero for k in range(height)), one if i == height - 1 else zero]
        for i, row in enumerate(zip(*columns, strict=True))
    ]
    basis = [count + i for i in range(height)]
    # Reduced costs of minimising the sum of artificial variables; the last is -(the minimum).
    cost = [-sum(filter(None, column), zero) for column in zip(*table, strict=True)]
    cost[count : count + height] = [zero] * height
    while (entering := next((j for j in range(count) if cost[j] < 0), None)) is not None:
        # Bland's row: the least ratio, the least index among equal ones. There is one, as the
        # costs are a sum of variables that are not negative.
        ratios = [
            (row[-1] / row[entering], index, place)
            for place, (row, index) in enumerate(zip(table, basis, strict=True))
            if row[entering] > 0
        ]
        leaving = min(ratios)[-1]
        _pivot(table, cost, leaving, entering)
        basis[leaving] = entering
    solution: list[Number] = [zero] * count
    for row, index in zip(table, basis, strict=True):
        if index < count:
            solution[index] = row[-1]
    # The reduced cost of artificial i is 1 - y_i, counted from cost 1: its start here was 0.
    dual = [-cost[count + i] + 1 for i in range(height)]
    return solution, dual, bool(cost[-1])


def _pivot(table: list[list[Number]], cost: list[Number], leaving: int, entering: int) -> None:
    # Once: in a number field an inverse takes an extended greatest common divisor.
    inverse = fmpq(1) / table[leaving][entering]
    own = [value * inverse if value else value for value in table[leaving]]
    table[leaving] = own
    places = [j for j, value in enumerate(own) if value]
    for row in (*table, cost):
        factor = row[entering]
        if row is not own and factor:
            for j in places:
                row[j] = row[j] - own[j] * factor
