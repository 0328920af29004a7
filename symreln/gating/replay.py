r"""Replay: the gated linear network of given gates, from a ReLU network's own initial weights.

Every hidden unit keeps its initial weights and takes a gate that is given, constant or constant
piece by piece in time. With the gates that the ReLU network itself had at every step the replay is
that network (the existence statement of [Jarvis2025]); how far other gates are from it says how
well they imitate it: the quality of a rectified linear network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise, product
from math import ceil

import numpy as np

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.claims.integration import network_of
from symreln.errors import InputError
from symreln.experiment.metrics import compare, seed_floor
from symreln.gating.clustering import squared_distances
from symreln.gating.found_gates import (
    WindowedGates,
    check_alive,
    unit_means,
    unit_rows,
    window_looks,
    windowed_gates,
    windows_of,
)
from symreln.gating.observed import ObservedNetworks, observe, sample_steps
from symreln.gating.samples import check_samples
from symreln.gating.serialise import Result
from symreln.specs.model import Spec
from symreln.train.trainers import replay_gates

#: Numbers of gates and of windows of the curve; every unit's own gates also in more windows.
_CLUSTERS = (1, 2, 4, 8, 16, 32)
_WINDOWS = (1, 4, 16, 64)
_OWN_WINDOWS = (1, 4, 16, 64, 256, 1024)
METRIC = "max |dL|/L(0) against the same network"
#: Bytes of sampled gates, of which the number of looks follows where none is given.
_SAMPLED_BYTES = 300_000_000


@record(eq=False)
class GateSchedule:
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


def _replayed(trained: ObservedNetworks, schedule: GateSchedule) -> np.ndarray:
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


def schedule_errors(trained: ObservedNetworks, schedule: GateSchedule) -> ReplayErrors:
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


def static_schedule(trained: ObservedNetworks, found: WindowedGates) -> GateSchedule:
    """Give every unit one gate of Algorithm 1 for the whole training.

    It gets the cluster with the smallest sum of squared distances to its own rows: K-means' own
    criterion, for rows that must stay together.
    """
    (only,) = found.found
    gates = _nearest(trained.active.mean(axis=1), only.centroids, only.gates)
    return GateSchedule(starts=(0,), gates=gates[None])


def window_schedule(trained: ObservedNetworks, windowed: WindowedGates) -> GateSchedule:
    """Give every unit of some networks the nearest gate of each window; none where it is dead.

    Args:
        trained: Networks looked at after the same steps as those that were clustered.
        windowed: What was found.
    """
    gates = [
        _nearest(unit_means(trained, *span)[0], found.centroids, found.gates, living=True)
        for span, found in zip(windowed.windows, windowed.found, strict=True)
    ]
    return GateSchedule(starts=windowed.starts, gates=np.array(gates))


def own_schedule(trained: ObservedNetworks, windows: int) -> GateSchedule:
    """Give every unit the gate that it has most of the time, by weight, in each window."""
    spans, starts = windows_of(trained, window_looks(trained, windows))
    gates = [unit_means(trained, first, end)[0] > 0.5 for first, end in spans]
    return GateSchedule(starts=starts, gates=np.array(gates))


def _spec_schedule(spec: Spec, trained: ObservedNetworks) -> GateSchedule:
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
        means, _ = unit_means(trained, first, last)
        given = np.array([pathway.gate for pathway in spec.during(start).pathways], dtype=float)
        given = np.concatenate([given, np.zeros((1, given.shape[1]))])
        gates.append(_nearest(means, given, given > 0, living=True))
    return GateSchedule(starts=starts, gates=np.array(gates))


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
    most = len(unit_rows(clustered, 0, looks).values)
    points: dict[tuple[int | None, int], _QualityPoint] = {}
    for count, windows in tried:
        if windows > looks or (count or 0) > most:
            continue
        if count is None:
            schedule = own_schedule(held, windows)
        else:
            made = windowed_gates(clustered, windows=windows, clusters=count, rng=rng)
            schedule = window_schedule(held, made)
        key = count, len(schedule.starts)
        if key not in points:
            each = schedule_errors(held, schedule).each
            points[key] = _QualityPoint(clusters=count, windows=key[1], each=each)
    return list(points.values())


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
    with phase("training") as report:
        check_samples(spec.dataset)
        trained = observe(spec, seeds=networks, steps=looks, rng=rng, progress=report)
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
