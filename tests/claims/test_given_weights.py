"""The flow of a pathway from weights that are given: against the weights' own flow, refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import symreln as sr
from symreln.errors import InputError, NoClosedFormError, NotSupportedError
from symreln.laws import lambda_balanced
from symreln.pipeline.from_weights import white_inputs
from symreln.report.html import render as html
from tests.laws.full_flow import gram, layers_flow
from tests.laws.test_half_speed import load as load_odd
from tests.own_specs import LINEAR, own

X = [[1, 1, -1, -1], [1, -1, 1, -1]]
Y = [[3, 1, "-1/2", 2], [1, 3, 0, "1/3"], [0, 1, 1, 0]]


def load(*pathways, x=X, y=Y, **network):
    law = LINEAR | {"hidden": 2, "learning_rate": "1/50"} | network
    return sr.derive(sr.load(own(x, y, *pathways, network=law)))


def balanced(size):
    """Return W1, W2 of two layers with W2ᵀW2 − W1W1ᵀ = λ, from Pythagorean triples."""
    first = [[Fraction(3, 5) * size, 0], [0, Fraction(3, 5) * size]]
    second = [[size, 0], [0, size], [0, 0]]
    return first, second


def weights_flow(derivation, w1, w2, t):
    effective = derivation.at_values.pathways[0].effective
    sigma = effective.sigma_yx.to_numpy()[list(effective.pathway.outputs)]
    weights = np.array(w1, float), np.array(w2, float)
    first, second = layers_flow(*weights, sigma, effective.sigma_x.to_numpy(), t)
    return second @ first


@pytest.mark.parametrize("size", [Fraction(1, 100), Fraction(1), Fraction(7, 3)])
@pytest.mark.parametrize("gated", [False, True])
def test_solution_is_the_flow_of_the_weights(size, gated):
    pathway = {"name": "part", "gate": ["1/2", "1/2", "1/2", "1/2"], "outputs": [0, 2]}
    derivation = load(*[pathway] * gated, layers=2)
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


def test_white_inputs_offer_it_and_the_switchboard_says_so():
    derivation = load(layers=2)
    assert white_inputs(derivation)
    assert "from_weights" in html(derivation.to_document())
    coloured = load(x=[[1, 1, -1, -1], [1, -1, 1, 2]], layers=2)
    assert not white_inputs(coloured)
    assert "from_weights" not in html(coloured.to_document())
    apart = load(init_std=["1/10", "1/20"])
    passed = dict(apart.pathways[0].modes[0].passed_over)
    assert "from_weights" in passed[lambda_balanced.NAME]


def test_refusals():
    w1, w2 = balanced(Fraction(1))
    with pytest.raises(NoClosedFormError, match="coloured"):
        sr.from_weights(load(x=[[1, 1, -1, -1], [1, -1, 1, 2]]), w1, w2)
    with pytest.raises(NoClosedFormError, match=r"off .* by .*, 0 is needed of exact weights"):
        sr.from_weights(load(), [[1, 0], [0, 2]], w2)
    with pytest.raises(NoClosedFormError, match="at most 1e-09 of its size is needed"):
        sr.from_weights(load(), [[1.0, 0], [0, 2]], w2)
    with pytest.raises(InputError, match="fit together"):
        sr.from_weights(load(), w1, w2[:2])
    for wrong, match in (
        ([["x", 0]], "w1: found"),
        ([[True, 0]], "w1: found"),
        (3, "of shape"),
        ([3], "rows"),
    ):
        with pytest.raises(InputError, match=match):
            sr.from_weights(load(), wrong, w2)  # pyright: ignore[reportArgumentType]
    two = [{"name": "a", "gate": [1, 1, 0, 0]}, {"name": "b", "gate": [0, 0, 1, 1]}]
    for derivation, match in (
        (load(*two), "single pathway"),
        (load(weight_decay="1/9"), "weight decay"),
        (load(layers=3), "layers = 3"),
        (sr.derive(load_odd()), "half speed"),
    ):
        with pytest.raises(NotSupportedError, match=match):
            sr.from_weights(derivation, w1, w2)


def test_parameters_take_their_values():
    three = {"g": {"positive": True, "value": "3"}}
    spec = sr.load(own([["g", "g"], ["g", "-g"]], [["2", "1"]], parameters=three, network=LINEAR))
    solution = sr.from_weights(sr.derive(spec), [[1, 0]], [[0.5]])
    assert solution.beta == 9
    with pytest.raises(NoClosedFormError, match="no multiple"):
        sr.from_weights(sr.derive(spec), [[1, 0], [0, 1]], [[1, 0]])


def white(rng, n_x, samples):
    """Return inputs with X Xᵀ/P = I, up to rounding."""
    q, _ = np.linalg.qr(rng.normal(size=(samples, n_x)))
    return q.T * np.sqrt(samples)


def lambda_balanced_weights(rng, sizes, balance):
    """Return W1, W2 with W2ᵀW2 − W1W1ᵀ = balance I, up to rounding, from a square root."""
    n_x, hidden, n_y = sizes
    if balance < 0:
        w2, w1 = lambda_balanced_weights(rng, sizes[::-1], -balance)
        return w1.T, w2.T
    w1 = rng.normal(size=(hidden, n_x)) / 3
    values, vectors = np.linalg.eigh(w1 @ w1.T + balance * np.eye(hidden))
    values = np.where(values > 1e-12, values, 0)
    rank = np.linalg.matrix_rank(vectors * values)
    frame, _ = np.linalg.qr(rng.normal(size=(n_y, max(rank, 1))))
    w2 = frame @ (vectors * np.sqrt(values)).T[-max(rank, 1) :]
    return w1, w2


def in_floats(rng, sizes, balance, equal=False, samples=12):
    """Return a derivation of float data, float weights, and the data."""
    n_x, _, n_y = sizes
    x, y = white(rng, n_x, samples), rng.normal(size=(n_y, samples))
    y[-1] = y[0] if equal else y[-1]  # a mode with s = 0
    spec = sr.load({"dataset": {"X": x.tolist(), "Y": y.tolist()}, "pathway": [{"name": "whole"}]})
    return sr.derive(spec), *lambda_balanced_weights(rng, sizes, balance), x, y


SIZES = [
    ((3, 3, 3), 0.7), ((3, 2, 4), 0.4), ((4, 2, 3), -0.3), ((3, 2, 3), 0.0), ((2, 5, 6), 0.5),
    ((1, 1, 1), 0.2), ((1, 1, 1), -0.2), ((1, 1, 3), 0.3), ((3, 1, 1), -0.3), ((1, 4, 1), 0.0),
]  # fmt: skip


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize(("sizes", "balance"), SIZES)
def test_float_weights_and_inputs_follow_the_integrated_flow_in_every_block(sizes, balance, equal):
    rng = np.random.default_rng(5)
    derivation, w1, w2, x, y = in_floats(rng, sizes, balance, equal)
    solution = sr.from_weights(derivation, w1, w2)
    assert float(solution.balance) == pytest.approx(balance, abs=1e-12)
    n_x = sizes[0]
    for t in (0.0, 0.3, 2.0):
        later = (
            layers_flow(w1, w2, y @ x.T / x.shape[1], x @ x.T / x.shape[1], t) if t else (w1, w2)
        )
        whole = gram(*later)
        np.testing.assert_allclose(solution.gram([t])[0], whole, rtol=1e-9, atol=1e-10)
        np.testing.assert_array_equal(solution.to_numpy([t]), solution.gram([t])[:, n_x:, :n_x])


def test_float_white_inputs_need_float_weights_and_coloured_ones_are_refused():
    rng = np.random.default_rng(4)
    derivation, *_ = in_floats(rng, (2, 2, 2), 0.0)
    with pytest.raises(NoClosedFormError, match="Weights in floats are taken up to 1e-09"):
        sr.from_weights(derivation, [[1, 0], [0, 1]], [[1, 0], [0, 1]])
    assert sr.from_weights(derivation, np.eye(2), np.eye(2)).balance == 0
    with pytest.raises(NoClosedFormError, match="at most 1e-09"):
        sr.from_weights(derivation, [[1.0001, 0], [0, 1]], np.eye(2))
    with pytest.raises(NoClosedFormError, match=r"coloured: Sigma\^x is off .* of its size"):
        sr.from_weights(load(x=[[1, 1, -1, -1], [1, -1, 1, 2]]), np.eye(2), np.ones((3, 2)))
