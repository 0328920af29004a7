"""Snapshots: at the right steps, of the right weights, reduced rightly."""

from __future__ import annotations

import numpy as np
import pytest

from symreln.errors import LimitReachedError
from symreln.train import network as network_module
from symreln.train.network import GatedEdge, GatedNetwork, GatedNode
from symreln.train.record import Recording
from symreln.train.trainers import train_gated_network, train_network
from tests.train.kinds import KINDS, data, make_settings, matrices


def first_layer(step, weights):
    return weights[0].copy()


def test_snapshots_are_of_the_weights_at_their_step():
    # Blocks of 64 steps must not shift them: compare with trainings that end at that step.
    steps = (0, 1, 63, 64, 65, 129)
    record = Recording(observers={"weights": first_layer}, steps=steps)
    run = train_network(*data(), make_settings(steps=130), seeds=2, rng=0, record=record)
    assert run.snapshot_steps == steps
    for position, step in enumerate(steps):
        short = train_network(*data(), make_settings(steps=step + 1), seeds=2, rng=0)
        np.testing.assert_array_equal(run.snapshots["weights"][:, position], short.weights[0].w1)


def test_quantities_of_a_relu_network():
    inputs, _ = data()
    gates = np.array([[1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0]])
    quantities = ("activity", "boundary", "contribution", "maps", "gate_maps")
    record = Recording(quantities=quantities, gates=gates, steps=(0, 19))
    run = train_network(*data(), make_settings(), seeds=3, rng=0, record=record)
    for seed in range(3):
        w1, w2 = run.weights[0].w1[seed], run.weights[0].w2[seed]
        seen = {name: values[seed, -1] for name, values in run.snapshots.items()}
        assert seen["activity"].dtype == bool
        np.testing.assert_array_equal(seen["activity"], [[w @ x > 0 for x in inputs.T] for w in w1])
        sizes = np.linalg.norm(w1, axis=1)[:, None] * np.linalg.norm(inputs, axis=0)
        np.testing.assert_array_equal(seen["boundary"], np.abs(w1 @ inputs) <= 1e-3 * sizes)
        size = [np.sqrt(w1[h] @ w1[h]) * np.sqrt(w2[:, h] @ w2[:, h]) for h in range(5)]
        np.testing.assert_allclose(seen["contribution"], size, rtol=1e-14)  # a few roundings
        np.testing.assert_allclose(seen["maps"][0], w2 @ w1, rtol=1e-13)
        by_gate = np.zeros((3, 3, 4))
        for h in range(5):
            own = w1[h] @ inputs
            distances = [float(((np.maximum(own, 0) - gate * own) ** 2).sum()) for gate in gates]
            by_gate[distances.index(min(distances))] += np.outer(w2[:, h], w1[h])
        # Up to the order of summing five products.
        np.testing.assert_allclose(seen["gate_maps"], by_gate, atol=1e-14)


def losses_of(maps, gates):
    """Losses of maps of shape (seeds, K, paths, n_y, n_x), each open where its gate is."""
    outputs = np.einsum("skpyx,xm,pm->skym", maps, data()[0], np.array(gates))
    return np.sum((data()[1] - outputs) ** 2, axis=(2, 3)) / (2 * 7)


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if not kind.relu])
def test_recorded_maps_give_the_recorded_losses(name):
    kind, steps = KINDS[name], (0, 3, 19)
    record = Recording(quantities=("maps",), steps=steps)
    run = kind.train(data(), make_settings(), seeds=2, rng=0, record=record)
    maps = run.snapshots["maps"]
    assert maps.shape == (2, 3, len(kind.chains), 3, 4)
    found = losses_of(maps, [chain.gate for chain in kind.chains])
    # Two orders of summing some hundred products.
    np.testing.assert_allclose(found, run.losses[:, steps], rtol=1e-12)


@pytest.mark.parametrize("name", ["relu", "deep", "staged", "graph"])
def test_similarity_is_that_of_the_hidden_layers(name):
    kind = KINDS[name]
    record = Recording(quantities=("similarity",), steps=(0, 11))
    run = kind.train(data(), make_settings(steps=12), seeds=2, rng=1, record=record)
    left, expected = matrices(run), np.zeros((2, kind.layers - 1, 7, 7))
    for chain in kind.chains:
        held = data()[0][list(chain.inputs)] * np.array(chain.gate)
        for layer in range(kind.layers):
            held = left.pop(0) @ held
            held = np.maximum(held, 0) if kind.relu else held
            if layer + 1 < kind.layers:
                expected[:, layer] += held.swapaxes(1, 2) @ held
    np.testing.assert_allclose(run.snapshots["similarity"][:, -1], expected, rtol=1e-11, atol=1e-13)


def shared_middle():
    """Two inputs and two outputs through one middle; a gated skip; a node that is never open."""
    nodes = (
        GatedNode(name="x0", size=2, inputs=(0, 1), gate=(1, 1, 0, 0, 1, 1, 1)),
        GatedNode(name="x1", size=2, inputs=(2, 3), gate=(0, 0, 1, 1, 0.5, 1, 1)),
        GatedNode(name="a", size=3),
        GatedNode(name="b", size=2, gate=(1, 0, 1, 0, -1, 1, 1)),
        GatedNode(name="dark", size=2, gate=(0,) * 7),
        GatedNode(name="y0", size=2, outputs=(2, 0)),
        GatedNode(name="y1", size=2, outputs=(1, 2), gate=(0, 1, 1, 1, 1, 0, 1)),
    )
    ends = ("x0 a", "x1 a", "a b", "b y0", "b y1", "x0 y1", "x0 dark", "dark y0")
    skip = {"gate": (2, 0, 1, 1, 1, 0, 1)}
    edges = tuple(
        GatedEdge(name=end, source=end.split()[0], target=end.split()[1], **more)
        for end, more in zip(ends, [{}] * 5 + [skip] + [{}] * 2, strict=True)
    )
    return GatedNetwork(nodes=nodes, edges=edges)


def test_maps_of_a_graph():
    network = shared_middle()
    record = Recording(quantities=("maps",), steps=(0, 6))
    run = train_gated_network(
        *data(), network, make_settings(steps=7), seeds=2, rng=1, record=record
    )
    # Pathways: x0 a b y0, x0 a b y1, x0 y1, x1 a b y0, x1 a b y1, in the order of edges.
    assert network.paths(7) == ((0, 2, 3), (0, 2, 4), (5,), (1, 2, 3), (1, 2, 4))
    gates = [
        [1, 0, 0, 0, -1, 1, 1],
        [0, 0, 0, 0, -1, 0, 1],
        [0, 0, 0, 0, 1, 0, 1],
        [0, 0, 1, 0, -0.5, 1, 1],
        [0, 0, 1, 0, -0.5, 0, 1],
    ]
    found = losses_of(run.snapshots["maps"], gates)
    np.testing.assert_allclose(found, run.losses[:, [0, 6]], rtol=1e-12)


def test_too_many_maps_are_refused(monkeypatch):
    monkeypatch.setattr(network_module, "_MAX_MAPS", 4)
    with pytest.raises(LimitReachedError, match="more than 4 pathways"):
        train_gated_network(
            *data(), shared_middle(), make_settings(), record=Recording(quantities=("maps",))
        )
