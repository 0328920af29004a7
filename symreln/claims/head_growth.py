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

Where one earlier mode drives a later one in a plane, formulas take the place of these vectors, and
of at once (:mod:`symreln.claims.head_formulas`).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil, hypot, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.records import record
from symreln.claims.number_systems import ALIKE, Matrix, Numbers, Vectors, floats
from symreln.errors import LimitReachedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.derivation import PathwayDerivation

#: Terms of the binomial series after which it is given up.
_MOST_TERMS = 20_000
#: Ratio of terms from which on they are bounded by a geometric series: the bound of what is left
#: out is then at most 1000 terms, which a few more terms take away.
_FALLING = 0.999
#: Norm of what a series takes the exponential of.
_PART = 64
#: Share of what a pathway sees up to which float64 takes a part of it for 0.
_NOTHING = 1e-12


@record(eq=False)
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


@record(eq=False)
class Drive:
    """What an earlier mode adds to what a pathway sees.

    Attributes:
        earlier: The mode.
        matrix: D = O_p Sigma^{yx}(j) v (h/s) vᵀ Sigma^x(j, p).
        in_floats: D in float64.
    """

    earlier: Earlier
    matrix: Matrix
    in_floats: np.ndarray


@record(eq=False)
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


@record(eq=False)
class Seen:
    """What a pathway of a later stage sees.

    Attributes:
        numbers: The number system.
        own: Its Sigma^{yx}.
        drives: What earlier modes add to it, by half-time.
        in_floats: Sigma^{yx} in float64.
    """

    numbers: Numbers
    own: Matrix
    drives: tuple[Drive, ...]
    in_floats: np.ndarray

    @classmethod
    def of(cls, numbers: Numbers, pathway: PathwayDerivation, earlier: Sequence[Earlier]) -> Seen:
        """Return what a pathway sees of earlier modes."""
        target, sources = pathway.effective, {id(each.pathway): each.pathway for each in earlier}
        own, alone = numbers.matrix(target.sigma_yx), numbers.in_floats(target.sigma_yx)
        sides = {}
        for source, each in sources.items():
            seen = target.masked(each.effective.sigma_yx), each.effective.cross_sigma_x(target)
            sides[source] = [*map(numbers.matrix, seen)], [*map(numbers.in_floats, seen)]
        drives = []
        for each in sorted(earlier, key=lambda mode: float(mode.half_time)):
            (outer, inner), (left, right) = sides[id(each.pathway)]
            sketch = (left @ floats(each.inputs)) @ (floats(each.scaled) @ right)
            if _size(sketch) > _NOTHING * _size(alone + sketch):
                drive = numbers.times(
                    numbers.times(outer, each.inputs), numbers.times(each.scaled, inner)
                )
                drives.append(Drive(earlier=each, matrix=drive, in_floats=sketch))
        return cls(numbers=numbers, own=own, drives=tuple(drives), in_floats=alone)

    def vectors(self, v: Matrix, s: Any) -> Vectors:
        """Return U and V of a mode, from V and s."""
        return self.numbers.times(self.own, v) * (1 / s), v

    def reaching(self, vectors: Vectors) -> tuple[Drive, ...]:
        """Return what of it drives a mode: its directions, or those that others turn it to."""
        u, v = map(floats, vectors)
        return tuple(self.drives[n] for n in _reaching(u, v, *self._maps))

    @cached_property
    def _maps(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Sigma^{yx} and every D in float64, over their norms."""
        own, *drives = (
            each / (_size(each) or 1.0)
            for each in (self.in_floats, *(drive.in_floats for drive in self.drives))
        )
        return own, drives

    def phases(self, drives: Sequence[Drive]) -> tuple[Phase, ...]:
        """Return what a mode sees while these earlier ones still learn, phase by phase."""
        ends: list[list[Drive]] = []
        for each in drives:
            if not each.earlier.half_time > 0:
                continue  # learned from the start
            if ends and not _apart(ends[-1][-1].earlier.half_time, each.earlier.half_time):
                ends[-1].append(each)
            else:
                ends.append([each])
        own, phases = self.own, []
        for place, group in reversed([*enumerate(ends)]):
            for each in group:
                own = own + each.matrix
            modes = tuple(each.earlier for each in group)
            begin = ends[place - 1][0].earlier.half_time if place else 0
            steps = modes[0].half_time - begin
            phases.append(Phase(drive=own, steps=steps, ends=modes))
        return tuple(reversed(phases))

    def grown(
        self, vectors: Vectors, phases: Sequence[Phase], tau: Any, alone: Any, *, flow: bool
    ) -> Matrix:
        """Return Φᵀ (V, U), of one stack of columns; of infinitely small steps where they flow.

        Over the growth of the mode alone, e^alone in a step. In parts of few terms, which it takes
        back at once: a whole phase may grow beyond any series, and beyond floats.
        """
        ops, (outer, inner) = self.numbers.ops, vectors
        for phase in reversed(phases):
            across = phase.drive * (phase.steps / tau)
            size = self.numbers.norm(across) / _PART
            parts = max(1, ceil(size)) if isfinite(size) else 1  # the series refuses it
            one_step = ops.number(0) if flow else parts / phase.steps
            across = across * ops.number(Fraction(1, parts))
            fading = ops.exp(-phase.steps * alone / parts)
            for _ in range(parts):
                inner, outer = _grown(self.numbers, across, one_step, (inner, outer))
                inner, outer = inner * fading, outer * fading
        return self.numbers.stacked(inner, outer)


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
        own: Sigma^{yx} of its pathway, over its norm.
        drives: D of every earlier mode, likewise.
    """
    reach: set[int] = set()
    while True:
        seen = {
            place
            for place, drive in enumerate(drives)
            if max(_size(drive @ inner), _size(drive.T @ outer)) > ALIKE
        }
        maps = [own, *(drives[n] for n in sorted(seen))]
        wider = [_basis([outer, *(each @ inner for each in maps)])]
        wider += [_basis([inner, *(each.T @ outer for each in maps)])]
        if seen == reach and [w.shape for w in wider] == [outer.shape, inner.shape]:
            return sorted(reach)
        reach, (outer, inner) = seen, wider


def _size(matrix: np.ndarray) -> float:
    with np.errstate(over="ignore"):
        size = float(np.linalg.norm(matrix))
    return size if isfinite(size) else float(np.abs(matrix).max())


def _basis(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return an orthonormal basis of the columns of some matrices."""
    basis, sizes, _ = np.linalg.svd(np.hstack(parts), full_matrices=False)
    return basis[:, sizes > ALIKE * sizes[0]]


def _apart(one: Any, other: Any) -> bool:
    """Whether two half-times are two; those that symmetry makes equal are apart by rounding."""
    return abs(float(one - other)) > ALIKE * abs(float(one))
