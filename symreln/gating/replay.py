r"""Replay: the gated linear network of given gates, from a ReLU network's own initial weights.

Every hidden unit keeps its initial weights and takes a gate that is given, constant or constant
piece by piece in time. With the gates that the ReLU network itself had at every step the replay is
that network (the existence statement of [Jarvis2025]); how far other gates are from it says how
well they imitate it: the quality of a rectified linear network.

*Windows.* Gates drift, so that they may differ from one window of time to the next: windows hold
equal parts of the drift that matters, the weighted share of gates that change times the loss that
is left, to which everything that a gate still changes is proportional. In a window each unit's mean
activity is clustered. A unit counts by its weight ‖w1‖ ‖w2‖, one that is open nowhere does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import ceil

import numpy as np

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.claims.integration import network_of
from symreln.errors import InputError
from symreln.experiment.metrics import compare, seed_floor
from symreln.gating.clustering import (
    Clustering,
    GateRows,
    distinct_rows,
    kmeans,
    squared_distances,
)
from symreln.gating.observed import (
    ObservedNetworks,
    check_alive,
    observe,
    sample_steps,
    shares_of,
)
from symreln.gating.samples import check_samples
from symreln.gating.serialise import Result
from symreln.specs.spec import Spec
from symreln.train.trainers import replay_gates

#: Numbers of gates and of windows of the curve; every unit's own gates also in more windows.
_CLUSTERS = (1, 2, 4, 8, 16, 32)
_WINDOWS = (1, 4, 16, 64)
_OWN_WINDOWS = (1, 4, 16, 64, 256, 1024)
METRIC = "max |dL|/L(0) against the same network"
#: Bytes of sampled gates, of which the number of looks follows where none is given.
_SAMPLED_BYTES = 300_000_000


@record(eq=False)
class _GateSchedule:
    """Gates of every hidden unit, constant from one switch to the next.

    Attributes:
        starts: First update that is made with the gates of each window, ascending from 0.
        gates: Truth values, shape (windows, seeds, H, P).
    """

    starts: tuple[int, ...]
    gates: np.ndarray


@record
class ReplayErrors(Result):
    """How far replays are from their networks.

    Attributes:
        each: max |ΔL|/L(0) of each network that was replayed.
    """

    JSON = ("mean", "*")
    each: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over networks."""
        return float(np.mean(self.each))


@record
class _QualityPoint(ReplayErrors):
    """Replay error of one number of pathways and windows.

    Attributes:
        clusters: K, gates of each window; None where every unit has its own.
        windows: W.
    """

    JSON = ("*", "mean", "gates")
    clusters: int | None
    windows: int

    @property
    def gates(self) -> str:
        """Whose gates are replayed."""
        return "own" if self.clusters is None else "clusters"


def seed_distance(losses: np.ndarray) -> float | None:
    """Return max |ΔL|/L(0) of networks to the mean of the others, None of a single one."""
    floor = seed_floor(losses)
    return None if floor is None else floor.mean.max_abs_over_initial


def _replayed(trained: ObservedNetworks, schedule: _GateSchedule) -> np.ndarray:
    """Return the losses of the gated linear network, shape (seeds, steps).

    Args:
        trained: ReLU networks, whose data, settings and initial weights are taken.
        schedule: Gates of the hidden units.

    Raises:
        InputError: It diverges.
    """
    settings, initial = trained.settings, trained.initial
    weights, losses = [initial.w1, initial.w2], []
    ends = (*schedule.starts[1:], settings.steps)
    for start, end, gates in zip(schedule.starts, ends, schedule.gates, strict=True):
        last = end == settings.steps
        # One recorded step more makes the window's last update; its loss has the next gates.
        steps = end - start + (not last)
        constant = np.broadcast_to(
            gates[:, None].astype(float), (len(gates), steps, *gates.shape[1:])
        )
        chunk = replay_gates(
            trained.inputs, trained.targets, constant, replace(settings, steps=steps), weights
        )
        losses.append(chunk.losses[:, : end - start])
        weights = list(chunk.matrices)
    return np.concatenate(losses, axis=1)


def schedule_errors(trained: ObservedNetworks, schedule: _GateSchedule) -> ReplayErrors:
    """Replay a schedule and compare it with each network."""
    pairs = zip(_replayed(trained, schedule), trained.losses, strict=True)
    return ReplayErrors(each=tuple(compare(a, b).max_abs_over_initial for a, b in pairs))


def _nearest(
    means: np.ndarray, centroids: np.ndarray, gates: np.ndarray, *, living: bool = False
) -> np.ndarray:
    """Return the gate of the centroid that is nearest to each unit's mean activity.

    Args:
        means: Shape (seeds, H, P).
        centroids: Shape (K, P).
        gates: Truth values, one a centroid, shape (K, P).
        living: Whether units that are open nowhere stay closed.
    """
    apart = squared_distances(means.reshape(-1, means.shape[-1]), centroids)
    found = gates[apart.argmin(axis=1)].reshape(means.shape)
    return found & means.any(axis=-1, keepdims=True) if living else found


def static_schedule(trained: ObservedNetworks, found: Clustering) -> _GateSchedule:
    """Give every unit one gate of Algorithm 1 for the whole training.

    It gets the cluster with the smallest sum of squared distances to its own rows: K-means' own
    criterion, for rows that must stay together.
    """
    gates = _nearest(trained.active.mean(axis=1), found.centroids, found.gates)
    return _GateSchedule(starts=(0,), gates=gates[None])


def _own_schedule(trained: ObservedNetworks, windows: int) -> _GateSchedule:
    """Give every unit the gate that it has most of the time, by weight, in each window."""
    looks = _window_looks(trained, windows)
    gates = [_unit_means(trained, *span)[0] > 0.5 for span in _spans(trained, looks)]
    return _GateSchedule(starts=_starts(trained, looks), gates=np.array(gates))


def _spec_schedule(spec: Spec, trained: ObservedNetworks) -> _GateSchedule:
    """Give every unit the gate of a spec's pathways that is nearest to its own in each phase.

    A unit that is open nowhere in a phase, or nearer to a gate that is closed on all samples than
    to any of these, is closed.

    Args:
        spec: With gates of 0 and 1 that may switch.
        trained: The networks.

    Raises:
        InputError: A gate has gains.
    """
    gained = [pathway.name for pathway in spec.pathways if pathway.has_gains]
    if gained:
        msg = (
            f"replay: pathway {gained[0]!r} has gains, which no ReLU unit has. Give gates of 0 "
            "and 1"
        )
        raise InputError(msg)
    starts = (0, *spec.switches)
    steps, gates = np.array(trained.steps), []
    for start, end in pairwise((*starts, trained.settings.steps)):
        first = min(int(np.searchsorted(steps, start)), len(steps) - 1)
        last = max(int(np.searchsorted(steps, end)), first + 1)
        means, _ = _unit_means(trained, first, last)
        given = np.array([pathway.gate for pathway in spec.during(start).pathways], dtype=float)
        given = np.concatenate([given, np.zeros((1, given.shape[1]))])
        gates.append(_nearest(means, given, given > 0, living=True))
    return _GateSchedule(starts=starts, gates=np.array(gates))


# -- K gates in each of W windows ------------------------------------------------------------------


def _quality_curve(
    clustered: ObservedNetworks,
    held: ObservedNetworks,
    tried: Iterable[tuple[int | None, int]],
    *,
    rng: int = 0,
) -> list[_QualityPoint]:
    """Replay K gates in each of W windows, for all K and W that there are.

    Args:
        clustered: Networks whose units are clustered.
        held: Other networks, looked at after the same steps, whose units take the gates.
        tried: K and W. K is None for every unit's own gates: as large as it can be. Where the
            units of a window are fewer than K different ones, windows are joined, and the point
            has the number that is left.
        rng: Seed of K-means.
    """
    looks = len(clustered.steps)
    most = len(_unit_rows(clustered, 0, looks).values)
    points: dict[tuple[int | None, int], _QualityPoint] = {}
    for count, windows in tried:
        if windows > looks or (count or 0) > most:
            continue
        if count is None:
            schedule = _own_schedule(held, windows)
        else:
            schedule = _window_schedule(clustered, held, windows, count, rng)
        key = count, len(schedule.starts)
        if key not in points:
            each = schedule_errors(held, schedule).each
            points[key] = _QualityPoint(clusters=count, windows=key[1], each=each)
    return list(points.values())


def _window_schedule(
    clustered: ObservedNetworks, held: ObservedNetworks, windows: int, clusters: int, rng: int = 0
) -> _GateSchedule:
    """Cluster units window by window; give every other one the nearest gate, a dead one none.

    Args:
        clustered: As of :func:`_quality_curve`, like ``held``.
        held: Which networks take the gates.
        windows: How many at most.
        clusters: K.
        rng: Seed of K-means.
    """
    looks = _fitting(clustered, _window_looks(clustered, windows), clusters)
    gates = []
    for span in _spans(clustered, looks):
        found = kmeans(_unit_rows(clustered, *span), clusters, rng)
        means, _ = _unit_means(held, *span)
        gates.append(_nearest(means, found.centroids, found.gates, living=True))
    return _GateSchedule(starts=_starts(clustered, looks), gates=np.array(gates))


def _window_looks(trained: ObservedNetworks, count: int) -> tuple[int, ...]:
    """Return the looks at which windows start, at most so many, the first being 0."""
    looks = len(trained.steps)
    drift = np.zeros(looks)
    for look in range(1, looks):
        changed = (trained.active[:, look] != trained.active[:, look - 1]).mean(axis=2)
        drift[look] = (changed * shares_of(trained.weights[:, look])).sum(axis=1).mean()
    left = trained.losses[:, list(trained.steps)].mean(axis=0)
    passed = np.cumsum(drift * left)
    if passed[-1] == 0:
        return (0,)
    cuts = np.searchsorted(passed, np.arange(1, count) / count * passed[-1], side="left")
    return tuple(sorted({0, *map(int, cuts)}))


def _spans(trained: ObservedNetworks, looks: Sequence[int]) -> list[tuple[int, int]]:
    """Return windows that start at some looks: the first look, and the one after the last."""
    return list(pairwise((*looks, len(trained.steps))))


def _starts(trained: ObservedNetworks, looks: Sequence[int]) -> tuple[int, ...]:
    """Return the first updates that are made with each window's gates."""
    return (0, *(trained.steps[look] for look in looks[1:]))


def _fitting(trained: ObservedNetworks, looks: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Join windows until the units of each are at least ``count`` different ones."""

    def fits(first: int, end: int) -> bool:
        return len(_unit_rows(trained, first, end).values) >= count

    kept = [0]
    for look in looks[1:]:
        if fits(kept[-1], look):
            kept.append(look)
    while len(kept) > 1 and not fits(kept[-1], len(trained.steps)):
        kept.pop()
    return tuple(kept)


def _unit_rows(trained: ObservedNetworks, first: int, end: int) -> GateRows:
    """Return each living unit's mean activity over some looks, by its share of the weight."""
    means, weights = _unit_means(trained, first, end)
    living = means.any(axis=-1)
    return distinct_rows(means[living], shares_of(weights * living)[living])


def _unit_means(trained: ObservedNetworks, first: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each unit's mean activity over looks first … end − 1, and its weight.

    Returns:
        The mean by weight, shape (seeds, H, P); the sum of the weights, shape (seeds, H).
    """
    sums = np.zeros((trained.seeds, *trained.active.shape[2:]))
    for look in range(first, end):
        sums += trained.weights[:, look, :, None] * trained.active[:, look]
    weights = trained.weights[:, first:end].sum(axis=1)
    return sums / np.where(weights > 0, weights, 1.0)[..., None], weights


# -- the report ------------------------------------------------------------------------------------


@record
class _SpecReplay(ReplayErrors):
    """Replay errors of the spec's own gates.

    Attributes:
        pathways: How many.
        windows: How often they switch, and one.
    """

    pathways: int
    windows: int


@record
class ReplayReport(Result):
    """What replay.json holds.

    Attributes:
        seeds: Networks that were replayed.
        rng: Seed of the networks.
        looks: How often one was looked at.
        seed_floor: How far networks are from each other.
        spec: Of the spec's own gates.
        curve: Errors by number of gates and windows.
    """

    JSON = ("format", "metric", "*")
    file, format = "replay.json", "symreln-replay/1"
    metric = METRIC
    seeds: int
    rng: int
    looks: int
    seed_floor: float
    spec: _SpecReplay
    curve: list[_QualityPoint]

    def lines(self) -> Iterator[str]:
        """What the terminal shows: max |ΔL|/L(0), in the mean over networks."""
        when = f" that switch {self.spec.windows - 1} times" if self.spec.windows > 1 else ""
        yield f"{self.spec.pathways} gates of the spec{when}: {100 * self.spec.mean:.2f} % of L(0)"
        yield f"networks of other seeds: {100 * self.seed_floor:.2f} %"
        windows = sorted({each.windows for each in self.curve})
        if windows:
            yield f"{'windows':>10}{''.join(f'{count:>9}' for count in windows)}"
        for count in dict.fromkeys(each.clusters for each in self.curve):
            found = {each.windows: each.mean for each in self.curve if each.clusters == count}
            cells = [f"{100 * found[w]:>7.2f} %" if w in found else " " * 9 for w in windows]
            name = "own gates" if count is None else f"K = {count}"
            yield f"{name:>10}{''.join(cells)}".rstrip()


def replay_report(
    spec: Spec,
    *,
    curve: bool = False,
    seeds: int = 2,
    every: int | None = None,
    rng: int = 0,
) -> ReplayReport:
    """Train networks and replay a spec's gates on them.

    Args:
        spec: Without free parameters.
        curve: Whether to cluster as many more networks too.
        seeds: Networks that are replayed.
        every: Updates between two looks; None for as few as memory allows.
        rng: Seed of the networks.

    Raises:
        InputError: All units are dead, or the network or a gate does not fit.
    """
    network, networks = network_of(spec), 2 * seeds if curve else max(seeds, 2)
    size = network.steps * network.hidden * spec.dataset.samples * networks
    looks = sample_steps(network.steps, every or max(1, ceil(size / _SAMPLED_BYTES)))
    check_samples(spec.dataset)
    trained = observe(spec, seeds=networks, steps=looks, rng=rng)
    with phase("replaying"):
        check_alive(trained)
        held, floor = trained.networks(0, seeds), seed_distance(trained.losses)
        assert floor is not None
        own = schedule_errors(held, _spec_schedule(spec, held))
        points: list[_QualityPoint] = []
        if curve:
            clustered = trained.networks(seeds, trained.seeds)
            tried = [*product(_CLUSTERS, _WINDOWS), *((None, w) for w in _OWN_WINDOWS)]
            tried.append((None, len(held.steps)))
            points = _quality_curve(clustered, held, tried, rng=rng)
        return ReplayReport(
            seeds=seeds,
            rng=rng,
            looks=len(trained.steps),
            seed_floor=floor,
            spec=_SpecReplay(
                pathways=len(spec.pathways), windows=1 + len(spec.switches), each=own.each
            ),
            curve=points,
        )
