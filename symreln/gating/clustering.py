"""K-means of gates with weights, and how far apart its clusters are.

Rows are binary activity patterns; one of weight m counts as m equal ones. Networks share most of
their patterns, so equal rows are put together first: the result is that of the whole stack.
(K-means of scipy takes no weights, and scikit-learn need not be installed.)

Sources: Lloyd 1982; k-means++ starts, Arthur and Vassilvitskii 2007; silhouette, Rousseeuw 1987.
"""

from __future__ import annotations

from functools import cached_property
from math import log

import numpy as np

from symreln.base.records import record
from symreln.errors import InputError

#: Starts of which the best is kept, fewer of them where rows hold more numbers than _LARGE; rounds
#: after which a start that still moves is left.
STARTS, _FEWER_STARTS, _LARGE, _ROUNDS = 10, 3, 5_000_000, 300
#: Numbers of clusters that are tried in any case, and how many more no better ones after the best.
_USUAL, _NO_BETTER = 10, 3
#: Rows drawn for a silhouette: distances of all pairs would take the square of all rows.
DRAWN = 1500


@record(eq=False)
class _GateRows:
    """Different rows and how much each counts.

    Attributes:
        values: Shape (U, P), all different, in the order of their values.
        weights: Shape (U,), positive.
    """

    values: np.ndarray
    weights: np.ndarray


@record(eq=False)
class Clustering:
    """Clusters of activity patterns by decreasing weight, and the gates that they are.

    Attributes:
        rows: What was clustered.
        centroids: Share of a cluster's rows that are open on each sample, shape (K, P).
        labels: Cluster of each row, shape (U,).
    """

    rows: _GateRows
    centroids: np.ndarray
    labels: np.ndarray

    @cached_property
    def weights(self) -> np.ndarray:
        """Weight of each cluster, shape (K,)."""
        return np.bincount(self.labels, self.rows.weights, minlength=len(self.centroids))

    @property
    def inertia(self) -> float:
        """Mean over the weight of squared distances to the centroids."""
        apart = _squared_distances(self.rows.values, self.centroids)
        own = np.take_along_axis(apart, self.labels[:, None], axis=1)[:, 0]
        return float(own @ self.rows.weights / self.rows.weights.sum())

    @property
    def gates(self) -> np.ndarray:
        """Thresholded centroids, truth values, shape (K, P)."""
        return self.centroids > 0.5

    @property
    def pathways(self) -> np.ndarray:
        """The different gates that are open somewhere, bool (G, P), by decreasing weight."""
        opened = [tuple(gate) for gate in self.gates.tolist() if any(gate)]
        return np.array(list(dict.fromkeys(opened)), dtype=bool).reshape(-1, self.gates.shape[1])


def distinct_rows(values: np.ndarray, weights: np.ndarray | None = None) -> _GateRows:
    """Put equal rows together.

    Args:
        values: Truth values, shape (N, P).
        weights: Shape (N,), positive. None: 1 each.
    """
    packed, place = np.unique(np.packbits(values, axis=1), axis=0, return_inverse=True)
    found = np.unpackbits(packed, axis=1)[:, : values.shape[1]].astype(float)
    return _GateRows(values=found, weights=np.bincount(place.ravel(), weights))


def kmeans(rows: _GateRows, clusters: int, rng: int) -> Clustering:
    """Return the best of several Lloyd iterations, deterministic from the seed.

    Args:
        rows: What is clustered.
        clusters: K.
        rng: Seed of the starts.

    Raises:
        InputError: There are fewer different rows than clusters.
    """
    if not 1 <= clusters <= len(rows.values):
        msg = (
            f"K-means: found K = {clusters} for {len(rows.values)} different activity patterns. "
            f"Give --clusters from 1 to {len(rows.values)}"
        )
        raise InputError(msg)
    random = np.random.default_rng(rng)
    starts = STARTS if rows.values.size <= _LARGE else _FEWER_STARTS
    found = [_lloyd(rows, _starts(rows, clusters, random)) for _ in range(starts)]
    return min(found, key=lambda each: each.inertia)


def _starts(rows: _GateRows, clusters: int, random: np.random.Generator) -> np.ndarray:
    """Draw rows as centroids: the farther from those drawn, the likelier; the best of a few."""
    share = rows.weights / rows.weights.sum()
    chosen = [int(random.choice(len(share), p=share))]
    nearest = _squared_distances(rows.values[chosen], rows.values)[0]
    for _ in range(clusters - 1):
        nearest[chosen] = 0.0
        mass = nearest * rows.weights
        trials = random.choice(len(share), size=2 + int(log(clusters)), p=mass / mass.sum())
        left = np.minimum(nearest, _squared_distances(rows.values[trials], rows.values))
        best = int((left @ rows.weights).argmin())
        chosen.append(int(trials[best]))
        nearest = left[best]
    return rows.values[chosen]


def _lloyd(rows: _GateRows, centroids: np.ndarray) -> Clustering:
    labels = np.full(len(rows.values), -1)
    for _ in range(_ROUNDS):
        before, distances = labels, _squared_distances(rows.values, centroids)
        labels = distances.argmin(axis=1)
        _fill_empty(labels, distances, len(centroids))
        if (labels == before).all():
            break
        centroids = _means(rows, labels, len(centroids))
    order = np.argsort(-np.bincount(labels, rows.weights), kind="stable")
    return Clustering(rows=rows, centroids=centroids[order], labels=np.argsort(order)[labels])


def _fill_empty(labels: np.ndarray, distances: np.ndarray, clusters: int) -> None:
    """Give every cluster that lost all its rows the row that is farthest from its own."""
    sizes = np.bincount(labels, minlength=clusters)
    for empty in np.flatnonzero(sizes == 0):
        own = np.take_along_axis(distances, labels[:, None], axis=1)[:, 0]
        far = int(np.where(sizes[labels] > 1, own, -1.0).argmax())
        sizes[labels[far]] -= 1
        labels[far], sizes[empty] = empty, 1
        distances[far, empty] = 0.0


def _means(rows: _GateRows, labels: np.ndarray, clusters: int) -> np.ndarray:
    belongs = np.zeros((clusters, len(labels)))
    belongs[labels, np.arange(len(labels))] = rows.weights
    return (belongs @ rows.values) / belongs.sum(axis=1)[:, None]


def _squared_distances(rows: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """Return |row − centroid|² of all pairs, shape (rows, centroids).

    Args:
        rows: Shape (U, P).
        centroids: Shape (K, P).
    """
    squares = (rows**2).sum(axis=1)[:, None] + (centroids**2).sum(axis=1)
    return np.maximum(squares - 2 * rows @ centroids.T, 0.0)


def chosen(rows: _GateRows, most: int, rng: int) -> tuple[Clustering, dict[int, float]]:
    """Cluster rows with as many clusters, from two on, as the mean silhouette prefers.

    Args:
        rows: What is clustered.
        most: Clusters at most; more than ten are tried only until some are no better than the best.
        rng: Seed of the starts.

    Returns:
        The clusters, and the mean silhouette by their number.
    """
    most = min(most, len(rows.values))
    tried: dict[int, Clustering] = {}
    scores: dict[int, float] = {}
    best = least = min(2, most)
    for count in range(least, most + 1):
        if count > max(_USUAL, best + _NO_BETTER):
            break
        tried[count] = kmeans(rows, count, rng)
        scores[count] = silhouette(tried[count], rng)
        best = count if scores[count] > scores[best] else best
    return tried[best], scores


def silhouette(clustering: Clustering, rng: int) -> float:
    r"""Return the mean silhouette width (b − a)/max(a, b) of rows drawn by weight.

    a is a row's mean distance to its cluster's others, b that to the nearest other cluster; 0 for
    a row that is alone. Distances are Euclidean.
    """
    if len(clustering.centroids) < 2:
        return 0.0
    random, rows = np.random.default_rng(rng), clustering.rows
    share = rows.weights / rows.weights.sum()
    drawn = random.choice(len(share), size=DRAWN, p=share)
    values, labels = rows.values[drawn], clustering.labels[drawn]
    distances = np.sqrt(_squared_distances(values, values))
    np.fill_diagonal(distances, 0.0)
    belongs = np.eye(len(clustering.centroids))[labels]
    sums, sizes = distances @ belongs, belongs.sum(axis=0)
    own = np.take_along_axis(sums, labels[:, None], axis=1)[:, 0]
    others = np.where(sizes > 0, sums / np.maximum(sizes, 1), np.inf)
    others[np.arange(DRAWN), labels] = np.inf
    size = sizes[labels]
    inner, outer = own / np.maximum(size - 1, 1), others.min(axis=1)
    larger = np.maximum(inner, outer)
    known = (size > 1) & np.isfinite(outer) & (larger > 0)
    widths = np.zeros(DRAWN)
    widths[known] = (outer[known] - inner[known]) / larger[known]
    return float(widths.mean())
