"""Sizes at which no two pathways of a stage act on each other, so that it is closed there.

A matrix D δ + E over N exchangeable values vanishes where all its entries do, and where there are
too few values to see those that do not: :func:`symreln.claims.families.algebra.seen`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.claims.families.algebra import few, seen
from symreln.exact.scalar import Scalar
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from symreln.claims.families.algebra import FamilyMatrix
    from symreln.claims.families.derivation import FamilyStage
    from symreln.claims.families.domain import Condition, Domain
    from symreln.exact.matrix import ExactMatrix

#: From here on, N is at least 2 also with two values named: entries alone decide.
ENOUGH = 4


def vanishes(matrix: FamilyMatrix, values: Mapping[str, Fraction]) -> bool:
    """Return whether a matrix is zero at these values, for all values of the other symbols.

    An entry that is not finite there is not zero.
    """
    if matrix.is_zero:
        return True
    d, e = matrix.d, matrix.e
    number = few(matrix.rows.count.substitute(values))
    if number is not None:
        d, e = seen(d, e, matrix.rows, matrix.columns, number)
    return all(
        Scalar(value.parameters, value.numerator).substitute(values).is_zero
        for value in _entries(d, e)
    )


def closed_at(
    stage: FamilyStage, domain: Domain, exceptions: Iterable[Condition | None]
) -> dict[str, tuple[int, ...]]:
    """Return the values of sizes at which a stage closed by symmetry is closed.

    Args:
        stage: The stage.
        domain: The sizes.
        exceptions: Where nothing is proven.
    """
    matrices = stage.meetings
    if stage.level is not Level.CLOSED_BY_SYMMETRY or not matrices:
        return {}
    broken = {(c.symbol, value) for c in exceptions if c is not None for value in c.values}
    entries = [value for matrix in matrices for value in _entries(matrix.d, matrix.e)]
    found: dict[str, tuple[int, ...]] = {}
    for name in domain.minimum:
        tried = domain.common_roots(entries, name)
        if any(name in _occurring(matrix.rows.count) for matrix in matrices):
            tried |= set(range(1, ENOUGH))
        values = tuple(
            n
            for n in sorted(tried)
            if domain.allows(name, n)
            and (name, n) not in broken
            and all(vanishes(m, {name: Fraction(n)}) for m in matrices)
        )
        if values:
            found[name] = values
    return found


def _entries(*parts: ExactMatrix) -> Iterator[Scalar]:
    """Yield the entries that are not zero."""
    for part in parts:
        for row in part.rows():
            yield from (value for value in row if not value.is_zero)


def _occurring(value: Scalar) -> list[str]:
    degrees = value.numerator.degrees()
    return [name for name, degree in zip(value.parameters, degrees, strict=True) if degree > 0]
