"""Replay from a network's own weights: how few units have its loss, and what each part costs.

The units of one look are taken as those of :mod:`symreln.effective.network` at their horizon:
gates, moments and ways to few units are the same, and gradient descent on these goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.effective.descent import Descent, Look
from symreln.effective.gate_flows import settled_gates
from symreln.effective.network import WHOLE, Draws, EffectiveNetwork, Way
from symreln.laws.early_phase import Horizon
from symreln.networks.nearest_gates import nearest_gates
from symreln.specs.finding import counted

if TYPE_CHECKING:
    from symreln.explanation.recorded import Recorded

#: Rotations of units that stand for a moment, and the seed of them.
_ROTATIONS, _SEED = 2, 44_001
#: Multiplications of a replay of all units above which it is left out.
_MOST_COST = 6e10
#: Inputs times samples above which it takes long to settle on a gate.
_SETTLED = 5e4
#: Steps of a replay at most: several of the network's are one where these are many.
_MOST_STEPS = 10_000
#: w·x over its largest below which a sample is on a unit's boundary.
_BOUNDARY = 1e-6
#: Singular value over the largest below which samples on a boundary are of fewer directions.
_EDGE = 1e-9
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
        draws: The network's units at the look where replays begin.
        way: The nearest way to few units.
        steps: Of replays.
        best: Of the nearest of few units what it is called and its losses, or None.
        whole: Of all units: what gradient descent on all samples leaves; None where it takes
            minutes.
    """

    points: tuple[ReplayPoint, ...]
    draws: Draws
    way: Way
    whole: ReplayPoint | None
    steps: np.ndarray
    best: tuple[str, np.ndarray] | None

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
        groups = []
        if found.x.size > _SETTLED:
            return network
        for group in network.groups:
            settled = next(settled_gates(found.x, found.y, group.direction[None]), group.signs)
            groups.append(replace(group, signs=settled.astype(int)))
        return replace(network, groups=tuple(groups))

    def held(
        self, found: Recorded, gates: np.ndarray, boundaries: Sequence[tuple[int, ...]]
    ) -> float | None:
        """Return the distance of all units, each with the gate that it is nearest to for good.

        Args:
            found: What is known of the network.
            gates: 0 or 1, shape (gates, P).
            boundaries: Of each gate the samples that its units stay orthogonal to.
        """
        if self.whole is None:
            return None
        units = self.draws.units(WHOLE).copy()
        w = units[0, :, : len(found.x)]
        nearest = nearest_gates(w @ found.x, gates)
        edges = list[tuple[np.ndarray, np.ndarray]]()
        for place, samples in enumerate(boundaries):
            if samples:
                left, sizes, _ = np.linalg.svd(found.x[:, list(samples)], full_matrices=False)
                those, basis = np.flatnonzero(nearest == place), left[:, sizes > _EDGE * sizes[0]]
                w[those] -= w[those] @ basis @ basis.T
                edges.append((those, basis))
        losses, _ = self.draws.descend(WHOLE, units, gates[nearest][None], edges)
        return _far(found, self.steps, losses[0])


def replay(found: Recorded, weights: tuple[np.ndarray, np.ndarray], rate: float) -> Replayed:
    """Replay a network from one of its looks on, with ever more units.

    Args:
        found: What is known of it.
        weights: W1, shape (H, n_x), and W2, shape (n_y, H), at the look where it begins.
        rate: Of descent, in units of 1/τ a step.
    """
    begin = int(found.steps[found.begins])
    last = int(found.steps[-1])
    coarse = -(-(last - begin) // _MOST_STEPS) or 1
    descent = Descent(
        hidden=len(weights[0]),
        init_std=(1.0, 1.0),
        step=rate * coarse,
        steps=(last - begin) // coarse + 1,
    )
    horizon = _horizon(found.x, *weights)
    draws = Draws(
        x=found.x,
        y=found.targets,
        descent=descent,
        horizons=(horizon,) * _ROTATIONS,
        turns=tuple(map(np.random.default_rng, np.random.SeedSequence(_SEED).spawn(_ROTATIONS))),
        closed=lambda: [None] * _ROTATIONS,
        bias=None if found.bias is None else found.bias[found.begins],
    )
    steps = begin + coarse * np.arange(descent.steps)
    one = descent.steps * 2 * len(horizon.directions.T) * found.x.shape[1]
    size = len(horizon.sizes)
    asked = [*_affordable(draws, size, one)]
    alone = draws.first(1)
    if size * one <= _MOST_COST:
        asked.append((WHOLE, alone.units(WHOLE)))

    def descend(each: tuple[Way, np.ndarray]) -> np.ndarray:
        way, units = each
        return (alone if way is WHOLE else draws).descend(way, units)[0].mean(axis=0)

    with ThreadPoolExecutor(2) as pool:  # matrix products leave the interpreter to others
        curves = [*pool.map(descend, asked)]
    tried = [
        (ReplayPoint(units.shape[1], way.name, _far(found, steps, losses)), way, losses)
        for (way, units), losses in zip(asked, curves, strict=True)
    ]
    few = min((each for each in tried if each[1] is not WHOLE), key=_distance, default=None)
    points = list[ReplayPoint]()
    for point in sorted((each[0] for each in tried), key=lambda p: (p.count, p.distance)):
        if not points or point.distance < points[-1].distance:
            points.append(point)
    return Replayed(
        points=tuple(points),
        draws=alone,
        way=_UNTRIED if few is None else few[1],
        whole=next((point for point, way, _ in tried if way is WHOLE), None),
        steps=steps,
        best=None if few is None else (f"replay of {counted(few[0].count, 'unit')}", few[2]),
    )


def _distance(tried: tuple[ReplayPoint, Way, np.ndarray]) -> float:
    return tried[0].distance


def _affordable(draws: Draws, size: int, one: int) -> Iterator[tuple[Way, np.ndarray]]:
    """Yield the ways to few units that are replayed, with these units.

    A replay that costs more than that of all units reduces too little to be looked at.

    Args:
        draws: Of the units.
        size: How many there are.
        one: Multiplications for one unit.
    """
    for way in _WAYS:
        if _ROTATIONS * draws.least(way) <= size:
            units = draws.units(way)
            count = _ROTATIONS * units.shape[1]
            if count <= size and count * one <= _MOST_COST:
                yield way, units


def _far(found: Recorded, steps: np.ndarray, losses: np.ndarray) -> float:
    """Return the largest distance of a replay to the network at its looks, over L(0)."""
    looks = found.steps >= steps[0]
    at = np.interp(found.steps[looks], steps, losses)
    return float(np.abs(at - found.losses[looks]).max() / found.losses[0])


def _horizon(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> Horizon:
    """Return a network's units as those at a horizon."""
    units = np.hstack([w, b.T])
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
        span=np.eye(len(b)),
    )
