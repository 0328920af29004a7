"""λ-balanced matrices: the proof in words, numbers against the weights' own flow, refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from symreln.errors import InputError, NoClosedFormError
from symreln.exact.matrix import ExactMatrix
from symreln.laws import lambda_balanced
from symreln.laws.lambda_balanced import solve
from symreln.laws.lambda_numbers import eigenbasis, gram_float


def exact(rows) -> ExactMatrix:
    return ExactMatrix.from_rows([[Fraction(x) for x in row] for row in rows])


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


def flow(sigma, w1, w2, beta, t):
    def rhs(_, y):
        a, b = y[: w1.size].reshape(w1.shape), y[w1.size :].reshape(w2.shape)
        error = sigma - beta * b @ a
        return np.concatenate([(b.T @ error).ravel(), (error @ a.T).ravel()])

    start = np.concatenate([w1.ravel(), w2.ravel()])
    end = solve_ivp(rhs, (0, t), start, method="DOP853", rtol=1e-11, atol=1e-18).y[:, -1]
    q = np.vstack([end[: w1.size].reshape(w1.shape).T, end[w1.size :].reshape(w2.shape)])
    return q @ q.T


def worst(count: int, seed: int) -> float:
    rng, found = np.random.default_rng(seed), 0.0
    for _ in range(count):
        sigma, w1, w2, beta = draw(rng)
        gap = w2.T @ w2 - w1 @ w1.T
        balance = float(np.trace(gap)) / len(gap)
        size = float(np.linalg.norm(sigma, 2)) or 1.0
        start = np.linalg.norm(np.vstack([w1.T, w2]), 2) ** 2
        t = rng.uniform(0, 12) / max(size, beta * start)
        value = gram_float(sigma, w1, w2, beta, balance, 1.0, np.array([t]))[0]
        expected = flow(sigma, w1, w2, beta, t)
        found = max(found, float(np.abs(value - expected).max() / np.abs(expected).max()))
    return found


def test_solution_is_what_integration_of_the_weights_gives():
    assert worst(40, 3) < 1e-8


@pytest.mark.slow
def test_solution_on_a_thousand_sets():
    found = worst(1000, 4)
    print(f"lambda-balanced: worst of 1000 {found:.2g}")
    assert found < 1e-8


def test_proof_in_words_and_that_wrong_words_are_caught(monkeypatch):
    assert all(defect == 0 for defect in lambda_balanced._defects())
    with monkeypatch.context() as patch:
        patch.setattr(lambda_balanced, "_solution", lambda e, q, m, qt: e * q * m * qt)
        assert any(defect != 0 for defect in lambda_balanced._defects.__wrapped__())


W1 = [["1/10", 0, 0], [0, "1/10", 0]]
W2 = [["1/10", 0], [0, "1/10"]]
SIGMA = [[1, "1/2", 0], ["-1/3", 2, 1]]


def solved(**changed):
    given = {
        "sigma_yx": exact(SIGMA),
        "sigma_x": ExactMatrix.identity(3).scale(Fraction(1, 2)),
        "w1": exact(W1),
        "w2": exact(W2),
        "tau": Fraction(3),
    }
    return solve(**{**given, **changed})


def test_exact_solution_float_ball_and_limits():
    solution = solved()
    assert (solution.beta, solution.balance) == (Fraction(1, 2), 0)
    assert solution.residual() == 0
    times = np.array([7.0, 0.0, 1e12, 1e300])
    found = solution.to_numpy(times)
    ball = solution.enclose(Fraction(7), bits=170)
    entries = np.array([[float(ball[i, j]) for j in range(3)] for i in range(2)])
    np.testing.assert_allclose(found[0], entries, rtol=1e-12)
    assert all(x.rel_accuracy_bits() > 150 for x in ball.entries())
    np.testing.assert_allclose(found[1], (solution.w2 @ solution.w1).to_numpy(), rtol=1e-15)
    plateau = 2 * exact(SIGMA).to_numpy()
    np.testing.assert_allclose(found[2:], [plateau, plateau], atol=1e-13)
    assert solution.plateau() == exact(SIGMA).scale(2)


@pytest.mark.parametrize("balance", ["0", "16/25", "-16/25"])
def test_plateau_is_learned_and_no_more_than_that(balance):
    # W2ᵀW2 − W1W1ᵀ = λ by 3² + 4² = 5²; the limit is met by numbers at a large time.
    lam = Fraction(balance)
    first, second = {0: ("1", "1"), 1: ("3/5", "1"), -1: ("1", "3/5")}[(lam > 0) - (lam < 0)]
    sigma, one = exact([[2, 1], [1, "3/2"]]), ExactMatrix.identity(2)
    solution = solve(sigma, one, exact([[first, 0], [0, first]]), exact([[second, 0], [0, second]]))
    assert solution.balance == lam
    limit = solution.plateau()
    assert limit == sigma
    np.testing.assert_allclose(solution.to_numpy(np.array([60.0]))[0], limit.to_numpy(), atol=1e-10)


def test_plateau_is_refused_where_something_is_left():
    sigma, one = exact([[2, 1], [1, "3/2"]]), ExactMatrix.identity(2)
    eye = exact([[1, 0], [0, 1]])
    turned = exact([[-1, 0], [0, 1]])  # det W2W1 keeps its sign while weights are balanced
    for weights in ((turned, eye), (exact([["1/2", 0]]), exact([["1/2"], [0]]))):
        solution = solve(sigma, one, *weights)
        with pytest.raises(NoClosedFormError, match="not proven"):
            solution.plateau()
        left = np.abs(solution.to_numpy(np.array([200.0]))[0] - sigma.to_numpy()).max()
        assert left > 0.3
    zero = solve(exact([[0, 0], [0, 0]]), one, eye, eye)
    assert zero.plateau() == zero.sigma_yx


def test_few_hidden_units_learn_the_strongest_modes():
    rng = np.random.default_rng(0)
    u, v = orthogonal(rng, 4), orthogonal(rng, 4)
    s = np.array([4.0, 3.0, 2.0, 1.0])
    r = orthogonal(rng, 2)
    w1 = 1e-4 * r @ orthogonal(rng, 4)[:2]
    w2 = orthogonal(rng, 4)[:, :2] @ (1e-4 * r.T)
    found = gram_float(u * s @ v.T, w1, w2, 1.0, 0.0, 1.0, np.array([1e3, 1e12]))[:, 4:, :4]
    expected = u[:, :2] * s[:2] @ v[:, :2].T
    np.testing.assert_allclose(found, [expected, expected], atol=1e-12)


@pytest.mark.parametrize("shift", [0.0, 0.7, -0.7])
def test_eigenbasis(shift):
    rng = np.random.default_rng(1)
    for n_y, n_x in ((2, 3), (4, 2), (3, 3)):
        sigma = rng.normal(size=(n_y, n_x))
        sigma[0] = 0
        o, values = eigenbasis(sigma, shift)
        half = shift / 2
        f = np.block([[-half * np.eye(n_x), sigma.T], [sigma, half * np.eye(n_y)]])
        np.testing.assert_allclose(o.T @ o, np.eye(n_x + n_y), atol=1e-14)
        np.testing.assert_allclose(o * values @ o.T, f, atol=1e-14)


def test_coloured_inputs_and_unbalanced_weights_are_refused():
    with pytest.raises(NoClosedFormError, match="coloured"):
        solved(sigma_x=ExactMatrix.diagonal([1, 1, 2]))
    with pytest.raises(NoClosedFormError, match="coloured"):
        solved(sigma_x=exact([[1, "1/9", 0], ["1/9", 1, 0], [0, 0, 1]]))
    with pytest.raises(NoClosedFormError, match="no multiple of the identity"):
        solved(w1=exact([["1/10", 0, 0], [0, "1/5", 0]]))
    with pytest.raises(InputError, match="do not fit"):
        solved(w1=exact([[1, 0], [0, 1]]))
