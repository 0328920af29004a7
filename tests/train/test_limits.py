"""Divergence, interrupts, killed workers: said, and nothing left behind."""

from __future__ import annotations

import pickle
import re
import select
from multiprocessing import active_children

import numpy as np
import pytest

from symreln.base import pool
from symreln.errors import InputError, LimitReachedError
from symreln.train.model import Model
from symreln.train.network import (
    GatedEdge,
    GatedNetwork,
    GatedNode,
    dense_network,
)
from symreln.train.trainers import train_gated_network, train_network
from symreln.train.weights import LayerWeights
from tests.train.kinds import data, make_settings


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


def test_parallel_edges_are_allowed_and_closed_paths_are_not():
    nodes = (
        GatedNode(name="x", size=1, inputs=(0,)),
        GatedNode(name="h", size=1),
        GatedNode(name="y", size=1, outputs=(0,)),
    )

    def train(gate):
        ends = ("x", "h"), ("x", "h"), ("h", "y")
        edges = tuple(
            GatedEdge(name=str(k), source=a, target=b, gate=gate) for k, (a, b) in enumerate(ends)
        )
        network = GatedNetwork(nodes=nodes, edges=edges)
        return train_gated_network(*data(), network, make_settings(steps=2))

    assert len(train(None).matrices) == 3
    with pytest.raises(InputError, match="no path from an input to an output is open"):
        train((0.0,) * 7)


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


def test_what_a_worker_hands_over_is_in_the_pipe_at_once(monkeypatch):
    # Who waits for the rest of it would wait for ever where the worker is killed in between.
    handed, submit = [], pool._Processes.submit

    def noted(self, work, *given):
        future = submit(self, work, *given)
        handed.append(future)
        return future

    monkeypatch.setattr(pool._Processes, "submit", noted)
    found = train_network(*data(), make_settings(steps=5000), seeds=2, workers=2)
    assert found.losses.shape == (2, 5000)
    assert [len(pickle.dumps(each.result())) < select.PIPE_BUF for each in handed] == [True] * 2
