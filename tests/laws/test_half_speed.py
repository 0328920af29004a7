"""A ReLU network on symmetric data through the whole derivation: half speed, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import symreln as sr
from symreln.laws import decaying_imbalance, odd_relu, two_layer, unbalanced, weight_decay
from symreln.report.content import derivation_document
from symreln.report.html import render as html

X = [["2", "-2", "1", "-1"], ["2", "-2", "-1", "1"]]
Y = [["4", "-4", "1", "-1"], ["4", "-4", "-1", "1"]]
NETWORK = {
    "hidden": 400,
    "init_std": "1/1000",
    "learning_rate": "1/250",
    "loss": "mean",
    "steps": 3500,
    "activation": "relu",
}


def load(x=X, y=Y, gate="all", **keys):
    return sr.load(
        {
            "title": "Odd",
            "dataset": {"X": x, "Y": y},
            "pathway": [{"name": "whole", "gate": gate}],
            "network": {**NETWORK, **keys},
        }
    )


EQUATIONS = {
    two_layer.NAME: {},
    unbalanced.NAME: {"init_std": ["1/1000", "1/300"]},
    weight_decay.NAME: {"weight_decay": "1/9"},
    decaying_imbalance.NAME: {"weight_decay": "1/9", "init_std": ["1/1000", "1/300"]},
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_family_is_taken_and_printed(name):
    keys = EQUATIONS[name]
    derivation, linear = sr.derive(load(**keys)), sr.derive(load(activation="linear", **keys))
    assert derivation.tau == 2 * linear.tau
    for mode in derivation.pathways[0].modes:
        assert mode.family == odd_relu.NAME
        assert name in mode.why
        assert "half speed" in mode.why
        assert mode.strength.residual() == 0
    if name == weight_decay.NAME:
        text = html(derivation_document(derivation))
        assert odd_relu.NAME in text
        assert "closed under x → −x" in text
        assert "\\tau = 2/\\eta = 500" in text
    passed = dict(linear.pathways[0].modes[0].passed_over)
    assert "linear, not a ReLU" in passed[odd_relu.NAME]


@pytest.mark.parametrize(
    "keys",
    [
        {"activation": "linear"},
        {"gate": [1, 1, 1, 0]},
        {"y": [Y[0], ["4", "-4", "-1", "2"]]},
        {"x": [X[0], ["2", "-2", "-1", "2"]]},
    ],
)
def test_other_specs_keep_their_speed(keys):
    derivation = sr.derive(load(**keys))
    assert derivation.tau == 250
    assert "half speed" not in [step.name for step in derivation.steps]
    assert all(m.family != odd_relu.NAME for m in derivation.pathways[0].modes)


def test_a_reduction_that_fails_stops_the_derivation(monkeypatch):
    assert "half speed" in [step.name for step in sr.derive(load()).steps]
    monkeypatch.setattr(odd_relu, "reduction_residual", lambda: 1)
    with pytest.raises(ArithmeticError, match="half speed"):
        sr.derive(load())


def paired(rng, std, hidden):
    """Return weights of pairs (w, b), (−w, −b)."""
    w, b = rng.normal(size=(hidden // 2, 2)) * std, rng.normal(size=(2, hidden // 2)) * std
    return np.vstack([w, -w])[None], np.hstack([b, -b])[None]


@pytest.mark.parametrize("name", EQUATIONS)
def test_prediction_is_what_relu_networks_of_pairs_do(name):
    spec = load(**EQUATIONS[name])
    derivation = sr.derive(spec)
    predicted = derivation.evaluate()
    assert predicted.free_constants == 0
    losses = [relu_losses(spec, seed) for seed in range(2)]
    gap = np.abs(np.mean(losses, axis=0) - predicted.loss).max() / predicted.loss[0]
    assert gap < 0.03
    slow = sr.derive(load(activation="linear", **EQUATIONS[name])).evaluate()
    assert np.abs(np.mean(losses, axis=0) - slow.loss).max() / predicted.loss[0] > 0.2
    balls = derivation.enclose([0, 700], 30)
    for curve in predicted.modes:
        for k, ball in zip((0, 700), balls[curve.label], strict=True):
            assert curve.best[k] == pytest.approx(float(ball), rel=1e-9, abs=1e-15)


def relu_losses(spec, seed):
    """Return the mean loss of a ReLU network of pairs at each step of gradient descent."""
    network = spec.network
    x, y = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    rng, rate, decay = (
        np.random.default_rng(seed),
        float(network.learning_rate),
        float(network.weight_decay),
    )
    first = float(network.init_std)
    (w,), (b,) = paired(rng, first, network.hidden)
    b = b * float(network.init_std_out or network.init_std) / first
    found = []
    for _ in range(network.steps):
        hidden = np.maximum(w @ x, 0)
        error = y - b @ hidden
        found.append(0.5 * (error**2).sum() / x.shape[1])
        gradient = (b.T @ error * (hidden > 0)) @ x.T / x.shape[1], error @ hidden.T / x.shape[1]
        w, b = w + rate * (gradient[0] - decay * w), b + rate * (gradient[1] - decay * b)
    return np.array(found)


@pytest.mark.parametrize("keys", [{}, {"weight_decay": "1/9", "init_std": ["1/1000", "1/300"]}])
def test_networks_from_the_law_and_their_linear_network_agree(keys):
    # Random small weights, no pairs: what the spec asks for; and the GDLN that it is like.
    report = sr.validate(sr.derive(load(**keys)), seeds=8, rng=0)
    assert report.metrics["theory_vs_gdln"].max_abs_over_initial < 0.03
    assert report.metrics["theory_vs_relu"].max_abs_over_initial < 0.05
    assert report.verdict == "agrees"
