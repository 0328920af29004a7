"""Replay from a network's own weights: how few units have its loss, and what each part costs.

The units of one look are taken as those of :mod:`symreln.effective.network` at their horizon:
gates, moments and ways to few units are the same, and gradient descent on these goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.records import record
from symreln.effective.descent import Descent, Look, in_threads
from symreln.effective.gate_flows import settled_gates
from symreln.effective.network import WHOLE, Draws, EffectiveNetwork, Way
from symreln.errors import InputError
from symreln.laws.early_phase import Horizon
from symreln.laws.spans import orthonormal_span
from symreln.networks.nearest_gates import nearest_gates
from symreln.specs.finding import counted

if TYPE_CHECKING:
    from symreln.explanation.recorded import Recorded

#: Seed of the rotation of units that stand for a moment.
_SEED = 44_001
#: Multiplications of a replay above which it is left out.
_MOST_COST = 2e11
#: Inputs times samples above which it takes long to settle on a gate.
_SETTLED = 5e4
#: Steps of a replay at most: several of the network's are one where these are many.
_MOST_STEPS = 10_000
#: w·x over its largest below which a sample is on a unit's boundary.
_BOUNDARY = 1e-6
#: Singular value over the largest below which samples on a boundary are of fewer directions.
_EDGE = 1e-9
#: Outputs beside the span of the targets, over these, below which they are left out.
_BESIDE = 1e-5
#: From few units to many: directions alone, then moments.
_ALIKE = (0.5, 0.8, 0.9, 0.97)
_WAYS = (
    *(Way("neurons", alike, single=True) for alike in _ALIKE),
    *(Way("moments", alike, single=True) for alike in _ALIKE[2:]),
    Way("moments", 0.99, 0.99999, single=True),
)
#: By which gates are found where nothing is replayed.
_UNTRIED = Way("neurons", _ALIKE[2], single=True)


@record(kw_only=False)
class ReplayPoint:
    """A replay with so many units.

    Attributes:
        count: K.
        way: How they became few.
        distance: Largest |ΔL| over L(0) to the network at its looks from the beginning on.
    """

    count: int
    way: str
    distance: float


@record(eq=False)
class Replayed:
    """Replays of a network.

    Attributes:
        points: By number of units; each takes more than the one before and is nearer.
        draws: The network's units at the look where replays begin, in the targets' span.
        left: What is left to the units, Y less the outputs' bias at the end, in this span.
        way: The nearest way to few units.
        steps: Of replays.
        best: Of the nearest of few units what it is called and its losses, or None.
        whole: Of all units: what gradient descent on all samples leaves; None where it takes
            minutes.
        fixed: Distance of all units, each with the gate that it is nearest to for good, or None.
        unmoved: The same with the bias of the outputs as it is at the end, where there is one.
    """

    points: tuple[ReplayPoint, ...]
    draws: Draws
    left: np.ndarray
    way: Way
    steps: np.ndarray
    best: tuple[str, np.ndarray] | None
    whole: ReplayPoint | None = None
    fixed: float | None = None
    unmoved: float | None = None

    def needed(self, share: float) -> int | None:
        """Return how few units are within a share of L(0); None where none of them is."""
        return next((each.count for each in self.points if each.distance <= share), None)

    def standing(self, found: Recorded, looks: tuple[Look, ...]) -> EffectiveNetwork:
        """Return the network as an effective one, with the gates that its units settle on.

        Args:
            found: What is known of it.
            looks: At its units.
        """
        losses = found.at_all_steps(found.losses)[None]
        network = self.draws.standing(self.way, looks[0].units, losses, looks)
        if found.x.size > _SETTLED or not network.groups:
            return network
        directions = np.array([group.direction for group in network.groups])
        gates, owner = settled_gates(found.x, self.left, directions)
        settled = zip(network.groups, gates[owner].astype(int), strict=True)
        groups = (replace(g, signs=gate) if (gate > 0).any() else g for g, gate in settled)
        return replace(network, groups=tuple(groups))

    def with_all(
        self, found: Recorded, gates: np.ndarray, boundaries: Sequence[tuple[int, ...]]
    ) -> Replayed:
        """Return this with the replays of all units, where these do not take minutes.

        Args:
            found: What is known of the network.
            gates: 0 or 1, shape (gates, P).
            boundaries: Of each gate the samples that its units stay orthogonal to.
        """
        units = self.draws.units(WHOLE)
        if _cost(self.draws, units.shape[1]) > _MOST_COST:
            return self
        still = replace(self.draws, y=self.left, bias=None)
        held = _held(found.x, units, gates, boundaries)
        asked = [(self.draws, WHOLE, units), (self.draws, WHOLE, *held)]
        asked += [] if self.draws.bias is None else [(still, WHOLE, *held)]
        curves = _descended(asked, self.draws.ended)
        free, fixed, *unmoved = (_far(found, self.steps, each) for each in curves)
        whole = ReplayPoint(units.shape[1], WHOLE.name, free)
        return replace(
            self,
            points=_improving((*self.points, whole)),
            whole=whole,
            fixed=fixed,
            unmoved=next(iter(unmoved), None),
        )


def replay(found: Recorded, weights: tuple[np.ndarray, np.ndarray], rate: float) -> Replayed:
    """Replay a network from one of its looks on, with ever more units that are fewer than its own.

    Args:
        found: What is known of it.
        weights: W1, shape (H, n_x), and W2, shape (n_y, H), at the look where it begins.
        rate: Of descent, in units of 1/τ a step.

    Raises:
        InputError: No unit is alive.
    """
    begin = int(found.steps[found.begins])
    if not (weights[0] @ found.x > 0).any():
        msg = (
            f"the hidden units are dead: at step {begin} none of them is open on a sample, so they "
            "learn nothing. Train from other weights, or give the data that they were trained on"
        )
        raise InputError(msg)
    last = int(found.steps[-1])
    coarse = -(-(last - begin) // _MOST_STEPS) or 1
    descent = Descent(
        hidden=len(weights[0]),
        init_std=(1.0, 1.0),
        step=rate * coarse,
        steps=(last - begin) // coarse + 1,
    )
    span = _span(found, *weights)
    draws = Draws(
        x=found.x,
        y=span.T @ found.targets,
        descent=descent,
        horizons=(_horizon(found.x, *weights, span),),
        turns=(np.random.default_rng(_SEED),),
        closed=lambda: [None],
        bias=None if found.bias is None else span.T @ found.bias[found.begins],
    )
    steps = begin + coarse * np.arange(descent.steps)
    asked = [*_affordable(draws)]
    curves = _descended([(draws, way, units) for way, units in asked], draws.ended)
    tried = [
        (ReplayPoint(units.shape[1], way.name, _far(found, steps, losses)), way, losses)
        for (way, units), losses in zip(asked, curves, strict=True)
    ]
    few = min(tried, key=lambda each: each[0].distance, default=None)
    return Replayed(
        points=_improving(each[0] for each in tried),
        draws=draws,
        left=span.T @ found.y,
        way=_UNTRIED if few is None else few[1],
        steps=steps,
        best=None if few is None else (f"replay of {counted(few[0].count, 'unit')}", few[2]),
    )


def _descended(asked: Sequence[tuple[Any, ...]], ended: Event) -> list[np.ndarray]:
    """Return losses, shape (steps,), of descents of draws: these, their way, units and gates."""
    return in_threads(lambda each: each[0].descend(*each[1:])[0].mean(axis=0), asked, ended)


def _improving(points: Iterable[ReplayPoint]) -> tuple[ReplayPoint, ...]:
    """Return the points that are nearer than all with fewer units."""
    found = list[ReplayPoint]()
    for point in sorted(points, key=lambda p: (p.count, p.distance)):
        if not found or point.distance < found[-1].distance:
            found.append(point)
    return tuple(found)


def _cost(draws: Draws, count: int) -> int:
    """Return how many multiplications a replay of so many units takes."""
    samples = draws.x.shape[1]
    return draws.descent.steps * 2 * (len(draws.x) + len(draws.y)) * samples * count


def _affordable(draws: Draws) -> Iterator[tuple[Way, np.ndarray]]:
    """Yield the ways to at most half of the units that are replayed, with these.

    One of as many units as the one before has the same ones.
    """
    size, before, left = draws.units(WHOLE).shape[1], (), _MOST_COST
    for way in _WAYS:
        if 2 * draws.least(way) <= size:
            units = draws.units(way)
            count = units.shape[1]
            fits = 2 * count <= size and _cost(draws, count) <= left
            if fits and before != (way.name, count):
                before, left = (way.name, count), left - _cost(draws, count)
                yield way, units


def _held(
    x: np.ndarray, units: np.ndarray, gates: np.ndarray, boundaries: Sequence[tuple[int, ...]]
) -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Return units with the gates that they are nearest to, and what they stay orthogonal to.

    Units that are nearer to none of the gates than to the closed one are closed.
    """
    units, gates = units.copy(), np.vstack([gates, np.zeros(gates.shape[1])])
    w = units[0, :, : len(x)]
    nearest = nearest_gates(w @ x, gates)
    edges = list[tuple[np.ndarray, np.ndarray]]()
    for place, samples in enumerate(boundaries):
        if samples:
            left, sizes, _ = np.linalg.svd(x[:, list(samples)], full_matrices=False)
            those, basis = np.flatnonzero(nearest == place), left[:, sizes > _EDGE * sizes[0]]
            w[those] -= w[those] @ basis @ basis.T
            edges.append((those, basis))
    return units, gates[nearest][None], edges


def _far(found: Recorded, steps: np.ndarray, losses: np.ndarray) -> float:
    """Return the largest distance of a replay to the network at its looks, over L(0)."""
    looks = found.steps >= steps[0]
    at = np.interp(found.steps[looks], steps, losses)
    return float(np.abs(at - found.losses[looks]).max() / found.losses[0])


def _span(found: Recorded, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the targets and biases, or of all outputs.

    What outputs are beside the targets decays. It is left out where it is below rounding.
    """
    biases = np.zeros((len(b), 0)) if found.bias is None else found.bias.T
    span = orthonormal_span(np.hstack([found.targets, biases]))
    outputs = b @ np.maximum(w @ found.x, 0)
    beside = np.linalg.norm(outputs - span @ (span.T @ outputs))
    small = beside <= _BESIDE * np.linalg.norm(found.targets)
    return span if small else np.eye(len(b))


def _horizon(x: np.ndarray, w: np.ndarray, b: np.ndarray, span: np.ndarray) -> Horizon:
    """Return a network's units as those at a horizon."""
    units = np.hstack([w, b.T @ span])
    sizes = np.square(units).sum(axis=1)
    alive = sizes > 0
    seen = w[alive] @ x
    edge = _BOUNDARY * np.abs(seen).max(axis=1, keepdims=True)
    return Horizon(
        time=0.0,
        initial=units[alive],
        directions=units[alive] / np.sqrt(sizes[alive])[:, None],
        sizes=sizes[alive],
        signs=np.where(np.abs(seen) <= edge, 0, np.sign(seen)).astype(np.int8),
        span=span,
    )
