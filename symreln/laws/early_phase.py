r"""Initial strengths of a ReLU network from its early phase, by averaging over single units.

While all outputs are small the residual is Y itself, and a hidden unit (w, b) moves alone:

.. math:: \tau \dot w = \sum_\mu 1[w \cdot x_\mu > 0] (b \cdot y_\mu)\, x_\mu / P, \qquad
          \tau \dot b = \sum_\mu (w \cdot x_\mu)_+\, y_\mu / P.

Its equation is homogeneous, so what it does is a property of the data, not of the width or of
init_std. A mode (u, s, v) of a pathway grows along (v, u)/√2; once the units' gates have settled on
the pathway's, the square of that amplitude grows as e^{2 s t/τ}, and

.. math:: \kappa = \lim_T E\bigl[ \tfrac12 (v \cdot w + u \cdot b)^2 \bigr]\, e^{-2 s T/\tau}

for units drawn from N(0, 1) says how many of them, in effect, the mode starts from: its initial
strength is κ H init_std²/2. Layers that start apart are drawn in units of the root of their mean
variance, which then stands for init_std². A linear network has κ = 1, whatever the mode; counting
half of the units of a ReLU network is κ = 1/2.

A unit counts for the pathway whose gate it has, and for none where it has another gate: it then
grows at another rate, in another direction. On samples that are orthogonal to w within
``_BOUNDARY``, or within what one step moves, the sign means nothing, and any gate is the unit's.
Modes that a symmetry of the
data exchanges are estimated together: their κ is one number, the mean over all of them.

What a unit adds goes with what it would have added to a linear network, whose mean is known, and
with its sign: κ is the mean at these known means (control variates), which has a tenth of the
variance. Float64, seeded, with the standard error. Nothing is fitted to a network.
Source: the alignment of single units is that of Maennel et al. 2018.
"""

from __future__ import annotations

from functools import reduce
from operator import matmul
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.processors import one_blas_thread
from symreln.base.records import record
from symreln.errors import InputError
from symreln.laws.spans import orthonormal_span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scipy.sparse import csr_array

#: Units that are followed, at the most and at the least, and how many times the samples: between
#: these, work does not grow with the samples. The standard error of κ is then 0.5 % (4 samples) to
#: 4 % (2048), of a drop time at most a few hundredths of a growth time.
UNITS, _FEWEST, _WORK = 4000, 64, 48_000
#: Growth times of the mode between two looks at its units.
_LOOK = 1.0
#: Cosine between w and a sample below which the sample is on the boundary of the unit's half-space.
_BOUNDARY = 1e-3
#: Share of κ that units add which came to the gate or left it since the last look; below it, twice
#: in a row, gates have settled. No Monte Carlo error is in it: the units are the same.
_SETTLED = 2e-3
#: Relative change of κ in a look above which units grow at another rate than the mode. Units that
#: are held on a boundary cross it in every step, which slows them by the order of a step.
_DRIFT = 0.1
#: A matrix by its shape and what is not zero: ((rows, columns), values).
_Entries = tuple[tuple[int, int], tuple[np.ndarray, np.ndarray], np.ndarray]
#: Share of nonzero entries below which products with data are faster by these alone.
_SPARSE = 1 / 16
#: Looks after which the search ends anyhow: e^-2·40 of what does not grow is left.
MOST_LOOKS = 40
#: Growth times, of the fastest direction there could be, between two looks for the horizon.
_HORIZON_LOOK = 0.1
#: Growth of the fastest mode in a step below which steps are taken this long: what they cost is
#: far below the Monte Carlo error, and a learning rate of 1e-30 would take 1e30 of them.
_FINEST = 1e-3


@record
class EarlyStrength:
    """What the early phase says of one mode; the same for all modes of its symmetry orbit.

    Attributes:
        kappa: κ, mean over equal modes and over the orbit; 0 where no unit keeps the gate.
        error: Its standard error, from the spread over units.
        settled: Whether units keep the gate, and all that count for κ have come to theirs.
        moved: Share of κ by units that came to the gate or left it in the last look.
    """

    kappa: float
    error: float
    settled: bool
    moved: float = 0.0


@record(eq=False)
class Horizon:
    """Units when their outputs begin to be felt; until then each is alone.

    Attributes:
        time: In units of τ.
        directions: (w, b) of each at length one, b in the span, shape (units, n_x + rank).
        sizes: Their squared lengths, those of all units of the network together, shape (units,).
        signs: Of w·x, 0 where the sample is on the boundary, shape (units, P).
        span: Orthonormal basis of the targets' columns, shape (n_y, rank).
        initial: (w, b) from which they were followed, shape (units, n_x + rank).
    """

    time: float
    initial: np.ndarray
    directions: np.ndarray
    sizes: np.ndarray
    signs: np.ndarray
    span: np.ndarray


@record(eq=False)
class EarlyMode:
    """Equal modes that are asked for.

    Attributes:
        pathway: Which of the pathways.
        inputs: Inputs of the pathway, indices.
        s: Singular value of Sigma^{yx} (of the whole targets), positive.
        u: Left singular vectors, shape (n_y, multiplicity).
        v: Right singular vectors among the pathway's inputs, shape (inputs, multiplicity).
    """

    pathway: int
    inputs: tuple[int, ...]
    s: float
    u: np.ndarray
    v: np.ndarray


class IsolatedUnits:
    """Single ReLU units in the field of the targets.

    Args:
        inputs: X, shape (n_x, P).
        targets: What is not zero of Y: its shape (n_y, P), ((rows, columns), values).
        gates: 0 or 1, shape (pathways, P): those that learn at once.
        step: A step of gradient descent in units of τ: 1/τ with τ in steps.
        rng: Seed of the units.
        units: How many; by default as many as the samples leave time for.
        scales: Standard deviations of w and b at the start, their squares of mean one.
    """

    def __init__(
        self,
        inputs: np.ndarray,
        targets: _Entries,
        gates: np.ndarray,
        step: float,
        rng: np.random.Generator,
        units: int | None = None,
        scales: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        self._gates, self._step = gates > 0, step
        rows, columns = np.nonzero(inputs)
        self._x = _packed(inputs.shape, (rows, columns), inputs[rows, columns])
        y = _packed(*targets)
        self._y = y / inputs.shape[1]
        self._sizes = np.linalg.norm(inputs, axis=0)
        # |x·x'| of two samples, left as a product where no input is negative.
        self._across = (self._x.T, self._x)
        if (inputs < 0).any():
            self._across = (np.abs(inputs.T @ inputs),)
        self._basis = None
        if isinstance(y, np.ndarray):
            # Outputs outside the span of the targets never move, and no mode points there. Of
            # sparse targets they are followed all the same, which is cheaper than the span.
            self._basis = orthonormal_span(y)
            self._y = self._basis.T @ y / inputs.shape[1]
        self._to_x, self._by_x, self._to_y, self._by_y = (
            _right(part) for data in (self._x, self._y) for part in (data, data.T)
        )
        units = units or max(_FEWEST, min(UNITS, _WORK // inputs.shape[1]))
        # Columns in one piece, where sparse products would copy them to have them so.
        order = "C" if self._basis is not None else "F"
        drawn = (rng.standard_normal((units, m.shape[0])) for m in (inputs, self._y))
        self._first, self._second = (
            np.array(scale * each, order=order) for scale, each in zip(scales, drawn, strict=True)
        )
        self._logs = np.zeros(units)
        self._done = 0

    @property
    def units(self) -> int:
        """How many units are followed."""
        return len(self._logs)

    @one_blas_thread()
    def strengths(
        self, modes: Sequence[EarlyMode], orbits: Sequence[object] | None = None
    ) -> list[EarlyStrength]:
        """Return κ of every mode; the units move on until each orbit has settled.

        Args:
            modes: What is asked for.
            orbits: Of every mode, equal where a symmetry of the data exchanges modes; by default
                each mode is an orbit of its own.
        """
        if not modes:
            return []
        fastest = max(mode.s for mode in modes)
        if not fastest > 0:
            msg = "early phase: a mode with s = 0 does not grow. Ask for modes with s > 0."
            raise InputError(msg)
        members: dict[object, list[int]] = {}
        for place in range(len(modes)):
            members.setdefault(place if orbits is None else orbits[place], []).append(place)
        found: dict[int, EarlyStrength] = {}
        self._step = max(self._step, _FINEST / fastest)
        look = max(1, round(_LOOK / (self._step * fastest)))
        last = np.zeros((len(self._first), len(self._gates)), dtype=bool)
        controls = {
            place: _controls([self._along(modes[p]) * self._facing(modes[p]) for p in places])
            for place, places in members.items()
        }
        for _ in range(MOST_LOOKS):
            self.advance(look)
            on = self._census()
            for place, places in members.items():
                before = found.get(places[0])
                if before is None or not before.settled:
                    own = [(self._squares(modes[p]), modes[p].pathway) for p in places]
                    came = [np.where((on ^ last)[:, [p]], each, 0.0) for each, p in own]
                    moved = float(np.mean([each.mean() for each in came]))
                    own = [np.where(on[:, [p]], each, 0.0) for each, p in own]
                    pooled = _pooled(own, controls[place], moved, before)
                    found.update(dict.fromkeys(places, pooled))
            if all(each.settled for each in found.values()):
                break
            last = on
        return [found[place] for place in range(len(modes))]

    def advance(self, steps: int) -> None:
        """Take steps of gradient descent, each unit alone."""
        for _ in range(steps):
            seen = self._to_x(self._first)
            drive = self._to_y(self._second) * (seen > 0)
            self._second += self._step * self._by_y(np.maximum(seen, 0, out=seen))
            self._first += self._step * self._by_x(drive)
        self._done += steps
        # Homogeneous: units are kept at length one, their growth in logarithms.
        size = np.sqrt(np.sum(self._first**2, axis=1) + np.sum(self._second**2, axis=1))
        self._first /= size[:, None]
        self._second /= size[:, None]
        self._logs += np.log(size)

    @one_blas_thread()
    def to_horizon(self, start: float, epsilon: float, last: float) -> Horizon | None:
        """Follow the units until they are no longer alone: until their outputs reach the targets.

        Args:
            start: Of w and b together the initial square that all units have in the mean, over
                that of the numbers they are drawn from: Hσ² over how many are followed.
            epsilon: Outputs over targets, Frobenius norms, at which to stop.
            last: Time in units of τ after which to give up.
        """
        y = self._y if isinstance(self._y, np.ndarray) else self._y.toarray()
        goal = epsilon * np.linalg.norm(y)
        fastest = self._sizes.max(initial=0) * np.linalg.norm(y, axis=0).sum()
        if not fastest > 0:
            return None
        self._step = max(self._step, _FINEST / fastest)
        initial = np.sqrt(start) * np.hstack([self._first, self._second])
        growth = np.log1p(self._step * fastest)  # no unit grows by more in a step
        self.advance(0)
        while (time := self._done * self._step) < last:
            seen, clear = self._seen()
            sizes = start * np.exp(2 * self._logs)
            outputs = (sizes[:, None] * self._second).T @ np.maximum(seen, 0)
            reached = np.linalg.norm(outputs) / seen.shape[1]
            if reached >= goal:
                signs = np.where(clear, np.sign(seen), 0)
                # Steps so large that a unit crosses every sample say nothing of its boundary.
                lost = ~(signs > 0).any(axis=1)
                signs[lost] = np.sign(seen[lost])
                return Horizon(
                    time=time,
                    initial=initial,
                    directions=np.hstack([self._first, self._second]),
                    sizes=sizes,
                    signs=signs.astype(np.int8),
                    span=np.eye(len(y)) if self._basis is None else self._basis,
                )
            # Outputs are at most these, where no two units cancel: ‖w‖‖b‖ ≤ 1/2.
            most = sizes.sum() * np.linalg.norm(self._sizes) / (2 * seen.shape[1])
            left = np.log(goal / most) / 2
            self.advance(max(1, int(max(_HORIZON_LOOK, left) / growth)))
        return None

    def _census(self) -> np.ndarray:
        """Return who has which gate, shape (units, pathways).

        Of several gates that a unit has, on samples of its boundary, the nearest counts, samples
        weighted by (w·x)².
        """
        seen, clear = self._seen()
        squares, opened = seen * seen, seen > 0
        wrong = [opened != gate for gate in self._gates]
        has = np.column_stack([~(w & clear).any(axis=1) for w in wrong])
        missed = np.column_stack([np.where(w, squares, 0.0).sum(axis=1) for w in wrong])
        missed[~has] = np.inf
        closed = ~(opened & clear).any(axis=1)
        return has & (missed == missed.min(axis=1, keepdims=True)) & ~np.expand_dims(closed, 1)

    def _seen(self) -> tuple[np.ndarray, np.ndarray]:
        """Return w·x, and whether it is clear of the boundary, both of shape (units, P)."""
        seen = self._first @ self._x
        lengths = np.outer(np.linalg.norm(self._first, axis=1), self._sizes)
        # What is held on a boundary crosses it in every step, to and fro.
        moved = reduce(matmul, self._across, self._step * np.abs(self._second @ self._y))
        return seen, np.abs(seen) > np.maximum(_BOUNDARY * lengths, moved)

    def _squares(self, mode: EarlyMode) -> np.ndarray:
        """Return what every unit would add to each equal mode, shape (units, multiplicity)."""
        growth = self._logs - self._done * np.log1p(self._step * mode.s)
        return 0.5 * self._along(mode) ** 2 * np.exp(2 * growth)[:, None]

    def _facing(self, mode: EarlyMode) -> np.ndarray:
        """Return the signs with which equal modes see the samples of their gate, in the mean."""
        opened = np.where(self._gates[mode.pathway], 1.0, 0.0)
        return np.where((self._x[list(mode.inputs)] @ opened) @ mode.v < 0, -1.0, 1.0)

    def _along(self, mode: EarlyMode) -> np.ndarray:
        outer = mode.u if self._basis is None else self._basis.T @ mode.u
        return self._first[:, list(mode.inputs)] @ mode.v + self._second @ outer


def followed(
    modes: Sequence[EarlyMode], orbits: Sequence[object], *, seed: int, **given: Any
) -> tuple[int, list[EarlyStrength]]:
    """Return how many units were followed, and κ of every mode.

    Here, because a process beside, which may do it, needs nothing else that takes time to import.
    """
    units = IsolatedUnits(rng=np.random.default_rng(seed), **given)
    return units.units, units.strengths(modes, orbits)


def _packed(
    shape: tuple[int, int], at: tuple[np.ndarray, np.ndarray], values: np.ndarray
) -> np.ndarray | csr_array:
    """Return the matrix of what is not zero, as it is fastest to multiply with."""
    if len(values) >= _SPARSE * shape[0] * shape[1]:
        matrix = np.zeros(shape)
        matrix[at] = values
        return matrix
    from scipy.sparse import csr_array

    return csr_array((values, at), shape=shape)


def _right(matrix: np.ndarray | csr_array) -> Callable[[np.ndarray], np.ndarray]:
    """Return what multiplies rows with a matrix; where it is sparse, rows that lie by columns."""
    if isinstance(matrix, np.ndarray):
        return lambda rows: rows @ matrix
    turned = matrix.T.tocsr()
    return lambda rows: (turned @ rows.T).T


def _controls(along: list[np.ndarray]) -> np.ndarray:
    """Return by unit what it adds to a linear network, less its mean of 1, and that with its sign.

    Args:
        along: Amplitudes at the start along each mode of an orbit, shape (units, multiplicity).
    """
    means = [
        np.mean([part(each).mean(axis=1) for each in along], axis=0)
        for part in (lambda each: 0.5 * each**2 - 1, lambda each: 0.5 * each * np.abs(each))
    ]
    return np.column_stack([np.ones_like(means[0]), *means])


def _pooled(
    squares: list[np.ndarray], controls: np.ndarray, moved: float, before: EarlyStrength | None
) -> EarlyStrength:
    """Return the strength of the modes of an orbit.

    The mean over the orbit is taken unit by unit, so that its error counts that a unit which one
    mode gets is lost to the others.

    Args:
        squares: What units add to each mode of the orbit, shape (units, multiplicity).
        controls: 1 and what has mean 0, shape (units, 3).
        moved: What units add that came to their gate or left it since the look before.
        before: The orbit at the look before.
    """
    units = np.mean([each.mean(axis=1) for each in squares], axis=0)
    mean = float(units.mean())
    if not mean > 0:
        return EarlyStrength(kappa=0.0, error=0.0, settled=False)
    fit = np.linalg.lstsq(controls, units)[0]
    error = float((units - controls @ fit).std() / np.sqrt(len(units)))
    kappa = float(fit[0]) if fit[0] > 0 else mean
    settled = (
        before is not None
        and before.kappa > 0
        and max(before.moved, moved / kappa) <= _SETTLED
        and abs(kappa / before.kappa - 1) <= _DRIFT
    )
    return EarlyStrength(kappa=kappa, error=error, settled=settled, moved=moved / kappa)
