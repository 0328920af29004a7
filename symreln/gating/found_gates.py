"""Gates that trained networks show: Algorithm 1 of the paper, and clusters in time windows.

*Algorithm 1* (source: [Jarvis2025]): sample which units are open on which samples through training,
stack the samples as rows, K-means, threshold the centroids. The number of clusters is the one with
the largest mean silhouette, or given. A row in which no unit is open is a row as any other there;
its cluster is no pathway.

*Windows* change three things. A unit counts by its weight ‖w1‖ ‖w2‖, and a unit that is open on no
sample does not count. What is clustered in a window is each unit's mean activity there, so that a
unit is in one pathway at a time. And gates may differ from window to window, because gates drift:
windows hold equal parts of the drift that matters, the weighted share of gates that change times
the loss that is left, to which everything that a gate still changes is proportional.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from scipy.optimize import linear_sum_assignment

from symreln.base.records import record
from symreln.errors import InputError
from symreln.gating.clustering import (
    Clustering,
    Rows,
    distinct_rows,
    kmeans,
    silhouette,
)
from symreln.gating.observed import ObservedNetworks, disagreement, shares_of
from symreln.gating.serialise import Result

#: Clusters that are tried where their number is not given: these, and more until the last few are
#: no better than the best, but never more than the most.
_USUAL_CLUSTERS, _NO_BETTER, MOST_CLUSTERS = 10, 3, 40


def algorithm_one(
    trained: ObservedNetworks, *, clusters: int | None = None, rng: int = 0
) -> WindowedGates:
    """Run Algorithm 1 on networks that were trained and sampled; it has one window.

    Args:
        trained: The networks.
        clusters: K; None for the one with the largest mean silhouette.
        rng: Seed of K-means.

    Raises:
        InputError: No unit is open anywhere, or there are fewer patterns than clusters.
    """
    check_alive(trained)
    rows = distinct_rows(trained.active.reshape(-1, trained.active.shape[-1]))
    found, silhouettes = _clustered(rows, clusters, rng)
    spans, starts = windows_of(trained, (0,))
    return WindowedGates(windows=spans, starts=starts, found=(found,), silhouettes=silhouettes)


def check_alive(trained: ObservedNetworks) -> None:
    """Refuse networks of which no unit is open on any sample.

    Raises:
        InputError: All hidden units are dead, at every look.
    """
    if not trained.active.any():
        msg = (
            f"gates: all {trained.settings.hidden} hidden units of {trained.seeds} networks are "
            "dead: at no look is one of them open on a sample, so they learn nothing. Give more "
            "units (network.hidden), another --rng, or inputs that do not all lie on one side"
        )
        raise InputError(msg)


def _clustered(rows: Rows, clusters: int | None, rng: int) -> tuple[Clustering, dict[int, float]]:
    """Cluster rows, with as many clusters as the mean silhouette prefers if none are given.

    Returns:
        The clusters; the mean silhouette by number of clusters, of those tried.

    Raises:
        InputError: There are fewer different rows than clusters.
    """
    if clusters is not None:
        return kmeans(rows, clusters, rng), {}
    most = min(MOST_CLUSTERS, len(rows.values))
    scores: dict[int, float] = {}
    best: Clustering | None = None
    for count in range(min(2, most), most + 1):
        if best is not None and count > max(_USUAL_CLUSTERS, len(best.centroids) + _NO_BETTER):
            break
        tried = kmeans(rows, count, rng)
        scores[count] = silhouette(tried, rng)
        if best is None or scores[count] > scores[len(best.centroids)]:
            best = tried
    assert best is not None
    return best, scores


@record
class Stability(Result):
    """What independent runs of one algorithm find.

    Attributes:
        runs: How many.
        clusters: How many runs took each number of clusters.
        runs_with_all_spec_gates: In how many runs all wanted gates are; None without any.
    """

    JSON = ("*", "runs_with_all_spec_gates?")
    runs: int
    clusters: dict[int, int]
    runs_with_all_spec_gates: int | None

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        sizes = ", ".join(f"K = {count} in {times}" for count, times in self.clusters.items())
        yield f"{self.runs} runs, each alone: {sizes}"
        if self.runs_with_all_spec_gates is not None:
            yield f"  all gates of the spec in {self.runs_with_all_spec_gates} of {self.runs}"


def stability(runs: Sequence[Clustering], wanted: Sequence[np.ndarray]) -> Stability:
    """Compare runs with each other.

    Args:
        runs: One entry a run.
        wanted: Gates that are looked for, truth values, shape (P,).
    """
    hits = [all((run.gates == gate).all(axis=1).any() for gate in wanted) for run in runs]
    return Stability(
        runs=len(runs),
        clusters=dict(sorted(Counter(len(run.centroids) for run in runs).items())),
        runs_with_all_spec_gates=sum(hits) if len(wanted) else None,
    )


@record(eq=False)
class Coverage(Result):
    """What part of the networks' weight ‖w1‖ ‖w2‖ gates account for, at each look.

    Attributes:
        updates: Of the looks, shape (T,).
        exact: Share of units whose own gate is one of them, shape (T,).
        agreement: Share of a unit's samples on which its own gate agrees with the nearest of
            them, shape (T,).
        patterns: Different patterns with an open sample, in the mean over networks, shape (T,).
    """

    JSON = ("*", "steps=updates", "mean_exact", "mean_agreement")
    updates: tuple[int, ...]
    exact: np.ndarray
    agreement: np.ndarray
    patterns: np.ndarray

    @property
    def mean_exact(self) -> float:
        """Mean over looks."""
        return float(self.exact.mean())

    @property
    def mean_agreement(self) -> float:
        """Mean over looks."""
        return float(self.agreement.mean())

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        yield (
            f"of the units' weight, {100 * self.exact[-1]:.1f} % has exactly one of these gates "
            f"at the last look ({100 * self.mean_exact:.1f} % in the mean over looks)"
        )
        yield (
            f"a unit agrees with its nearest gate on {100 * self.agreement[-1]:.1f} % of the "
            f"samples at the last look ({100 * self.mean_agreement:.1f} %)"
        )


def coverage(trained: ObservedNetworks, gates: Sequence[np.ndarray]) -> Coverage:
    """Compare every unit's own gate with the nearest of some gates; the mean over networks.

    Args:
        trained: The networks.
        gates: Of each look, truth values, shape (G, P).
    """
    rows = []
    for look, table in enumerate(gates):
        own, shares = trained.active[:, look], shares_of(trained.weights[:, look])
        apart = np.full(own.shape[:2], own.shape[-1])
        if len(table):
            apart = disagreement(own.astype(float), 1.0, 2 * table.astype(int) - 1).min(axis=-1)
        exact = ((apart == 0) * shares).sum(axis=1).mean()
        near = ((1 - apart / own.shape[-1]) * shares).sum(axis=1).mean()
        packed = np.packbits(own, axis=-1)
        count = np.mean([len(np.unique(bits[bits.any(axis=1)], axis=0)) for bits in packed])
        rows.append((exact, near, count))
    exact, agreement, patterns = np.array(rows).T
    return Coverage(updates=trained.steps, exact=exact, agreement=agreement, patterns=patterns)


@record(eq=False)
class WindowedGates:
    """Gates that are constant in each window.

    Attributes:
        windows: First look of each window, and the one after its last.
        starts: First update that is made with each window's gates; 0 for the first.
        found: What was found in each window; clusters of one index are one pathway.
        silhouettes: Mean silhouette of all together, by number of clusters tried.
    """

    windows: tuple[tuple[int, int], ...]
    starts: tuple[int, ...]
    found: tuple[Clustering, ...]
    silhouettes: dict[int, float]

    @property
    def clusters(self) -> int:
        """Largest number of clusters of a window."""
        return max(len(each.centroids) for each in self.found)

    @property
    def by_look(self) -> Iterator[np.ndarray]:
        """The different gates that are open somewhere, look by look."""
        for (first, end), found in zip(self.windows, self.found, strict=True):
            yield from [found.pathways] * (end - first)


def window_looks(trained: ObservedNetworks, count: int) -> tuple[int, ...]:
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
        drift[look] = (changed * shares_of(trained.weights[:, look])).sum(axis=1).mean()
    left = trained.losses[:, list(trained.steps)].mean(axis=0)
    passed = np.cumsum(drift * left)
    if passed[-1] == 0:
        return (0,)
    cuts = np.searchsorted(passed, np.arange(1, count) / count * passed[-1], side="left")
    return tuple(sorted({0, *map(int, cuts)}))


def windows_of(
    trained: ObservedNetworks, looks: Sequence[int]
) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """Return windows that start at some looks: (first look, end), and first updates."""
    starts = (0, *(trained.steps[look] for look in looks[1:]))
    return tuple(pairwise((*looks, len(trained.steps)))), starts


def windowed_gates(
    trained: ObservedNetworks, *, windows: int, clusters: int | None = None, rng: int = 0
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
        whole, silhouettes = _clustered(_weighted_rows(trained), None, rng)
        most = len(unit_rows(trained, 0, len(trained.steps)).values)
        count = min(len(whole.centroids), most)
    looks = _fitting(trained, window_looks(trained, windows), count)
    spans, starts = windows_of(trained, looks)
    found: list[Clustering] = []
    for first, end in spans:
        clustering = kmeans(unit_rows(trained, first, end), count, rng)
        if found:  # numbered as those of the window before which they are nearest to
            cost = np.abs(found[-1].centroids[:, None, :] - clustering.centroids).mean(axis=2)
            clustering = clustering.ordered(linear_sum_assignment(cost)[1])
        found.append(clustering)
    return WindowedGates(windows=spans, starts=starts, found=tuple(found), silhouettes=silhouettes)


def _fitting(trained: ObservedNetworks, looks: tuple[int, ...], count: int) -> tuple[int, ...]:
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


def _weighted_rows(trained: ObservedNetworks) -> Rows:
    """Return all sampled patterns that are open somewhere, by their units' share of the weight."""
    shares = shares_of(trained.weights * trained.active.any(axis=-1))
    return distinct_rows(trained.active.reshape(-1, trained.active.shape[-1]), shares.ravel())


def unit_rows(trained: ObservedNetworks, first: int, end: int) -> Rows:
    """Return each living unit's mean activity over some looks, by its share of the weight."""
    means, weights = unit_means(trained, first, end)
    living = means.any(axis=-1)
    return distinct_rows(means[living], shares_of(weights * living)[living])


def unit_means(trained: ObservedNetworks, first: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each unit's mean activity over looks first … end − 1, and its weight.

    Returns:
        The mean by weight, shape (seeds, H, P); the sum of the weights, shape (seeds, H).
    """
    sums = np.zeros((trained.seeds, *trained.active.shape[2:]))
    for look in range(first, end):
        sums += trained.weights[:, look, :, None] * trained.active[:, look]
    weights = trained.weights[:, first:end].sum(axis=1)
    return sums / np.where(weights > 0, weights, 1.0)[..., None], weights
