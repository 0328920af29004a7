"""A race confronted with trained networks: which gates they take on both sides of each boundary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of
from symreln.exact.order import order_key
from symreln.gates.consistent import SelfConsistentGate, self_consistent_gates
from symreln.gates.finite_start import FiniteStart, finite_start
from symreln.gates.orbits import moved_gates
from symreln.gates.partial import partial_gates
from symreln.gates.trained import nearest_observer, train_and_look

if TYPE_CHECKING:
    from symreln.gates.race import Race
    from symreln.spec.model import Spec

#: Denominator of the values of the parameter at which networks are trained, at most.
FINEST = 100
#: Standard errors within which a measured share agrees with the predicted one.
WITHIN = 3.0


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class RacePoint:
    """Networks trained at one value of the parameter.

    Attributes:
        value: The parameter.
        order: Self-consistent gates there, the fastest first, equal ones together.
        predicted: What the initial weights' size makes of it; None where nothing grows.
        shares: Share of the trained networks' weight by class, mean over seeds.
        spread: Its standard deviation over seeds.
        units: Share of the units by class, whatever their weight: those that have not grown show
            where a gate stops being self-consistent.
        outside: Share of (w·x)², averaged by weight, on samples where a unit's gate is not the one
            that it is counted for.
        left: Largest loss over seeds at the end, over the initial one.
        quarter: First step at which the mean loss is a quarter of the initial one, or None.
        steps: Recorded steps.
        tau: Steps in a unit of τ.
    """

    value: Fraction
    order: tuple[tuple[str, ...], ...]
    predicted: FiniteStart | None
    shares: dict[str, float]
    spread: dict[str, float]
    units: dict[str, float]
    outside: float
    left: float
    quarter: int | None
    steps: int
    tau: float

    @property
    def foretold(self) -> dict[str, float]:
        """Predicted shares by class; 0 for a class that is not self-consistent here."""
        found = dict.fromkeys(self.shares, 0.0)
        if self.predicted is not None:
            for each, share in zip(self.predicted.classes, self.predicted.shares, strict=True):
                found[each.pattern] += share
        return found

    @property
    def taken(self) -> tuple[str, ...]:
        """Classes by measured share, the largest first; those without weight are left out."""
        ordered = sorted(self.shares, key=lambda name: -self.shares[name])
        return tuple(name for name in ordered if self.shares[name] > 0.0005)

    @property
    def fastest_taken(self) -> bool:
        """Whether a class of the largest speed has the largest measured share."""
        return bool(self.order and self.taken) and self.taken[0] in self.order[0]

    def distance(self, name: str, seeds: int) -> float:
        """Return how many standard errors the measured share is off the predicted one."""
        error = 0.0
        if self.predicted is not None:
            for each, found in zip(self.predicted.classes, self.predicted.errors, strict=True):
                error = found if each.pattern == name else error
        total = np.hypot(error, self.spread[name] / np.sqrt(seeds))
        apart = abs(self.shares[name] - self.foretold[name])
        if not total:
            return 0.0 if apart < 1e-9 else float("inf")
        return float(apart / total)


def confronted_points(race: Race, count: int) -> tuple[Fraction, ...]:
    """Return values of the parameter to train at: ``count`` in every interval, and rational cuts.

    An interval without an end is taken as wide as its neighbour, or 1 where there is none.

    Args:
        race: The race.
        count: How many in an interval.
    """
    cuts = [p for p in race.pieces if p.piece.is_root and p.piece.sample is not None]
    found = [p.piece.sample for p in cuts if p.piece.sample is not None]
    for place, part in enumerate(race.pieces):
        if part.piece.is_root:
            continue
        low, high = piece_ends(race, place)
        for k in range(count):
            value = Fraction(low + (high - low) * (k + 0.5) / count).limit_denominator(FINEST)
            if part.contains(value):
                found.append(value)
    return tuple(sorted(set(found)))


def piece_ends(race: Race, place: int) -> tuple[float, float]:
    """Return where an interval is drawn; one without an end is as wide as its neighbour."""
    piece = race.pieces[place].piece
    low = None if piece.low is None else float(piece.low)
    high = None if piece.high is None else float(piece.high)
    if low is None and high is None:
        return -1.0, 1.0
    width = _width_beside(race, place)
    return (high - width if low is None else low), (low + width if high is None else high)  # type: ignore[operator]


def _width_beside(race: Race, place: int) -> float:
    """Return the width of the nearest interval with two ends, 1 where there is none."""
    widths = [
        (abs(k - place), float(part.piece.high) - float(part.piece.low))
        for k, part in enumerate(race.pieces)
        if not part.piece.is_root and part.piece.low is not None and part.piece.high is not None
    ]
    return min(widths, default=(0, 1.0))[1]


def classes_of(race: Race) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Return the signs of the gates that run anywhere: all of a class, by the name of one."""
    found: dict[str, tuple[tuple[int, ...], ...]] = {}
    for part in race.pieces:
        for rank in part.ranks:
            for runner in rank:
                found.setdefault(runner.pattern, moved_gates(runner.signs, race.group))
    return dict(sorted(found.items(), reverse=True))


def confront(
    race: Race, spec: Spec, value: Fraction, seeds: int, rng: int, *, predicts: bool = True
) -> RacePoint:
    """Train networks at one value of the parameter, and say what is predicted for them.

    Args:
        race: The race of the spec's data.
        spec: With all parameters declared but the race's, which takes ``value``.
        value: The parameter.
        seeds: How many networks.
        rng: Seed of their weights.
        predicts: Whether all gates are asked for that grow, so that shares can be predicted where
            the race has them all.
    """
    dataset = replace(
        spec.dataset,
        inputs=spec.dataset.inputs.substitute({race.parameter: value}),
        targets=spec.dataset.targets.substitute({race.parameter: value}),
    )
    classes = classes_of(race)
    candidates = candidates_at(race, spec, value)
    network = network_of(spec)
    inputs, targets = dataset.inputs.to_numpy(), dataset.targets.to_numpy()
    predicted = None
    if predicts and race.complete:
        predicted = finite_start(inputs, targets, candidates, race.group, network)
    tau = float(network.tau(dataset.samples))
    steps = network.steps
    if predicted is not None:
        # As long again as the slowest of outputs take to their end, counted from their half.
        steps = max(steps, int(2 * tau * (predicted.half_time + predicted.time)))
    here = replace(spec, dataset=dataset, network=replace(network, steps=steps))
    looked = train_and_look(
        here,
        seeds,
        rng,
        observers={"nearest": nearest_observer(inputs, list(classes.values()))},
        steps=np.array([steps - 1]),
    )
    weights, nearest = looked.weights[:, 0], looked.seen["nearest"][:, 0]
    total = weights.sum(axis=1)
    shares = {
        name: (weights * (nearest[..., 0] == k)).sum(axis=1) / total
        for k, name in enumerate(classes)
    }
    return RacePoint(
        value=value,
        order=_order(candidates),
        predicted=predicted,
        shares={name: float(each.mean()) for name, each in shares.items()},
        spread={name: float(each.std(ddof=int(seeds > 1))) for name, each in shares.items()},
        units={name: float((nearest[..., 0] == k).mean()) for k, name in enumerate(classes)},
        outside=float((weights * nearest[..., 1]).sum() / weights.sum()),
        left=float(looked.left.max()),
        quarter=looked.quarter,
        steps=steps,
        tau=tau,
    )


def candidates_at(race: Race, spec: Spec, value: Fraction) -> tuple[SelfConsistentGate, ...]:
    """Return the self-consistent gates at one value, one of each kind, the fastest first."""
    at = {race.parameter: value}
    inputs, targets = (m.substitute(at) for m in (spec.dataset.inputs, spec.dataset.targets))
    kinds = [(alike[0], len(alike)) for alike in classes_of(race).values()]
    gates = [(tuple(int(s > 0) for s in signs), size) for signs, size in kinds if 0 not in signs]
    full = self_consistent_gates(inputs, targets, gates)
    partial = partial_gates(inputs, targets, [kind for kind in kinds if 0 in kind[0]])
    return tuple(sorted(full + partial, key=lambda each: order_key(each.s, {})))


def _order(candidates: tuple[SelfConsistentGate, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the gates as text, equal speeds together."""
    ranks: list[list[SelfConsistentGate]] = []
    for each in candidates:
        if ranks and ranks[-1][0].s == each.s:
            ranks[-1].append(each)
        else:
            ranks.append([each])
    return tuple(tuple(each.pattern for each in rank) for rank in ranks)
