"""Small dense matrices over Z[parameters]: characteristic polynomial, echelon form, independence.

Blocks that depend on parameters are small (their size is the number of eigenvalues that meet one
vector), so division-free schoolbook algorithms over FLINT's sparse polynomials are enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from flint import fmpz_mat, fmpz_mpoly

from symreln.exact import integers
from symreln.exact.scalar import Scalar, cleared, polynomial_ring

Table = list[list[fmpz_mpoly]]

SPECTRAL = "x!"  # not an identifier, so no parameter can have this name


def characteristic(a: Table, bottom: fmpz_mpoly, parameters: tuple[str, ...]) -> tuple[Scalar, ...]:
    """Return the coefficients of det(x - a/bottom), low to high, by Faddeev and LeVerrier."""
    size, zero = len(a), polynomial_ring(parameters).constant(0)
    found, product = [zero + 1], [[zero] * size for _ in range(size)]
    for step in range(1, size + 1):
        # a·(product + c·1), of which the trace gives the next coefficient.
        for place in range(size):
            product[place][place] += found[-1]
        columns = list(zip(*product, strict=True))
        product = [[_dot(row, column, zero) for column in columns] for row in a]
        trace = sum((product[place][place] for place in range(size)), zero)
        found.append(-trace // step)
    return tuple(Scalar(parameters, c, bottom**power) for power, c in enumerate(found))[::-1]


def _dot(a: Sequence[fmpz_mpoly], b: Sequence[fmpz_mpoly], zero: fmpz_mpoly) -> fmpz_mpoly:
    terms = (x * y for x, y in zip(a, b, strict=True) if not (x.is_zero() or y.is_zero()))
    return sum(terms, zero)


def echelon(rows: Sequence[Sequence[fmpz_mpoly]]) -> tuple[list[int], Table, fmpz_mpoly]:
    """Return (pivot columns, rows of the reduced form times d, d) without a fraction on the way.

    By Bareiss' rule: every entry is a minor, and d is that of the pivots.
    """
    table, pivots = [list(row) for row in rows], list[int]()
    last = rows[0][0].context().constant(1)
    for place in range(len(rows[0])):
        done = len(pivots)
        chosen = next((i for i in range(done, len(table)) if not table[i][place].is_zero()), None)
        if chosen is None:
            continue
        table[done], table[chosen] = table[chosen], table[done]
        own, pivot = table[done], table[done][place]
        for i, row in enumerate(table):
            if i != done:
                factor = row[place]
                pairs = zip(row, own, strict=True)
                table[i] = [(pivot * x - factor * y) // last for x, y in pairs]
        last = pivot
        pivots.append(place)
    return pivots, table[: len(pivots)], last


def in_x(coefficients: Sequence[Scalar]) -> fmpz_mpoly:
    """Return Σ c_j x^j over Z[x, parameters], times the common denominator of the c_j."""
    ring = polynomial_ring((SPECTRAL, *coefficients[0].parameters))
    x, total = ring.gen(0), ring.constant(0)
    for power, coefficient in enumerate(cleared(coefficients)[0]):
        total += coefficient.project_to_context(ring) * x**power
    return total


def primitive(vector: Sequence[fmpz_mpoly]) -> list[fmpz_mpoly]:
    """Return the vector divided by the greatest common divisor of its entries."""
    common = reduce(lambda total, entry: total.gcd(entry), vector)
    if common.is_zero() or common.is_one():
        return list(vector)
    return [entry // common for entry in vector]


def rows_at_point(columns: Sequence[Sequence[fmpz_mpoly]]) -> list[int]:
    """Return rows on which the columns are independent at one point.

    As many as there are columns prove that these are independent; fewer prove nothing.
    """
    # A fixed point at which no accident is expected.
    point = [1_000_003 + 7919 * place for place in range(columns[0][0].context().nvars())]
    return integers.pivot_columns(fmpz_mat([[entry(*point) for entry in c] for c in columns]))


def independent_rows(columns: Sequence[Sequence[fmpz_mpoly]]) -> list[int]:
    """Return rows on which the columns have their rank, exactly; as many as the rank is."""
    found = rows_at_point(columns)
    return found if len(found) == len(columns) else echelon(columns)[0]
