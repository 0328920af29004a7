"""Biases and stages of every trainer, against losses written out and differentiated numerically."""

from __future__ import annotations

import numpy as np
import pytest

from symreln.errors import InputError
from symreln.train import memory
from symreln.train.network import GatedEdge, GatedNetwork, GatedNode, GatedPathway, pathway_network
from symreln.train.record import Recording
from symreln.train.trainers import train_deep_network, train_gdln, train_graph, train_network
from symreln.train.weights import LayerWeights

RATE = 1e-3


def with_ones(values):
    return np.vstack([values, np.ones(values.shape[1])])


def numeric_gradient(loss, weights, step=1e-6):
    found = [np.zeros_like(w) for w in weights]
    for gradient, w in zip(found, weights, strict=True):
        for place in np.ndindex(w.shape):
            kept = w[place]
            w[place] = kept + step
            above = loss(weights)
            w[place] = kept - step
            gradient[place] = (above - loss(weights)) / (2 * step)
            w[place] = kept
    return found


def check_step(before, after, loss):
    """One update goes down the gradient of the mean loss."""
    weights = [w.copy() for w in before]
    for old, new, gradient in zip(before, after, numeric_gradient(loss, weights), strict=True):
        np.testing.assert_allclose((old - new) / RATE, gradient, atol=2e-7)


@pytest.fixture
def two_steps(make_settings):
    return make_settings(steps=2, learning_rate=RATE)


def test_network_with_biases_goes_down_its_gradient(data, two_steps):
    x, y = data
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(5, 5)), rng.normal(size=(3, 6))
    start = LayerWeights(w1=first[None], w2=second[None])
    run = train_network(x, y, two_steps, biases=True, initial=start)

    def loss(weights):
        w1, w2 = weights
        out = w2 @ with_ones(np.maximum(w1 @ with_ones(x), 0))
        return 0.5 * ((y - out) ** 2).sum() / x.shape[1]

    assert run.losses[0, 0] == pytest.approx(loss([first, second]), rel=1e-13)
    check_step([first, second], [run.weights[0].w1[0], run.weights[0].w2[0]], loss)


@pytest.mark.parametrize("training", ["joint", "staged"])
def test_pathways_with_biases_go_down_their_gradient(data, pathways, two_steps, training):
    x, y = data
    rng = np.random.default_rng(4)
    gained = (
        GatedPathway(
            name="gained", gate=[2, 0.5, 1, 0, 3, 1, 0], inputs=(0, 3), outputs=(1, 2), hidden=2
        ),
        *pathways[1:],
    )
    start = {
        p.name: LayerWeights(
            w1=rng.normal(size=(1, p.hidden, len(p.inputs) + 1)),
            w2=rng.normal(size=(1, len(p.outputs), p.hidden + 1)),
        )
        for p in gained
    }
    run = train_gdln(x, y, gained, two_steps, training=training, biases=True, initial=start)
    flat = [half[0] for p in gained for half in (start[p.name].w1, start[p.name].w2)]
    after = [half[0] for w in run.weights for half in (w.w1, w.w2)]

    def output(weights, only=None):
        out = np.zeros_like(y)
        for p, (w1, w2) in zip(gained, zip(weights[::2], weights[1::2], strict=True), strict=True):
            if only is None or p.stage in only:
                held = w2 @ with_ones(w1 @ with_ones(x[list(p.inputs)]))
                out[list(p.outputs)] += held * np.array(p.gate)
        return out

    stages = {p.stage for p in gained}
    assert run.losses[0, 0] == pytest.approx(((y - output(flat)) ** 2).sum() / 14, rel=1e-12)
    for stage in stages if training == "staged" else {None}:
        earlier = {s for s in stages if stage is not None and s < stage}
        constant = output(flat, only=earlier)
        own = None if stage is None else {stage}

        def loss(weights, constant=constant, own=own):
            return ((y - constant - output(weights, only=own)) ** 2).sum() / 14

        mine = [
            place
            for place, p in enumerate(q for q in gained for _ in range(2))
            if stage in (None, p.stage)
        ]
        gradient = numeric_gradient(loss, [w.copy() for w in flat])
        for place in mine:
            moved = (flat[place] - after[place]) / RATE
            np.testing.assert_allclose(moved, gradient[place], atol=2e-7)


@pytest.mark.parametrize("training", ["joint", "staged"])
@pytest.mark.parametrize("biases", [False, True])
def test_pathways_are_the_graph_of_their_chains(data, pathways, make_settings, training, biases):
    settings = make_settings(steps=80, weight_decay=0.02, batch_size=3)
    rng = np.random.default_rng(5)
    start = {
        p.name: LayerWeights(
            w1=rng.normal(size=(2, p.hidden, len(p.inputs) + biases)),
            w2=rng.normal(size=(2, len(p.outputs), p.hidden + biases)),
        )
        for p in pathways
    }
    edges = {
        f"{name}.{place}": half
        for name, w in start.items()
        for place, half in ((1, w.w1), (2, w.w2))
    }
    chains = pathway_network(pathways, 2)
    own = train_gdln(
        *data, pathways, settings, training=training, biases=biases, initial=start, rng=1
    )
    other = train_graph(
        *data, chains, settings, training=training, biases=biases, initial=edges, rng=1
    )
    np.testing.assert_allclose(own.losses, other.losses, rtol=1e-12)


def test_stages_of_a_shared_edge_add_up(data, two_steps):
    """An edge that two stages use hears the residual of each."""
    x, y = data
    nodes = (
        GatedNode(name="in", size=4, inputs=range(4)),
        GatedNode(name="mid", size=3),
        GatedNode(name="one", size=3, outputs=range(3), stage=1),
        GatedNode(name="two", size=3, outputs=range(3), stage=2, gate=(1, 0, 1, 0, 1, 0, 1)),
    )
    edges = (
        GatedEdge(name="read", source="in", target="mid"),
        GatedEdge(name="a", source="mid", target="one"),
        GatedEdge(name="b", source="mid", target="two"),
    )
    graph = GatedNetwork(nodes=nodes, edges=edges)
    rng = np.random.default_rng(6)
    read, a, b = (rng.normal(size=shape) for shape in graph.shapes)
    start = {"read": read[None], "a": a[None], "b": b[None]}
    run = train_graph(x, y, graph, two_steps, training="staged", initial=start)
    gate = np.array(nodes[3].gate)
    first = a @ read @ x
    second = (b @ read @ x) * gate
    one, both = y - first, y - first - second
    expected = (a.T @ one + b.T @ (both * gate)) @ x.T / 7
    np.testing.assert_allclose((run.matrices[0][0] - read) / RATE, expected, rtol=1e-9)
    np.testing.assert_allclose((run.matrices[1][0] - a) / RATE, one @ (read @ x).T / 7, rtol=1e-9)
    assert run.losses[0, 0] == pytest.approx((both**2).sum() / 14, rel=1e-13)


def test_biases_start_at_zero_from_the_same_weights(data, pathways, make_settings):
    settings = make_settings(steps=1)
    plain = train_network(*data, settings, seeds=2, rng=3).weights[0]
    biased = train_network(*data, settings, biases=True, seeds=2, rng=3).weights[0]
    np.testing.assert_array_equal(biased.w1[:, :, :-1], plain.w1)
    assert not biased.w1[:, :, -1].any()
    assert not biased.w2[:, :, -1].any()
    without = train_gdln(*data, pathways, settings, seeds=2, rng=3).weights
    withal = train_gdln(*data, pathways, settings, biases=True, seeds=2, rng=3).weights
    for one, other in zip(without, withal, strict=True):
        np.testing.assert_array_equal(other.w1[:, :, :-1], one.w1)
        np.testing.assert_array_equal(other.w2[:, :, :-1], one.w2)


def relu(data, pathways, settings, **more):
    return train_network(*data, settings, biases=True, **more)


def deep(data, pathways, settings, **more):
    return train_deep_network(*data, (4, 3), settings, biases=True, **more)


def gdln(data, pathways, settings, **more):
    return train_gdln(*data, pathways, settings, training="staged", biases=True, **more)


def graph(data, pathways, settings, **more):
    chains = pathway_network(pathways, 3)
    return train_graph(*data, chains, settings, training="staged", biases=True, **more)


@pytest.mark.parametrize("train", [relu, deep, gdln, graph])
def test_chunks_and_processes_change_no_bit(data, pathways, make_settings, train, monkeypatch):
    settings = make_settings(steps=30, batch_size=2, weight_decay=0.01)
    record = Recording(quantities=("outputs", "similarity"), steps=(0, 7, 29))
    whole = train(data, pathways, settings, seeds=5, rng=8, record=record, workers=1)
    with monkeypatch.context() as patch:
        patch.setattr(memory, "CACHE_BYTES", 1)  # every seed a chunk of its own
        tight = train(data, pathways, settings, seeds=5, rng=8, record=record, workers=1)
    assert (whole.memory.seeds_per_chunk, tight.memory.seeds_per_chunk) == (5, 1)
    shared = train(data, pathways, settings, seeds=5, rng=8, record=record, workers=2)
    fewer = train(data, pathways, settings, seeds=2, rng=8, record=record, workers=1)
    for other, seeds in ((tight, 5), (shared, 5), (fewer, 2)):
        np.testing.assert_array_equal(other.losses, whole.losses[:seeds])
        for name, values in other.snapshots.items():
            np.testing.assert_array_equal(values, whole.snapshots[name][:seeds])


def test_similarity_is_that_of_the_recorded_weights(data, pathways, make_settings):
    settings = make_settings(steps=12)
    record = Recording(quantities=("similarity",), steps=(0, 11))
    x = data[0]
    relu_run = train_network(*data, settings, seeds=2, rng=1, record=record)
    held = np.maximum(relu_run.weights[0].w1 @ x, 0)
    found = relu_run.snapshots["similarity"]
    assert found.shape == (2, 2, 1, 7, 7)
    np.testing.assert_allclose(found[:, -1, 0], held.swapaxes(1, 2) @ held, rtol=1e-13)
    gated = train_gdln(*data, pathways, settings, seeds=2, rng=1, record=record)
    chains = {
        f"{p.name}.{k}": half
        for p, w in zip(pathways, gated.weights, strict=True)
        for k, half in ((1, w.w1), (2, w.w2))
    }
    last = Recording(quantities=("similarity",), steps=(0,))
    as_graph = train_graph(
        *data, pathway_network(pathways, 2), make_settings(steps=1), initial=chains, record=last
    )
    np.testing.assert_allclose(
        as_graph.snapshots["similarity"][:, 0].sum(axis=1),
        gated.snapshots["similarity"][:, -1, 0],
        rtol=1e-12,
    )
    deep_run = train_deep_network(*data, (4, 3), settings, seeds=1, rng=1, record=record)
    first = np.maximum(deep_run.matrices[0] @ x, 0)
    second = np.maximum(deep_run.matrices[1] @ first, 0)
    for place, layer in enumerate((first, second)):
        np.testing.assert_allclose(
            deep_run.snapshots["similarity"][:, -1, place],
            layer.swapaxes(1, 2) @ layer,
            rtol=1e-13,
        )


def test_what_there_is_not_is_refused(data, pathways, make_settings):
    with pytest.raises(InputError, match="training: found 'both'"):
        train_graph(*data, pathway_network(pathways, 2), make_settings(), training="both")
    maps = Recording(quantities=("maps",))
    with pytest.raises(InputError, match="without biases 'maps'"):
        train_gdln(*data, pathways, make_settings(), biases=True, record=maps)
    start = LayerWeights(w1=np.ones((1, 5, 4)), w2=np.ones((1, 3, 5)))
    with pytest.raises(InputError, match=r"initial: shapes are"):
        train_network(*data, make_settings(), biases=True, initial=start)
