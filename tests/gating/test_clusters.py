"""Clusters of planted gates: K-means by brute force, Algorithm 1, replays."""

from itertools import product

import numpy as np
import pytest
from scipy.cluster.vq import kmeans2
from scipy.spatial.distance import cdist

import symreln as sr
from symreln.gating import algorithm_one
from symreln.gating.clustering import DRAWN, distinct_rows, kmeans, silhouette
from symreln.gating.replay import replay_errors, taken_gates
from tests.gating.planted import planted, trained_network
from tests.own_specs import own, path


def drawn_rows(seed: int, count: int = 60, samples: int = 6) -> np.ndarray:
    """Patterns around three gates, some of them equal."""
    random = np.random.default_rng(seed)
    gates = np.array([[1] * samples, [0] * 3 + [1] * (samples - 3), [1, 1] + [0] * (samples - 2)])
    return (gates[random.integers(3, size=count)] ^ (random.random((count, samples)) < 0.1)) > 0


def inertia(values: np.ndarray, labels: np.ndarray) -> float:
    parts = [values[labels == k] for k in np.unique(labels)]
    return sum(float(((part - part.mean(axis=0)) ** 2).sum()) for part in parts) / len(values)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_weights_stand_for_equal_rows_and_no_partition_is_better(seed: int) -> None:
    stack = drawn_rows(seed)
    found = kmeans(distinct_rows(stack), 3, seed)
    # scipy's iteration over the whole stack stays where ours ended ...
    centroids, labels = kmeans2(stack.astype(float), found.centroids, minit="matrix", iter=5)
    np.testing.assert_allclose(centroids, found.centroids, atol=1e-12)
    # ... and the inertia is that of its labels.
    assert found.inertia == pytest.approx(inertia(stack.astype(float), labels), abs=1e-12)
    assert list(found.weights) == sorted(found.weights, reverse=True)
    few = stack[:8]
    tried = (np.array(labels) for labels in product(range(3), repeat=8))
    best = min(inertia(1.0 * few, labels) for labels in tried if len(set(labels.tolist())) == 3)
    assert kmeans(distinct_rows(few), 3, 0).inertia == pytest.approx(best, abs=1e-12)


def test_silhouette_is_rousseeuws() -> None:
    rows = distinct_rows(drawn_rows(7, count=200))
    found = kmeans(rows, 5, 0)
    share = rows.weights / rows.weights.sum()
    drawn = np.random.default_rng(3).choice(len(share), size=DRAWN, p=share)
    apart, labels = cdist(rows.values[drawn], rows.values[drawn]), found.labels[drawn]
    members, widths = {k: labels == k for k in set(labels.tolist())}, []
    for row, label in zip(apart, labels.tolist(), strict=True):
        means = {k: row[each].sum() / (each.sum() - (k == label)) for k, each in members.items()}
        inner, outer = means.pop(label), min(means.values())
        widths.append((outer - inner) / max(inner, outer))
    assert silhouette(found, 3) == pytest.approx(np.mean(widths), abs=1e-9)


# -- Algorithm 1 on networks that had planted gates ------------------------------------------------


def found_of(monkeypatch, active: np.ndarray, weights: object = 1.0, **asked) -> dict:
    """What ``gates.json`` says of networks with these gates; the last two are replayed."""
    networks = planted(active, np.asarray(weights))
    monkeypatch.setattr(algorithm_one, "observe", lambda *_, **__: networks)
    gates = enumerate(GATES[:2, :4].astype(int).tolist())
    samples = active.shape[-1]
    pathways = (path(f"p{k}", gate * (samples // 4)) for k, gate in gates)
    spec = own(np.eye(samples).tolist(), [[1] * samples], *pathways, network={"hidden": 4})
    return sr.gates(sr.load(spec), "kmeans", seeds=len(active) - 2, every=1, **asked).to_json()


GATES = np.array([[1] * 24, [0, 0, 1, 1] * 6, [1, 1, 0, 0] * 6, [0] * 24], dtype=bool)


def text(gate: np.ndarray) -> str:
    return "".join("01"[int(value)] for value in gate)


def test_planted_gates_are_found_with_their_number(monkeypatch) -> None:
    random = np.random.default_rng(0)
    active = np.broadcast_to(GATES[np.arange(40) % 4], (5, 8, 40, 24))
    found = found_of(monkeypatch, active ^ (random.random(active.shape) < 0.05))
    assert max(found["silhouettes"], key=found["silhouettes"].get) == "4"
    assert len(found["silhouettes"]) == 9
    assert sorted(each["pattern"] for each in found["centroids"]) == sorted(map(text, GATES))
    assert not any(each["partial"] for each in found["centroids"])
    assert found["spec_gates"] == {"p0": 0, "p1": 0}
    runs = found["stability"]
    assert (runs["runs"], runs["clusters"], runs["runs_with_all_spec_gates"]) == (3, {"4": 3}, 3)
    given_number = found_of(monkeypatch, active, clusters=2)
    assert (len(given_number["centroids"]), given_number["silhouettes"]) == (2, {})


def test_partial_gates_and_what_part_of_the_weight_is_covered(monkeypatch) -> None:
    active = np.broadcast_to(GATES[1], (3, 10, 20, 24)).copy()
    active[:, ::2, :, 0] = True
    active[:, 0, 0, 6] = False
    (only,) = found_of(monkeypatch, active, clusters=1)["centroids"]
    assert only["centroid"][:4] == [0.5, 0, 1, 1]
    assert only["partial"] == [0]
    assert only["pattern"] == text(GATES[1])  # open exactly as often as closed is not open
    kinds = np.array([GATES[0], GATES[1], GATES[1], GATES[3]])
    kinds[2, 0] = True
    active = np.broadcast_to(kinds, (3, 1, 4, 24))
    found = found_of(monkeypatch, active, np.array([4.0, 3.0, 2.0, 1.0]), clusters=2)
    # One gate for all units that open: that of the third, 2 of 10; it is open on 13 of 24 samples.
    assert found["coverage"]["exact"] == pytest.approx([0.2])
    # All of these gates but that of the last, which is open nowhere.
    found = found_of(monkeypatch, active, np.array([4.0, 3.0, 2.0, 1.0]), clusters=4)
    assert found["coverage"]["exact"] == pytest.approx([0.9])


# -- replays ---------------------------------------------------------------------------------------


def test_a_unit_takes_the_gate_that_it_is_nearest_to_or_none() -> None:
    seen = np.array([[2.0, 1, -0.1, -1], [-1, -1, -1, -2], [0.1, -1, -1, -1]])
    taken = taken_gates(seen, np.array([[1.0, 1, 1, 0], [0, 0, 1, 1]]))
    assert taken.tolist() == [[1, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    on_its_boundary = taken_gates(np.array([1.0, -1, 0, 0]), np.array([[1, 0, 1, 0], [1, 0, 0, 0]]))
    assert on_its_boundary.tolist() == [1, 0, 0, 0]


def test_own_gates_at_every_step_are_the_network() -> None:
    trained = trained_network()
    moves = (trained.active[:, 1:] != trained.active[:, :-1]).any(axis=(2, 3))
    assert moves.sum() > 10  # else this would be a test of a linear network
    gates = dict(zip(trained.steps, np.moveaxis(trained.active, 1, 0), strict=True))
    assert max(replay_errors(trained, gates).each) < 1e-12
    # Gates of the step before are not.
    late = {step: gates[max(0, step - 1)] for step in gates}
    assert min(replay_errors(trained, late).each) > 1e-6
