r"""The arrangement of samples: all gates and faces, by deletion and restriction, exactly.

A gate is :math:`g = 1[X^T w > 0]`. Samples are added one at a time. Let G be the gates of the first
n samples and G' those that directions w with :math:`x_n\cdot w = 0` give. The directions of one
gate form a convex cone, so a gate outside G' has the next sample on one side, which its witness
tells. A gate in G', with witness w on the hyperplane, gets the next sample closed; and open as well
exactly if some u has :math:`x_n\cdot u > 0` and :math:`x_i\cdot u \le 0` for the samples with
:math:`x_i\cdot w = 0`: then w + εu is a witness, and if no u exists, no direction of the cone has
:math:`x_n\cdot w > 0`, being such a u itself. G' is the same problem in one dimension less. Every
gate found along the way leads to at least one at the end, so work follows the output.

Where no samples cancel (:math:`\sum \lambda_i x_i = 0` with λ ≥ 0 only for zero samples), and where
only open gates are wanted (those with no sample exactly on the boundary, which is what a direction
drawn at random gives), u always exists and no linear programme is needed.

A *flat* is a set Z of samples with :math:`L = \{w : w\cdot x_z = 0, z \in Z\}` orthogonal to no
other one. The *faces* with zero set Z are the open cells of the remaining samples, restricted to L,
so all faces, that is every sign vector sign(Xᵀw), are found flat by flat: cells are those of Z = ∅.

Witnesses are integer vectors, in int64 while a bound proves that exact, in Python's integers after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import comb
from typing import NamedTuple

import numpy as np
from flint import fmpq, fmpz_mat

from symreln.base.records import record
from symreln.errors import InputError, LimitReachedError
from symreln.exact.int64 import (
    common,
    fitted,
    lengths_to_keep,
    primitive,
    product,
    reduced_rows,
    shortened,
    times_rows,
)
from symreln.exact.integers import kernel, pivot_columns
from symreln.exact.linear_programming import direction
from symreln.exact.matrix import ExactMatrix


class _Found(NamedTuple):
    """Gates, bool, shape (N, samples so far), and witnesses, whole numbers, shape (N, k)."""

    gates: np.ndarray
    witnesses: np.ndarray


class _Step(NamedTuple):
    """A direction u, shape (k,), and its products with all samples, shape (P,)."""

    vector: np.ndarray
    products: np.ndarray

    def signed(self, sign: int) -> _Step:
        """Return u or -u."""
        return _Step(self.vector * sign, self.products * sign)


@record(kw_only=False, eq=False)
class ArrangementCells:
    """The search.

    Attributes:
        samples: Whole-number columns x_i of full row rank, shape (r, P).
        open_only: Whether only open gates are wanted.
        limit: Number of gates above which the search ends, or None.
        progress: Called with (samples done, of so many).
    """

    samples: np.ndarray
    open_only: bool = False
    limit: int | None = None
    progress: Callable[[int, int], None] | None = None

    def found(self) -> _Found:
        """Return all gates.

        Raises:
            LimitReachedError: There are more than ``limit``.
        """
        return self._gates(self.samples, self.samples.shape[1], self.progress)

    def _gates(
        self,
        flat: np.ndarray,
        count: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> _Found:
        """Return the gates of the first ``count`` samples for directions in a flat.

        Args:
            flat: Products of k directions that span it with all samples, shape (k, P); witnesses
                are whole-number combinations of these k.
            count: How many samples are taken.
            progress: Called after every sample, but for the flats within.
        """
        size = len(flat)
        if size <= 2:
            return _sectors(flat[:, :count], open_only=self.open_only)
        found = _Found(np.zeros((1, 0), dtype=bool), np.zeros((1, size), dtype=np.int64))
        free = list(np.eye(size, dtype=np.int64))
        for n in range(count):
            found, free = self._with(flat, found, n, free)
            if self.limit is not None and len(found.gates) > self.limit:
                msg = (
                    f"gates: more than {self.limit} gates after {n + 1} of "
                    f"{self.samples.shape[1]} samples. Raise the limit, or take fewer samples"
                )
                raise LimitReachedError(msg)
            if progress is not None:
                progress(n + 1, count)
        return found

    def _with(
        self, flat: np.ndarray, found: _Found, n: int, free: list[np.ndarray]
    ) -> tuple[_Found, list[np.ndarray]]:
        """Return the gates with sample n added, and what is orthogonal to all samples then.

        Args:
            flat: Where directions lie.
            found: Gates of the samples before n.
            n: Number of the sample.
            free: Weights of directions of the flat that are orthogonal to the samples before n.
        """
        column = flat[:, n]
        alike = _parallel(flat[:, :n], column)
        if not column.any():
            bit = np.zeros(len(found.gates), dtype=bool)
        elif alike > 0:
            bit = found.gates[:, alike - 1]
        elif alike < 0 and self.open_only:
            bit = ~found.gates[:, -alike - 1]
        else:
            new, left = _split(free, column)
            if new is None:
                return self._cut(flat, found, n), free
            return _apart(flat, found, _step(flat, new), n), left
        return _Found(np.column_stack([found.gates, bit]), found.witnesses), free

    def _cut(self, flat: np.ndarray, found: _Found, n: int) -> _Found:
        """Return the gates with a sample added that lies in the span of those before."""
        inner = _restricted(flat[:, n])
        below = self._gates(product(inner, flat), n)
        below = _Found(below.gates, product(below.witnesses, inner))
        rest = ~np.isin(gate_keys(found.gates), gate_keys(below.gates))
        gates, witnesses = found.gates[rest], found.witnesses[rest]
        side = product(witnesses, flat[:, n : n + 1])[:, 0] > 0
        outside = _Found(np.column_stack([gates, side]), witnesses)
        return _joined([outside, *self._both_sides(flat, below, n)])

    def _both_sides(self, flat: np.ndarray, below: _Found, n: int) -> list[_Found]:
        """Return the children of gates whose witnesses lie on the hyperplane of sample n."""
        products = product(below.witnesses, flat[:, :n])
        zero = (products == 0) & flat[:, :n].any(axis=0)
        parts = []
        for chosen, on in _alike_rows(zero):
            gates, witnesses = below.gates[chosen], below.witnesses[chosen]
            for side, step in _sides(flat, n, np.flatnonzero(on)):
                new = witnesses
                if step is not None:
                    lengths = lengths_to_keep(products[chosen], step.products[:n])
                    longer = times_rows(witnesses, lengths)
                    new = shortened(reduced_rows(_sum(longer, step.vector[None])), flat[:, : n + 1])
                parts.append(_Found(_closed_by(gates, side), new))
        return parts


def _sectors(values: np.ndarray, *, open_only: bool) -> _Found:
    """Return the gates of columns in at most two dimensions: sectors between rays, by angle."""
    size = len(values)
    normals = {tuple(map(int, row)) for row in reduced_rows(values.T) if row.any()}
    chosen: list[tuple[int, ...]] = [(0,) * size]
    if normals and size == 1:
        chosen = [(1,), (-1,), *chosen][: 2 if open_only else 3]
    elif normals:
        rays = sorted({ray for x, y in normals for ray in ((-y, x), (y, -x))}, key=_angle)
        # Of one line alone the sum of both rays is 0.
        after = [*rays[1:], *rays[:1]] if len(rays) > 2 else [(-y, x) for x, y in rays]
        sectors = [(a + c, b + d) for (a, b), (c, d) in zip(rays, after, strict=True)]
        chosen = sectors if open_only else [*sectors, *rays, *chosen]
    witnesses = fitted(np.array(chosen, dtype=object).reshape(len(chosen), size))
    gates = product(witnesses, values) > 0
    _, first = np.unique(gate_keys(gates), return_index=True)
    return _Found(gates[first], reduced_rows(shortened(witnesses[first], values)))


def _angle(ray: tuple[int, int]) -> tuple[bool, bool, Fraction]:
    """Return what a ray is sorted by: the half plane that it is in, and how far it is turned."""
    x, y = ray
    return (y, x) < (0, 0), y != 0, Fraction(-x, y or 1)


def _sides(flat: np.ndarray, n: int, on: np.ndarray) -> list[tuple[bool, _Step | None]]:
    """Return the sides of sample n that are there and a way into each; None: stay.

    Args:
        flat: Where directions lie.
        n: Number of the sample.
        on: Earlier samples that are orthogonal to the witness; they must not open.
    """
    if not len(on):
        up = _step(flat, np.eye(len(flat), dtype=np.int64)[_pivot(flat[:, n])])
        sign = 1 if up.products[n] > 0 else -1
        return [(True, up.signed(sign)), (False, up.signed(-sign))]
    weak = [[fmpq(int(v)) for v in flat[:, i]] for i in on]
    own = [fmpq(int(v)) for v in flat[:, n]]
    sides: list[tuple[bool, _Step | None]] = []
    for side, strict in ((True, own), (False, [-v for v in own])):
        answer = direction([strict], weak, len(own))
        if answer is not None:
            vector = [Fraction(int(value.p), int(value.q)) for value in answer]
            sides.append((side, _step(flat, primitive(vector))))
        elif not side:
            sides.append((False, None))
    return sides


def _apart(flat: np.ndarray, found: _Found, step: _Step, n: int) -> _Found:
    """Return both children of every gate: sample n is independent of those before."""
    sign = 1 if step.products[n] > 0 else -1
    at = product(found.witnesses, flat[:, n : n + 1])[:, 0]
    # As arrays of one type: an integer beyond int64 beside an array of it would become a float.
    size, bottom = common(np.abs(at), np.abs(step.products[n : n + 1]))
    times = size // bottom + 1
    move = (step.vector * sign)[None].repeat(len(at), 0)
    parts = [
        _Found(
            _closed_by(found.gates, side),
            reduced_rows(_sum(found.witnesses, times_rows(move, way))),
        )
        for side, way in ((True, times), (False, -times))
    ]
    return _joined(parts)


def _step(flat: np.ndarray, weights: np.ndarray) -> _Step:
    return _Step(weights, product(weights[None], flat)[0])


def _split(
    free: list[np.ndarray], column: np.ndarray
) -> tuple[np.ndarray | None, list[np.ndarray]]:
    """Return free weights that are not orthogonal to a column, or None, and a basis of the rest."""
    dots = [int(product(row[None], column[:, None])[0, 0]) for row in free]
    place = next((k for k, dot in enumerate(dots) if dot), None)
    if place is None:
        return None, free
    rest = [
        primitive(
            [
                Fraction(int(a) * dots[place] - int(b) * dots[k])
                for a, b in zip(row, free[place], strict=True)
            ]
        )
        for k, row in enumerate(free)
        if k != place
    ]
    return free[place], rest


def _pivot(column: np.ndarray) -> int:
    """Return the row of the smallest entry that is not 0."""
    (places,) = np.nonzero(column)
    return int(places[np.argmin(np.abs(column[places]))])


def _restricted(column: np.ndarray) -> np.ndarray:
    """Return whole-number weights that span what is orthogonal to a column, short ones, as rows."""
    return np.array(
        [
            [int(v) for v in row]
            for row in kernel(fmpz_mat([[int(v) for v in column]])).transpose().lll().tolist()
        ],
        dtype=object,
    ).astype(column.dtype)


def _parallel(values: np.ndarray, column: np.ndarray) -> int:
    """Return i + 1 for an earlier positive multiple of a column, -(i + 1) for a negative one.

    0 where there is neither.
    """
    (places,) = np.nonzero(column)
    if not len(places) or not values.shape[1]:
        return 0
    top = int(places[0])
    left = times_rows(values, column[top : top + 1].repeat(len(values)))
    right = product(column[:, None], values[top][None])
    same = np.flatnonzero((left == right).all(axis=0) & (values[top] != 0))
    positive = [k for k in same if (values[top, k] > 0) == (column[top] > 0)]
    if positive:
        return int(positive[0]) + 1
    return -(int(same[0]) + 1) if len(same) else 0


def _sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = common(a, b)
    return a + b


def _closed_by(gates: np.ndarray, side: bool) -> np.ndarray:
    return np.column_stack([gates, np.full(len(gates), side)])


def _joined(parts: list[_Found]) -> _Found:
    witnesses = common(*(part.witnesses for part in parts))
    return _Found(np.concatenate([part.gates for part in parts]), np.concatenate(witnesses))


def gate_keys(gates: np.ndarray) -> np.ndarray:
    """Return one comparable value a row of a boolean array."""
    packed = np.packbits(gates, axis=1)
    if packed.shape[1] <= 8:
        wide = np.zeros((len(packed), 8), dtype=np.uint8)
        wide[:, : packed.shape[1]] = packed
        return wide.view(np.uint64)[:, 0]
    return np.ascontiguousarray(packed).view(f"S{packed.shape[1]}")[:, 0]


def _alike_rows(marks: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (places, row) for the distinct rows of a boolean array."""
    if not marks.any():
        return [(np.arange(len(marks)), np.zeros(marks.shape[1], dtype=bool))]
    _, first, inverse = np.unique(gate_keys(marks), return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    cuts = np.flatnonzero(np.diff(inverse[order])) + 1
    return [(places, marks[first[k]]) for k, places in enumerate(np.split(order, cuts))]


#: Choices of samples on a boundary, and faces, above which listing all of them is refused.
_MOST_CHOICES, _MOST_FACES = 20_000, 100_000


@record(eq=False)
class _Flat:
    """Samples that can lie on the boundary together, and the faces on which exactly they do.

    Attributes:
        boundary: Z, without zero samples, ascending.
        signs: 1 open, -1 closed, 0 on the boundary, shape (faces, P); zero samples are closed.
    """

    boundary: tuple[int, ...]
    signs: np.ndarray


def flats(
    inputs: ExactMatrix, progress: Callable[[int, int], None] | None = None
) -> Iterator[_Flat]:
    """Yield all flats with their faces, the cells first; w = 0 is left out.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        progress: Called with (flats done, at most so many).

    Raises:
        LimitReachedError: There are too many.
    """
    samples, rows = whole_samples(inputs)
    rank, count = len(rows), samples.shape[1]
    most = sum(comb(count, size) for size in range(rank))
    if most > _MOST_CHOICES:
        msg = f"faces: up to {most} sets of samples on a boundary, more than {_MOST_CHOICES}"
        raise LimitReachedError(msg)
    nonzero = np.asarray(samples.any(axis=0))
    start = np.zeros((rank, samples.shape[0]), dtype=np.int64)
    start[range(rank), rows] = 1
    level: dict[tuple[int, ...], np.ndarray] = {(): start}
    done = faces = 0
    while level:
        below: dict[tuple[int, ...], np.ndarray] = {}
        for boundary, basis in level.items():
            seen = product(basis, samples)
            found = ArrangementCells(seen, open_only=True).found()
            signs = np.where(seen.any(axis=0), 2 * found.gates.astype(int) - 1, 0)
            signs[:, ~nonzero] = -1
            faces, done = faces + len(signs), done + 1
            if faces > _MOST_FACES:
                msg = f"faces: more than {_MOST_FACES}"
                raise LimitReachedError(msg)
            yield _Flat(boundary=boundary, signs=signs)
            if progress is not None:
                progress(done, max(most, done))
            for n in np.flatnonzero(seen.any(axis=0)) if len(basis) > 1 else ():
                inner = _restricted(seen[:, n])
                zero = ~product(inner, seen).any(axis=0) & nonzero
                boundary = tuple(np.flatnonzero(zero).tolist())
                if boundary not in below:
                    below[boundary] = reduced_rows(product(inner, basis))
        level = below


def without_parameters(matrix: ExactMatrix) -> ExactMatrix:
    """Return a matrix in which no parameter occurs over no parameters.

    Raises:
        InputError: A parameter occurs.
    """
    if not matrix.is_constant:
        names = ", ".join(matrix.parameters)
        msg = (
            f"gates: the data depend on {names}. Give values, or ask for the chambers of one "
            "parameter"
        )
        raise InputError(msg)
    return matrix.substitute(dict.fromkeys(matrix.parameters, Fraction(1)))


def whole_samples(inputs: ExactMatrix) -> tuple[np.ndarray, list[int]]:
    """Return X with every sample made a primitive whole-number vector, and independent rows.

    A positive factor changes no gate. The rows are as many as the rank.

    Raises:
        InputError: A parameter occurs, or there are no samples.
    """
    if not inputs.shape[1]:
        msg = "gates: the dataset has no samples"
        raise InputError(msg)
    entries = without_parameters(inputs).to_fractions()
    columns = [primitive(column) for column in zip(*entries, strict=True)]
    whole = np.array([[int(v) for v in column] for column in columns], dtype=object).T
    table = fmpz_mat([[int(v) for v in row] for row in whole])
    rank = int(table.rank())
    rows = pivot_columns(table.transpose())
    if len(rows) != rank:
        msg = "gates: rows are dependent modulo 2^61 - 1 but not over Q"
        raise ArithmeticError(msg)
    return fitted(whole), rows
