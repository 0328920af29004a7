r"""What a pathway of a later stage sees while earlier ones still learn, and grows into.

While its weights are small a pathway p of a later stage grows linearly in what it sees,

.. math:: E_p(t) = \Sigma^{yx}(p) + \sum_\alpha D_\alpha (1 - \pi_\alpha(t)/h_\alpha), \qquad
          D_\alpha = h_\alpha\, O_p u_\alpha v_\alpha^T \Sigma^x(j, p),

the sum over the modes of pathways j of earlier stages, h their plateaus. To leading order each adds
its D until its half-time and nothing afterwards, since
:math:`\int_0^\infty (1 - \pi_\alpha/h_\alpha)\,dt = t_\alpha`. Between half-times E_p is E_k for
:math:`T_k` steps, each of which multiplies the amplitudes (a, b) of inputs and outputs by
:math:`1 + F_k/\tau`,

.. math:: F_k = \begin{pmatrix} 0 & E_k^T \\ E_k & 0 \end{pmatrix}, \qquad
          \Phi = \prod_k (1 + F_k/\tau)^{T_k},

later phases to the left.

Earlier modes are not learned at once, but as sigmoids: what that makes of a start that one of them
drives is exact (:mod:`symreln.laws.sigmoid_drive`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.claims.number_systems import ALIKE, Matrix, Numbers, Vectors, floats
from symreln.errors import LimitReachedError
from symreln.exact.matrix import ExactMatrix
from symreln.laws.sigmoid_drive import letters, sigmoid_factor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.derivation import PathwayDerivation
    from symreln.networks.effective import EffectiveDataset

#: Terms of the binomial series after which it is given up.
_MOST_TERMS = 20_000
#: Ratio of terms from which on they are bounded by a geometric series: the bound of what is left
#: out is then at most 1000 terms, which a few more terms take away.
_FALLING = 0.999


@dataclass(frozen=True, kw_only=True, eq=False)
class Earlier:
    """Copies of a mode of an earlier stage that start alike.

    Attributes:
        label: Symbol of its strength.
        half_time: In steps; 0 where it starts at half of its plateau or beyond.
        pathway: Its pathway.
        s: Its singular value.
        inputs: v of every copy.
        scaled: vᵀ h/s of every copy.
    """

    label: str
    half_time: Any
    pathway: PathwayDerivation
    s: Any
    inputs: Matrix
    scaled: Matrix


@dataclass(frozen=True, kw_only=True, eq=False)
class Phase:
    """Steps in which a pathway of a later stage sees one drive.

    Attributes:
        drive: E_k.
        steps: How many; no whole number.
        ends: The earlier modes that are learned at its end.
    """

    drive: Matrix
    steps: Any
    ends: tuple[Earlier, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """What a pathway of a later stage sees.

    Attributes:
        numbers: The number system.
        own: Its Sigma^{yx}. Outputs on which all that it sees is equal are one row, times the root
            of how many they are: products are those of all outputs.
        drives: The earlier modes that it sees, by half-time, with D of each, in these rows.
        in_floats: Sigma^{yx} and every D in float64.
    """

    numbers: Numbers
    own: Matrix
    drives: tuple[tuple[Earlier, Matrix], ...]
    in_floats: tuple[np.ndarray, Sequence[np.ndarray]]

    @classmethod
    def of(cls, numbers: Numbers, pathway: PathwayDerivation, earlier: Sequence[Earlier]) -> Seen:
        """Return what a pathway sees of earlier modes."""
        target, sources = pathway.effective, {id(each.pathway): each.pathway for each in earlier}
        written, counts = in_rows(target, [source.effective for source in sources.values()])
        roots = [numbers.ops.sqrt(numbers.ops.number(count)) for count in counts]
        weights = numbers.given(np.diag(roots))
        own, *outer = (numbers.times(weights, numbers.matrix(each)) for each in written)
        inner = [
            numbers.matrix(source.effective.cross_sigma_x(target)) for source in sources.values()
        ]
        sides = dict(zip(sources, zip(outer, inner, strict=True), strict=True))
        found = [
            (each, _drive(numbers, each, *sides[id(each.pathway)]))
            for each in sorted(earlier, key=lambda mode: float(mode.half_time))
        ]
        alone = floats(own)
        known = [(floats(drive), each, drive) for each, drive in found]
        seen = [
            each
            for each in known
            if np.linalg.norm(each[0]) > numbers.least * np.linalg.norm(alone + each[0])
        ]
        return cls(
            numbers=numbers,
            own=own,
            drives=tuple(each[1:] for each in seen),
            in_floats=(alone, [each[0] for each in seen]),
        )

    def vectors(self, v: Matrix, s: Any) -> Vectors:
        """Return U, in these rows, and V of a mode, from V and s."""
        return self.numbers.times(self.own, v) * (1 / s), v

    def reaching(self, vectors: Vectors) -> tuple[tuple[Earlier, Matrix], ...]:
        """Return what of it drives a mode: its directions, or those that others turn it to."""
        u, v = map(floats, vectors)
        return tuple(self.drives[n] for n in _reaching(u, v, *self.in_floats))

    def phases(self, drives: Sequence[tuple[Earlier, Matrix]]) -> tuple[Phase, ...]:
        """Return what a mode sees while these earlier ones still learn, phase by phase."""
        ends: list[tuple[list[Earlier], Matrix]] = []
        for each, drive in drives:
            if not each.half_time > 0:
                continue  # learned from the start
            if ends and not _apart(ends[-1][0][-1].half_time, each.half_time):
                ends[-1] = ([*ends[-1][0], each], ends[-1][1] + drive)
            else:
                ends.append(([each], drive))
        own, phases = self.own, []
        for place, (modes, drive) in reversed([*enumerate(ends)]):
            own = own + drive
            begin = ends[place - 1][0][0].half_time if place else 0
            phases.append(Phase(drive=own, steps=modes[0].half_time - begin, ends=tuple(modes)))
        return tuple(reversed(phases))

    def grown(self, vectors: Vectors, phases: Sequence[Phase], tau: Any, *, flow: bool) -> Matrix:
        """Return Φᵀ (V, U), of one stack of columns; of infinitely small steps where they flow."""
        outer, inner = vectors
        for phase in reversed(phases):
            one_step = 0 if flow else 1 / phase.steps
            across = phase.drive * (phase.steps / tau)
            grown = _in_planes(self.numbers, across, one_step, (inner, outer)) or _grown(
                self.numbers, across, one_step, (inner, outer)
            )
            inner, outer = grown
        return self.numbers.stacked(inner, outer)

    def smoothed(self, vectors: Vectors, phases: Sequence[Phase], s: Any, faster: Any) -> Any:
        """Return what is added to π̃₀/π₀ because what drives a mode is learned as a sigmoid.

        Args:
            vectors: Of copies of a mode.
            phases: What they see.
            s: Their singular value.
            faster: Returns (1 + r/τ)^(2t_α) over (1 + s/τ)^(2t_α), of r.

        Returns:
            None where several earlier modes drive it, or one of them out of a plane.
        """
        (phase, *others), (u, v) = phases, vectors
        if others or len(phase.ends) != 1:
            return None
        times, entries, ops = self.numbers.times, self.numbers.entries, self.numbers.ops
        for outer, inner, after, before in (
            (u, v, self.own, phase.drive),
            (v, u, self.own.transpose(), phase.drive.transpose()),
        ):
            if not _is_plane(floats(outer), floats(inner), floats(after), floats(before)):
                continue
            taken, count = times(before, inner), len(entries(inner).T)
            r = ops.sqrt(np.trace(entries(times(taken.transpose(), taken))) / count)
            along = np.trace(entries(times(outer.transpose(), taken))) / count  # r γ
            overlap = along / r
            found = letters(r, s, overlap, phase.ends[0].s, lambda x: ops.sqrt(ops.positive(x)))
            share = (1 + overlap) * (1 + overlap) / 4
            return (sigmoid_factor(ops, *found) - 1) * share * faster(r)
        return None


def in_rows(
    target: EffectiveDataset, sources: Sequence[EffectiveDataset]
) -> tuple[list[ExactMatrix], list[int]]:
    """Return what a pathway learns of its own and of others' targets, equal outputs as one row.

    Returns:
        Sigma^{yx} of the pathway, that of every source on its outputs, and how many outputs every
        row stands for.
    """
    written = [target.sigma_yx, *(target.masked(source.sigma_yx) for source in sources)]
    groups = ExactMatrix.beside(written).equal_rows()
    first = [group[0] for group in groups]
    return [each.select(rows=first) for each in written], [len(group) for group in groups]


def _is_plane(u: np.ndarray, v: np.ndarray, after: np.ndarray, before: np.ndarray) -> bool:
    """Whether a mode is driven from r u' to s u, in one plane, and back to v alone; up to rounding.

    Args:
        u: Output directions of the mode.
        v: Its input directions.
        after: What it sees when the earlier mode is learned.
        before: What it sees until then.
    """
    taken, scale = before @ v, max(np.linalg.norm(before), np.linalg.norm(after))
    square = np.trace(taken.T @ taken) / v.shape[1]
    overlap = np.trace(u.T @ taken) / v.shape[1]  # r γ
    own = np.trace(u.T @ after @ v) / v.shape[1]  # s
    aside = (
        (before.T @ taken - square * v) / scale**2,
        (before.T @ u - overlap * v) / scale,
        (after.T @ taken - own * overlap * v) / scale**2,
    )
    return all(np.abs(part).max() <= ALIKE for part in aside)


def _drive(numbers: Numbers, source: Earlier, written: Matrix, seen: Matrix) -> Matrix:
    """Return D of an earlier mode: O_p Sigma^{yx}(j) v (h/s) vᵀ Sigma^x(j, p)."""
    times = numbers.times
    return times(times(written, source.inputs), times(source.scaled, seen))


def _in_planes(numbers: Numbers, across: Matrix, one_step: Any, vectors: Vectors) -> Vectors | None:
    r"""Return what :func:`_grown` does in closed form, or None where columns leave their planes.

    Where EᵀE takes inner to r² times itself and Eᵀ outer to c times it, for E the matrix across or,
    with inner and outer exchanged, its transpose, up to rounding: then only
    :math:`(1 \pm r/n)^n` are to be known.
    """
    times, ops = numbers.times, numbers.ops

    def trace(one: Matrix, other: Matrix) -> Any:
        return np.trace(numbers.entries(times(one.transpose(), other)))

    for turned in (False, True):
        inner, outer = vectors[::-1] if turned else vectors
        matrix = across.transpose() if turned else across
        taken = times(matrix, inner)
        size = trace(inner, inner)
        square, overlap = trace(taken, taken) / size, trace(taken, outer) / size
        e, x, y, z = map(floats, (matrix, inner, taken, outer))
        scale = np.linalg.norm(e)
        aside = e.T @ y - float(square) * x, scale * (e.T @ z - float(overlap) * x)
        if not float(square) > ALIKE * scale**2 or any(
            np.abs(part).max() > ALIKE * scale**2 for part in aside
        ):
            continue
        r = ops.sqrt(square)
        if not float(r) * float(one_step) < 1:
            return None  # gradient descent diverges, as the series says
        up, down = (ops.exp(side * ops.pace(side * one_step)) for side in (r, -r))
        even, odd = (up + down) / 2, (up - down) / (2 * r)
        inner = inner * (even + odd * overlap)
        outer = outer + taken * (odd + overlap * (even - 1) / square)
        return (outer, inner) if turned else (inner, outer)
    return None


def _grown(numbers: Numbers, across: Matrix, one_step: Any, vectors: Vectors) -> Vectors:
    """Return (1 + X/n)^n (inner, outer), X = [[0, acrossᵀ], [across, 0]], n real.

    By the binomial series. Its terms shrink like powers of ‖X/n‖ < 1 once there are more of them
    than n; what is left out is less than a geometric series, and balls hold it.

    Args:
        numbers: The number system.
        across: Drive times the steps of the phase, over τ.
        one_step: 1/n; 0 for infinitely small steps, e^X.
        vectors: inner and outer.

    Raises:
        LimitReachedError: Steps are so large that gradient descent diverges.
    """
    times, norm = numbers.times, numbers.norm
    back, most, per_step = across.transpose(), norm(across), float(one_step)
    inner, outer = vectors
    totals = [inner, outer]
    for place in range(_MOST_TERMS):
        factor = (1 - place * one_step) / (place + 1)
        inner, outer = times(back, outer) * factor, times(across, inner) * factor
        totals = [totals[0] + inner, totals[1] + outer]
        # Every later term is at most this many times the one before, in the norm of ℓ²: a bound of
        # the largest entry alone would not do, as entries of one term add up in the next.
        ratio = most * max(per_step, abs(1 - (place + 1) * per_step) / (place + 2))
        if ratio < _FALLING:
            left = hypot(norm(inner), norm(outer)) * ratio / (1 - ratio)
            if left <= numbers.left_out * max(map(norm, totals)):
                return numbers.around(totals[0], left), numbers.around(totals[1], left)
    msg = "head start: the learning rate is too large for what earlier stages drive. Lower it"
    raise LimitReachedError(msg)


def _reaching(
    outer: np.ndarray, inner: np.ndarray, own: np.ndarray, drives: Sequence[np.ndarray]
) -> list[int]:
    """Return which drives reach a mode: its directions, or those that others turn it to.

    Args:
        outer: U of the mode.
        inner: V of the mode.
        own: Sigma^{yx} of its pathway.
        drives: D of every earlier mode.
    """
    reach: set[int] = set()
    while True:
        seen = {
            place
            for place, drive in enumerate(drives)
            if max(_size(drive @ inner), _size(drive.T @ outer)) > ALIKE * _size(drive)
        }
        maps = [each / (_size(each) or 1.0) for each in (own, *(drives[n] for n in sorted(seen)))]
        wider = [_basis([outer, *(each @ inner for each in maps)])]
        wider += [_basis([inner, *(each.T @ outer for each in maps)])]
        if seen == reach and [w.shape for w in wider] == [outer.shape, inner.shape]:
            return sorted(reach)
        reach, (outer, inner) = seen, wider


def _size(matrix: np.ndarray) -> float:
    return float(np.abs(matrix).max(initial=0))


def _basis(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return an orthonormal basis of the columns of some matrices."""
    basis, sizes, _ = np.linalg.svd(np.hstack(parts), full_matrices=False)
    return basis[:, sizes > ALIKE * sizes[0]]


def _apart(one: Any, other: Any) -> bool:
    """Whether two half-times are two; those that symmetry makes equal are apart by rounding."""
    return abs(float(one - other)) > ALIKE * abs(float(one))
