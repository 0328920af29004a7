"""Clusters of planted gates: K-means by brute force, Algorithm 1, windows, replays, coverage."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.vq import kmeans2

from symreln.errors import InputError
from symreln.gating.clustering import (
    DRAWN,
    distinct_rows,
    kmeans,
    silhouette,
    squared_distances,
)
from symreln.gating.found_gates import (
    _weighted_rows,
    algorithm_one,
    coverage,
    stability,
    window_looks,
    windowed_gates,
)
from symreln.gating.network_finders import _switching_pathways
from symreln.gating.replay import (
    GateSchedule,
    _quality_curve,
    _replayed,
    own_schedule,
    schedule_errors,
    static_schedule,
    window_schedule,
)
from symreln.train.network import GatedPathway
from symreln.train.trainers import train_gdln
from symreln.train.weights import LayerWeights
from tests.gating.planted import planted, trained_network
from tests.strategies import examples


def drawn_rows(seed: int, count: int = 60, samples: int = 6) -> np.ndarray:
    """Patterns around three gates, some of them equal."""
    random = np.random.default_rng(seed)
    gates = np.array([[1] * samples, [0] * 3 + [1] * (samples - 3), [1, 1] + [0] * (samples - 2)])
    return (gates[random.integers(3, size=count)] ^ (random.random((count, samples)) < 0.1)) > 0


def inertia(values: np.ndarray, labels: np.ndarray) -> float:
    parts = [values[labels == k] for k in np.unique(labels)]
    return sum(float(((part - part.mean(axis=0)) ** 2).sum()) for part in parts) / len(values)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_weights_stand_for_equal_rows(seed: int) -> None:
    stack = drawn_rows(seed)
    found = kmeans(distinct_rows(stack), 3, seed)
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
@examples(80)
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


def test_rows_that_are_few_or_near() -> None:
    rows = distinct_rows(drawn_rows(5))
    count = len(rows.values)
    assert kmeans(rows, count, 0).inertia == pytest.approx(0, abs=1e-12)
    with pytest.raises(InputError, match=f"K = {count + 1} for {count} different.*from 1 to"):
        kmeans(rows, count + 1, 0)
    values = 1 / 3 + np.array([[0.0, 0.0], [1e-14, 0.0], [0.0, -1e-15], [0.5, 0.0]])
    assert len(distinct_rows(values).values) == 2
    # Rows too near for their distance, but different: each is a cluster all the same.
    near = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-9], [1.0, 1.0 - 1e-9]])
    assert sorted(kmeans(distinct_rows(near), 3, 0).labels.tolist()) == [0, 1, 2]
    two = distinct_rows(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([5.0, 3.0]))
    assert silhouette(kmeans(two, 1, 0), 0) == 0.0
    assert silhouette(kmeans(two, 2, 0), 0) == pytest.approx(1.0)


@pytest.mark.parametrize("clusters", [2, 5])
def test_silhouette_is_rousseeuws(clusters: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rows = distinct_rows(drawn_rows(7, count=200))
    found = kmeans(rows, clusters, 0)
    share = rows.weights / rows.weights.sum()
    drawn = np.random.default_rng(3).choice(len(share), size=DRAWN, p=share)
    wanted = metrics.silhouette_score(rows.values[drawn], found.labels[drawn])
    assert silhouette(found, 3) == pytest.approx(wanted, abs=1e-9)


GATES = np.array([[1] * 6, [0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 1, 1], [0] * 6], dtype=bool)
#: The same on four times as many samples: few noisy patterns are then equal.
WIDE = np.repeat(GATES, 4, axis=1)


def noisy(seed: int, flips: float, seeds: int = 2, looks: int = 8, hidden: int = 40):
    """Units that keep one of WIDE, a quarter each, with single samples flipped now and then."""
    random = np.random.default_rng(seed)
    gates = WIDE[np.arange(hidden) % 4]
    active = np.broadcast_to(gates, (seeds, looks, hidden, 24))
    return planted(active ^ (random.random(active.shape) < flips), np.ones((seeds, looks, hidden)))


def test_planted_gates_are_found_with_their_number() -> None:
    every = algorithm_one(noisy(0, 0.05))
    (found,) = every.found
    assert len(found.centroids) == 4
    assert every.silhouettes[4] == max(every.silhouettes.values())
    assert max(every.silhouettes) == 10
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
    every = algorithm_one(planted(active ^ (random.random(active.shape) < 0.02), np.ones(84)))
    (found,) = every.found
    assert max(every.silhouettes) == 17  # three more, none of them better
    assert {tuple(gate) for gate in found.gates.tolist()} == {tuple(g) for g in gates.tolist()}


def test_a_gate_that_is_open_half_of_the_time_is_partial() -> None:
    active = np.broadcast_to(GATES[1], (1, 10, 20, 6)).copy()
    active[:, ::2, :, 0] = True
    active[:, 0, 0, 5] = False
    (found,) = algorithm_one(planted(active, np.ones(20)), clusters=1).found
    np.testing.assert_allclose(found.centroids, [[0.5, 0, 1, 1, 1, 1 - 1 / 200]])
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
    trained = planted(active, np.array([[[4.0, 3.0, 2.0, 1.0]]]))
    found = coverage(trained, [GATES[:2]])
    # Weights 4 and 3 of 10 agree on all samples; the third differs on one of six, the last on four.
    np.testing.assert_allclose(found.exact, [0.7])
    np.testing.assert_allclose(found.agreement, [0.7 + 0.2 * 5 / 6 + 0.1 * 2 / 6])
    np.testing.assert_allclose(found.patterns, [3])
    nothing = coverage(trained, [np.zeros((0, 6), dtype=bool)])
    assert (nothing.exact[0], nothing.agreement[0]) == (0, 0)


def test_runs_are_compared() -> None:
    trained = noisy(0, 0.05, seeds=4)
    runs = [algorithm_one(trained.networks(k, k + 1), clusters=4).found[0] for k in range(4)]
    found = stability(runs, list(WIDE))
    assert (found.runs, found.clusters, found.runs_with_all_spec_gates) == (4, {4: 4}, 4)
    assert stability(runs, [WIDE[0] ^ WIDE[1]]).runs_with_all_spec_gates == 0
    assert stability(runs, []).runs_with_all_spec_gates is None


EARLY = np.array([[1, 1, 1, 1], [1, 1, 0, 0]], dtype=bool)
LATE = np.array([[0, 0, 1, 1], [1, 1, 0, 0]], dtype=bool)


def drifting(switch: int = 6, looks: int = 10, hidden: int = 8):
    """Half of the units switch all at once."""
    kind = np.arange(hidden) % 2
    active = np.array([[(EARLY if look < switch else LATE)[kind] for look in range(looks)]])
    return planted(active, np.ones((1, looks, hidden)))


@pytest.mark.parametrize("switch", [1, 4, 9])
def test_a_window_starts_where_gates_change(switch: int) -> None:
    trained = drifting(switch)
    assert window_looks(trained, 2) == (0, switch)
    # More windows than changes are not made up.
    assert window_looks(trained, 5) == (0, switch)
    found = windowed_gates(trained, windows=2, clusters=2)
    assert found.starts == (0, switch + 1)  # looks are after updates 1, 2, …
    schedule = window_schedule(trained, found)
    for place, gates in enumerate((EARLY, LATE)):
        assert sorted(found.found[place].gates.tolist()) == sorted(gates.tolist())
        assert (schedule.gates[place, 0] == gates[np.arange(8) % 2]).all()
    # Pathways keep their place and switch; clusters of the same gates are one pathway.
    late = ((switch + 1, (0, 0, 1, 1)),)
    pathways = {each.gate: each.then for each in _switching_pathways(found)}
    assert pathways == {(1, 1, 0, 0): (), (1, 1, 1, 1): late}
    parts = (replace(each, centroids=each.centroids[[0, 1, 0]]) for each in found.found)
    assert len(_switching_pathways(replace(found, found=tuple(parts)))) == 2
    # What changes after all is learned gets no window.
    losses = np.ones((1, 11))
    losses[:, switch + 1 :] = 0
    assert window_looks(planted(trained.active, trained.weights, losses), 2) == (0,)


def test_light_and_dead_units_do_not_count() -> None:
    random = np.random.default_rng(0)
    heavy = np.repeat(EARLY, 5, axis=0)
    light = random.random((30, 4)) < 0.5
    gates = np.concatenate([heavy, light, np.zeros((40, 4), dtype=bool)])
    active = np.broadcast_to(gates, (1, 6, 80, 4))
    weights = np.concatenate([np.ones(10), np.full(30, 1e-9), np.full(40, 5.0)])
    trained = planted(active, weights)
    found = windowed_gates(trained, windows=1, clusters=2)
    assert sorted(found.found[0].gates.tolist()) == sorted(EARLY.tolist())
    np.testing.assert_allclose(found.found[0].weights.sum(), 1, rtol=1e-6)
    # Algorithm 1 counts rows alone: half of them are dead here.
    assert [0, 0, 0, 0] in algorithm_one(trained, clusters=2).found[0].gates.astype(int).tolist()
    # Units that are dead stay closed, whatever gate would be nearest.
    assert not window_schedule(trained, found).gates[0, 0, 40:].any()


def test_rows_count_by_weight_in_each_network_and_look() -> None:
    gates = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]], dtype=bool)
    active = np.broadcast_to(gates, (2, 3, 3, 4))
    # The second network is a thousand times as heavy; the dead unit's weight is no part of it.
    weights = np.array([1.0, 1000.0])[:, None, None] * np.array([3.0, 1.0, 9.0])
    found = _weighted_rows(planted(active, weights))
    counted = dict(zip(map(tuple, found.values.tolist()), found.weights.tolist(), strict=True))
    assert counted == {(1, 1, 1, 1): 4.5, (1, 1, 0, 0): 1.5}


def test_windows_without_enough_units_are_joined() -> None:
    kinds = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    active = np.broadcast_to(kinds, (1, 9, 3, 4)).copy()
    active[:, :3] = kinds[0]
    active[:, 6:] = kinds[[1, 1, 2]]
    trained = planted(active, np.ones(3))
    assert len(window_looks(trained, 4)) == 3
    # One different unit up to look 3, three in between, two from look 6 on.
    assert windowed_gates(trained, windows=4, clusters=3).windows == ((0, 9),)
    assert windowed_gates(trained, windows=4, clusters=2).windows == ((0, 6), (6, 9))
    with pytest.raises(InputError, match="K = 4 for 3 different"):
        windowed_gates(trained, windows=3, clusters=4)


def test_own_gates_at_every_step_are_the_network() -> None:
    trained = trained_network()
    moves = (trained.active[:, 1:] != trained.active[:, :-1]).any(axis=(2, 3))
    assert moves.sum() > 10  # else this would be a test of a linear network
    schedule = GateSchedule(starts=trained.steps, gates=np.moveaxis(trained.active, 1, 0))
    np.testing.assert_allclose(_replayed(trained, schedule), trained.losses, rtol=1e-12)
    # Gates of the step before are not.
    late = GateSchedule(
        starts=trained.steps, gates=np.moveaxis(trained.active[:, [0, *range(39)]], 1, 0)
    )
    assert min(schedule_errors(trained, late).each) > 1e-6


def test_replay_is_the_gdln_of_its_gates() -> None:
    trained = trained_network()
    gates = np.array([[1, 1, 1, 1, 1, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1, 1]], dtype=bool)
    kind = np.arange(12) % 2
    both = np.array([gates[kind], gates[1 - kind]])[:, None]
    schedule = GateSchedule(starts=(0, 15), gates=np.broadcast_to(both, (2, 2, 12, 9)))
    # The same by the other trainer: a pathway a kind, then again from the weights at the switch.
    first = trained.initial
    start = {
        str(k): LayerWeights(w1=first.w1[:, kind == k], w2=first.w2[..., kind == k]) for k in (0, 1)
    }
    losses = []
    for steps, swapped in ((16, 0), (25, 1)):
        ends = {"inputs": range(3), "outputs": range(2), "hidden": 6}
        pathways = [GatedPathway(name=str(k), gate=gates[k ^ swapped], **ends) for k in (0, 1)]
        settings = replace(trained.settings, steps=steps)
        run = train_gdln(trained.inputs, trained.targets, pathways, settings, initial=start)
        start = {str(k): run.weights[k] for k in (0, 1)}
        losses.append(run.losses)
    wanted = np.concatenate([losses[0][:, :15], losses[1]], axis=1)
    np.testing.assert_allclose(_replayed(trained, schedule), wanted, rtol=1e-11)


def test_curves_are_errors_of_replays() -> None:
    trained = trained_network()
    points = _quality_curve(trained, trained, product((1, 3, None, 10_000), (1, 4, 40, 10_000)))
    assert {point.clusters for point in points} == {1, 3, None}
    for point in points:
        if point.clusters is None:
            schedule = own_schedule(trained, point.windows)
        else:
            made = windowed_gates(trained, windows=point.windows, clusters=point.clusters)
            schedule = window_schedule(trained, made)
        if len(schedule.starts) == point.windows:
            assert point.each == schedule_errors(trained, schedule).each
    own = {point.windows: point.mean for point in points if point.clusters is None}
    assert own[1] > 10 * own[max(own)]
