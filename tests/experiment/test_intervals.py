"""Intervals: they hold for the mean over all seeds as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from symreln.experiment.metrics import LEVEL, compare, mutual_distance

STEPS = 40
STEP = np.arange(STEPS)


def curves(count: int, stream: np.random.Generator, spread: float = 0.3) -> np.ndarray:
    """Losses that drop at different times; all start from 1."""
    times = 12 + 12 * spread * stream.standard_normal((count, 1))
    return 1 / (1 + np.exp((STEP - times) / 2)) / (1 / (1 + np.exp(-times / 2)))


def test_values_are_those_of_the_metrics():
    losses = curves(12, np.random.default_rng(0))
    theory = losses[0] ** 1.1
    for found, other in (
        (mutual_distance(theory[None], losses, 0), compare(theory, losses.mean(axis=0))),
        (
            mutual_distance(losses[:6], losses[6:], 0),
            compare(losses[:6].mean(0), losses[6:].mean(0)),
        ),
    ):
        for name, value in vars(other).items():
            interval = getattr(found, name)
            assert interval.value == value
            if name == "log10_tail_rms":
                assert interval.low is None
                continue
            assert interval.low <= value <= interval.high
            assert interval.low < interval.high


@pytest.mark.parametrize("wrong", [0.0, 0.3])
def test_intervals_cover_the_distance_from_the_mean_over_all_seeds(wrong):
    stream = np.random.default_rng(7)
    every = curves(10_000, stream).mean(axis=0)
    theory = every + wrong * np.exp(-((STEP - 12) ** 2) / 20)
    truth = compare(theory, every)
    trials, held = 100, {"max_abs_over_initial": 0, "mean_abs_over_initial": 0}
    for trial in range(trials):
        found = mutual_distance(theory[None], curves(10, stream), trial)
        for name in held:
            interval = getattr(found, name)
            held[name] += interval.low <= getattr(truth, name) <= interval.high
    # Three standard errors of the count below what is said.
    least = trials * LEVEL - 3 * (trials * LEVEL * (1 - LEVEL)) ** 0.5
    assert all(count >= least for count in held.values()), held


def test_the_interval_of_drop_times_is_that_of_their_difference():
    """Two ensembles of the same scatter, one later: by how much is known, and how well."""
    stream = np.random.default_rng(3)
    many = 400
    late = np.array([np.roll(curve, 6) for curve in curves(many, stream)])
    late[:, :6] = 1.0
    found = mutual_distance(late, curves(many, stream), 0).drop_time_error_steps
    assert found.low <= 6 <= found.high
    # Means of 400 curves that scatter by 3.6 steps are known to a few tenths of a step.
    assert found.high - found.low <= 4
