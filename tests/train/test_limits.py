"""Divergence, wrong shapes, interrupts: told, and nothing left behind."""

from __future__ import annotations

import re
from dataclasses import replace
from multiprocessing import active_children

import numpy as np
import pytest

from symreln.errors import InputError, LimitReachedError
from symreln.train.model import Model
from symreln.train.network import (
    GatedEdge,
    GatedNetwork,
    GatedNode,
    GatedPathway,
    dense_network,
    pathway_network,
)
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import (
    replay_gates,
    train_deep_network,
    train_gated_network,
    train_gdln,
    train_network,
)
from symreln.train.weights import LayerWeights
from tests.train.kinds import KINDS, PATHWAYS, data, make_settings, matrices


@pytest.mark.parametrize("activation", ["relu", "linear"])
@pytest.mark.parametrize("workers", [1, 2])
def test_divergence_names_step_seed_rate_and_limit(activation, workers):
    # Seed 2 starts far out and diverges; two workers share the seeds as 0, 1 and 2.
    w1 = np.array([1e-3, 1e-3, 30.0])[:, None, None] * np.array([[1.0], [-0.5]])
    start = LayerWeights(w1=w1, w2=np.array([1e-3, 1e-3, 20.0])[:, None, None] * np.ones((1, 2)))

    def until(steps, **how):
        chosen = make_settings(hidden=2, learning_rate=0.4, activation=activation, steps=steps)
        return train_network([[1.0, -1.0]], [[2.0, 1.0]], chosen, initial=start, **how)

    said = r"diverged at step (\d+) \(seed 2\).*rate 0\.4 and loss 'mean'.*below about 2/λmax"
    with pytest.raises(InputError, match=said) as caught:
        until(100, workers=workers)
    found = re.search(said, str(caught.value))
    assert found
    # Before that step all is finite: a training that ends there succeeds, one step more does not.
    assert np.isfinite(until(int(found[1])).losses).all()
    with pytest.raises(InputError, match=f"at step {found[1]} "):
        until(int(found[1]) + 1)


def test_divergence_speaks_of_batches():
    with pytest.raises(InputError, match=r"Batches of 2 may need 3\.5 times less"):
        train_network(*data(), make_settings(learning_rate=50.0, batch_size=2, steps=200))


@pytest.mark.parametrize("weight_decay", [0.0, 100.0])
def test_the_stable_rate_bounds_the_hessian_at_the_solution(weight_decay):
    rng = np.random.default_rng(0)
    inputs, targets = rng.standard_normal((2, 5)), rng.standard_normal((2, 5))
    u, s, vt = np.linalg.svd(targets @ np.linalg.pinv(inputs))
    solution = np.concatenate([(np.sqrt(s)[:, None] * vt).ravel(), (u * np.sqrt(s)).ravel()])

    def gradient(weights):
        w1, w2 = weights[:4].reshape(2, 2), weights[4:].reshape(2, 2)
        error = (targets - w2 @ w1 @ inputs) @ inputs.T
        pull = np.concatenate([(w2.T @ error).ravel(), (error @ w1.T).ravel()])
        return 5 * weight_decay * weights - pull

    step = 1e-6
    hessian = np.array(
        [
            (gradient(solution + step * e) - gradient(solution - step * e)) / (2 * step)
            for e in np.eye(8)
        ]
    )
    largest = np.linalg.eigvalsh((hessian + hessian.T) / 2)[-1]
    network = dense_network(2, (2,), 2, relu=False)
    chosen = make_settings(loss="sum", weight_decay=weight_decay)
    bound = 2 / Model(inputs, targets, network, chosen).stable_learning_rate()
    # A bound, and of the right size: at most twice too large, since one of the two factors
    # 2‖X Xᵀ‖‖W‖ ≥ d (π_α + π_β) is met by some pair up to the spread of the strengths.
    assert largest <= bound * (1 + 1e-6)
    assert bound <= 4 * largest


# -- what is handed in ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "targets", "message"),
    [
        ([1.0, 2.0], [[1.0, 2.0]], r"inputs: shape is \(2,\)"),
        (np.ones((0, 3)), np.ones((1, 3)), r"inputs: shape is \(0, 3\)"),
        (np.ones((2, 3)), np.ones((1, 4)), "inputs hold 3 samples, targets 4"),
        ([[1.0, np.nan]], [[1.0, 1.0]], "inputs: an entry is NaN"),
        ([[1.0, 1.0]], [[1.0, np.inf]], "targets: an entry is NaN or infinite"),
    ],
)
def test_data_are_checked(inputs, targets, message):
    with pytest.raises(InputError, match=message):
        train_network(inputs, targets, make_settings())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("network.hidden", 0),
        ("network.steps", 0),
        ("network.init_std", 0.0),
        ("network.init_std", ()),
        ("network.init_std", (1.0, -1.0)),
        ("network.init_std", (float("inf"), 1.0)),
        ("network.learning_rate", -1.0),
        ("network.learning_rate", float("nan")),
        ("network.loss", "sums"),
        ("network.activation", "tanh"),
        ("network.precision", "float16"),
        ("weight_decay", -1.0),
        ("weight_decay", float("inf")),
        ("batch_size", 0),
    ],
)
def test_settings_are_checked(name, value):
    good = {"hidden": 1, "init_std": 1.0, "learning_rate": 1.0, "loss": "sum", "steps": 1}
    TrainingSettings(**good)
    with pytest.raises(InputError, match=rf"^{name}: .*Give"):
        TrainingSettings(**{**good, name.removeprefix("network."): value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gate": [0] * 7}, "open on no sample"),
        ({"gate": [1, float("nan")] + [1] * 5}, "its gate holds nan"),
        ({"inputs": []}, r"inputs are \(\).*at least one"),
        ({"outputs": [1, 1]}, r"outputs are \(1, 1\)"),
        ({"inputs": [-1]}, r"inputs are \(-1,\)"),
        ({"hidden": 0}, "hidden is 0"),
        ({"spread": 0.0}, "spread is 0"),
        ({"gate": [1] * 6}, r"6 gates for 7 samples.*shape \(7,\)"),
        ({"inputs": [4]}, "inputs hold index 4.*from 0 to 3"),
        ({"outputs": [3]}, "outputs hold index 3.*from 0 to 2"),
    ],
)
def test_pathways_are_checked(change, message):
    good = {"name": "p", "gate": [1] * 7, "inputs": [0], "outputs": [0], "hidden": 1}
    with pytest.raises(InputError, match=f"'p.*': .*{message}"):
        train_gdln(*data(), [GatedPathway(**{**good, **change})], make_settings())


def linked(*ends):
    nodes = (
        GatedNode(name="x", size=1, inputs=(0,)),
        GatedNode(name="h", size=1),
        GatedNode(name="g", size=1),
        GatedNode(name="y", size=1, outputs=(0,)),
    )
    pairs = [end.split() for end in ends]
    edges = [GatedEdge(name=str(k), source=a, target=b) for k, (a, b) in enumerate(pairs)]
    return GatedNetwork(nodes=nodes, edges=tuple(edges))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: GatedNode(name="n", size=2, inputs=(0,)), "size is 2. Give 1"),
        (lambda: GatedNode(name="n", size=1, inputs=(0,), outputs=(0,)), "inputs and outputs"),
        (lambda: GatedNode(name="n", size=2, inputs=(1, 1)), "from 0 up, each once"),
        (lambda: GatedNode(name="n", size=0), "at least 1"),
        (lambda: GatedNode(name="n", size=1, gate=(float("nan"),)), "its gate holds nan"),
        (lambda: GatedEdge(name="e", source="a", target="b", gate=(float("inf"),)), "holds inf"),
        (lambda: linked("x h", "h y", "h q"), "no node 'q'"),
        (lambda: linked("x h", "y h", "h y"), "leave no output"),
        (lambda: linked("x h", "h x", "h y"), "enter no input"),
        (lambda: linked("x h", "h g", "g h", "h y"), "cycle"),
        (lambda: pathway_network([], 2), "at least one pathway"),
        (lambda: pathway_network(PATHWAYS[:1] * 2, 2), "each its own name"),
        (lambda: pathway_network(PATHWAYS, 0), "layers: found 0"),
        (
            lambda: pathway_network([replace(PATHWAYS[0], boundary=(1,))], 2, biases=True),
            "orthogonal to samples",
        ),
    ],
)
def test_networks_are_checked(change, message):
    with pytest.raises(InputError, match=message):
        change()


def test_parallel_edges_are_allowed():
    assert len(linked("x h", "x h", "h y").edges) == 3


def test_what_does_not_fit_is_refused():
    x, y = data()
    chosen, network = make_settings(), pathway_network(PATHWAYS, 2)
    wrong = LayerWeights(w1=np.ones((2, 5, 4)), w2=np.ones((1, 3, 5)))
    odd = [np.ones((1, 4, 4)), np.ones((1, 3, 4))]
    closed = GatedNetwork(
        nodes=linked("x h").nodes,
        edges=(
            GatedEdge(name="0", source="x", target="h", gate=(0,) * 7),
            GatedEdge(name="1", source="h", target="y"),
        ),
    )
    for run, message in [
        (lambda: train_network(x, y, chosen, initial=wrong), r"initial: shapes.*\(seeds, 5, 4\)"),
        (lambda: train_network(x, y, chosen, biases=True, initial=wrong), r"\(seeds, 5, 5\)"),
        (lambda: train_network(x, y, chosen, seeds=0), "0 seeds"),
        (lambda: train_network(x, y, chosen, workers=0), "workers 0"),
        (lambda: train_network(x, y, make_settings(batch_size=8)), "have 7 .*Give 1 to 7"),
        (lambda: train_gdln(x, y, PATHWAYS, make_settings(batch_size=8)), "batch_size: 8"),
        (lambda: train_gdln(x, y, PATHWAYS, chosen, training="both"), "'joint' or 'staged'"),
        (
            lambda: train_gated_network(x, y, network, chosen, training="both"),
            "'joint' or 'staged'",
        ),
        (lambda: train_gdln(x, y, PATHWAYS, chosen, initial={"q": wrong}), r"weights for \['q'\]"),
        (
            lambda: train_gated_network(x, y, network, chosen, initial={"q": odd[0]}),
            r"\['q'\].*\['early",
        ),
        (lambda: train_gated_network(x[:, :5], y[:, :5], network, chosen), "7 gates for 5 samples"),
        (lambda: train_gated_network(x[:3], y, network, chosen), "index 3, but the data have 3"),
        (
            lambda: train_gated_network(x, y, network, make_settings(init_std=(1.0, 2.0))),
            "8 layers",
        ),
        (
            lambda: train_gated_network(x, y, closed, chosen),
            "no path from an input to an output is open",
        ),
        (lambda: train_deep_network(x, y, (3, 0), chosen), "at least 1 unit"),
        (lambda: train_deep_network(x, y, (3,), chosen, initial=odd), "initial: shapes are"),
        (lambda: train_deep_network(x, y, (3,), chosen, initial=[]), r"shapes are \[\]"),
        (lambda: Model(x, y, pathway_network(PATHWAYS, 3), chosen, order="maps"), "order: 'maps'"),
        (lambda: replay_gates(x, y, np.ones((1, 2, 3)), chosen, odd), r"shape is \(1, 2, 3\)"),
    ]:
        with pytest.raises(InputError, match=message):
            run()


# -- worker processes -----------------------------------------------------------------------------


@pytest.mark.parametrize("dies", [False, True])
def test_workers_end_with_an_interrupt_and_with_one_of_them(dies):
    before, started = active_children(), []

    def interrupt(done, total):
        started.extend({*active_children()} - {*before, *started})
        if len(started) == 2 and not dies:
            raise KeyboardInterrupt
        if len(started) == 2:
            started[1].kill()

    chosen = make_settings(steps=10**6, hidden=50)  # minutes, were it not interrupted
    error, message = (LimitReachedError, "was killed") if dies else (KeyboardInterrupt, None)
    with pytest.raises(error, match=message):
        train_network(*data(), chosen, seeds=3, workers=2, progress=interrupt)
    assert len(started) == 2
    assert not any(child.is_alive() for child in started)


def test_kinds_share_one_form_of_result():
    for kind in KINDS.values():
        found = kind.train(data(), make_settings(steps=2), seeds=2, rng=0)
        assert [w.shape[0] for w in matrices(found)] == [2] * len(kind.chains) * kind.layers
        assert bool(found.weights) != bool(found.matrices)
