"""Gates in time windows: Algorithm 1 with units that count by what they contribute.

Three changes to Algorithm 1. A unit counts by its weight ‖w1‖ ‖w2‖, and a unit that is open on no
sample does not count. What is clustered in a window is each unit's mean activity there, so that a
unit is in one pathway at a time. And gates may differ from window to window, because gates drift.

Windows hold equal parts of the drift that matters: the weighted share of gates that change, times
the loss that is left, to which everything that a gate still changes is proportional.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from symreln.base.summaries import short_repr
from symreln.errors import InputError
from symreln.gates.activity import TrainedGates
from symreln.gates.clustering import Clustering, Rows, distinct_rows, kmeans, squared_distances
from symreln.gates.kmeans import FoundGates, check_alive, cluster_rows
from symreln.gates.replay import GateSchedule, replay_errors, replay_schedule

#: Numbers of windows that are tried where none is given.
TRIED_WINDOWS = (1, 2, 4, 8, 16, 32)


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class WindowedGates:
    """Gates that are constant in each window.

    Attributes:
        looks: Index of each window's first look.
        starts: First update that is made with each window's gates; 0 for the first.
        found: What was found in each window; clusters of one index are one pathway.
        silhouettes: Of all windows together, by number of clusters tried.
    """

    looks: tuple[int, ...]
    starts: tuple[int, ...]
    found: tuple[FoundGates, ...]
    silhouettes: dict[int, float]

    @property
    def clusters(self) -> int:
        """Largest number of clusters of a window."""
        return max(len(each.centroids) for each in self.found)


def window_looks(trained: TrainedGates, count: int) -> tuple[int, ...]:
    """Return the looks at which windows start, at most so many, the first being 0.

    Raises:
        InputError: There are more windows than looks.
    """
    looks = len(trained.steps)
    if not 1 <= count <= looks:
        msg = (
            f"gates: found {count} windows for {looks} looks at the networks. Give --windows "
            f"from 1 to {looks}, or a smaller --every"
        )
        raise InputError(msg)
    drift = np.zeros(looks)
    for look in range(1, looks):
        changed = (trained.active[:, look] != trained.active[:, look - 1]).mean(axis=2)
        drift[look] = (changed * _shares(trained.weights[:, look])).sum(axis=1).mean()
    left = trained.losses[:, list(trained.steps)].mean(axis=0)
    passed = np.cumsum(drift * left)
    if passed[-1] == 0:
        return (0,)
    cuts = np.searchsorted(passed, np.arange(1, count) / count * passed[-1], side="left")
    return tuple(sorted({0, *map(int, cuts)}))


def windowed_gates(
    trained: TrainedGates, *, windows: int, clusters: int | None = None, rng: int = 0
) -> WindowedGates:
    """Cluster the units of networks window by window.

    Args:
        trained: The networks.
        windows: How many at most.
        clusters: K in every window; None for the one whose mean silhouette, over all samples
            together, is the largest. A window with fewer different units has as many.
        rng: Seed of K-means.

    Raises:
        InputError: All units are dead, or there are fewer different patterns than clusters.
    """
    check_alive(trained)
    count, silhouettes = clusters or 0, dict[int, float]()
    if clusters is None:
        whole = cluster_rows(weighted_rows(trained), None, rng)
        silhouettes = whole.silhouettes
        most = len(unit_rows(trained, 0, len(trained.steps)).values)
        count = min(len(whole.centroids), most)
    looks = _fitting(trained, window_looks(trained, windows), count)
    ends = (*looks[1:], len(trained.steps))
    found: list[FoundGates] = []
    for first, end in zip(looks, ends, strict=True):
        rows = unit_rows(trained, first, end)
        clustering = kmeans(rows, count, rng)
        if found:
            clustering = _in_order(clustering, found[-1].centroids)
        found.append(
            FoundGates(clustering=clustering, rows=rows, silhouettes={}, given=clusters is not None)
        )
    return WindowedGates(
        looks=looks,
        starts=(0, *(trained.steps[look] for look in looks[1:])),
        found=tuple(found),
        silhouettes=silhouettes,
    )


def _fitting(trained: TrainedGates, looks: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Join windows until the units of each are at least ``count`` different ones."""

    def fits(first: int, end: int) -> bool:
        return len(unit_rows(trained, first, end).values) >= count

    kept = [0]
    for look in looks[1:]:
        if fits(kept[-1], look):
            kept.append(look)
    while len(kept) > 1 and not fits(kept[-1], len(trained.steps)):
        kept.pop()
    return tuple(kept)


def _in_order(clustering: Clustering, before: np.ndarray) -> Clustering:
    """Number clusters as those of the window before which they are nearest to, one to one."""
    cost = np.abs(before[:, None, :] - clustering.centroids[None, :, :]).mean(axis=2)
    order = linear_sum_assignment(cost)[1]
    return Clustering(
        centroids=clustering.centroids[order],
        labels=np.argsort(order)[clustering.labels],
        weights=clustering.weights[order],
        inertia=clustering.inertia,
    )


def weighted_rows(trained: TrainedGates) -> Rows:
    """Return all sampled patterns that are open somewhere, by their units' share of the weight."""
    shares = _shares(trained.weights * trained.active.any(axis=-1))
    return distinct_rows(trained.active.reshape(-1, trained.active.shape[-1]), shares.ravel())


def unit_rows(trained: TrainedGates, first: int, end: int) -> Rows:
    """Return each living unit's mean activity over some looks, by its share of the weight."""
    means, weights = unit_means(trained, first, end)
    living = means.any(axis=-1)
    return distinct_rows(means[living], _shares(weights * living)[living])


def unit_means(trained: TrainedGates, first: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each unit's mean activity over looks first … end − 1, and its weight.

    Returns:
        The mean by weight, shape (seeds, H, P); the sum of the weights, shape (seeds, H).
    """
    sums = np.zeros((trained.seeds, *trained.active.shape[2:]))
    for look in range(first, end):
        sums += trained.weights[:, look, :, None] * trained.active[:, look]
    weights = trained.weights[:, first:end].sum(axis=1)
    return sums / np.where(weights > 0, weights, 1.0)[..., None], weights


def window_schedule(trained: TrainedGates, windowed: WindowedGates) -> GateSchedule:
    """Give every unit of some networks the nearest gate of each window; none where it is dead.

    Args:
        trained: Networks sampled at the same steps as those that were clustered.
        windowed: What was found.
    """
    ends = (*windowed.looks[1:], len(trained.steps))
    gates = []
    for first, end, found in zip(windowed.looks, ends, windowed.found, strict=True):
        means, _ = unit_means(trained, first, end)
        apart = squared_distances(means.reshape(-1, means.shape[-1]), found.centroids)
        chosen = found.gates[apart.argmin(axis=1)].reshape(means.shape)
        gates.append(chosen & means.any(axis=-1, keepdims=True))
    return GateSchedule(starts=windowed.starts, gates=np.array(gates))


def own_schedule(trained: TrainedGates, windows: int) -> GateSchedule:
    """Give every unit the gate that it has most of the time, by weight, in each window."""
    looks = window_looks(trained, windows)
    ends = (*looks[1:], len(trained.steps))
    gates = [unit_means(trained, a, b)[0] > 0.5 for a, b in zip(looks, ends, strict=True)]
    starts = (0, *(trained.steps[look] for look in looks[1:]))
    return GateSchedule(starts=starts, gates=np.array(gates))


def schedule_errors(trained: TrainedGates, schedule: GateSchedule) -> np.ndarray:
    """Replay a schedule: max |ΔL|/L(0) of each network, shape (seeds,)."""
    losses = replay_schedule(
        trained.inputs, trained.targets, trained.settings, trained.initial, schedule
    )
    return replay_errors(losses, trained.losses)


def choose_windows(
    trained: TrainedGates, judged: TrainedGates, *, clusters: int | None = None, rng: int = 0
) -> tuple[WindowedGates, dict[int, float]]:
    """Return the windows whose replay is nearest to some networks, and all errors by number.

    Args:
        trained: What is clustered.
        judged: Networks, of those clustered, that are replayed; no others should choose.
        clusters: As in :func:`windowed_gates`.
        rng: Seed of K-means.
    """
    tried: dict[int, WindowedGates] = {}
    for count in TRIED_WINDOWS:
        if count <= len(trained.steps):
            made = windowed_gates(trained, windows=count, clusters=clusters, rng=rng)
            tried.setdefault(len(made.looks), made)
    errors = {
        count: float(schedule_errors(judged, window_schedule(judged, made)).mean())
        for count, made in tried.items()
    }
    best = min(errors, key=lambda count: (errors[count], count))
    return tried[best], errors


def _shares(weights: np.ndarray) -> np.ndarray:
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1.0)
