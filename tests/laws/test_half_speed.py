"""ReLU networks on symmetric data: detected exactly, half speed through the whole derivation."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given

import symreln as sr
from symreln.exact.matrix import ExactMatrix
from symreln.experiment.training import training_settings
from symreln.laws import half_speed
from symreln.laws.two_layer import TwoLayer, TwoLayerDecay
from symreln.laws.unbalanced import Unbalanced
from symreln.report.html import render as html
from symreln.train.trainers import train_network
from symreln.train.weights import LayerWeights
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


def relu_losses(spec):
    """Return the mean losses of two ReLU networks of pairs (w, b), (−w, −b)."""
    network, rng = spec.network, np.random.default_rng(0)
    w = float(network.init_std) * rng.normal(size=(2, network.hidden // 2, 2))
    b = float(network.init_std_out or network.init_std) * rng.normal(size=w.shape).swapaxes(1, 2)
    start = LayerWeights(w1=np.concatenate([w, -w], axis=1), w2=np.concatenate([b, -b], axis=2))
    return train_network(*spec.dataset.arrays, training_settings(spec), initial=start).mean_loss


@pytest.mark.parametrize("name", EQUATIONS)
def test_prediction_is_what_relu_networks_of_pairs_do(name):
    spec = load(**EQUATIONS[name])
    derivation = sr.derive(spec)
    predicted = derivation.evaluate()
    assert predicted.free_constants == 0
    losses = relu_losses(spec)
    gap = np.abs(losses - predicted.reduced).max() / predicted.reduced[0]
    assert gap < 0.03
    slow = sr.derive(load(activation="linear", **EQUATIONS[name])).evaluate()
    assert np.abs(losses - slow.reduced).max() / predicted.reduced[0] > 0.2
    if predicted.judged == "reduced":
        return  # it is integrated, and nothing encloses it
    balls = derivation.enclose([0, 700], 30)
    for curve in predicted.modes:
        for k, ball in zip((0, 700), balls[curve.label], strict=True):
            assert curve.best[k] == pytest.approx(float(ball), rel=1e-9, abs=1e-15)


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
    free = {"g": {"positive": True}}
    spec = sr.load(own([["g", "-g"]], [["1/g", "-1/g"]], parameters=free))
    assert half_speed._odd_symmetry(spec.dataset.inputs, spec.dataset.targets)[0]
    xor = sr.load("xor").dataset
    assert not half_speed._odd_symmetry(xor.inputs, xor.targets)[0]


def test_reduction_and_a_wrong_one(monkeypatch):
    assert half_speed._reduction_residual() == 0
    monkeypatch.setattr(half_speed, "SLOWER", 1)
    assert half_speed._reduction_residual.__wrapped__() != 0
