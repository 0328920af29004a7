"""Divergence, interrupts, killed workers: said, and nothing left behind."""

from __future__ import annotations

import re
from contextlib import nullcontext
from multiprocessing import active_children

import numpy as np
import pytest

from symreln.errors import InputError, LimitReachedError
from symreln.train import run
from symreln.train.network import GatedEdge, GatedNetwork, GatedNode
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


def test_a_limit_that_a_linear_fit_does_not_know_is_not_told():
    with pytest.raises(InputError, match=r"Lower network\.learning_rate, and network\.init_std"):
        train_network([[1, 1, -1, -1], [1, -1, 1, -1]], [[1, -1, -1, 1]], make_settings(
            learning_rate=9, steps=99, activation="relu"
        ))  # fmt: skip


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
def test_workers_end_with_an_interrupt_and_with_one_of_them(dies, monkeypatch):
    before, started = active_children(), []

    def interrupt(done, total):
        started.extend({*active_children()} - {*before, *started})
        if len(started) == 2 and not dies:
            raise KeyboardInterrupt
        if len(started) == 2:
            started[1].kill()

    monkeypatch.setattr(run, "phase", lambda *_: nullcontext(interrupt))
    chosen = make_settings(steps=10**6, hidden=50)  # minutes, were it not interrupted
    error, message = (LimitReachedError, "was killed") if dies else (KeyboardInterrupt, None)
    with pytest.raises(error, match=message):
        train_network(*data(), chosen, seeds=3, workers=2)
    assert len(started) == 2
    assert not any(child.is_alive() for child in started)
