"""A step of every trainer: down the gradient of a loss that is written out elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.experiment.training import gated_network
from symreln.train.chunk import _Batches
from symreln.train.network import GatedEdge, GatedNetwork, GatedNode, pathway_network
from symreln.train.record import Recording
from symreln.train.trainers import replay_gates, train_deep_network, train_gated_network, train_gdln
from symreln.train.weights import seed_children
from tests.networks.examples import backpropagated, random_data, start
from tests.networks.test_flow import arrays
from tests.strategies import examples
from tests.train.kinds import GAINED, KINDS, PATHWAYS, data, make_settings, matrices

RATE = 0.02
SHIFT = 1e-6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"loss": "sum", "learning_rate": RATE / 7},
        {"weight_decay": 0.3},
        {"batch_size": 3, "weight_decay": 0.3, "loss": "sum", "learning_rate": RATE / 7},
    ],
)
def test_a_step_goes_down_the_gradient(kind, changes):
    """The last of four steps, by central differences."""
    kind, seeds = KINDS[kind], 2 if kind == "relu" else 1
    chosen = make_settings(**{"learning_rate": RATE, "init_std": 0.7, **changes})
    before, after = (
        kind.train(data(), replace(chosen, steps=steps), seeds=seeds, rng=5) for steps in (4, 5)
    )
    counts = np.ones((seeds, 7))
    if chosen.batch_size is not None:
        batches = _Batches(seed_children(5, seeds), 7, chosen.batch_size)
        counts = [batches.next() for _ in range(4)][-1][..., 0]
        assert {round(value, 9) for value in counts.flat} == {0.0, round(7 / 3, 9)}
    per_step = chosen.learning_rate / (7 if chosen.loss == "mean" else 1)
    moved = 0
    for seed in range(seeds):
        own = [matrix[seed] for matrix in matrices(before)]
        new = [matrix[seed] for matrix in matrices(after)]
        outputs = kind.outputs(own, data()[0], 3)
        loss = ((data()[1] - sum(outputs)) ** 2).sum() / 14
        assert before.losses[seed, -1] == pytest.approx(loss, rel=1e-12)
        for place, matrix in enumerate(own):
            for index in np.ndindex(matrix.shape):
                ahead, behind = ([w.copy() for w in own] for _ in range(2))
                ahead[place][index] += SHIFT
                behind[place][index] -= SHIFT
                slope = 7 * chosen.weight_decay * matrix[index] + sum(
                    sign * kind.loss(there, outputs, place, data(), counts[seed]) / (2 * SHIFT)
                    for sign, there in ((1, ahead), (-1, behind))
                )
                found = (matrix[index] - new[place][index]) / per_step
                # Rounding 1e-16 L / 1e-6 with L near 100; truncation is smaller.
                assert found == pytest.approx(slope, abs=2e-6)
                moved += abs(slope) > 1e-2
    assert moved > 10


# -- graphs ---------------------------------------------------------------------------------------


def by_name(network, weights):
    return {edge.name: w[None] for edge, w in zip(network.edges, weights, strict=True)}


@examples(100)
@given(st.integers(0, 10**6))
def test_a_step_goes_down_the_gradient_of_a_random_graph(seed):
    """Against back-propagation written out elsewhere; gates and gains on nodes and edges."""
    problem = random_data(seed)
    if not problem.paths:
        return
    before = arrays(start(problem, seed))
    network = gated_network(problem.graph)
    chosen = make_settings(learning_rate=0.01, steps=2)
    data, initial = problem.dataset.arrays, by_name(network, before)
    run = train_gated_network(*data, network, chosen, initial=initial)
    loss, slopes = backpropagated(problem, before)
    assert run.losses[0, 0] == pytest.approx(loss, rel=1e-12, abs=1e-13)
    for old, new, slope in zip(before, run.matrices, slopes, strict=True):
        np.testing.assert_allclose((new[0] - old) / 0.01, slope, atol=1e-11)


def test_stages_of_a_shared_edge_add_up():
    """An edge that two stages use hears the residual of each."""
    x, y = data()
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
    network = GatedNetwork(nodes=nodes, edges=edges)
    rng = np.random.default_rng(6)
    read, a, b = (rng.normal(size=shape) for shape in network.shapes)
    chosen = make_settings(steps=2, learning_rate=1e-3)
    initial = {"read": read[None], "a": a[None], "b": b[None]}
    run = train_gated_network(x, y, network, chosen, training="staged", initial=initial)
    gate = np.array(nodes[3].gate)
    first, second = a @ read @ x, (b @ read @ x) * gate
    one, both = y - first, y - first - second
    expected = (a.T @ one + b.T @ (both * gate)) @ x.T / 7
    np.testing.assert_allclose((run.matrices[0][0] - read) / 1e-3, expected, rtol=1e-9)
    np.testing.assert_allclose((run.matrices[1][0] - a) / 1e-3, one @ (read @ x).T / 7, rtol=1e-9)
    assert run.losses[0, 0] == pytest.approx((both**2).sum() / 14, rel=1e-13)


# -- one network written in two ways --------------------------------------------------------------


@pytest.mark.parametrize("pathways", [PATHWAYS, GAINED])
@pytest.mark.parametrize("training", ["joint", "staged"])
def test_pathways_are_the_graph_of_their_chains(pathways, training):
    """Maps first, and sample by sample."""
    settings = make_settings(steps=60, weight_decay=0.02, batch_size=3)
    start = train_gdln(*data(), pathways, replace(settings, steps=1), rng=1)
    own = train_gdln(
        *data(),
        pathways,
        settings,
        training=training,
        initial={p.name: w for p, w in zip(pathways, start.weights, strict=True)},
        rng=1,
    )
    network = pathway_network(pathways)
    initial = {e.name: w for e, w in zip(network.edges, matrices(start), strict=True)}
    other = train_gated_network(
        *data(), network, settings, training=training, initial=initial, rng=1
    )
    np.testing.assert_allclose(own.losses, other.losses, rtol=1e-11)


# -- given gates ----------------------------------------------------------------------------------


@pytest.mark.parametrize("widths", [(12,), (7, 8, 6)])
def test_replayed_gates_reproduce_the_relu_network(widths):
    """The paper's existence statement: a gated linear network with the same outputs, every step."""
    steps, seeds = 150, 3
    chosen = make_settings(steps=steps, learning_rate=0.05, init_std=0.4)
    every = Recording(quantities=("activity",), steps=tuple(range(steps)))
    how = {"seeds": seeds, "rng": 1}
    network = train_deep_network(*data(), widths, chosen, record=every, **how)
    gates = network.snapshots["activity"]
    assert gates.shape == (seeds, steps, sum(widths), 7)
    assert (gates[:, 0] != gates[:, -1]).any()  # gates that move: a fixed pattern would not do
    start = train_deep_network(*data(), widths, replace(chosen, steps=1), **how).matrices
    linear = replace(chosen, activation="linear")
    replayed = replay_gates(*data(), gates, linear, start)
    np.testing.assert_allclose(replayed.losses, network.losses, atol=1e-12)
    assert network.losses[0, -1] < 0.7 * network.losses[0, 0]
    # Gates that are frozen, or of another seed, give another network.
    for wrong in (np.repeat(gates[:, :1], steps, axis=1), np.roll(gates, 1, axis=0)):
        other = replay_gates(*data(), wrong, linear, start)
        assert np.abs(other.losses - network.losses).max() > 1e-3
