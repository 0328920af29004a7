"""Divergence, wrong shapes, limits of memory, interrupts: told, and nothing left behind."""

from __future__ import annotations

import re
import tracemalloc
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from symreln.train.relu import ReluModel

from symreln.errors import InputError, LimitReachedError
from symreln.train import workers as worker_module
from symreln.train.memory import CACHE_BYTES, PROCESS_BYTES, estimate_memory
from symreln.train.model import curvature_limit
from symreln.train.network import GatedPathway, pathway_network
from symreln.train.record import Recording
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_deep_network, train_gdln, train_graph, train_network
from symreln.train.weights import LayerWeights


@pytest.mark.parametrize("activation", ["relu", "linear"])
@pytest.mark.parametrize("workers", [1, 2])
def test_divergence_names_step_seed_rate_and_limit(activation, workers, make_settings):
    # Seed 2 starts far out and diverges; two workers share the seeds as 0, 1 and 2.
    w1 = np.array([1e-3, 1e-3, 30.0])[:, None, None] * np.array([[1.0], [-0.5]])
    start = LayerWeights(w1=w1, w2=np.array([1e-3, 1e-3, 20.0])[:, None, None] * np.ones((1, 2)))
    inputs, targets = [[1.0, -1.0]], [[2.0, 1.0]]
    settings = make_settings(hidden=2, learning_rate=0.4, activation=activation, steps=100)
    with pytest.raises(InputError) as caught:
        train_network(inputs, targets, settings, initial=start, workers=workers)
    found = re.search(
        r"diverged at step (\d+) \(seed 2\).*rate 0\.4 and loss 'mean'", str(caught.value)
    )
    assert found, caught.value
    step = int(found[1])

    # Before that step all is finite: a training that ends there succeeds, one step more does not.
    def until(steps):
        short = make_settings(hidden=2, learning_rate=0.4, activation=activation, steps=steps)
        return train_network(inputs, targets, short, initial=start)

    assert np.isfinite(until(step).losses).all()
    with pytest.raises(InputError, match=f"at step {step} "):
        until(step + 1)
    assert "network.learning_rate below about 2/λmax" in str(caught.value)


@pytest.mark.parametrize("weight_decay", [0.0, 100.0])
def test_curvature_limit_bounds_the_hessian_at_the_solution(weight_decay, make_settings):
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
    settings = make_settings(loss="sum", weight_decay=weight_decay)
    bound = 2 / curvature_limit(inputs, targets, settings)
    # A bound, and of the right size: at most twice too large, since one of the two factors
    # 2‖X Xᵀ‖‖W‖ ≥ d (π_α + π_β) is met by some pair up to the spread of the strengths.
    assert largest <= bound * (1 + 1e-6)
    assert bound <= 4 * largest


def test_data_are_checked(make_settings):
    settings = make_settings()
    for inputs, targets, message in [
        ([1.0, 2.0], [[1.0, 2.0]], r"inputs: shape is \(2,\)"),
        (np.ones((0, 3)), np.ones((1, 3)), r"inputs: shape is \(0, 3\)"),
        (np.ones((2, 3)), np.ones((1, 4)), "inputs hold 3 samples, targets 4"),
        ([[1.0, np.nan]], [[1.0, 1.0]], "inputs: an entry is NaN"),
        ([[1.0, 1.0]], [[1.0, np.inf]], "targets: an entry is NaN or infinite"),
    ]:
        with pytest.raises(InputError, match=message):
            train_network(inputs, targets, settings)


def test_settings_are_checked():
    good = {"hidden": 1, "init_std": 1.0, "learning_rate": 1.0, "loss": "sum", "steps": 1}
    TrainingSettings(**good)
    for name, value in [
        ("hidden", 0),
        ("steps", 0),
        ("init_std", 0.0),
        ("learning_rate", -1.0),
        ("learning_rate", float("nan")),
        ("loss", "sums"),
        ("activation", "tanh"),
    ]:
        with pytest.raises(InputError, match=rf"network\.{name}: .*Give"):
            TrainingSettings(**{**good, name: value})
    for name, value in [
        ("weight_decay", -1.0),
        ("weight_decay", float("inf")),
        ("batch_size", 0),
    ]:
        with pytest.raises(InputError, match=rf"^{name}: .*Give"):
            TrainingSettings(**{**good, name: value})


def test_pathways_are_checked(data, make_settings):
    good = {"name": "p", "gate": [1] * 7, "inputs": [0], "outputs": [0], "hidden": 1}
    for change, message in [
        ({"gate": [0] * 7}, "open on no sample"),
        ({"gate": [1, float("nan")] + [1] * 5}, "its gate holds nan"),
        ({"inputs": []}, r"inputs are \(\)"),
        ({"outputs": [1, 1]}, r"outputs are \(1, 1\)"),
        ({"inputs": [-1]}, r"inputs are \(-1,\)"),
        ({"hidden": 0}, "hidden is 0"),
        ({"gate": [1] * 6}, r"6 gates for 7 samples.*shape \(7,\)"),
        ({"inputs": [4]}, "inputs hold index 4.*from 0 to 3"),
        ({"outputs": [3]}, "outputs hold index 3.*from 0 to 2"),
    ]:
        with pytest.raises(InputError, match=f"pathway 'p': .*{message}"):
            train_gdln(*data, [GatedPathway(**{**good, **change})], make_settings())
    pathway = GatedPathway(**good)
    with pytest.raises(InputError, match="each its own name"):
        train_gdln(*data, [pathway, pathway], make_settings())
    with pytest.raises(InputError, match="each its own name"):
        train_gdln(*data, [], make_settings())
    with pytest.raises(InputError, match="'joint' or 'staged'"):
        train_gdln(*data, [pathway], make_settings(), training="both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"weights for \['q'\].*\['p'\]"):
        train_gdln(
            *data,
            [pathway],
            make_settings(),
            initial={"q": LayerWeights(w1=np.ones((1, 1, 1)), w2=np.ones((1, 1, 1)))},
        )


def test_given_weights_are_checked(data, make_settings):
    wrong = LayerWeights(w1=np.ones((2, 5, 4)), w2=np.ones((1, 3, 5)))
    with pytest.raises(InputError, match=r"w2 \(1, 3, 5\).*\(2, 5, 4\) and \(2, 3, 5\)"):
        train_network(*data, make_settings(), initial=wrong)
    with pytest.raises(InputError, match="0 seeds"):
        train_network(*data, make_settings(), seeds=0)


def test_memory_is_predicted_and_kept_to(data, make_settings):
    settings = make_settings(hidden=50, steps=1000)
    model = ReluModel(*data, settings)
    record = Recording(quantities=("activity", "contribution", "maps"), steps=(0, 1, 2))
    run = train_network(*data, settings, seeds=4, rng=0, record=record)
    results = (
        run.losses.nbytes
        + sum(values.nbytes for values in run.snapshots.values())
        + sum(layer.nbytes for layer in run.weights)
    )
    assert run.memory.results == results
    assert run.memory.total == max(2 * results, results + 4 * run.memory.working)

    plain = estimate_memory(model, steps=1, seeds=4)
    roomy = estimate_memory(model, steps=1, seeds=4, memory_limit=plain.total)
    less = plain.results + 3 * plain.working - 1
    tight = estimate_memory(model, steps=1, seeds=4, memory_limit=less)
    assert (roomy.seeds_per_chunk, tight.seeds_per_chunk) == (4, 2)
    need = make_settings(hidden=50, steps=1)
    whole = train_network(*data, need, seeds=4, rng=0)
    few = train_network(*data, need, seeds=4, rng=0, memory_limit=less)
    np.testing.assert_array_equal(few.losses, whole.losses)
    with pytest.raises(LimitReachedError, match=r"of 4 seeds for 1000 steps.*raise memory_limit"):
        train_network(*data, settings, seeds=4, memory_limit=2 * 4 * 8000)

    many = estimate_memory(model, steps=1, seeds=10**4, workers=2)
    assert many.workers == 2
    assert many.seeds_per_chunk * model.working_bytes <= CACHE_BYTES
    # Whatever the limit, it is kept to, and one seed more would not fit.
    for limit in range(2 * PROCESS_BYTES, 2 * PROCESS_BYTES + 2_000_000, 100_000):
        plan = estimate_memory(model, steps=1, seeds=200, workers=2, memory_limit=limit)
        assert plan.total <= limit
        more = replace(plan, seeds_per_chunk=plan.seeds_per_chunk + 1)
        most = CACHE_BYTES // model.working_bytes
        assert plan.workers == 1 or plan.seeds_per_chunk in (100, most) or more.total > limit
    # No room for a second process: one is used.
    assert estimate_memory(model, steps=1, seeds=10, workers=2, memory_limit=10**6).workers == 1


@pytest.mark.parametrize(
    ("kind", "hidden", "steps", "seeds", "record"),
    [
        ("relu", 400, 3, 1, ()),
        ("relu", 400, 20, 8, ()),
        ("relu", 20, 3000, 40, ()),
        ("relu", 40, 100, 20, ("similarity", "outputs")),
        ("gdln", 300, 3, 1, ()),
        ("gdln", 100, 30, 6, ("maps",)),
        ("deep", 150, 3, 1, ()),
        ("deep", 150, 20, 5, ()),
        ("graph", 100, 3, 1, ()),
        ("graph", 60, 20, 5, ("similarity",)),
        ("single", 400, 3, 1, ()),
        ("batches", 200, 3, 2, ()),
    ],
)
def test_predicted_memory_is_what_is_taken(make_settings, kind, hidden, steps, seeds, record):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(12, 24)), rng.normal(size=(40, 24))
    pathways = [
        GatedPathway(
            name=name, gate=gate, inputs=range(12), outputs=range(40), hidden=hidden, stage=stage
        )
        for name, gate, stage in (("a", [1] * 24, 1), ("b", [1] * 12 + [0] * 12, 2))
    ]
    changes = {"single": {"precision": "float32"}, "batches": {"batch_size": 5}}.get(kind, {})
    settings = make_settings(hidden=hidden, steps=steps, learning_rate=1e-4, **changes)
    how = {"seeds": seeds, "rng": 0, "workers": 1, "record": Recording(quantities=record)}
    train = {
        "gdln": partial(train_gdln, x, y, pathways),
        "deep": partial(train_deep_network, x, y, (hidden, hidden)),
        "graph": partial(train_graph, x, y, pathway_network(pathways, 3)),
    }.get(kind, partial(train_network, x, y))
    train(settings, **how)  # what is imported and kept once is no part of it
    tracemalloc.start()
    try:
        run = train(settings, **how)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert run.memory.total == pytest.approx(taken, rel=0.2)


@pytest.fixture
def started(monkeypatch):
    processes = []
    start = worker_module._start

    def remember():
        processes.append(start())
        return processes[-1]

    monkeypatch.setattr(worker_module, "_start", remember)
    return processes


def test_an_interrupt_ends_the_workers(data, make_settings, started):
    def interrupt(done, total):
        raise KeyboardInterrupt

    settings = make_settings(steps=10**6, hidden=50)  # minutes, were it not interrupted
    with pytest.raises(KeyboardInterrupt):
        train_network(*data, settings, seeds=2, workers=2, progress=interrupt)
    assert [process.poll() is not None for process in started] == [True, True]


def test_a_worker_that_dies_is_told(data, make_settings, started):
    settings = make_settings(steps=10**6, hidden=50)

    def kill_one(done, total):
        started[1].kill()

    with pytest.raises(RuntimeError, match="a training worker ended early"):
        train_network(*data, settings, seeds=2, workers=2, progress=kill_one)
    assert [process.poll() is not None for process in started] == [True, True]
