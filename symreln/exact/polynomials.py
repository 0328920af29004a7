"""Small dense matrices over Z[parameters]: characteristic polynomial, adjugate, Krylov vectors.

Blocks that depend on parameters are small (their size is the number of eigenvalues that meet one
vector), so division-free schoolbook algorithms over FLINT's sparse polynomials are enough.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from flint import fmpz, fmpz_mpoly, nmod_mat

from symreln.exact import linear
from symreln.exact.scalar import Scalar, polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Sequence

Table = list[list[fmpz_mpoly]]

SPECTRAL = "x!"  # not an identifier, so no parameter can have this name


def product(a: Table, b: Table) -> Table:
    """Return the matrix product."""
    columns = list(zip(*b, strict=True))
    return [[_dot(row, column) for column in columns] for row in a]


def apply(a: Table, vector: Sequence[fmpz_mpoly]) -> list[fmpz_mpoly]:
    """Return the matrix times a vector."""
    return [_dot(row, vector) for row in a]


def _dot(row: Sequence[fmpz_mpoly], column: Sequence[fmpz_mpoly]) -> fmpz_mpoly:
    return reduce(lambda total, pair: total + pair[0] * pair[1], zip(row, column, strict=True), 0)


def characteristic(a: Table, one: fmpz_mpoly) -> tuple[list[fmpz_mpoly], Table]:
    """Return (coefficients of det(x - a), low to high; adjugate of a), by Faddeev-LeVerrier."""
    size = len(a)
    coefficients = [one]
    zero = one - one
    auxiliary: Table = [[one if i == j else zero for j in range(size)] for i in range(size)]
    for step in range(1, size + 1):
        last = auxiliary
        moved = product(a, auxiliary)
        trace = reduce(lambda total, i: total + moved[i][i], range(size), zero)
        coefficient = -_exact_quotient(trace, step)
        coefficients.append(coefficient)
        auxiliary = [
            [entry + coefficient if i == j else entry for j, entry in enumerate(row)]
            for i, row in enumerate(moved)
        ]
    sign = 1 if size % 2 else -1
    adjugate = [[entry * sign for entry in row] for row in last] if size else []
    return coefficients[::-1], adjugate


def _exact_quotient(polynomial: fmpz_mpoly, divisor: fmpz_mpoly | int) -> fmpz_mpoly:
    quotient, remainder = divmod(polynomial, divisor)
    if remainder != 0:
        msg = f"{polynomial} is not divisible by {divisor}"
        raise ArithmeticError(msg)
    return quotient


def factor_univariate(
    coefficients: Sequence[fmpz_mpoly], parameters: tuple[str, ...]
) -> list[tuple[list[fmpz_mpoly], int]]:
    """Factor Σ c_j x^j over Q(parameters); factors are primitive, coefficients low to high.

    Content that depends on parameters alone is dropped.
    """
    ring = polynomial_ring((SPECTRAL, *parameters))
    x = ring.gen(0)
    total = ring.constant(0)
    for power, coefficient in enumerate(coefficients):
        total += coefficient.project_to_context(ring) * x**power
    _, factors = total.factor()
    return [
        (_in_x(factor, parameters), int(exponent))
        for factor, exponent in factors
        if factor.degrees()[0] > 0
    ]


def _in_x(factor: fmpz_mpoly, parameters: tuple[str, ...]) -> list[fmpz_mpoly]:
    if factor.leading_coefficient() < 0:
        factor = -factor
    ring = polynomial_ring(parameters)
    parts: list[dict[tuple[int, ...], fmpz]] = [{} for _ in range(int(factor.degrees()[0]) + 1)]
    for exponents, coefficient in factor.to_dict().items():
        parts[int(exponents[0])][tuple(int(e) for e in exponents[1:])] = coefficient
    return [ring.from_dict(part) for part in parts]


def multiply(a: Sequence[fmpz_mpoly], b: Sequence[fmpz_mpoly]) -> list[fmpz_mpoly]:
    """Return the product of two polynomials in x."""
    result = [a[0] * 0 for _ in range(len(a) + len(b) - 1)]
    for i, left in enumerate(a):
        for j, right in enumerate(b):
            result[i + j] += left * right
    return result


def evaluate_on_vector(
    polynomial: Sequence[fmpz_mpoly], a: Table, vector: Sequence[fmpz_mpoly]
) -> list[fmpz_mpoly]:
    """Return polynomial(a)·vector by Horner's rule."""
    result = [entry * 0 for entry in vector]
    for coefficient in reversed(polynomial):
        moved = apply(a, result)
        result = [x + coefficient * y for x, y in zip(moved, vector, strict=True)]
    return result


def primitive(vector: Sequence[fmpz_mpoly]) -> list[fmpz_mpoly]:
    """Return the vector divided by the greatest common divisor of its entries."""
    common = reduce(lambda total, entry: total.gcd(entry), vector)
    if common.is_zero() or common.is_one():
        return list(vector)
    return [entry // common for entry in vector]


def evaluation_point(parameters: tuple[str, ...], attempt: int = 0) -> tuple[int, ...]:
    """Return a fixed integer point at which no accident is expected."""
    return tuple(1_000_003 + 7919 * index + 104_729 * attempt for index in range(len(parameters)))


def independent_rows(columns: Sequence[Sequence[fmpz_mpoly]]) -> list[int]:
    """Return rows on which the columns are independent (proven at one point modulo a prime)."""
    names = columns[0][0].context().names()
    point = evaluation_point(tuple(names))
    table = [[int(entry(*point)) % linear.PRIME for entry in column] for column in columns]
    reduced, rank = nmod_mat(len(table), len(table[0]), sum(table, []), linear.PRIME).rref()
    pivots: list[int] = []
    column = 0
    for row in reduced.tolist()[: int(rank)]:
        while int(row[column]) == 0:
            column += 1
        pivots.append(column)
        column += 1
    return pivots


def solve(
    columns: Sequence[Sequence[fmpz_mpoly]],
    targets: Sequence[Sequence[fmpz_mpoly]],
    parameters: tuple[str, ...],
) -> list[list[Scalar]] | None:
    """Return for every target its coordinates over the columns, or None where one is outside.

    The columns must be independent. Exact: a square subsystem is solved by its adjugate, and the
    whole equation is checked.
    """
    rows = independent_rows(columns)
    if len(rows) < len(columns):
        return None
    one = polynomial_ring(parameters).constant(1)
    square = [[column[row] for column in columns] for row in rows]
    coefficients, adjugate = characteristic(square, one)
    determinant = coefficients[0] if len(columns) % 2 == 0 else -coefficients[0]
    answer: list[list[Scalar]] = []
    for target in targets:
        numerators = apply(adjugate, [target[row] for row in rows])
        for index, entry in enumerate(target):
            if _dot([column[index] for column in columns], numerators) != entry * determinant:
                return None
        answer.append([Scalar(parameters, top, determinant) for top in numerators])
    return answer
