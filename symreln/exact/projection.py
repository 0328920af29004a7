"""Orthogonal projection of sparse rows onto the row space of others, over Q(parameters).

Features that are a function of the parameters times a constant row, as scaled inputs are, span what
their constant rows span: a basis b of those is enough, and b bᵀ is inverted by its connected
components. For all others there are pseudo-inverses of Gram matrices.
"""

from __future__ import annotations

import numpy as np
from flint import fmpz_mat

from symreln.base.records import record
from symreln.exact import integers, polynomials
from symreln.exact.linear import inverse, pseudo_inverse
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar, polynomial_ring

# Above so many operations of dense elimination the rows are eliminated as dictionaries.
_DENSE_WORK = 5 * 10**8


def projected(rows: ExactMatrix, features: ExactMatrix) -> ExactMatrix:
    """Return every row's orthogonal projection onto the row space of the features.

    Args:
        rows: Shape (any, P).
        features: Shape (any, P).
    """
    found = _constant_basis(features)
    if found is None:
        if _spanning_rows(features) is not None:
            return rows
        return ((rows @ _general_inverse(features)) @ features).reduced()
    if found.basis.shape[0] == features.shape[1]:
        return rows
    return ((rows @ found.inverse) @ found.basis).reduced()


def right_inverse(features: ExactMatrix) -> ExactMatrix:
    """Return Z, shape (P, any), with (1 - Z F) Fᵀ = 0 for features F of shape (any, P).

    Features that are a multiple of one row share what it asks for.
    """
    found = _constant_basis(features)
    if found is None:
        return _general_inverse(features)
    kinds: dict[Scalar, list[tuple[int, int]]] = {}
    for place, ray in enumerate(found.rays):
        for row, scale in ray:
            kinds.setdefault(1 / (scale * len(ray)), []).append((place, row))
    names, shape = features.parameters, (len(found.rays), features.shape[0])
    weights = ExactMatrix.zeros(*shape, names)
    for value, places in kinds.items():
        at, columns = zip(*places, strict=True)
        ones = ExactMatrix.from_entries(shape, at, columns, [1] * len(places), 1, names)
        weights = weights + ones.scale(value)
    return found.inverse @ weights


def _general_inverse(features: ExactMatrix) -> ExactMatrix:
    """Return Z of any features.

    Where the features span everything, the inverse of as many of them as there are samples; else
    F⁺, by the Gram matrix of the features or of the samples, whichever are fewer.
    """
    count, samples = features.shape
    chosen = _spanning_rows(features)
    if chosen is not None:
        square = inverse(features.select(rows=chosen))
        places = ExactMatrix.from_entries(
            (samples, count), range(samples), chosen, [1] * samples, 1, features.parameters
        )
        return square @ places
    if samples < count:
        gram = pseudo_inverse((features.T @ features).reduced())
        return (gram @ features.T).reduced()
    gram = pseudo_inverse((features @ features.T).reduced())
    return (features.T @ gram).reduced()


def _spanning_rows(features: ExactMatrix) -> list[int] | None:
    """Return as many independent rows as there are samples, or None: full rank is proven."""
    count, samples = features.shape
    whole = features
    if count < samples or whole.is_zero:
        return None
    chosen = polynomials.rows_at_point(list(zip(*whole.numerators(), strict=True)))
    return chosen if len(chosen) == samples else None


#: The features that are multiples of one constant row: their places, with the factors.
_Ray = list[tuple[int, Scalar]]


@record(eq=False)
class _Basis:
    """Constant rows that are a basis b of what features span, each a multiple of b's rows.

    Attributes:
        basis: b, short rows first.
        inverse: bᵀ (b bᵀ)⁻¹.
        rays: The features along each of the rows.
    """

    basis: ExactMatrix
    inverse: ExactMatrix
    rays: list[_Ray]


def _constant_basis(features: ExactMatrix) -> _Basis | None:
    """Return a basis, or None where a feature is no function times a constant row, or by bad luck.

    That the other features lie in the span is checked over Z: rows that are dependent modulo the
    prime alone are left out.
    """
    found = _rays(features)
    if found is None:
        return None
    rays = sorted(found.items(), key=lambda item: len(item[0][0]))
    lengths = [len(columns) for (columns, _), _ in rays]
    constant = ExactMatrix.from_entries(
        (len(rays), features.shape[1]),
        np.repeat(np.arange(len(rays)), lengths),
        [column for (columns, _), _ in rays for column in columns],
        [value for (_, values), _ in rays for value in values],
    )
    chosen = independent_rows(constant)
    basis = constant.select(rows=chosen)
    back = (basis.T @ inverse((basis @ basis.T).reduced())).reduced()
    others = constant.select(rows=sorted(set(range(len(rays))) - set(chosen)))
    if (others @ back) @ basis != others:
        return None
    return _Basis(basis=basis, inverse=back, rays=[rays[k][1] for k in chosen])


def _rays(features: ExactMatrix) -> dict[tuple[tuple[int, ...], tuple[int, ...]], _Ray] | None:
    """Return features by their primitive rows (columns, values), or None where one has none."""
    found: dict[tuple[tuple[int, ...], tuple[int, ...]], _Ray] = {}
    seen = np.zeros(features.shape[0], dtype=bool)
    for key, part in features.terms.items():
        rows, starts = np.unique(part.rows, return_index=True)
        if seen[rows].any():
            return None  # several monomials: proportional or not, left to the general route
        seen[rows] = True
        contents = np.gcd.reduceat(part.values, starts) * np.where(part.values[starts] > 0, 1, -1)
        scales = {c: _monomial(features, key, c) for c in dict.fromkeys(contents.tolist())}
        ends = [*starts[1:].tolist(), part.size]
        for row, start, end, content in zip(
            rows.tolist(), starts.tolist(), ends, contents.tolist(), strict=True
        ):
            columns, values = part.columns[start:end], part.values[start:end] // content
            ray = found.setdefault((tuple(columns.tolist()), tuple(values.tolist())), [])
            ray.append((row, scales[content]))
    return found


def _monomial(matrix: ExactMatrix, key: tuple[int, ...], content: int) -> Scalar:
    """Return content · (monomial key)/(denominator of the matrix)."""
    top = polynomial_ring(matrix.parameters).from_dict({key: content})
    return Scalar(matrix.parameters, top, matrix.denominator)


def independent_rows(rows: ExactMatrix) -> list[int]:
    """Return rows of a constant matrix that are independent, as many as there are modulo p."""
    height, width = rows.shape
    if not height:
        return []
    if height * width * min(height, width) <= _DENSE_WORK:
        return integers.pivot_columns(_dense(rows).transpose())
    part = rows.terms[()]
    starts = np.searchsorted(part.rows, np.arange(height + 1))
    order = np.argsort(np.diff(starts), kind="stable").tolist()
    pivots: dict[int, dict[int, int]] = {}
    chosen = []
    for row in order:
        here = slice(starts[row], starts[row + 1])
        left = _eliminated(
            dict(zip(part.columns[here].tolist(), part.values[here].tolist(), strict=True)), pivots
        )
        if left:
            first = min(left)
            unit = pow(left[first], -1, integers.PRIME)
            pivots[first] = {c: v * unit % integers.PRIME for c, v in left.items()}
            chosen.append(row)
            if len(chosen) == width:
                break
    return sorted(chosen)


def _eliminated(row: dict[int, int], pivots: dict[int, dict[int, int]]) -> dict[int, int]:
    """Return the row modulo p with its first entry where no pivot is; empty if it is dependent."""
    row = {c: v % integers.PRIME for c, v in row.items() if v % integers.PRIME}
    while row:
        first = min(row)
        pivot = pivots.get(first)
        if pivot is None:
            return row
        factor = row[first]
        for column, value in pivot.items():
            left = (row.get(column, 0) - factor * value) % integers.PRIME
            if left:
                row[column] = left
            else:
                row.pop(column, None)
    return row


def _dense(rows: ExactMatrix) -> fmpz_mat:
    part = rows.terms.get(())
    return fmpz_mat(*rows.shape) if part is None else part.flint
