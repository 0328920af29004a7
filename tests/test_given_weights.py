"""The flow of a pathway from weights that are given: against the weights' own flow, refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import symreln as sr
from symreln.dynamics.solutions import lambda_balanced
from symreln.errors import InputError, NoClosedFormError, NotSupportedError
from symreln.given_weights import white_inputs
from symreln.report.content import derivation_document
from symreln.report.html import render as html
from tests.dynamics.test_half_speed import load as load_odd

X = [[1, 1, -1, -1], [1, -1, 1, -1]]
Y = [[3, 1, "-1/2", 2], [1, 3, 0, "1/3"], [0, 1, 1, 0]]


def load(pathways=({"name": "whole"},), x=X, **network):
    tables = {"dataset": {"X": x, "Y": Y}, "pathway": list(pathways)}
    if network:
        law = {"hidden": 2, "init_std": "1/100", "learning_rate": "1/50", "steps": 10}
        tables["network"] = {**law, "loss": "mean", "activation": "linear", **network}
    return sr.derive(sr.load(tables))


def balanced(size):
    """Return W1, W2 of two layers with W2ᵀW2 − W1W1ᵀ = λ, from Pythagorean triples."""
    first = [[Fraction(3, 5) * size, 0], [0, Fraction(3, 5) * size]]
    second = [[size, 0], [0, size], [0, 0]]
    return first, second


def weights_flow(derivation, w1, w2, t):
    effective = derivation.at_values.pathways[0].effective
    rows = list(effective.pathway.outputs)
    sigma, sigma_x = effective.sigma_yx.to_numpy()[rows], effective.sigma_x.to_numpy()
    a, b = np.array(w1, float), np.array(w2, float)

    def rhs(_, w):
        first, second = w[: a.size].reshape(a.shape), w[a.size :].reshape(b.shape)
        error = sigma - second @ first @ sigma_x
        return np.concatenate([(second.T @ error).ravel(), (error @ first.T).ravel()])

    start = np.concatenate([a.ravel(), b.ravel()])
    end = solve_ivp(rhs, (0, t), start, rtol=1e-11, atol=1e-14, method="DOP853").y[:, -1]
    return end[a.size :].reshape(b.shape) @ end[: a.size].reshape(a.shape)


@pytest.mark.parametrize("size", [Fraction(1, 100), Fraction(1), Fraction(7, 3)])
@pytest.mark.parametrize("gated", [False, True])
def test_solution_is_the_flow_of_the_weights(size, gated):
    pathway = {"name": "part", "gate": ["1/2", "1/2", "1/2", "1/2"], "outputs": [0, 2]}
    derivation = load([pathway] if gated else [{"name": "whole"}], layers=2)
    w1, w2 = balanced(size)
    w2 = w2[:2] if gated else w2
    solution = sr.from_weights(derivation, w1, w2)
    assert solution.residual() == 0
    assert solution.balance == Fraction(16, 25) * size**2
    assert solution.tau == 50
    times = np.array([0.0, 60.0, 200.0, 1e6])
    found = solution.to_numpy(times)
    for t, product in zip(times[:3], found[:3], strict=True):
        np.testing.assert_allclose(
            product, weights_flow(derivation, w1, w2, t / 50), rtol=1e-8, atol=1e-10
        )
    ball = solution.enclose(Fraction(60))
    for place in np.ndindex(found[1].shape):
        assert float(ball[place]) == pytest.approx(found[1][place], rel=1e-11, abs=1e-14)


def test_white_inputs_offer_it_and_the_switchboard_says_so():
    derivation = load(layers=2)
    assert white_inputs(derivation)
    assert "from_weights" in html(derivation_document(derivation))
    coloured = load(x=[[1, 1, -1, -1], [1, -1, 1, 2]], layers=2)
    assert not white_inputs(coloured)
    assert "from_weights" not in html(derivation_document(coloured))
    apart = load(init_std=["1/10", "1/20"])
    passed = dict(apart.pathways[0].modes[0].passed_over)
    assert "from_weights" in passed[lambda_balanced.NAME]


def test_refusals():
    w1, w2 = balanced(Fraction(1))
    with pytest.raises(NoClosedFormError, match="coloured"):
        sr.from_weights(load(x=[[1, 1, -1, -1], [1, -1, 1, 2]]), w1, w2)
    with pytest.raises(NoClosedFormError, match="no multiple of the identity"):
        sr.from_weights(load(), [[1, 0], [0, 2]], w2)
    with pytest.raises(InputError, match="fit together"):
        sr.from_weights(load(), w1, w2[:2])
    for wrong, match in (([["x", 0]], "w1: found"), ([[True, 0]], "w1: found"), (3, "rows")):
        with pytest.raises(InputError, match=match):
            sr.from_weights(load(), wrong, w2)
    two = [{"name": "a", "gate": [1, 1, 0, 0]}, {"name": "b", "gate": [0, 0, 1, 1]}]
    for derivation, match in (
        (load(two), "single pathway"),
        (load(weight_decay="1/9"), "weight decay"),
        (load(layers=3), "layers = 3"),
        (sr.derive(load_odd()), "half speed"),
    ):
        with pytest.raises(NotSupportedError, match=match):
            sr.from_weights(derivation, w1, w2)


def test_parameters_take_their_values():
    spec = sr.load(
        {
            "dataset": {"X": [["g", "g"], ["g", "-g"]], "Y": [["2", "1"]]},
            "parameters": {"g": {"positive": True, "value": "3"}},
            "pathway": [{"name": "whole"}],
        }
    )
    solution = sr.from_weights(sr.derive(spec), [[1, 0]], [[0.5]])
    assert solution.beta == 9
    with pytest.raises(NoClosedFormError, match="no multiple"):
        sr.from_weights(sr.derive(spec), [[1, 0], [0, 1]], [[1, 0]])
