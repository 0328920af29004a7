"""Which family is taken and why; spec keys; numbers of every family through a derivation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import symreln as sr
from symreln.errors import NotSupportedError
from symreln.laws import half_speed, lambda_balanced
from symreln.laws.chain_start import chain_start
from symreln.laws.choice import LAWS, choose, solve
from symreln.laws.depth import Depth
from symreln.laws.law import Regime
from symreln.laws.one_layer import OneLayer
from symreln.laws.two_layer import TwoLayer, TwoLayerDecay
from symreln.laws.unbalanced import Unbalanced
from symreln.report.content import derivation_document
from symreln.report.html import render as html

TAKEN = {
    OneLayer: Regime(layers=1),
    TwoLayer: Regime(),
    Unbalanced: Regime(apart=True),
    TwoLayerDecay: Regime(weight_decay=Fraction(1, 9)),
    Depth: Regime(layers=7),
}


@pytest.mark.parametrize("law", TAKEN)
def test_every_law_is_taken_and_the_earlier_ones_say_why_not(law):
    choice = choose(TAKEN[law])
    assert (choice.law, choice.name) == (law, law.name)
    asked = [half_speed.NAME, lambda_balanced.NAME, *(each.name for each in LAWS)]
    earlier = asked[: asked.index(law.name)]
    assert [passed for passed, _ in choice.passed_over] == earlier
    assert all(why for _, why in choice.passed_over)
    # And its modes prove themselves.
    s, d = sp.symbols("s d", positive=True)
    mode = solve(TAKEN[law], s, d)
    assert mode.residual() == 0
    assert (mode.s, mode.d) == (s, d)
    assert "pi" in mode.equation


@pytest.mark.parametrize(
    "regime",
    [
        Regime(decoupled=False),
        Regime(decoupled=False, layers=4),
        Regime(layers=3, apart=True),
        Regime(layers=3, weight_decay=Fraction(1)),
        Regime(apart=True, weight_decay=Fraction(1)),
        Regime(layers=1, weight_decay=Fraction(1)),
    ],
)
def test_no_law_is_taken_without_a_theory(regime):
    choice = choose(regime)
    assert choice.law is choice.name is None
    assert len(choice.passed_over) == len(LAWS) + 2


TABLES = {
    "title": "Two modes",
    "dataset": {"X": [["1", "1"], ["1", "-1"]], "Y": [["3", "1"], ["1", "3"]]},
    "pathway": [{"name": "whole"}],
}
NETWORK = {
    "hidden": 400,
    "init_std": "1/100",
    "learning_rate": "1/500",
    "loss": "mean",
    "steps": 2000,
    "activation": "linear",
}


def load(**keys):
    return sr.load({**TABLES, "network": {**NETWORK, **keys}})


CASES = {
    "layers 1": ({"layers": 1}, OneLayer.name),
    "plain": ({}, TwoLayer.name),
    "apart": ({"init_std": ["1/50", "1/200"]}, Unbalanced.name),
    "decay": ({"weight_decay": "1/4"}, TwoLayerDecay.name),
    "layers 4": ({"layers": 4}, Depth.name),
}


@pytest.mark.parametrize("case", CASES)
def test_spec_keys_choose_the_family(case):
    keys, name = CASES[case]
    derivation = sr.derive(load(**keys))
    for mode in derivation.pathways[0].modes:
        assert mode.family == name
        assert mode.strength.residual() == 0
    if case in ("both", "layers 4"):
        assert name in html(derivation_document(derivation))
    data = derivation.to_json()
    assert data["pathways"][0]["modes"][0]["family"] == name


def flow(network, seed):
    """Integrate the weights of a network from a random start; return uᵀ W v of both modes."""
    rng = np.random.default_rng(seed)
    x, y = (np.array(TABLES["dataset"][k], float) for k in "XY")
    sigma_yx, sigma_x = y @ x.T / 2, x @ x.T / 2
    first = float(network.init_std)
    second = float(network.init_std_out or network.init_std)
    shapes = [(2, 2)] if network.layers == 1 else [(network.hidden, 2), (2, network.hidden)]
    scales = [0.0] if network.layers == 1 else [first, second]
    start = [rng.normal(size=shape) * scale for shape, scale in zip(shapes, scales, strict=True)]
    decay, cut = float(network.weight_decay), start[0].size

    def rhs(_, w):
        if network.layers == 1:
            return (sigma_yx - w.reshape(2, 2) @ sigma_x).ravel()
        a, b = w[:cut].reshape(shapes[0]), w[cut:].reshape(shapes[1])
        error = sigma_yx - b @ a @ sigma_x
        return np.concatenate([(b.T @ error).ravel(), (error @ a.T).ravel()]) - decay * w

    steps = np.arange(network.steps)
    times = steps / float(network.tau(2))
    flat = np.concatenate([w.ravel() for w in start])
    found = solve_ivp(rhs, (0, times[-1]), flat, t_eval=times[::50], rtol=1e-8, atol=1e-12).y
    u, _, vt = np.linalg.svd(sigma_yx)
    whole = [
        w.reshape(2, 2)
        if network.layers == 1
        else w[cut:].reshape(shapes[1]) @ w[:cut].reshape(shapes[0])
        for w in found.T
    ]
    return np.array([np.diag(u.T @ w @ vt.T) for w in whole]).T


@pytest.mark.parametrize("case", [case for case in CASES if case != "layers 4"])
def test_prediction_is_what_the_flow_of_random_weights_does(case):
    # Nothing fitted: the start is the expected one, so the mean over seeds is what is met.
    spec = load(**CASES[case][0])
    predicted = sr.derive(spec).evaluate()
    expected = np.array([curve.best[::50] for curve in predicted.modes])
    found = np.mean([flow(spec.network, seed) for seed in range(3)], axis=0)
    plateau = np.abs(expected).max()
    # Relative fluctuations of the start are sqrt(2/H)/sqrt(seeds) = 4 %, a shift of the rise.
    assert np.abs(found - expected).max() < 0.05 * plateau
    balls = sr.derive(spec).enclose([0, 500, 1000], 30)
    for curve in predicted.modes:
        for k, ball in zip((0, 500, 1000), balls[curve.label], strict=True):
            assert curve.best[k] == pytest.approx(float(ball), rel=1e-9, abs=1e-15)


def test_depth_has_numbers_once_they_are_asked_for(tmp_path):
    chain_start.cache_clear()
    derivation = sr.derive(load(layers=4))
    assert derivation.strength0 is None
    assert "the formulas hold for any" in html(derivation_document(derivation))
    derivation.save(tmp_path)
    assert (tmp_path / "derivation.tex").exists()
    assert chain_start.cache_info().misses == 0
    found = derivation.evaluate([0, 50])
    assert [each.source for each in found.constants] == ["estimated"]
    ball = derivation.enclose([50])["pi_1_1"][0]
    assert found.modes[0].best[1] == pytest.approx(float(ball), rel=1e-12)
    assert not (tmp_path / "figures" / "modes.pdf").exists()


def test_coupled_pathways_of_other_networks_are_refused():
    tables = {
        **TABLES,
        "dataset": {"X": [["1", "2"], ["0", "1"]], "Y": [["3", "1"], ["1", "3"]]},
        "network": {**NETWORK, "weight_decay": "1/4"},
    }
    with pytest.raises(NotSupportedError, match="coupled"):
        sr.derive(sr.load(tables))
