"""λ-balanced matrices: the proof in words, numbers against the weights' own flow, refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from symreln.exact.matrix import ExactMatrix
from symreln.laws import lambda_balanced
from symreln.laws.lambda_balanced import BalancedMatrices
from tests.laws.full_flow import gram, layers_flow


def exact(rows) -> ExactMatrix:
    return ExactMatrix.from_rows([[Fraction(x) for x in row] for row in rows])


def as_flow(sigma, w1, w2, beta=1.0, balance=0.0) -> BalancedMatrices:
    """Return the flow of matrices in floats, whose values are taken as they are."""
    numbers = {"beta": Fraction(beta), "balance": Fraction(balance)}
    return BalancedMatrices(sigma_yx=exact(sigma), w1=exact(w1), w2=exact(w2), **numbers)


def orthogonal(rng, size):
    return np.linalg.qr(rng.normal(size=(size, size)))[0]


def draw(rng):
    """Return (Sigma^yx, W1, W2, beta): unequal sizes, zero modes, few or many hidden units."""
    n_x, n_y, hidden = (int(n) for n in rng.integers(1, 5, 3))
    sigma = rng.normal(size=(n_y, n_x)) * 10.0 ** rng.uniform(-1, 1)
    if rng.random() < 0.3:
        sigma[:, 0] = 0
    if rng.random() < 0.3:
        sigma[-1] = sigma[0]
    lam = rng.choice([0.0, 1.0]) * 10.0 ** rng.uniform(-3, 1)
    # lambda > 0 needs W2 of rank H, lambda < 0 W1.
    hidden = min(hidden, n_y) if lam > 0 else hidden
    amplitude = np.zeros(hidden)
    rank = min(n_x, n_y, hidden)
    amplitude[:rank] = 10.0 ** rng.uniform(-4, 0.5) * rng.uniform(0.5, 1, rank)
    r, u, v = (orthogonal(rng, size) for size in (hidden, n_y, n_x))
    first, second = min(hidden, n_x), min(hidden, n_y)
    w1 = r[:, :first] @ (amplitude[:first, None] * v[:, :first].T)
    w2 = (u[:, :second] * np.sqrt(amplitude[:second] ** 2 + lam)) @ r[:, :second].T
    if lam and rng.random() < 0.5:
        sigma, w1, w2 = sigma.T, w2.T, w1.T
    return sigma, w1, w2, 10.0 ** rng.uniform(-1, 1)


def worst(count: int, seed: int) -> float:
    rng, found = np.random.default_rng(seed), 0.0
    for _ in range(count):
        sigma, w1, w2, beta = draw(rng)
        gap = w2.T @ w2 - w1 @ w1.T
        balance = float(np.trace(gap)) / len(gap)
        size = float(np.linalg.norm(sigma, 2)) or 1.0
        start = np.linalg.norm(np.vstack([w1.T, w2]), 2) ** 2
        t = rng.uniform(0, 12) / max(size, beta * start)
        (value,) = as_flow(sigma, w1, w2, beta, balance).gram([t])
        identity = beta * np.eye(w1.shape[1])
        expected = gram(*layers_flow(w1, w2, sigma, identity, t, atol=1e-18))
        found = max(found, float(np.abs(value - expected).max() / np.abs(expected).max()))
    return found


def test_solution_is_what_integration_of_the_weights_gives():
    assert worst(40, 3) < 1e-8


def test_proof_in_words_and_that_wrong_words_are_caught(monkeypatch):
    assert all(defect == 0 for defect in lambda_balanced._defects())
    with monkeypatch.context() as patch:
        patch.setattr(lambda_balanced, "_solution", lambda e, q, m, qt: e * q * m * qt)
        assert any(defect != 0 for defect in lambda_balanced._defects.__wrapped__())


def test_few_hidden_units_learn_the_strongest_modes():
    rng = np.random.default_rng(0)
    u, v = orthogonal(rng, 4), orthogonal(rng, 4)
    s = np.array([4.0, 3.0, 2.0, 1.0])
    r = orthogonal(rng, 2)
    w1 = 1e-4 * r @ orthogonal(rng, 4)[:2]
    w2 = orthogonal(rng, 4)[:, :2] @ (1e-4 * r.T)
    found = as_flow(u * s @ v.T, w1, w2).to_numpy([0.0, 1e3, 1e12])
    expected = u[:, :2] * s[:2] @ v[:, :2].T
    np.testing.assert_allclose(found, [w2 @ w1, expected, expected], atol=1e-12)
