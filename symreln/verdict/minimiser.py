r"""Weights that minimise a stage's loss, for the stages whose modes do not give them.

W = Y Z with Z (P × inputs) minimises ‖Y - W F‖² if :math:`(1 - Z F) F^T = 0`. Where every feature
is a function of the parameters times a constant row, Z needs the constant rows alone: a basis b of
them gives :math:`Z = b^T (b b^T)^{-1}`, computed by the connected components of b bᵀ, and features
along one row share what it asks for. Otherwise :math:`Z = F^T (F F^T)^+`.

The stage's symmetries leave these weights as they are: basis rows are unique up to the choice of
the basis, and where a symmetry does not keep that choice, the caller sees it and does without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.exact.linear import inverse
from symreln.exact.projection import independent_rows, right_inverse
from symreln.exact.scalar import Scalar, polynomial_ring
from symreln.exact.sparse import SparseMatrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.network.effective import EffectiveDataset


def minimising_maps(stage: Sequence[EffectiveDataset]) -> tuple[SparseMatrix, ...]:
    """Return W_p, shape (n_y, inputs of p), for every pathway: together a minimum of the loss."""
    goal = stage[0].goal
    writers: dict[tuple[int, ...], list[int]] = {}
    own_rows = [set(effective.pathway.outputs) for effective in stage]
    for row in range(goal.shape[0]):
        members = tuple(i for i, rows in enumerate(own_rows) if row in rows)
        writers.setdefault(members, []).append(row)
    maps = [SparseMatrix.zeros(goal.shape[0], e.features.shape[0]) for e in stage]
    for members, rows in writers.items():
        features = [stage[i].features for i in members]
        for i, right in zip(members, _right_inverse(features), strict=True) if members else ():
            found = goal.times(right)
            whole = len(rows) == goal.shape[0]
            maps[i] = maps[i] + (found if whole else found.masked(rows=rows))
    return tuple(w.reduced() for w in maps)


def _right_inverse(features: Sequence[SparseMatrix]) -> list[SparseMatrix]:
    """Return Z, shape (P, inputs), cut into the columns of every pathway."""
    stacked = SparseMatrix.beside([part.T for part in features]).T
    rays = _rays(stacked)
    z = right_inverse(stacked) if rays is None else _by_rays(stacked, rays)
    result, start = [], 0
    for part in features:
        result.append(z.select(columns=range(start, start + part.shape[0])))
        start += part.shape[0]
    return result


@dataclass(frozen=True, kw_only=True)
class _Ray:
    """A constant primitive row, and the features that are a multiple of it."""

    columns: np.ndarray
    values: np.ndarray
    features: list[tuple[int, Scalar]]


def _rays(stacked: SparseMatrix) -> list[_Ray] | None:
    found: dict[tuple, _Ray] = {}
    seen = np.zeros(stacked.shape[0], dtype=bool)
    for key, part in stacked.terms.items():
        rows, starts = np.unique(part.rows, return_index=True)
        if seen[rows].any():
            return None  # several monomials: not a function times a constant row
        seen[rows] = True
        contents = np.gcd.reduceat(part.values, starts) * np.where(part.values[starts] > 0, 1, -1)
        ends = np.append(starts[1:], part.size)
        values = part.values // np.repeat(contents, ends - starts)
        scales = {
            content: _monomial(stacked, key, content)
            for content in dict.fromkeys(contents.tolist())
        }
        for row, start, end, content in zip(
            rows.tolist(), starts.tolist(), ends.tolist(), contents.tolist(), strict=True
        ):
            own, numbers = part.columns[start:end], values[start:end]
            spelled = own.tobytes(), tuple(numbers.tolist())
            ray = found.setdefault(spelled, _Ray(columns=own, values=numbers, features=[]))
            ray.features.append((row, scales[content]))
    return list(found.values())


def _monomial(matrix: SparseMatrix, key: tuple[int, ...], content: int) -> Scalar:
    """Return content · (monomial key)/(denominator of the matrix)."""
    top = polynomial_ring(matrix.parameters).from_dict({key: content})
    return Scalar(matrix.parameters, top, matrix.denominator)


def _by_rays(stacked: SparseMatrix, rays: list[_Ray]) -> SparseMatrix:
    lengths = [len(ray.columns) for ray in rays]
    height, samples, inputs = len(rays), stacked.shape[1], stacked.shape[0]
    if not rays:
        return SparseMatrix.zeros(samples, inputs, stacked.parameters)
    constant = SparseMatrix.from_entries(
        (height, samples),
        np.repeat(np.arange(height), lengths),
        np.concatenate([ray.columns for ray in rays]),
        np.concatenate([ray.values for ray in rays]),
    )
    chosen, z = _inverted(constant, np.array(lengths))
    weights: dict[tuple[int, int], Scalar] = {}
    for place, index in enumerate(chosen):
        for row, scale in rays[index].features:
            weights[place, row] = 1 / (scale * len(rays[index].features))
    return z @ _scattered(weights, (len(chosen), inputs), stacked.parameters)


def _inverted(constant: SparseMatrix, lengths: np.ndarray) -> tuple[list[int], SparseMatrix]:
    """Return rows that are a basis b of the row space, and bᵀ (b bᵀ)⁻¹."""
    shortest = np.flatnonzero(lengths == lengths.min()).tolist()
    if len(shortest) == constant.shape[1]:  # as many as there are samples: a basis, or dependent
        try:
            return shortest, _right_inverse_of(constant.select(rows=shortest))
        except ZeroDivisionError:
            pass
    chosen = independent_rows(constant)
    return chosen, _right_inverse_of(constant.select(rows=chosen))


def _right_inverse_of(basis: SparseMatrix) -> SparseMatrix:
    return (basis.T @ _inverse_by_components((basis @ basis.T).reduced())).reduced()


def _scattered(
    weights: dict[tuple[int, int], Scalar], shape: tuple[int, int], names: tuple[str, ...]
) -> SparseMatrix:
    """Return the matrix with these entries; few of them differ."""
    kinds: dict[Scalar, list[tuple[int, int]]] = {}
    for place, value in weights.items():
        kinds.setdefault(value, []).append(place)
    total = SparseMatrix.zeros(*shape, names)
    for value, places in kinds.items():
        rows, columns = zip(*places, strict=True)
        ones = SparseMatrix.from_entries(shape, rows, columns, [1] * len(places), 1, names)
        total = total + ones.scale(value)
    return total


def _inverse_by_components(gram: SparseMatrix) -> SparseMatrix:
    """Return the inverse of a constant matrix, component by component."""
    # Here, because most derivations never come here and it costs a quarter of a second.
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    part, size = gram.terms[()], gram.shape[0]
    graph = coo_matrix((np.ones(part.size), (part.rows, part.columns)), shape=gram.shape)
    count, label = connected_components(graph, directed=False)
    order = np.argsort(label, kind="stable")
    ends = np.searchsorted(label[order], np.arange(count + 1))
    known: dict[tuple, SparseMatrix] = {}
    pieces: list[tuple[np.ndarray, SparseMatrix]] = []
    local = np.zeros(size, dtype=np.int64)
    entry_order = np.argsort(label[part.rows], kind="stable")
    entry_ends = np.searchsorted(label[part.rows][entry_order], np.arange(count + 1))
    for piece in range(count):
        members = order[ends[piece] : ends[piece + 1]]
        local[members] = np.arange(len(members))
        at = entry_order[entry_ends[piece] : entry_ends[piece + 1]]
        rows, columns = local[part.rows[at]], local[part.columns[at]]
        values = part.values[at].tolist()
        spelled = len(members), rows.tobytes(), columns.tobytes(), tuple(values)
        if spelled not in known:
            shape = (len(members), len(members))
            block = SparseMatrix.from_entries(shape, rows, columns, values)
            known[spelled] = SparseMatrix.from_exact(inverse(block.exact))
        pieces.append((members, known[spelled]))
    return _assembled(pieces, size, gram)


def _assembled(
    pieces: list[tuple[np.ndarray, SparseMatrix]], size: int, gram: SparseMatrix
) -> SparseMatrix:
    by_denominator: dict[int, tuple[list, list, list]] = {}
    for members, block in pieces:
        bottom = int(block.denominator.leading_coefficient())
        found = by_denominator.setdefault(bottom, ([], [], []))
        part = block.terms[()]
        found[0].append(members[part.rows])
        found[1].append(members[part.columns])
        found[2].extend(part.values.tolist())
    total = SparseMatrix.zeros(size, size)
    for bottom, (rows, columns, values) in by_denominator.items():
        total = total + SparseMatrix.from_entries(
            (size, size), np.concatenate(rows), np.concatenate(columns), values, bottom
        )
    # The Gram matrix's own denominator divides what was inverted.
    return total.scale(Scalar((), gram.denominator)) if gram.parameters == () else total
