"""The mean-field simulation, against the trainer and against symmetries by force."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from symreln.errors import InputError
from symreln.laws import mean_field as module
from symreln.laws.mean_field import (
    Descent,
    _Ensemble,
    _look_steps,
    simulate_mean_field,
)
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_network
from symreln.train.weights import LayerWeights

XOR = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [0.5, -0.5, -0.5, 0.5]])
LABELS = np.array([[1.0, -1.0, -1.0, 1.0], [2.0, -2.0, -2.0, 2.0]])


def descent(**changes) -> Descent:
    values = {"hidden": 50, "init_std": (0.01, 0.02), "step": 0.05, "steps": 300, **changes}
    return Descent(**values)


@pytest.mark.parametrize("decay", [0.0, 0.03])
def test_the_units_do_what_the_trainer_does_from_the_same_weights(monkeypatch, decay):
    monkeypatch.setattr(module, "UNITS", 60)
    asked = descent(weight_decay=decay)
    units = _Ensemble(XOR, LABELS, asked, np.random.default_rng(3))
    basis = module.orthonormal_span(LABELS)
    start = LayerWeights(
        w1=units._particles.first[None].copy(), w2=(basis @ units._particles.second)[None]
    )
    settings = TrainingSettings(
        hidden=len(units._particles.first),
        init_std=1.0,
        learning_rate=asked.step,
        loss="mean",
        steps=asked.steps,
        weight_decay=decay,
    )
    trained = train_network(XOR, LABELS, settings, initial=start)
    np.testing.assert_allclose(
        units.follow(threading.Event()), trained.losses[0], rtol=1e-11, atol=1e-14
    )
    assert trained.losses[0, -1] < 0.5 * trained.losses[0, 0]


@pytest.mark.skipif(os.name != "posix", reason="interval timers")
def test_an_interrupt_ends_the_simulation_at_once(monkeypatch):
    """The threads end with their step: the pool waits for them."""
    monkeypatch.setattr(module, "UNITS", 60)
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            simulate_mean_field(XOR, LABELS, descent(steps=1_000_000), 4)
    finally:
        signal.signal(signal.SIGALRM, old)
    assert time.monotonic() - start < 2


def test_units_that_diverge_are_refused(monkeypatch):
    monkeypatch.setattr(module, "UNITS", 30)
    with pytest.raises(InputError, match=r"Lower network\.learning_rate"):
        simulate_mean_field(XOR, LABELS, descent(step=3.0, steps=2000), 0)


def test_xor_units_end_on_single_samples(monkeypatch):
    """Each of the four samples of XoR gets units of its own, as many each by symmetry."""
    monkeypatch.setattr(module, "UNITS", 200)
    plain = XOR.copy()
    plain[2] = 0
    asked = descent(step=0.2, steps=1500, init_std=(1e-4, 1e-4))

    def of_one_sample(first, weights):
        gates = first @ plain > 0
        alone = gates.sum(axis=1) == 1
        return [weights[alone & gates[:, n]].sum() / weights.sum() for n in range(4)]

    found = simulate_mean_field(plain, LABELS[:1], asked, 0, of_one_sample)
    assert found.losses[-1] < 1e-6
    last = found.watched[:, -1].mean(axis=0)
    assert last.sum() > 0.99
    assert last == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("steps", [1, 2, 7, 8001])
def test_looks_run_from_the_first_step_to_the_last(steps):
    looks = _look_steps(steps)
    assert (looks[0], looks[-1]) == (0, steps - 1)
    assert np.all(np.diff(looks) > 0)
