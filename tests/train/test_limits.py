"""Divergence, wrong shapes, limits of memory, interrupts: told, and nothing left behind."""

from __future__ import annotations

import re
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from symreln.errors import InputError, LimitReachedError
from symreln.train import run as worker_module
from symreln.train.machine import DEFAULT_MEMORY_LIMIT
from symreln.train.memory import CACHE_BYTES, PROCESS_BYTES, estimate_memory, working_bytes
from symreln.train.model import Model
from symreln.train.network import (
    GatedEdge,
    GatedNetwork,
    GatedNode,
    GatedPathway,
    dense_network,
    pathway_network,
)
from symreln.train.record import Recording
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import (
    network_model,
    replay_gates,
    train_deep_network,
    train_gated_network,
    train_gdln,
    train_network,
)
from symreln.train.weights import LayerWeights
from tests.train.kinds import KINDS, PATHWAYS, data, make_settings, matrices, same


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


# -- memory ---------------------------------------------------------------------------------------


def test_memory_is_predicted_and_kept_to():
    chosen = make_settings(hidden=50, steps=1000)
    record = Recording(quantities=("activity", "contribution", "maps"), steps=(0, 1, 2))
    run = train_network(*data(), chosen, seeds=4, rng=0, record=record)
    kept = (run.losses, *run.snapshots.values(), *matrices(run))
    assert run.memory.results == sum(values.nbytes for values in kept)
    assert run.memory.total == max(
        2 * run.memory.results, run.memory.results + 4 * run.memory.working
    )

    need = make_settings(hidden=50, steps=1)
    model = network_model(*data(), need)

    def plan(seeds, memory_limit=DEFAULT_MEMORY_LIMIT, workers=1):
        return estimate_memory(
            model, seeds=seeds, record=Recording(), memory_limit=memory_limit, workers=workers
        )

    plain = plan(4)
    less = plain.results + 3 * plain.working - 1
    assert plan(4, plain.total).seeds_per_chunk == 4
    assert plan(4, less).seeds_per_chunk == 2
    whole, few = (
        train_network(*data(), need, seeds=4, rng=0, memory_limit=limit) for limit in (None, less)
    )
    same(few, whole, 4)
    with pytest.raises(LimitReachedError, match=r"of 4 seeds for 1000 steps.*raise memory_limit"):
        train_network(*data(), chosen, seeds=4, memory_limit=2 * 4 * 8000)

    most = CACHE_BYTES // working_bytes(model)
    assert plan(10**4, workers=2).workers == 2
    assert plan(10**4, workers=2).seeds_per_chunk <= most
    # Whatever the limit, it is kept to, and one seed more would not fit.
    for limit in range(2 * PROCESS_BYTES, 2 * PROCESS_BYTES + 2_000_000, 100_000):
        found = plan(200, limit, workers=2)
        assert found.total <= limit
        more = replace(found, seeds_per_chunk=found.seeds_per_chunk + 1)
        assert found.workers == 1 or found.seeds_per_chunk in (100, most) or more.total > limit
    # No room for a second process: one is used.
    assert plan(10, 10**6, workers=2).workers == 1


@pytest.mark.parametrize(
    ("name", "changes", "seeds", "record"),
    [
        ("relu", {"hidden": 400}, 1, ()),
        ("relu", {"hidden": 400, "steps": 20}, 8, ()),
        ("relu", {"hidden": 20, "steps": 1000}, 40, ()),
        ("relu", {"hidden": 400, "precision": "float32"}, 1, ()),
        ("relu", {"hidden": 200, "batch_size": 5}, 2, ()),
        ("relu", {"hidden": 40, "steps": 100}, 20, ("similarity", "outputs")),
        ("deep", {"hidden": 150}, 1, ()),
        ("gdln", {"hidden": 300}, 1, ()),
        ("gdln", {"hidden": 100, "steps": 30}, 6, ("maps",)),
        ("graph", {"hidden": 100}, 1, ()),
        ("graph", {"hidden": 60, "steps": 20}, 5, ("similarity",)),
    ],
)
def test_predicted_memory_is_what_is_taken(name, changes, seeds, record):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(12, 24)), rng.normal(size=(40, 24))
    chosen = make_settings(**{"steps": 3, "learning_rate": 1e-4, **changes})
    hidden = chosen.hidden
    pathways = [
        GatedPathway(
            name=key, gate=gate, inputs=range(12), outputs=range(40), hidden=hidden, stage=stage
        )
        for key, gate, stage in (("a", [1] * 24, 1), ("b", [1] * 12 + [0] * 12, 2))
    ]
    how = {"seeds": seeds, "rng": 0, "workers": 1, "record": Recording(quantities=record)}
    train = {
        "relu": lambda: train_network(x, y, chosen, **how),
        "deep": lambda: train_deep_network(x, y, (hidden, hidden), chosen, **how),
        "gdln": lambda: train_gdln(x, y, pathways, chosen, **how),
        "graph": lambda: train_gated_network(x, y, pathway_network(pathways, 3), chosen, **how),
    }[name]
    train()  # what is imported and kept once is no part of it
    tracemalloc.start()
    try:
        run = train()
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert run.memory.total == pytest.approx(taken, rel=0.2)


def test_single_precision_takes_half_the_memory():
    double, single = (
        working_bytes(network_model(*data(), make_settings(precision=precision)))
        for precision in ("float64", "float32")
    )
    assert double == 2 * single


# -- worker processes -----------------------------------------------------------------------------


@pytest.fixture
def started(monkeypatch):
    processes = []
    start = worker_module._start

    def remember():
        processes.append(start())
        return processes[-1]

    monkeypatch.setattr(worker_module, "_start", remember)
    return processes


@pytest.mark.parametrize("dies", [False, True])
def test_workers_end_with_an_interrupt_and_with_one_of_them(started, dies):
    def interrupt(done, total):
        if not dies:
            raise KeyboardInterrupt
        started[1].kill()

    chosen = make_settings(steps=10**6, hidden=50)  # minutes, were it not interrupted
    error, message = (RuntimeError, "worker ended early") if dies else (KeyboardInterrupt, None)
    with pytest.raises(error, match=message):
        train_network(*data(), chosen, seeds=3, workers=2, progress=interrupt)
    assert [process.poll() is not None for process in started] == [True, True]
    assert all(stream.closed for p in started for stream in (p.stdin, p.stdout))


def test_kinds_share_one_form_of_result():
    for kind in KINDS.values():
        run = kind.train(data(), make_settings(steps=2), seeds=2, rng=0)
        assert [w.shape[0] for w in matrices(run)] == [2] * len(kind.chains) * kind.layers
        assert bool(run.weights) != bool(run.matrices)
