"""Gradient descent on units, against the trainer; what ends it."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

from symreln.effective import network as effective
from symreln.effective.descent import Descent, descend_units, look_steps
from symreln.errors import InputError
from symreln.laws.spans import orthonormal_span
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_network
from symreln.train.weights import LayerWeights

XOR = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [0.5, -0.5, -0.5, 0.5]])
LABELS = np.array([[1.0, -1.0, -1.0, 1.0], [2.0, -2.0, -2.0, 2.0]])
SPAN = orthonormal_span(LABELS)
ASKED = Descent(hidden=60, init_std=(0.01, 0.02), step=0.05, steps=300)


def units_of(random: np.random.Generator, draws: int = 1) -> np.ndarray:
    return 0.02 * random.standard_normal((draws, ASKED.hidden, 3 + SPAN.shape[1]))


@pytest.mark.parametrize("draws", [1, 500])
def test_the_units_do_what_the_trainer_does_from_the_same_weights(draws):
    """Of many draws the last one, which another thread follows."""
    units = units_of(np.random.default_rng(3), draws)
    starts = [7] * (draws - 1) + [4]
    found, _ = descend_units(XOR, SPAN.T @ LABELS, ASKED, units, starts, [ASKED.steps - 1])
    settings = TrainingSettings(
        hidden=ASKED.hidden,
        init_std=1.0,
        learning_rate=ASKED.step,
        loss="mean",
        steps=ASKED.steps - 4,
    )
    start = LayerWeights(w1=units[-1:, :, :3].copy(), w2=(SPAN @ units[-1, :, 3:].T)[None])
    trained = train_network(XOR, LABELS, settings, initial=start)
    np.testing.assert_allclose(found[-1, 4:], trained.losses[0], rtol=1e-11, atol=1e-14)
    assert trained.losses[0, -1] < 0.5 * trained.losses[0, 0]
    assert found[-1, :4] == pytest.approx(0.5 * np.square(LABELS).sum() / 4)


@pytest.mark.skipif(os.name != "posix", reason="interval timers")
def test_an_interrupt_ends_it_at_once():
    """The threads end with their step: the pool waits for them."""
    asked = Descent(hidden=60, init_std=(0.01, 0.01), step=0.05, steps=1_000_000)
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            descend_units(XOR, SPAN.T @ LABELS, asked, units_of(np.random.default_rng(0)), [0], [0])
    finally:
        signal.signal(signal.SIGALRM, old)
    assert time.monotonic() - start < 2


def test_units_that_diverge_are_refused():
    asked = Descent(hidden=60, init_std=(0.01, 0.01), step=3.0, steps=2000)
    with pytest.raises(InputError, match=r"Lower network\.learning_rate"):
        effective.effective_network(XOR, LABELS, asked)


@pytest.mark.parametrize(("begin", "steps"), [(0, 1), (9, 10), (0, 500), (300, 500), (0, 8001)])
def test_looks_are_from_the_horizon_to_the_last_step(begin, steps):
    looks = look_steps(begin, steps, 10)
    assert (looks[0], looks[-1]) == (begin, steps - 1)
    assert np.all(np.diff(looks) > 0)
