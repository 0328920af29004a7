"""Algorithm 1 of the paper: gates as cluster centres of the activity of networks in training.

Train, sample which units are open on which samples through training, stack the samples as rows,
K-means, threshold the centroids. Source: [Jarvis2025], Algorithm 1. The number of clusters is the
one with the largest mean silhouette, or given. A row in which no unit is open is a row as any other
there; its cluster is no pathway.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import linear_sum_assignment

from symreln.base.summaries import short_repr
from symreln.errors import InputError
from symreln.gates.activity import TrainedGates
from symreln.gates.clustering import (
    Clustering,
    Rows,
    adjusted_rand,
    distinct_rows,
    kmeans,
    silhouette,
    squared_distances,
)

#: A centroid's entry is near 0 or 1 where it is at most this far from it; others are partial.
NEAR = 0.1
#: Clusters that are tried where their number is not given: these, and more until the last few are
#: no better than the best, but never more than the most.
USUAL_CLUSTERS, NO_BETTER, MOST_CLUSTERS = 10, 3, 40


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class FoundGates:
    """Clusters of activity patterns, and the gates that they are.

    Attributes:
        clustering: Centroids, by falling weight.
        rows: What was clustered.
        silhouettes: Mean silhouette by number of clusters, of those tried.
        given: Whether the number of clusters was given.
    """

    clustering: Clustering
    rows: Rows
    silhouettes: dict[int, float]
    given: bool

    @property
    def centroids(self) -> np.ndarray:
        """Share of a cluster's rows that are open on each sample, shape (K, P)."""
        return self.clustering.centroids

    @property
    def gates(self) -> np.ndarray:
        """Thresholded centroids, truth values, shape (K, P)."""
        return self.centroids > 0.5

    @property
    def partial(self) -> np.ndarray:
        """Where a centroid is near neither 0 nor 1, truth values, shape (K, P)."""
        return (self.centroids > NEAR) & (self.centroids < 1 - NEAR)

    @property
    def pathways(self) -> tuple[tuple[int, ...], ...]:
        """The different gates that are open somewhere, 0 or 1 a sample, by falling weight."""
        opened = [tuple(map(int, gate)) for gate in self.gates if gate.any()]
        return tuple(dict.fromkeys(opened))


def algorithm_one(
    trained: TrainedGates, *, clusters: int | None = None, rng: int = 0
) -> FoundGates:
    """Run Algorithm 1 on networks that were trained and sampled.

    Args:
        trained: The networks.
        clusters: K; None for the one with the largest mean silhouette.
        rng: Seed of K-means.

    Raises:
        InputError: No unit is open anywhere, or there are fewer patterns than clusters.
    """
    check_alive(trained)
    stacked = trained.active.reshape(-1, trained.active.shape[-1])
    return cluster_rows(distinct_rows(stacked), clusters, rng)


def pattern_count(trained: TrainedGates) -> int:
    """Return how many different activity patterns there are, those open nowhere included."""
    stacked = trained.active.reshape(-1, trained.active.shape[-1])
    return len(distinct_rows(stacked).values)


def check_alive(trained: TrainedGates) -> None:
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


def cluster_rows(rows: Rows, clusters: int | None, rng: int) -> FoundGates:
    """Cluster rows, with as many clusters as the mean silhouette prefers if none are given.

    Raises:
        InputError: There are fewer different rows than clusters.
    """
    if clusters is not None:
        found = kmeans(rows, clusters, rng)
        return FoundGates(clustering=found, rows=rows, silhouettes={}, given=True)
    most = min(MOST_CLUSTERS, len(rows.values))
    scores: dict[int, float] = {}
    best: Clustering | None = None
    for count in range(min(2, most), most + 1):
        if best is not None and count > max(USUAL_CLUSTERS, len(best.centroids) + NO_BETTER):
            break
        tried = kmeans(rows, count, rng)
        scores[count] = silhouette(rows, tried, rng)
        if best is None or scores[count] > scores[len(best.centroids)]:
            best = tried
    assert best is not None
    return FoundGates(clustering=best, rows=rows, silhouettes=scores, given=False)


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Stability:
    """How alike independent runs of one algorithm are.

    Attributes:
        runs: What each run found.
        rand: Adjusted Rand index of each pair of runs, of the labels that their centroids give to
            the patterns of all runs.
        distances: Mean distance between matched centroids of each pair of runs with the same
            number of clusters, as a share of the samples (mean absolute difference).
    """

    runs: tuple[FoundGates, ...]
    rand: tuple[float, ...]
    distances: tuple[float, ...]

    def finds(self, gates: np.ndarray) -> np.ndarray:
        """Return which run found which of the given gates, truth values, shape (runs, G)."""
        table = [
            [bool((run.gates == gate).all(axis=1).any()) for gate in gates] for run in self.runs
        ]
        return np.array(table, dtype=bool).reshape(len(self.runs), len(gates))


def stability(runs: list[FoundGates], rows: Rows) -> Stability:
    """Compare runs with each other.

    Args:
        runs: One entry a run.
        rows: Patterns of all runs, which each run's centroids label.
    """
    labels = [squared_distances(rows.values, run.centroids).argmin(axis=1) for run in runs]
    pairs = list(combinations(range(len(runs)), 2))
    alike = [p for p in pairs if len(runs[p[0]].centroids) == len(runs[p[1]].centroids)]
    return Stability(
        runs=tuple(runs),
        rand=tuple(adjusted_rand(labels[a], labels[b], rows.weights) for a, b in pairs),
        distances=tuple(matched_distance(runs[a].centroids, runs[b].centroids) for a, b in alike),
    )


def matched_distance(first: np.ndarray, second: np.ndarray) -> float:
    """Return the mean absolute difference of centroids matched one to one, the best way."""
    cost = np.abs(first[:, None, :] - second[None, :, :]).mean(axis=2)
    return float(cost[linear_sum_assignment(cost)].mean())


def static_gates(trained: TrainedGates, found: FoundGates) -> np.ndarray:
    """Give every unit one gate for the whole training, truth values, shape (1, seeds, H, P).

    It gets the cluster with the smallest sum of squared distances to its own rows: K-means' own
    criterion, for rows that must stay together.
    """
    means = trained.active.mean(axis=1)
    labels = squared_distances(means.reshape(-1, means.shape[-1]), found.centroids).argmin(axis=1)
    return found.gates[labels].reshape(1, *means.shape)


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Coverage:
    """What part of the networks' weight ‖w1‖ ‖w2‖ gates account for, at each look.

    Attributes:
        exact: Share of units whose own gate is one of them, shape (T,).
        agreement: Share of a unit's samples on which its own gate agrees with the nearest of
            them, shape (T,).
        patterns: Different patterns with an open sample, in the mean over networks, shape (T,).
    """

    exact: np.ndarray
    agreement: np.ndarray
    patterns: np.ndarray


def coverage(
    trained: TrainedGates, gates: np.ndarray, first: int = 0, end: int | None = None
) -> Coverage:
    """Compare every unit's own gate with the nearest of some gates; the mean over networks.

    Args:
        trained: The networks.
        gates: Truth values, shape (G, P).
        first: The first look.
        end: The look after the last; None for all.
    """
    table, rows = gates.astype(float), []
    for look in range(first, trained.active.shape[1] if end is None else end):
        own = trained.active[:, look]
        shares = _shares(trained.weights[:, look])
        apart = _samples_apart(own, table)
        exact = ((apart == 0) * shares).sum(axis=1).mean()
        near = ((1 - apart / own.shape[-1]) * shares).sum(axis=1).mean()
        packed = np.packbits(own, axis=-1)
        count = np.mean([len(np.unique(bits[bits.any(axis=1)], axis=0)) for bits in packed])
        rows.append((exact, near, count))
    values = np.array(rows)
    return Coverage(exact=values[:, 0], agreement=values[:, 1], patterns=values[:, 2])


def _samples_apart(own: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return on how many samples each unit differs from the nearest gate, shape (seeds, H)."""
    if not len(table):
        return np.full(own.shape[:2], own.shape[-1])
    rows = own.reshape(-1, own.shape[-1]).astype(float)
    return squared_distances(rows, table).min(axis=1).round().reshape(own.shape[:2])


def _shares(weights: np.ndarray) -> np.ndarray:
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1.0)
