"""Networks given as graphs: gradients, the exact flow per edge, two layers, streams, gates."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symreln.errors import InputError, LimitReachedError
from symreln.experiment.scalar_modes import gated_graph
from symreln.graphs.data import GraphData
from symreln.graphs.flow import GraphFlow
from symreln.graphs.spaces import minimal_spaces
from symreln.train import memory, topology
from symreln.train.batches import Batches, batch_keys
from symreln.train.gdln import train_gdln
from symreln.train.graph import GraphModel, train_graph
from symreln.train.network import EdgeWeights, GatedPathway, TrainingSettings
from symreln.train.randomness import seed_children
from symreln.train.record import Recording
from symreln.train.topology import GatedEdge, GatedGraph, GatedNode, chain_graph
from tests.graphs.examples import backpropagated, random_data, start
from tests.graphs.reduction import reduce_edges
from tests.graphs.test_flow import arrays, inside

SEEDS = st.integers(0, 10**6)
RATE = 1e-2


def made(loss="mean", **changes):
    values = {"hidden": 1, "init_std": 0.3, "learning_rate": RATE, "loss": loss, "steps": 2}
    return TrainingSettings(**{**values, **changes})


def by_name(graph, weights):
    return {edge.name: w[None] for edge, w in zip(graph.edges, weights, strict=True)}


def floats(data):
    return data.dataset.inputs.to_numpy(), data.dataset.targets.to_numpy()


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_a_step_goes_down_the_gradient_of_a_random_graph(seed):
    """Against back-propagation written out elsewhere; gates and gains on nodes and edges."""
    data = random_data(seed)
    if not data.paths:
        return
    before = arrays(start(data, seed))
    graph = gated_graph(data.graph)
    run = train_graph(*floats(data), graph, made(), initial=by_name(graph, before))
    loss, slopes = backpropagated(data, before)
    assert run.losses[0, 0] == pytest.approx(loss, rel=1e-12, abs=1e-13)
    for old, new, slope in zip(before, run.matrices, slopes, strict=True):
        np.testing.assert_allclose((new[0] - old) / RATE, slope, atol=1e-11)


@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_the_step_is_that_of_finite_differences(loss):
    data = random_data(11, depth=3)
    x, y = floats(data)
    graph, before = gated_graph(data.graph), arrays(start(data, 11))
    one = made(loss, steps=1, learning_rate=1e-3)
    factor = x.shape[1] if loss == "sum" else 1
    after = train_graph(x, y, graph, replace(one, steps=2), initial=by_name(graph, before))

    def value(weights):
        return factor * train_graph(x, y, graph, one, initial=by_name(graph, weights)).losses[0, 0]

    moved = 0
    for place, matrix in enumerate(before):
        for index in np.ndindex(matrix.shape):
            ahead, behind = [w.copy() for w in before], [w.copy() for w in before]
            ahead[place][index] += 1e-6
            behind[place][index] -= 1e-6
            slope = (value(ahead) - value(behind)) / 2e-6
            found = (matrix[index] - after.matrices[place][0][index]) / 1e-3
            assert found == pytest.approx(slope, abs=1e-7)
            moved += abs(slope) > 1e-3
    assert moved > 10


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_steps_are_those_of_the_flow_per_edge_and_of_its_reduction(seed):
    """The exact correlations of pathways, and starts inside the spaces, in the small matrices."""
    data = random_data(seed, gains=bool(seed % 2))
    if not data.paths:
        return
    weights = arrays(inside(data, seed))
    graph, count = gated_graph(data.graph), 40
    chosen = made(steps=count, learning_rate=0.02)
    run = train_graph(*floats(data), graph, chosen, initial=by_name(graph, weights))
    reduction = reduce_edges(data, minimal_spaces(data))
    for flow, now, lift in (
        (GraphFlow.of(data), weights, lambda w: w),
        (reduction.flow, reduction.project(weights), reduction.lift),
    ):
        losses = [flow.loss(now)]
        for _ in range(count - 1):
            slopes = flow.velocity(now)
            now = [w + 0.02 * slope for w, slope in zip(now, slopes, strict=True)]
            losses.append(flow.loss(now))
        np.testing.assert_allclose(run.losses[0], losses, rtol=1e-10, atol=1e-11)
        for found, expected in zip(run.matrices, lift(now), strict=True):
            np.testing.assert_allclose(found[0], expected, atol=1e-10)


def two_layers(pathways):
    """The same network as a graph: a node for inputs, hidden units and outputs of a pathway."""
    return chain_graph(pathways, 2)


@pytest.mark.parametrize("loss", ["sum", "mean"])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_one_hidden_layer_is_the_two_layer_trainer(
    data, pathways, make_settings, start_weights, loss, decay
):
    chosen = make_settings(loss=loss, learning_rate=0.003, steps=60, weight_decay=decay)
    given_weights = {
        p.name: start_weights(len(p.inputs), p.hidden, len(p.outputs), seeds=3, key=k)
        for k, p in enumerate(pathways)
    }
    graph = two_layers(pathways)
    initial = {}
    for name, w in given_weights.items():
        initial[f"{name}.1"], initial[f"{name}.2"] = w.w1, w.w2
    record = Recording(quantities=("maps", "outputs"))
    here = train_graph(*data, graph, chosen, initial=initial, record=record)
    there = train_gdln(*data, pathways, chosen, initial=given_weights, record=record)
    np.testing.assert_allclose(here.losses, there.losses, rtol=1e-11)
    for name in ("maps", "outputs"):
        np.testing.assert_allclose(here.snapshots[name], there.snapshots[name], atol=1e-11)
    for place, w in enumerate(there.weights):
        np.testing.assert_allclose(here.matrices[2 * place], w.w1, atol=1e-11)
        np.testing.assert_allclose(here.matrices[2 * place + 1], w.w2, atol=1e-11)


def test_mini_batches_are_those_of_the_two_layer_trainer(data, pathways, make_settings):
    chosen = make_settings(steps=40, batch_size=3, learning_rate=0.01)
    start_run = train_gdln(*data, pathways, replace(chosen, steps=1), seeds=2, rng=5)
    given_weights = {p.name: w for p, w in zip(pathways, start_run.weights, strict=True)}
    initial = {}
    for name, w in given_weights.items():
        initial[f"{name}.1"], initial[f"{name}.2"] = w.w1, w.w2
    here = train_graph(*data, two_layers(pathways), chosen, initial=initial, rng=5)
    there = train_gdln(*data, pathways, chosen, initial=given_weights, rng=5)
    np.testing.assert_allclose(here.losses, there.losses, rtol=1e-11)


def test_the_expected_step_of_batches_is_the_full_step(make_settings):
    data = random_data(3, depth=3)
    x, y = floats(data)
    graph = gated_graph(data.graph)
    batches = list(combinations(range(5), 2))
    factors = np.zeros((len(batches), 5, 1))
    for row, batch in enumerate(batches):
        factors[row, batch, 0] = 5 / 2
    model = GraphModel(x, y, graph, make_settings(batch_size=2))
    one = tuple(EdgeWeights(matrix=w[None]) for w in arrays(start(data, 3)))
    many = tuple(EdgeWeights(matrix=np.repeat(w.matrix, len(batches), axis=0)) for w in one)
    full, batched = model.start(one), model.start(many)
    full.evaluate(), batched.evaluate()
    full.update()
    batched.update(factors)
    differ = 0.0
    for after, each in zip(full.weights(), batched.weights(), strict=True):
        np.testing.assert_allclose(each.matrix.mean(axis=0), after.matrix[0], atol=1e-14)
        differ = max(differ, np.ptp(each.matrix, axis=0).max())
    assert differ > 1e-4
    # And the stream that draws them is the one that every trainer has.
    keys = batch_keys(seed_children(1, 2))
    assert Batches(keys, 5, 2).next().shape == (2, 5, 1)


def shared_middle():
    """Two inputs and two outputs through one middle; a gated skip; a node that is never open."""
    nodes = (
        GatedNode(name="x0", size=2, inputs=(0, 1), gate=(1, 1, 0, 0, 1, 1)),
        GatedNode(name="x1", size=2, inputs=(2, 3), gate=(0, 0, 1, 1, 0.5, 1)),
        GatedNode(name="a", size=3),
        GatedNode(name="b", size=2, gate=(1, 0, 1, 0, -1, 1)),
        GatedNode(name="dark", size=2, gate=(0,) * 6),
        GatedNode(name="y0", size=2, outputs=(2, 0)),
        GatedNode(name="y1", size=2, outputs=(1, 2), gate=(0, 1, 1, 1, 1, 0)),
    )
    ends = ("x0 a", "x1 a", "a b", "b y0", "b y1", "x0 y1", "x0 dark", "dark y0")
    edges = tuple(
        GatedEdge(name=f"{k} {end}", source=end.split()[0], target=end.split()[1])
        for k, end in enumerate(ends)
    )
    return GatedGraph(
        nodes=nodes, edges=(*edges[:5], replace(edges[5], gate=(2, 0, 1, 1, 1, 0)), *edges[6:])
    )


@pytest.fixture
def wide_data():
    rng = np.random.default_rng(4)
    return rng.standard_normal((4, 6)), rng.standard_normal((3, 6))


def test_idle_edges_only_decay(wide_data):
    chosen = made(steps=11, weight_decay=0.5)
    graph = shared_middle()
    before = train_graph(*wide_data, graph, replace(chosen, steps=1), rng=0).matrices
    after = train_graph(*wide_data, graph, chosen, rng=0).matrices
    for place in (6, 7):
        np.testing.assert_allclose(after[place], before[place] * (1 - RATE * 0.5) ** 10, rtol=1e-13)


def test_outputs_and_maps_are_recorded(wide_data):
    graph = shared_middle()
    record = Recording(quantities=("maps", "outputs"), steps=(0, 6))
    run = train_graph(*wide_data, graph, made(steps=7), seeds=2, rng=1, record=record)
    outputs = run.snapshots["outputs"]
    left = ((wide_data[1] - outputs) ** 2).sum(axis=(2, 3)) / 12
    np.testing.assert_allclose(left, run.losses[:, [0, 6]], rtol=1e-12)
    # Pathways: x0 a b y0, x0 a b y1, x0 y1, x1 a b y0, x1 a b y1, in the order of edges.
    assert graph.paths(6) == ((0, 2, 3), (0, 2, 4), (5,), (1, 2, 3), (1, 2, 4))
    gates = np.array(
        [
            [1, 0, 0, 0, -1, 1],
            [0, 0, 0, 0, -1, 0],
            [0, 0, 0, 0, 1, 0],
            [0, 0, 1, 0, -0.5, 1],
            [0, 0, 1, 0, -0.5, 0],
        ]
    )
    by_maps = np.einsum("skpyx,xm,pm->skym", run.snapshots["maps"], wide_data[0], gates)
    np.testing.assert_allclose(by_maps, outputs, atol=1e-13)


def test_a_seed_does_not_depend_on_batch_chunk_process_or_library(wide_data, monkeypatch):
    graph, chosen = (
        shared_middle(),
        made(steps=30, init_std=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)),
    )
    few, many = (train_graph(*wide_data, graph, chosen, seeds=k, rng=7) for k in (2, 5))
    np.testing.assert_array_equal(few.losses, many.losses[:2])
    assert len(set(many.losses[:, -1])) == 5
    record = Recording(quantities=("maps",), steps=(29,))
    spread = train_graph(*wide_data, graph, chosen, seeds=5, rng=7, record=record, workers=2)
    np.testing.assert_array_equal(spread.losses, many.losses)
    assert spread.memory.workers == 2
    for one, other in zip(spread.matrices, many.matrices, strict=True):
        np.testing.assert_array_equal(one, other)
    monkeypatch.setattr(memory, "CACHE_BYTES", 1)
    alone = train_graph(*wide_data, graph, chosen, seeds=5, rng=7)
    np.testing.assert_array_equal(alone.losses, many.losses)
    strict = [array_api_strict.asarray(values) for values in wide_data]
    portable = train_graph(*strict, graph, chosen, seeds=5, rng=7)
    np.testing.assert_allclose(portable.losses, many.losses, rtol=1e-12)


def test_every_edge_has_its_own_scale(wide_data):
    graph = shared_middle()
    scales = tuple(10.0**-k for k in range(8))
    run = train_graph(*wide_data, graph, made(steps=1, init_std=scales), seeds=400, rng=0)
    for scale, matrix in zip(scales, run.matrices, strict=True):
        # 1600 or more numbers: the standard deviation is known to 1/sqrt(3200); 5 of them.
        assert matrix.std() == pytest.approx(scale, rel=0.09)


def test_a_deep_linear_chain_follows_its_scalar_equation():
    """Four layers of one unit: w' = w³ (s − d w⁴) per step, exactly."""
    x, y, layers = np.array([[2.0, 0.0]]), np.array([[3.0, 0.0]]), 4
    whole = GatedPathway(name="p", gate=(1, 1), inputs=(0,), outputs=(0,), hidden=1)
    graph = chain_graph([whole], layers)
    chosen = made(steps=200)
    initial = {edge.name: np.full((1, 1, 1), 0.6) for edge in graph.edges}
    run = train_graph(x, y, graph, chosen, initial=initial)
    s, d, w, losses = 3.0, 2.0, 0.6, []  # Sigma^yx = 6/2, Sigma^x = 4/2
    for _ in range(200):
        losses.append(9 / 4 - s * w**4 + d * w**8 / 2)
        w += RATE * w**3 * (s - d * w**4)
    np.testing.assert_allclose(run.losses[0], losses, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: GatedNode(name="n", size=2, inputs=(0,)), "size is 2. Give 1"),
        (lambda: GatedNode(name="n", size=1, inputs=(0,), outputs=(0,)), "inputs and outputs"),
        (lambda: GatedNode(name="n", size=2, inputs=(1, 1)), "from 0 up, once"),
        (lambda: GatedNode(name="n", size=0), "at least 1"),
        (lambda: GatedNode(name="n", size=1, gate=(float("nan"),)), "not finite"),
        (lambda: GatedEdge(name="e", source="a", target="b", gate=(float("inf"),)), "not finite"),
        (lambda: linked("x h", "h y", "h q"), "no node 'q'"),
        (lambda: linked("x h", "y h", "h y"), "leave no output"),
        (lambda: linked("x h", "h x", "h y"), "enter no input"),
        (lambda: linked("x h", "h g", "g h", "h y"), "cycle"),
        (lambda: linked("x h", "x h", "h y"), None),
        (lambda: chain_graph([], 2), "at least one"),
        (
            lambda: chain_graph(
                [GatedPathway(name="p", gate=(1,), inputs=(0,), outputs=(0,), hidden=1)], 0
            ),
            "layers: found 0",
        ),
    ],
)
def test_graphs_are_checked(change, message):
    if message is None:
        assert len(change().edges) == 3  # parallel edges are allowed
        return
    with pytest.raises(InputError, match=message):
        change()


def linked(*ends):
    nodes = (
        GatedNode(name="x", size=1, inputs=(0,)),
        GatedNode(name="h", size=1),
        GatedNode(name="g", size=1),
        GatedNode(name="y", size=1, outputs=(0,)),
    )
    pairs = [end.split() for end in ends]
    edges = [GatedEdge(name=str(k), source=a, target=b) for k, (a, b) in enumerate(pairs)]
    return GatedGraph(nodes=nodes, edges=tuple(edges))


def test_what_does_not_fit_is_refused(wide_data, monkeypatch):
    graph = shared_middle()
    x, y = wide_data
    with pytest.raises(InputError, match="6 gates for 5 samples"):
        train_graph(x[:, :5], y[:, :5], graph, made())
    with pytest.raises(InputError, match="inputs hold index 3, but the data have 3"):
        train_graph(x[:3], y, graph, made())
    with pytest.raises(InputError, match="8 layers"):
        train_graph(x, y, graph, made(init_std=(1.0, 2.0)))
    with pytest.raises(InputError, match=r"initial: weights for \['q'\]"):
        train_graph(x, y, graph, made(), initial={"q": np.ones((1, 1, 1))})
    with pytest.raises(InputError, match=r"initial: shapes are"):
        train_graph(x, y, graph, made(), initial={e.name: np.ones((1, 1, 1)) for e in graph.edges})
    with pytest.raises(InputError, match="'activity' is not recorded of this graph"):
        train_graph(x, y, graph, made(), record=Recording(quantities=("activity",)))
    closed = replace(
        linked("x h", "h y"),
        edges=(
            GatedEdge(name="0", source="x", target="h", gate=(0, 0)),
            GatedEdge(name="1", source="h", target="y"),
        ),
    )
    with pytest.raises(InputError, match="no path from an input to an output is open"):
        train_graph(np.ones((1, 2)), np.ones((1, 2)), closed, made())
    with pytest.raises(InputError, match=r"diverged.*learning_rate"):
        train_graph(x, y, graph, made(steps=300, learning_rate=50.0, init_std=1.0))
    monkeypatch.setattr(topology, "MAX_MAPS", 4)
    with pytest.raises(LimitReachedError, match="more than 4 pathways"):
        train_graph(x, y, graph, made(), record=Recording(quantities=("maps",)))


def test_a_spec_gives_its_graph():
    """Gains of a spec are exact numbers there and floats here."""
    data = random_data(5)
    graph = gated_graph(data.graph)
    gains = [g for item in (*graph.nodes, *graph.edges) for g in item.gate or ()]
    assert {-1.5, 0.5, 0.0, 1.0} >= set(gains)
    assert all(isinstance(g, float) for g in gains)
    assert Fraction(-3, 2) == -1.5
    assert graph.shapes == [data.graph.shape(e) for e in range(len(data.graph.edges))]
    assert isinstance(data, GraphData)
