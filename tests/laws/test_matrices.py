"""λ-balanced matrices: the proof in words, and few hidden units."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from symreln.exact.matrix import ExactMatrix
from symreln.laws import lambda_balanced
from symreln.laws.lambda_balanced import BalancedMatrices


def exact(rows) -> ExactMatrix:
    return ExactMatrix.from_rows([[Fraction(x) for x in row] for row in rows])


def orthogonal(rng, size):
    return np.linalg.qr(rng.normal(size=(size, size)))[0]


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
    given = {"sigma_yx": exact(u * s @ v.T), "w1": exact(w1), "w2": exact(w2)}
    flow = BalancedMatrices(**given, beta=Fraction(1), balance=Fraction(0))
    found = flow.to_numpy([0.0, 1e3, 1e12])
    expected = u[:, :2] * s[:2] @ v[:, :2].T
    np.testing.assert_allclose(found, [w2 @ w1, expected, expected], atol=1e-12)
