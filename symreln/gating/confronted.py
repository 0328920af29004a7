"""A race confronted with trained networks: which gates they take on both sides of each boundary.

What is predicted for them is their finite start (:mod:`symreln.gating.finite_start`), or, for gates
that are given, the mean-field simulation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.order import order_key
from symreln.gating.consistent import SelfConsistentGate, by_speed, self_consistent_gates
from symreln.gating.finite_start import FiniteStart, finite_start
from symreln.gating.observed import ObservedNetworks, nearest_observer, observe, wide_shares
from symreln.gating.partial import partial_gates
from symreln.gating.race_pieces import Race
from symreln.gating.serialise import Result
from symreln.specs.model import Dataset, Spec

#: Denominator of the values of the parameter at which networks are trained, at most.
_FINEST = 100
#: Standard errors within which a measured share agrees with the predicted one.
WITHIN = 3.0

#: Halvings of an interval in which shares become equal; they end within its 2^-12th part.
HALVINGS = 12
#: Part of two intervals that is left out at their ends, where one of two gates may be missing.
_EDGE = 1e-3


@dataclass(frozen=True)
class ClassShare:
    """What networks have of a class of gates at the end, and what is predicted.

    Attributes:
        pattern: One of the gates.
        predicted: Share of the weight, 0 where the class is not self-consistent here; None where
            nothing is predicted.
        predicted_error: Standard error of it.
        measured: Share of the trained networks' weight, mean over seeds.
        spread: Its standard deviation over seeds.
        units: Share of the units, whatever their weight: those that have not grown show where a
            gate stops being self-consistent.
    """

    pattern: str
    predicted: float | None
    predicted_error: float
    measured: float
    spread: float
    units: float

    def distance(self, seeds: int) -> float:
        """Return how many standard errors the measured share is off the predicted one."""
        total = np.hypot(self.predicted_error, self.spread / np.sqrt(seeds))
        apart = abs(self.measured - (self.predicted or 0.0))
        if not total:
            return 0.0 if apart < 1e-9 else float("inf")
        return float(apart / total)


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class RacePoint(Result):
    """Networks trained at one value of the parameter.

    Attributes:
        value: The parameter.
        seeds: How many networks.
        order: Self-consistent gates there, the fastest first, equal ones together.
        start: What the initial weights' size makes of it; None where nothing grows.
        classes: Shares by class.
        outside: Share of (w·x)², averaged by weight, on samples where a unit's gate is not the one
            that it is counted for.
        left: Largest loss over seeds at the end, over the initial one.
        quarter: First step at which the mean loss is a quarter of the initial one, or None.
        updates: Recorded steps.
        tau: Steps in a unit of τ.
    """

    JSON = (
        *("value", "order", "taken", "fastest_taken", "agrees", "classes", "kappa_settled"),
        *("outside", "half_time_predicted=half_time", "half_time_measured=quarter"),
        *("loss_left=left", "steps=updates"),
    )
    value: Fraction
    seeds: int
    order: tuple[tuple[str, ...], ...]
    start: FiniteStart | None
    classes: tuple[ClassShare, ...]
    outside: float
    left: float
    quarter: int | None
    updates: int
    tau: float

    @property
    def taken(self) -> tuple[str, ...]:
        """Classes by measured share, the largest first; those without weight are left out."""
        ordered = sorted(self.classes, key=lambda each: -each.measured)
        return tuple(each.pattern for each in ordered if each.measured > 0.0005)

    @property
    def fastest_taken(self) -> bool:
        """Whether a class of the largest speed has the largest measured share."""
        return bool(self.order and self.taken) and self.taken[0] in self.order[0]

    @property
    def predicted(self) -> bool:
        """Whether shares are predicted."""
        return any(each.predicted is not None for each in self.classes)

    @property
    def agrees(self) -> bool | None:
        """Whether all measured shares lie within the stated error of the predicted ones.

        None of one network, which has no spread, and where nothing is predicted: no class grows,
        the residual changes shape, or weights decay; or, for given gates, the simulation takes
        minutes. Both below a thousandth: sampled spreads of
        nearly nothing are no measure of it.
        """
        if self.seeds < 2 or not self.predicted:
            return None
        return all(
            abs(each.measured - (each.predicted or 0.0)) < 1e-3
            or each.distance(self.seeds) <= WITHIN
            for each in self.classes
        )

    @property
    def kappa_settled(self) -> bool:
        """Whether every κ that predicts has stopped changing in the early phase."""
        return self.start is None or all(each.settled for each in self.start.classes)

    @property
    def half_time(self) -> float | None:
        """Step at which outputs are predicted to be half of their targets."""
        return None if self.start is None else self.start.half_time * self.tau


@dataclass(frozen=True)
class Crossing:
    """Where networks change sides, and how far that is from the boundary: the finite-init error."""

    boundary: AlgebraicNumber
    seen_at: float | None
    error: float | None


def confronted_points(race: Race, count: int) -> tuple[Fraction, ...]:
    """Return values of the parameter to train at: ``count`` in every interval, and rational cuts.

    An interval without an end is taken as wide as its neighbour, or 1 where there is none.

    Args:
        race: The race.
        count: How many in an interval.
    """
    found = set()
    for place, part in enumerate(race.pieces):
        if part.piece.is_root:
            found |= {part.piece.sample} - {None}
            continue
        low, high = race.ends(place)
        for k in range(count):
            value = Fraction(low + (high - low) * (k + 0.5) / count).limit_denominator(_FINEST)
            if part.contains(value):
                found.add(value)
    return tuple(sorted(found))


def confront(race: Race, spec: Spec, value: Fraction, seeds: int, rng: int) -> RacePoint:
    """Train networks at one value of the parameter, and say what is predicted for them.

    Shares of given gates are predicted by the mean-field simulation, where that takes no minutes.

    Args:
        race: The race of the spec's data.
        spec: With all parameters declared but the race's, which takes ``value``.
        value: The parameter.
        seeds: How many networks.
        rng: Seed of their weights.
    """
    dataset, network = _data_at(race, spec, value), network_of(spec)
    part, start = race.at(value), None
    if race.given:
        order = part.order if part is not None else ()
    else:
        candidates = _candidates_at(race, spec, value)
        order = tuple(tuple(each.pattern for each in rank) for rank in by_speed(candidates))
        if race.complete:
            start = finite_start(dataset, candidates, race.group, network)
    tau, steps = float(network.tau(dataset.samples)), network.steps
    if start is not None:
        # As long again as the slowest of outputs take to their end, counted from their half.
        steps = max(steps, int(2 * tau * (start.half_time + start.time)))
    trained = replace(spec, dataset=dataset, network=replace(network, steps=steps))
    nearest = nearest_observer(dataset.inputs.to_numpy(), list(race.classes.values()))
    end = [steps - 1]
    seen = observe(trained, seeds=seeds, rng=rng, observers={"nearest": nearest}, steps=end)
    wide = wide_shares(trained, nearest, len(race.classes), end) if race.given else None
    weights, (_, outside) = seen.weights[:, 0], np.moveaxis(seen.seen["nearest"][:, 0], -1, 0)
    return RacePoint(
        value=value,
        seeds=seeds,
        order=order,
        start=start,
        classes=_shares(race, seen, start, wide),
        outside=float((weights * outside).sum() / weights.sum()),
        left=float((seen.losses[:, -1] / seen.losses[:, 0]).max()),
        quarter=seen.quarter,
        updates=steps,
        tau=tau,
    )


def _shares(
    race: Race,
    seen: ObservedNetworks,
    start: FiniteStart | None,
    wide: tuple[np.ndarray, np.ndarray] | None,
) -> tuple[ClassShare, ...]:
    """Return the shares of classes, of what the networks were looked at once for."""
    shares, nearest = seen.class_shares("nearest", len(race.classes)), seen.seen["nearest"]
    found = []
    for place, pattern in enumerate(race.classes):
        own = shares[:, 0, place]
        predicted, error = (None, 0.0) if start is None else start.share_of(pattern)
        if wide is not None:
            predicted, error = (float(each[0, place]) for each in wide)
        found.append(
            ClassShare(
                pattern=pattern,
                predicted=predicted,
                predicted_error=error,
                measured=float(own.mean()),
                spread=float(own.std(ddof=int(len(own) > 1))),
                units=float((nearest[..., 0] == place).mean()),
            )
        )
    return tuple(found)


def _data_at(race: Race, spec: Spec, value: Fraction) -> Dataset:
    """Return a spec's data at one value of the race's parameter."""
    data, at = spec.dataset, {race.parameter: value}
    return replace(data, inputs=data.inputs.substitute(at), targets=data.targets.substitute(at))


def _candidates_at(race: Race, spec: Spec, value: Fraction) -> tuple[SelfConsistentGate, ...]:
    """Return the self-consistent gates at one value, one of each kind, the fastest first."""
    data = _data_at(race, spec, value)
    kinds = [(alike[0], len(alike)) for alike in race.classes.values()]
    gates = [(tuple(int(s > 0) for s in signs), size) for signs, size in kinds if 0 not in signs]
    full = self_consistent_gates(data.inputs, data.targets, gates)
    partial = partial_gates(data.inputs, data.targets, [kind for kind in kinds if 0 in kind[0]])
    return tuple(sorted(full + partial, key=lambda each: order_key(each.s, {})))


def predicted_shares(race: Race, spec: Spec, value: float) -> dict[str, float]:
    """Return the predicted share of every class at a value of the parameter."""
    exact = Fraction(value).limit_denominator(10_000)
    candidates = _candidates_at(race, spec, exact)
    start = finite_start(_data_at(race, spec, exact), candidates, race.group, network_of(spec))
    return {name: start.share_of(name)[0] if start else 0.0 for name in race.classes}


def seen_crossings(race: Race, spec: Spec) -> list[Crossing]:
    """Return where networks of the spec's width and initial scale change sides.

    That is where the predicted shares of two gates are equal whose speeds cross.

    Args:
        race: The race.
        spec: Of its data, with a network.
    """
    found = []
    for mark in race.boundaries:
        if mark.kind != "speed" or not mark.changes_winner:
            continue
        ends = [
            race.ends(k)
            for k, part in enumerate(race.pieces)
            if not part.piece.is_root
            and any(end is not None and end == mark.value for end in part.piece.ends)
        ]
        exact, (low, high) = float(mark.value), (min(e[0] for e in ends), max(e[1] for e in ends))
        edge = _EDGE * (high - low)
        at = _equal(race, spec, mark.between, (low + edge, exact))
        at = _equal(race, spec, mark.between, (exact, high - edge)) if at is None else at
        found.append(Crossing(mark.value, at, None if at is None else at - exact))
    return found


def _equal(
    race: Race, spec: Spec, between: tuple[str, ...], ends: tuple[float, float]
) -> float | None:
    """Return where two predicted shares are equal in an interval, or None."""
    one, two = between[:2]

    def apart(value: float) -> float:
        shares = predicted_shares(race, spec, value)
        return shares[one] - shares[two]

    start, end = ends
    left, right = apart(start), apart(end)
    if left * right >= 0:
        return None
    for _ in range(HALVINGS):
        middle = (start + end) / 2
        if left * apart(middle) > 0:
            start = middle
        else:
            end = middle
    return (start + end) / 2
