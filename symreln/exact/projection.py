"""Orthogonal projection of sparse rows onto the row space of others, over Q(parameters)."""

from __future__ import annotations

import numpy as np
from flint import fmpz_mat

from symreln.exact import integers, polynomials
from symreln.exact.linear import inverse, pseudo_inverse
from symreln.exact.matrix import ExactMatrix

# Above so many operations of dense elimination the rows are eliminated as dictionaries.
_DENSE_WORK = 5 * 10**8


def projected(rows: ExactMatrix, features: ExactMatrix) -> ExactMatrix:
    """Return every row's orthogonal projection onto the row space of the features.

    Features that are a function times a constant row, as scaled inputs are, span what their
    constant rows span. A basis of those is enough, or of their complement, whichever is smaller;
    that the features lie in the span (are orthogonal to the complement) is checked over Z.

    Args:
        rows: Shape (any, P).
        features: Shape (any, P).
    """
    constant = _constant_rows(features)
    if constant is None:
        return _by_gram(rows, features)
    samples = features.shape[1]
    chosen = independent_rows(constant)
    if len(chosen) == samples:
        return rows
    basis = constant.select(rows=chosen)
    others = constant.select(rows=sorted(set(range(constant.shape[0])) - set(chosen)))
    if 2 * len(chosen) <= samples:
        gram = _gram_inverse(basis)
        result = _onto(rows, basis, gram)
        spans = _onto(others, basis, gram) == others
    else:
        complement = _complement(basis)
        result = rows - _onto(rows, complement, _gram_inverse(complement))
        spans = (others @ complement.T).is_zero
    # Rows that are dependent modulo the prime alone leave something out.
    return result.reduced() if spans else _by_gram(rows, features)


def _by_gram(rows: ExactMatrix, features: ExactMatrix) -> ExactMatrix:
    """Return the projection of rows onto the span of any features."""
    if _spanning_rows(features) is not None:
        return rows
    return ((rows @ right_inverse(features)) @ features).reduced()


def right_inverse(features: ExactMatrix) -> ExactMatrix:
    """Return Z, shape (P, any), with (1 - Z F) Fᵀ = 0 for features F of shape (any, P).

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


def _gram_inverse(basis: ExactMatrix) -> ExactMatrix:
    """Return (B Bᵀ)⁻¹ of independent rows."""
    return inverse(basis @ basis.T)


def _onto(rows: ExactMatrix, basis: ExactMatrix, gram: ExactMatrix) -> ExactMatrix:
    """Return the projection onto the span of independent rows."""
    return ((rows @ basis.T) @ gram @ basis).reduced()


def _constant_rows(features: ExactMatrix) -> ExactMatrix | None:
    """Return distinct constant rows that span the same space, or None where a row is mixed."""
    found: dict[tuple[bytes, bytes], tuple[np.ndarray, np.ndarray]] = {}
    seen = np.zeros(features.shape[0], dtype=bool)
    for part in features.terms.values():
        starts = np.searchsorted(part.rows, np.arange(features.shape[0] + 1))
        for row in np.flatnonzero(np.diff(starts)).tolist():
            if seen[row]:
                return None  # several monomials: proportional or not, left to the general route
            seen[row] = True
            columns = part.columns[starts[row] : starts[row + 1]]
            values = part.values[starts[row] : starts[row + 1]]
            values = values // np.gcd.reduce(values)
            key = (columns.tobytes(), ",".join(map(str, values.tolist())).encode())
            found.setdefault(key, (columns, values))
    lengths = [len(columns) for columns, _ in found.values()]
    kept = list(found.values())
    none = np.zeros(0, dtype=np.int64)
    return ExactMatrix.from_entries(
        (len(kept), features.shape[1]),
        np.repeat(np.arange(len(kept)), lengths),
        np.concatenate([columns for columns, _ in kept]) if kept else none,
        np.concatenate([values for _, values in kept]) if kept else none,
    )


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


def _complement(basis: ExactMatrix) -> ExactMatrix:
    """Return rows that span what is orthogonal to the given independent rows."""
    null = integers.kernel(_dense(basis))
    return ExactMatrix.from_integers(null).T


def _dense(rows: ExactMatrix) -> fmpz_mat:
    part = rows.terms.get(())
    return fmpz_mat(*rows.shape) if part is None else part.flint
