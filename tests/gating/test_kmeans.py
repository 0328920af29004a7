"""Algorithm 1: planted gates, what it says of them, data in which there is nothing to find."""

from fractions import Fraction

import numpy as np
import pytest

from symreln.errors import InputError
from symreln.exact.matrix import ExactMatrix
from symreln.gating.clustering import Clustering
from symreln.gating.found_gates import (
    _Spread,
    algorithm_one,
    coverage,
    stability,
    stacked_rows,
)
from symreln.gating.observed import ObservedNetworks, sample_steps
from symreln.gating.replay import static_schedule
from symreln.gating.samples import check_samples
from symreln.specs.model import Dataset
from tests.gating.trained import planted

GATES = np.array([[1] * 6, [0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 1, 1], [0] * 6], dtype=bool)
#: The same on four times as many samples: few noisy patterns are then equal.
WIDE = np.repeat(GATES, 4, axis=1)


def noisy(seed: int, flips: float, seeds: int = 2, looks: int = 8, hidden: int = 40):
    """Units that keep one of WIDE, a quarter each, with single samples flipped now and then."""
    random = np.random.default_rng(seed)
    gates = WIDE[np.arange(hidden) % 4]
    active = np.broadcast_to(gates, (seeds, looks, hidden, 24))
    return planted(active ^ (random.random(active.shape) < flips), np.ones((seeds, looks, hidden)))


def clusters_of(trained: ObservedNetworks, clusters: int | None = None) -> Clustering:
    (only,) = algorithm_one(trained, clusters=clusters).found
    return only


def test_samples_are_those_of_the_paper() -> None:
    assert sample_steps(402, 100) == (1, 101, 201, 301, 401)
    assert sample_steps(401, 100) == (1, 101, 201, 301)
    assert sample_steps(2, 100) == (1,)
    with pytest.raises(InputError, match=r"network\.steps of at least 2"):
        sample_steps(1, 100)


def test_planted_gates_are_found_with_their_number() -> None:
    every = algorithm_one(noisy(0, 0.05))
    (found,) = every.found
    assert len(found.centroids) == 4
    assert every.silhouettes[4] == max(every.silhouettes.values())
    assert {tuple(gate) for gate in found.gates.tolist()} == {tuple(g) for g in WIDE.tolist()}
    assert not found.partial.any()
    # The cluster of units that are open nowhere is no pathway.
    assert len(found.pathways) == 3
    given = algorithm_one(noisy(0, 0.05), clusters=2)
    assert (given.clusters, given.silhouettes) == (2, {})


def test_more_clusters_are_tried_while_they_are_better() -> None:
    random = np.random.default_rng(0)
    gates = random.random((14, 60)) < 0.5
    active = np.broadcast_to(gates[np.arange(84) % 14], (1, 6, 84, 60))
    trained = planted(active ^ (random.random(active.shape) < 0.02), np.ones(84))
    every = algorithm_one(trained)
    (found,) = every.found
    assert len(found.centroids) == 14
    assert max(every.silhouettes) == 17  # three more, none of them better
    assert {tuple(gate) for gate in found.gates.tolist()} == {tuple(g) for g in gates.tolist()}
    assert max(algorithm_one(noisy(0, 0.05)).silhouettes) == 10


def test_a_gate_that_is_open_half_of_the_time_is_partial() -> None:
    active = np.broadcast_to(GATES[1], (1, 10, 20, 6)).copy()
    active[:, ::2, :, 0] = True
    active[:, 0, 0, 5] = False
    found = clusters_of(planted(active, np.ones(20)), 1)
    (centroid,) = found.centroids
    np.testing.assert_allclose(centroid, [0.5, 0, 1, 1, 1, 1 - 1 / 200])
    assert found.partial.tolist() == [[True, False, False, False, False, False]]
    # Open exactly as often as closed is not open.
    assert found.gates.tolist() == [[False, False, True, True, True, True]]


def test_units_keep_the_cluster_that_most_of_their_rows_are_in() -> None:
    trained = noisy(3, 0.02)
    gates = static_schedule(trained, algorithm_one(trained, clusters=4)).gates
    assert gates.shape == (1, 2, 40, 24)
    assert (gates[0] == WIDE[np.arange(40) % 4]).all()


def test_coverage_counts_weight() -> None:
    active = np.array([[[GATES[0], GATES[1], [0, 1, 1, 1, 1, 1], GATES[3]]]])
    weights = np.array([[[4.0, 3.0, 2.0, 1.0]]])
    found = coverage(planted(active, weights), [GATES[:2]])
    # Weights 4 and 3 of 10 agree on all samples; the third differs on one of six, the last on four.
    np.testing.assert_allclose(found.exact, [0.7])
    np.testing.assert_allclose(found.agreement, [0.7 + 0.2 * 5 / 6 + 0.1 * 2 / 6])
    np.testing.assert_allclose(found.patterns, [3])
    nothing = coverage(planted(active, weights), [np.zeros((0, 6), dtype=bool)])
    assert (nothing.exact[0], nothing.agreement[0]) == (0, 0)


def test_runs_are_compared() -> None:
    trained = noisy(0, 0.05, seeds=4)
    runs = [clusters_of(trained.networks(k, k + 1), 4) for k in range(4)]
    found = stability(runs, stacked_rows(trained), WIDE)
    assert (found.runs, found.clusters, found.pathways) == (4, {4: 4}, {3: 4})
    assert (found.runs_with_all_spec_gates, found.runs_with_spec_gate) == (4, (4, 4, 4, 4))
    assert found.adjusted_rand is not None
    assert found.matched_distance is not None
    assert found.adjusted_rand.least > 0.9
    assert found.matched_distance.largest < 0.05
    other = stability(runs, stacked_rows(trained), WIDE[:1] ^ WIDE[1:2])
    assert (other.runs_with_all_spec_gates, other.runs_with_spec_gate) == (0, (0,))
    # In another order centroids are matched all the same.
    turned = runs[0].ordered(np.array([2, 0, 3, 1]))
    same = stability([runs[0], turned], stacked_rows(trained), WIDE[:0])
    assert same.adjusted_rand == _Spread(1, 1, 1)
    assert same.matched_distance == _Spread(0, 0, 0)
    assert same.runs_with_all_spec_gates is None


def test_runs_of_different_sizes_are_not_matched() -> None:
    trained = noisy(0, 0.05)
    runs = [clusters_of(trained, count) for count in (3, 4)]
    found = stability(runs, stacked_rows(trained), WIDE)
    assert found.matched_distance is None
    assert found.adjusted_rand is not None
    assert 0 < found.adjusted_rand.mean < 1


def test_dead_units() -> None:
    dead = planted(np.zeros((3, 4, 5, 6)), np.ones(5))
    with pytest.raises(InputError, match="all 5 hidden units of 3 networks are dead"):
        algorithm_one(dead)


def dataset(inputs: list, targets: list) -> Dataset:
    return Dataset(inputs=ExactMatrix.from_rows(inputs), targets=ExactMatrix.from_rows(targets))


def test_samples_that_no_gate_tells_apart() -> None:
    with pytest.raises(InputError, match="all 3 samples have the same inputs"):
        check_samples(dataset([[1, 1, 1], [2, 2, 2]], [[1, 1, 1]]))
    with pytest.raises(InputError, match=r"samples 0 and 2 .* same inputs and different targets"):
        check_samples(dataset([[1, 0, 1], [2, 2, 2]], [[1, 0, 0]]))
    # Equal samples with equal targets are a sample that counts twice.
    check_samples(dataset([[1, 0, 1], [2, 2, 2]], [[1, 0, 1]]))
    # Inputs that differ by less than float64 can say are different.
    check_samples(dataset([[Fraction(1), 1 + Fraction(1, 10**30)]], [[0, 1]]))
