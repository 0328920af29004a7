"""How far networks scatter, predicted: the law of a linear mode, and trained networks."""

from __future__ import annotations

import numpy as np
import pytest

import symreln as sr
from symreln.dynamics.early_phase import EarlyStrength
from symreln.train.gdln import train_gdln
from symreln.validation.band import _drawn, predicted_band, relative_spread
from symreln.validation.metrics import seed_floor
from symreln.validation.trained import gated_pathways, training_settings


def derived(name: str, *overrides: str):
    return sr.derive(sr.load(name, overrides=overrides)).at_values


def test_a_linear_mode_scatters_by_the_root_of_two_over_its_units():
    """The effective start of a mode is the mean of ((a + b)/2)² over units, a and b Gaussian."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 4000, 50))
    starts = (((a + b) / 2) ** 2).sum(axis=1)
    assert starts.std() / starts.mean() == pytest.approx(relative_spread(50, 50, None, 1), rel=0.05)
    # Equal modes scatter independently, and their mean strength is what is drawn.
    assert relative_spread(50, 50, None, 4) == relative_spread(50, 50, None, 1) / 2
    early = EarlyStrength(kappa=0.5, error=0.01, spread=2.0, settled=True, share=1.0)
    assert relative_spread(100, 50, early, 1) == 0.2


@pytest.mark.parametrize("spread", [0.01, 0.3, 1.5])
def test_drawn_factors_have_the_mean_and_the_spread(spread):
    random = np.random.default_rng(1)
    drawn = np.array([_drawn(random, spread) for _ in range(200_000)])
    assert drawn.min() > 0
    assert drawn.mean() == pytest.approx(1, abs=0.02)
    assert drawn.std() == pytest.approx(spread, rel=0.1)


def test_the_scatter_of_linear_networks_is_predicted():
    numbers = derived("linear-hierarchy", "network.steps=400")
    found = predicted_band(numbers, {}, {})
    spec = numbers.spec
    trained = train_gdln(
        spec.dataset.inputs.to_numpy(),
        spec.dataset.targets.to_numpy(),
        gated_pathways(spec),
        training_settings(spec),
        seeds=40,
        rng=5,
    )
    measured, predicted = seed_floor(trained.losses).mean, found.floor.mean
    for name in ("max_abs_over_initial", "mean_abs_over_initial", "drop_time_error_steps"):
        assert 0.6 < getattr(predicted, name) / getattr(measured, name) < 1.6
    # Both are means over curves: the band surrounds the prediction of the mean.
    low, high = found.band.values[0], found.band.values[-1]
    assert np.all(low <= high)
    share = np.mean((trained.mean_loss >= low - 1e-12) & (trained.mean_loss <= high + 1e-12))
    assert share > 0.95


def test_draws_are_reproducible_and_depend_on_the_seed():
    numbers = derived("linear-hierarchy", "network.steps=60")
    one, again = (predicted_band(numbers, {}, {}, rng=3, draws=2).losses for _ in range(2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, predicted_band(numbers, {}, {}, rng=4, draws=2).losses)
