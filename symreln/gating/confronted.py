r"""A race confronted with trained networks: which gates they take on both sides of each boundary.

What a race says of networks whose weights do not start at zero: shares of the gates at the end.

While outputs are small every unit grows in the fixed residual, so a class k of n_k gates alike
holds the strength :math:`n_k\pi_k e^{2 s_k t/\tau}`, :math:`\pi_k = \kappa_k H\sigma^2/2` being the
start that :mod:`symreln.laws.early_phase` derives from the data alone. Later the residual
shrinks. Where it keeps its shape (:func:`keeps_shape`; elsewhere nothing is said) that is a change
of time: the same formula holds in stretched time, which ends when the outputs have reached their
targets,

.. math:: \sum_k \pi_k e^{2 s_k t/\tau}\,d_k/s_k = 1,

one term a class: gates that are alike learn different samples. The shares then are what networks
of this width and initial scale take in the mean; the gate of the largest speed takes all of it
only as σ → 0, and a crossing of two speeds is seen at the parameter where two shares are equal,
which is off by about :math:`\tau\ln(n_1\kappa_1/n_2\kappa_2)/2t`. Nothing is fitted, and no trained
network is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.order import order_key
from symreln.gating.consistent import SelfConsistentGate, by_speed, self_consistent_gates
from symreln.gating.observed import ObservedNetworks, nearest_observer, observe, wide_shares
from symreln.gating.partial import partial_gates
from symreln.gating.race_pieces import Race
from symreln.gating.serialise import Result
from symreln.laws.early_phase import EarlyMode, EarlyPhase
from symreln.laws.law import Regime
from symreln.networks.orbits import SampleGroup, moved_gates
from symreln.specs.model import Dataset, NetworkSpec, Spec

#: Denominator of the values of the parameter at which networks are trained, at most.
_FINEST = 100
#: Standard errors within which a measured share agrees with the predicted one.
WITHIN = 3.0

#: Halvings of an interval in which shares become equal; they end within its 2^-12th part.
HALVINGS = 12
#: Part of two intervals that is left out at their ends, where one of two gates may be missing.
_EDGE = 1e-3


@dataclass(frozen=True)
class _ClassShare:
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
    classes: tuple[_ClassShare, ...]
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
    def agrees(self) -> bool | None:
        """Whether all measured shares lie within the stated error of the predicted ones.

        None of one network, which has no spread, and where nothing is predicted: no class grows,
        the residual changes shape, or weights decay. Both below a thousandth: sampled spreads of
        nearly nothing are no measure of it.
        """
        if self.seeds < 2 or all(each.predicted is None for each in self.classes):
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
    race: Race, seen: ObservedNetworks, start: FiniteStart | None, wide: np.ndarray | None
) -> tuple[_ClassShare, ...]:
    """Return the shares of classes, of what the networks were looked at once for."""
    shares, nearest = seen.class_shares("nearest", len(race.classes)), seen.seen["nearest"]
    found = []
    for place, pattern in enumerate(race.classes):
        own = shares[:, 0, place]
        predicted, error = (None, 0.0) if start is None else start.share_of(pattern)
        if wide is not None:
            draws = wide[:, 0, place]
            predicted, error = float(draws.mean()), float(draws.std(ddof=1) / len(draws) ** 0.5)
        found.append(
            _ClassShare(
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


#: A stream of its own: no network is trained with it.
SEED = 31_337
#: Relative distance below which a float singular value is the exact one.
SAME = 1e-9
#: Units that are followed: κ is then known to about 2 %, a share to about 0.01.
UNITS = 16_000


@dataclass(frozen=True, kw_only=True)
class _ClassStart:
    """A class of gates and what it starts from.

    Attributes:
        pattern: One of the gates.
        size: How many are alike.
        s: Growth rate.
        d: vᵀ Σ^x(g) v, mean over its directions: outputs reach the targets at strength s/d.
        kappa: κ of one of the gates: its start is κHσ²/2.
        error: Standard error of κ.
        settled: Whether κ has stopped changing in the early phase, within its error.
    """

    pattern: str
    size: int
    s: float
    d: float
    kappa: float
    error: float
    settled: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class FiniteStart:
    """The end of training as predicted for a network.

    Attributes:
        classes: The classes, the fastest first.
        time: Stretched time at which outputs reach their targets, in units of τ.
        half_time: Time at which outputs are half of their targets, in units of τ: the loss is then
            a quarter of what it was.
        shares: Share of the weight that each class has at the end.
        errors: What the standard errors of κ leave open of it.
    """

    classes: tuple[_ClassStart, ...]
    time: float
    half_time: float
    shares: tuple[float, ...]
    errors: tuple[float, ...]

    def share_of(self, pattern: str) -> tuple[float, float]:
        """Return the share of a gate's class and its error; 0 for one that does not grow."""
        known = [k for k, each in enumerate(self.classes) if each.pattern == pattern]
        error = self.errors[known[-1]] if known else 0.0
        return sum((self.shares[k] for k in known), start=0.0), error


def finite_start(
    dataset: Dataset,
    candidates: Sequence[SelfConsistentGate],
    group: SampleGroup,
    network: NetworkSpec,
) -> FiniteStart | None:
    """Return the predicted shares, or None where nothing grows or no class gets units.

    Args:
        dataset: Without parameters.
        candidates: Self-consistent gates, one of each kind, the fastest first.
        group: Symmetries that make gates alike.
        network: Width and initial scales. None with weight decay, which shrinks every class.

    None also where some class alone would not reach the targets: the residual then changes shape.
    """
    partial = any(each.kind == "partial" for each in candidates)
    if partial or Regime.of_network(network).lowers_plateaus:
        # A partial gate's class puts out nothing on samples that push its units back.
        return None
    inputs, targets = dataset.arrays
    gates = [np.array(moved_gates(each.gate, group)) for each in candidates]
    modes: list[list[EarlyMode]] = []
    for each, alike in zip(candidates, gates, strict=True):
        before = sum(map(len, modes))
        modes.append([_mode(inputs, targets, g, each, before + k) for k, g in enumerate(alike)])
    if not all(_keeps_shape(inputs, targets, *each) for each in zip(gates, modes, strict=True)):
        return None
    first, second = map(float, network.stds)
    variance = (first**2 + second**2) / 2
    scales = first / variance**0.5, second / variance**0.5
    starts = _class_starts(inputs, targets, candidates, gates, modes, scales)
    if not any(start.kappa > 0 for start in starts):
        return None
    scale = network.hidden * variance / 2
    # In logarithms: strengths start many powers of ten below their end.
    size = np.array([np.log(max(c.kappa, 1e-300) * scale) for c in starts])
    rates = np.array([c.s for c in starts])
    ends = np.log([c.s / c.d for c in starts])

    def reached(time: float) -> float:
        return float(np.logaddexp.reduce(size + 2 * rates * time - ends))

    time, half = _when(reached, 0.0), _when(reached, np.log(0.5))
    # Time runs slower by the share of the residual that is left.
    real = quad(lambda t: 1 / -np.expm1(reached(t)), 0.0, half)[0] if half else 0.0
    logs = size + 2 * rates * time + np.log([c.size for c in starts])
    shares = np.exp(logs - np.logaddexp.reduce(logs))
    apart = np.array([c.error / c.kappa if c.kappa > 0 else 0.0 for c in starts])
    # d share_k / d ln κ_j = share_k (δ_kj − share_j); errors of different κ taken as independent.
    slopes = shares[:, None] * (np.eye(len(shares)) - shares)
    return FiniteStart(
        classes=starts,
        time=time,
        half_time=float(real),
        shares=tuple(shares.tolist()),
        errors=tuple(np.sqrt(((slopes * apart) ** 2).sum(axis=1)).tolist()),
    )


def _when(logarithm: Callable[[float], float], level: float) -> float:
    """Return the first time from 0 on at which a rising function reaches a level."""
    if logarithm(0.0) >= level:
        return 0.0
    high = 1.0
    while logarithm(high) < level:
        high *= 2
    found: Any = brentq(lambda time: logarithm(time) - level, 0.0, high)
    return float(found)


def _keeps_shape(
    inputs: np.ndarray, targets: np.ndarray, gates: np.ndarray, modes: Sequence[EarlyMode]
) -> bool:
    """Return whether a class, its gates alike equally strong, puts out a multiple of Y.

    Where all do, so do all together, and the residual stays one as well.
    """
    output = np.zeros_like(targets, dtype=float)
    for gate, mode in zip(gates, modes, strict=True):
        output += mode.u @ mode.v.T @ inputs * gate
    factor = np.vdot(output, targets) / np.vdot(targets, targets)
    return bool(np.abs(output - factor * targets).max() <= SAME * np.abs(output).max())


def _class_starts(
    inputs: np.ndarray,
    targets: np.ndarray,
    candidates: Sequence[SelfConsistentGate],
    gates: Sequence[np.ndarray],
    modes: Sequence[Sequence[EarlyMode]],
    scales: tuple[float, float],
) -> tuple[_ClassStart, ...]:
    """Return κ, s and d of every class of gates, the fastest first.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        candidates: One gate of each class.
        gates: All of each class, shape (alike, P).
        modes: Theirs.
        scales: Standard deviations of w and b at the start, their squares of mean one.
    """
    kinds = [place for place, alike in enumerate(modes) for _ in alike]
    asked = [mode for alike in modes for mode in alike]
    if not asked:
        return ()
    # A step of the flow far below its fastest growth time; what is asked for is the flow's.
    step = 0.02 / max(mode.s for mode in asked)
    random = np.random.default_rng(SEED)
    every = np.concatenate(gates).astype(float)
    phase = EarlyPhase(inputs, targets, every, step, random, UNITS, scales)
    strengths = phase.strengths(asked, kinds)
    found = []
    for place, (each, alike) in enumerate(zip(candidates, gates, strict=True)):
        own = [strength for kind, strength in zip(kinds, strengths, strict=True) if kind == place]
        mode = modes[place][0]
        seen = mode.v.T @ inputs * alike[0]
        found.append(
            _ClassStart(
                pattern=each.pattern,
                size=len(alike),
                s=mode.s,
                d=float((seen**2).sum() / inputs.shape[1] / mode.v.shape[1]),
                kappa=float(np.mean([strength.kappa for strength in own])),
                error=float(np.mean([strength.error for strength in own])),
                settled=all(strength.settled for strength in own),
            )
        )
    return tuple(found)


def _mode(
    inputs: np.ndarray,
    targets: np.ndarray,
    gate: np.ndarray,
    candidate: SelfConsistentGate,
    pathway: int,
) -> EarlyMode:
    """Return the directions of a gate with the candidate's growth rate, in floats."""
    sigma = targets * gate @ inputs.T / inputs.shape[1]
    u, s, vt = np.linalg.svd(sigma)
    rate = float(candidate.s)
    chosen = np.flatnonzero(np.abs(s - rate) <= SAME * s[0])
    return EarlyMode(
        pathway=pathway,
        inputs=tuple(range(len(inputs))),
        s=rate,
        u=u[:, chosen],
        v=vt[chosen].T,
    )
