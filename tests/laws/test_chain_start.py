"""Starts of random layers: the blow-up against a known one and an integrator, and against nets."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from symreln.errors import InputError
from symreln.laws.chain_start import _blow_up, _early_flow, chain_start
from symreln.laws.choice import solve
from symreln.laws.law import Regime
from symreln.laws.ops import NUMPY
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_deep_network


def blows_up(a, b, middle):
    """Return when a chain of these layers does."""
    layers = [a[:, None], *middle, b[None, :]]
    flow = _early_flow(tuple(map(np.shape, layers)), (tuple(range(len(layers))),))
    return _blow_up(flow, layers, (1,) * len(layers))


def deep(layers, s, d, strength0, tau):
    """Return the law of a mode of so many layers, in floats."""
    more = {"strength0": strength0, "tau": tau}
    return solve(Regime(layers=layers), np.array(s), np.array(d), ops=NUMPY, **more)


@pytest.mark.parametrize("layers", [3, 4, 6])
@pytest.mark.parametrize("size", [0.7, 1.0, 2.5])
def test_aligned_layers_blow_up_when_their_own_equation_does(layers, size):
    """x' = x^(L−1): infinite at x^(2−L)/(L−2). Directions of its own in every layer."""
    rng = np.random.default_rng(layers)
    r = [np.linalg.qr(rng.standard_normal((5, 1)))[0] for _ in range(layers - 1)]
    middle = [size * after @ before.T for before, after in pairwise(r)]
    found = blows_up(size * r[0][:, 0], size * r[-1][:, 0], middle)
    assert found == pytest.approx(size ** (2 - layers) / (layers - 2), rel=1e-5)


def test_the_scale_of_a_start_is_a_scale_of_time():
    rng = np.random.default_rng(0)
    a, b, w = rng.standard_normal(4), rng.standard_normal(4), rng.standard_normal((4, 4))
    whole = blows_up(a, b, [w, w])
    assert blows_up(a / 2, b / 2, [w / 2, w / 2]) == pytest.approx(4 * whole, rel=1e-3)


def test_kappa_averages_itself_out():
    """The scatter of T falls as 1/sqrt(H), and κ is a number of L alone in the limit."""
    found = {units: chain_start(3, units) for units in (20, 80)}
    ratio = found[20].times.std() / found[80].times.std()
    assert 1 < ratio < 4  # 2; each standard deviation is known to an eighth
    assert found[80].kappa == pytest.approx(0.855, abs=5 * found[80].error)
    assert found[80].error < 0.012
    again = chain_start(3, 20, draws=8)
    np.testing.assert_array_equal(again.times, found[20].times[:8])


def test_networks_rise_when_the_start_says():
    """Scalar data, 24 networks of three layers of 60 units: mean time to half of the plateau."""
    std, rate, steps = 0.02, 0.03, 1000
    settings = TrainingSettings(
        hidden=60, init_std=std, learning_rate=rate, loss="mean", steps=steps, activation="linear"
    )
    run = train_deep_network([[1.0]], [[1.0]], (60, 60), settings, seeds=24, rng=5)
    half = [int(np.argmax(losses < 0.125)) for losses in run.losses]  # (1 − π)²/2 at π = 1/2
    start = chain_start(3, 60).strength(std)
    curve = deep(3, 1.0, 1.0, start, 1 / rate).strengths(np.arange(float(steps)))
    predicted = int(np.argmax(curve > 0.5))
    scatter = np.std(half) / np.sqrt(24)
    assert scatter < 0.04 * predicted
    # Finite steps, and the scatter of networks and of the modes that were followed.
    assert abs(predicted - np.mean(half)) < 4 * scatter + 0.02 * predicted


def test_senseless_starts_are_refused():
    with pytest.raises(InputError, match="at least 3, 1, 2"):
        chain_start(2, 10)
    with pytest.raises(InputError, match="do not move"):
        blows_up(np.zeros(2), np.zeros(2), [np.eye(2)])


def test_the_blow_up_of_shared_edges_is_that_of_their_equations():
    """Aligned, M = 4 domains and K = 2: a' = K b c, b' = 8 a c, c' = K a b from 1, 1, 1."""
    paths = tuple((i, 4, 5 + (i + k) % 4) for i in range(4) for k in range(2))
    flow = _early_flow(((1, 1),) * 9, paths)
    found = _blow_up(flow, [np.ones((1, 1))] * 9, (2, 8, 2))
    # b² − 4 a² = −3 is conserved, c = a: a' = 2 a sqrt(4 a² − 3), T = ∫ da/(2 a sqrt(4a² − 3)).
    expected = np.arcsin(np.sqrt(3) / 2) / (2 * np.sqrt(3))
    assert found == pytest.approx(expected, rel=3e-4)
