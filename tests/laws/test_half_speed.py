"""ReLU networks on symmetric data: detected exactly, half speed through the whole derivation."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given

import symreln as sr
from symreln.exact.matrix import ExactMatrix
from symreln.laws import half_speed
from symreln.laws.two_layer import TwoLayer, TwoLayerDecay
from symreln.laws.unbalanced import Unbalanced
from symreln.report.html import render as html
from tests.own_specs import own, path
from tests.strategies import examples, seeds

X = [["2", "-2", "1", "-1"], ["2", "-2", "-1", "1"]]
Y = [["4", "-4", "1", "-1"], ["4", "-4", "-1", "1"]]
NETWORK = {"hidden": 400, "init_std": "1/1000", "learning_rate": "1/250", "loss": "mean"}


def load(x=X, y=Y, gate="all", **keys):
    network = NETWORK | {"steps": 3500, "activation": "relu"} | keys
    return sr.load(own(x, y, path("whole", gate), network=network) | {"title": "Odd"})


EQUATIONS = {
    TwoLayer.name: {},
    Unbalanced.name: {"init_std": ["1/1000", "1/300"]},
    TwoLayerDecay.name: {"weight_decay": "1/9"},
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_family_is_taken_and_printed(name):
    keys = EQUATIONS[name]
    derivation, linear = sr.derive(load(**keys)), sr.derive(load(activation="linear", **keys))
    assert derivation.tau == 2 * linear.tau
    for mode in derivation.pathways[0].modes:
        assert mode.family == half_speed.NAME
        assert name in mode.why
        assert "half speed" in mode.why
        assert mode.strength.residual() == 0
    if name == TwoLayerDecay.name:
        text = html(derivation.to_document())
        assert half_speed.NAME in text
        assert "closed under x → −x" in text
        assert "\\tau = 2/\\eta = 500" in text
    passed = dict(linear.pathways[0].modes[0].passed_over)
    assert "linear, not a ReLU" in passed[half_speed.NAME]


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
    assert all(m.family != half_speed.NAME for m in derivation.pathways[0].modes)


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
    gap = np.abs(np.mean(losses, axis=0) - predicted.reduced).max() / predicted.reduced[0]
    assert gap < 0.03
    slow = sr.derive(load(activation="linear", **EQUATIONS[name])).evaluate()
    assert np.abs(np.mean(losses, axis=0) - slow.reduced).max() / predicted.reduced[0] > 0.2
    if predicted.judged == "reduced":
        return  # it is integrated, and nothing encloses it
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


@examples(60)
@given(seeds)
def test_symmetry_is_found_whatever_the_order(seed):
    random = Random(seed)
    drawn = [[Fraction(random.randint(-3, 3), 2) for _ in range(4)] for _ in range(5)]
    samples = [*drawn, *([-value for value in each] for each in drawn)]
    random.shuffle(samples)
    rows = [list(row) for row in zip(*samples, strict=True)]
    x, y = (ExactMatrix.from_rows(part) for part in (rows[:3], rows[3:]))
    assert half_speed._odd_symmetry(x, y)[0]


def test_parameters_are_free_symbols():
    spec = sr.load(
        {
            "dataset": {"X": [["g", "-g"]], "Y": [["1/g", "-1/g"]]},
            "parameters": {"g": {"positive": True}},
            "pathway": [{"name": "whole"}],
        }
    )
    assert half_speed._odd_symmetry(spec.dataset.inputs, spec.dataset.targets)[0]
    xor = sr.load("xor").dataset
    assert not half_speed._odd_symmetry(xor.inputs, xor.targets)[0]


def test_reduction_and_a_wrong_one(monkeypatch):
    assert half_speed.reduction_residual() == 0
    monkeypatch.setattr(half_speed, "SLOWER", 1)
    assert half_speed.reduction_residual.__wrapped__() != 0
