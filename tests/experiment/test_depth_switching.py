"""Deep gated networks that read their gates again, beside a few lines of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from symreln.lab import switching
from symreln.lab.switching import FrozenPhase, SwitchingRun
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_deep_network

RNG = np.random.default_rng(5)
X, Y = np.abs(RNG.normal(size=(3, 6))), RNG.normal(size=(4, 6)) + 1.5
SEEDS = 3


def made(steps, **more):
    asked = {"hidden": 1, "init_std": 0.03, "learning_rate": 0.004, "loss": "sum", **more}
    return TrainingSettings(steps=steps, **asked)


def stream():
    return np.random.SeedSequence(7)


def descend(weights, rate, steps, *, frozen):
    """Train a ReLU network of three layers of weights; return them and its outputs on the way."""
    outputs = []
    for _ in range(steps):
        first = weights[0] @ X
        held = np.maximum(first, 0)
        second = weights[1] @ held
        last = np.maximum(second, 0)
        out = weights[2] @ last
        outputs.append(out)
        error = Y if frozen else Y - out
        back = (weights[2].T @ error) * (second > 0)
        weights = [
            weights[0] + rate * ((weights[1].T @ back) * (first > 0)) @ X.T,
            weights[1] + rate * back @ held.T,
            weights[2] + rate * error @ last.T,
        ]
    return weights, outputs


def test_the_early_phase_is_descent_in_the_frozen_residual():
    settings = made(4000)
    early = FrozenPhase.of((X, Y), (9, 8), settings, seeds=SEEDS, rng=stream())
    assert np.isfinite(early.steps).all()
    first = made(1)
    initial = train_deep_network(X, Y, (9, 8), first, seeds=SEEDS, rng=stream()).matrices
    for seed in range(SEEDS):
        steps, own = int(early.steps[seed]), [matrix[seed] for matrix in initial]
        weights, outputs = descend(own, 0.004, steps, frozen=True)
        share = [1 - 2 * (out * Y).sum() / (Y**2).sum() for out in outputs]
        assert early.losses[seed, :steps] == pytest.approx(share, abs=1e-6)
        for mine, theirs in zip(weights, early.weights, strict=True):
            np.testing.assert_allclose(theirs[seed], mine, rtol=1e-4, atol=1e-9)
        # The step is the first at which the loss would be below 0.9.
        assert share[-1] >= 0.9 > early.losses[seed, steps]


def test_gates_that_are_read_at_every_step_are_those_of_the_relu_network(monkeypatch):
    monkeypatch.setattr(switching, "LOOK", 1)
    settings = made(1800)  # later a unit stays at its boundary, where rounding decides
    early = FrozenPhase.of((X, Y), (9, 8), settings, seeds=SEEDS, rng=stream())
    found = SwitchingRun.of((X, Y), settings, early, leaving=1e-12)
    for seed in range(SEEDS):
        weights, kept = switching._opened(X, [matrix[seed : seed + 1] for matrix in early.weights])
        assert kept == found.units[seed]
        begins, own = int(early.steps[seed]), [matrix[0] for matrix in weights]
        _, outputs = descend(own, 0.004, settings.steps - begins, frozen=False)
        losses = [((Y - out) ** 2).sum() / (Y**2).sum() for out in outputs]
        # The first gates are read before the first step, so that no step is taken with others.
        np.testing.assert_allclose(found.losses[seed, begins:], losses, rtol=1e-9)


def test_networks_that_diverge_soon_after_their_drop_are_followed_in_shorter_blocks():
    settings = made(200, learning_rate=0.003, init_std=0.3 / 3 / 20**0.5)
    random = np.random.default_rng(6)
    data = random.normal(size=(5, 30)), 3 * random.normal(size=(2, 30))
    early = FrozenPhase.of(data, (20, 20), settings, seeds=20, rng=stream())
    assert early.steps.max() == 143
