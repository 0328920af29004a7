"""Weighted K-means, silhouettes and Rand indices, against other routes and by brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.vq import kmeans2

from symreln.errors import InputError
from symreln.gating.clustering import (
    DRAWN,
    Rows,
    adjusted_rand,
    distinct_rows,
    kmeans,
    silhouette,
    squared_distances,
)
from tests.strategies import examples


def drawn_rows(seed: int, count: int = 60, samples: int = 6) -> np.ndarray:
    """Patterns around three gates, some of them equal."""
    random = np.random.default_rng(seed)
    gates = np.array([[1] * samples, [0] * 3 + [1] * (samples - 3), [1, 1] + [0] * (samples - 2)])
    return (gates[random.integers(3, size=count)] ^ (random.random((count, samples)) < 0.1)) > 0


def inertia(values: np.ndarray, labels: np.ndarray) -> float:
    parts = [values[labels == k] for k in np.unique(labels)]
    return sum(float(((part - part.mean(axis=0)) ** 2).sum()) for part in parts) / len(values)


def test_equal_rows_are_counted() -> None:
    stack = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 1], [1, 1, 1], [1, 0, 1]], dtype=bool)
    rows = distinct_rows(stack)
    found = dict(zip(map(tuple, rows.values.tolist()), rows.weights, strict=True))
    assert found == {(1, 0, 1): 3, (0, 0, 0): 1, (1, 1, 1): 1}
    weighted = distinct_rows(stack.astype(float), np.array([0.5, 0.0, 1.0, 2.0, 0.25]))
    found = dict(zip(map(tuple, weighted.values.tolist()), weighted.weights, strict=True))
    assert found == {(1, 0, 1): 1.75, (1, 1, 1): 2}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_weights_stand_for_equal_rows(seed: int) -> None:
    stack = drawn_rows(seed)
    rows = distinct_rows(stack)
    found = kmeans(rows, 3, seed)
    # scipy's iteration over the whole stack stays where ours ended ...
    centroids, labels = kmeans2(stack.astype(float), found.centroids, minit="matrix", iter=5)
    np.testing.assert_allclose(centroids, found.centroids, atol=1e-12)
    # ... and the inertia is that of its labels.
    assert found.inertia == pytest.approx(inertia(stack.astype(float), labels), abs=1e-12)
    assert found.weights.sum() == pytest.approx(len(stack))
    assert list(found.weights) == sorted(found.weights, reverse=True)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_no_partition_is_better(seed: int) -> None:
    values = np.random.default_rng(seed).random((8, 2)).round(3)
    found = kmeans(distinct_rows(values), 3, 0)
    tried = (np.array(labels) for labels in product(range(3), repeat=8))
    best = min(inertia(values, labels) for labels in tried if len(set(labels.tolist())) == 3)
    assert found.inertia == pytest.approx(best, abs=1e-12)


@given(st.integers(0, 10_000), st.integers(1, 12))
@examples(160)
def test_every_cluster_has_rows_and_each_row_the_nearest(seed: int, clusters: int) -> None:
    random = np.random.default_rng(seed)
    stack = random.random((40, 5)) < random.random(5)
    rows = distinct_rows(stack, random.random(40) + 0.01)
    clusters = min(clusters, len(rows.values))
    found = kmeans(rows, clusters, seed)
    assert set(found.labels.tolist()) == set(range(clusters))
    apart = squared_distances(rows.values, found.centroids)
    own = np.take_along_axis(apart, found.labels[:, None], axis=1)[:, 0]
    assert (own <= apart.min(axis=1) + 1e-9).all()
    # The order of the stack and repeated runs change nothing.
    order = random.permutation(40)
    weights = np.round(random.random(40), 2) + 0.25
    one = kmeans(distinct_rows(stack, weights), 1, seed)
    other = kmeans(distinct_rows(stack[order], weights[order]), 1, seed)
    np.testing.assert_allclose(one.centroids, other.centroids, atol=1e-12)


def test_all_patterns_apart() -> None:
    rows = distinct_rows(drawn_rows(5))
    found = kmeans(rows, len(rows.values), 0)
    assert found.inertia == pytest.approx(0, abs=1e-12)
    count = len(rows.values)
    with pytest.raises(InputError, match=f"K = {count + 1} for {count} different.*from 1 to"):
        kmeans(rows, count + 1, 0)


@pytest.mark.parametrize("clusters", [2, 3, 5])
def test_silhouette_is_rousseeuws(clusters: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rows = distinct_rows(drawn_rows(7, count=200))
    found = kmeans(rows, clusters, 0)
    share = rows.weights / rows.weights.sum()
    drawn = np.random.default_rng(3).choice(len(share), size=DRAWN, p=share)
    wanted = metrics.silhouette_score(rows.values[drawn], found.labels[drawn])
    assert silhouette(found, 3) == pytest.approx(wanted, abs=1e-9)


def test_rows_that_differ_by_rounding() -> None:
    values = 1 / 3 + np.array([[0.0, 0.0], [1e-14, 0.0], [0.0, -1e-15], [0.5, 0.0]])
    assert len(distinct_rows(values).values) == 2
    # Rows too near for their distance, but different: each is a cluster all the same.
    near = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-9], [1.0, 1.0 - 1e-9]])
    assert sorted(kmeans(distinct_rows(near), 3, 0).labels.tolist()) == [0, 1, 2]


def test_silhouette_where_nothing_is_apart() -> None:
    alone = Rows(values=np.array([[0.0, 1.0]]), weights=np.array([2.0]))
    assert silhouette(kmeans(alone, 1, 0), 0) == 0.0
    two = Rows(values=np.array([[0.0, 0.0], [1.0, 1.0]]), weights=np.array([5.0, 3.0]))
    assert silhouette(kmeans(two, 2, 0), 0) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(5))
def test_adjusted_rand_is_hubert_and_arabies(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(seed)
    first, second = random.integers(3, size=50), random.integers(4, size=50)
    second[:30] = first[:30]
    wanted = metrics.adjusted_rand_score(first, second)
    assert adjusted_rand(first, second) == pytest.approx(wanted, abs=1e-12)
    # A weight of n is n equal rows.
    counts = random.integers(1, 5, size=50)
    wanted = metrics.adjusted_rand_score(np.repeat(first, counts), np.repeat(second, counts))
    assert adjusted_rand(first, second, counts.astype(float)) == pytest.approx(wanted, abs=1e-12)


def test_adjusted_rand_of_one_cluster() -> None:
    assert adjusted_rand(np.zeros(4, dtype=int), np.zeros(4, dtype=int)) == 1.0
    assert adjusted_rand(np.zeros(1, dtype=int), np.zeros(1, dtype=int)) == 1.0
    assert adjusted_rand(np.zeros(4, dtype=int), np.arange(4)) == 0.0
