"""The one-layer network: gradients, one step by hand, and the closed sigmoid."""

from __future__ import annotations

import numpy as np
import pytest

from symreln.train.trainers import train_network
from symreln.train.weights import LayerWeights


def loss_by_sample(w1, w2, inputs, targets, activation, loss):
    """The loss as theory.md writes it, one sample after the other."""
    total = 0.0
    for x, y in zip(inputs.T, targets.T, strict=True):
        hidden = w1 @ x
        if activation == "relu":
            hidden = np.array([max(value, 0.0) for value in hidden])
        error = y - w2 @ hidden
        total += 0.5 * sum(error**2)
    return total if loss == "sum" else total / inputs.shape[1]


def finite_difference(function, array, step=1e-6):
    gradient = np.zeros_like(array)
    for index in np.ndindex(array.shape):
        ahead, behind = array.copy(), array.copy()
        ahead[index] += step
        behind[index] -= step
        gradient[index] = (function(ahead) - function(behind)) / (2 * step)
    return gradient


@pytest.mark.parametrize("activation", ["relu", "linear"])
@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_step_goes_down_the_gradient(data, make_settings, start_weights, activation, loss):
    inputs, targets = data
    before = start_weights(4, 5, 3, seeds=2)
    rate = 1e-3
    settings = make_settings(activation=activation, loss=loss, learning_rate=rate, steps=2)
    run = train_network(inputs, targets, settings, initial=before)
    for seed in range(2):
        w1, w2 = before.w1[seed], before.w2[seed]
        expected_1 = finite_difference(
            lambda w, w2=w2: loss_by_sample(w, w2, inputs, targets, activation, loss), w1
        )
        expected_2 = finite_difference(
            lambda w, w1=w1: loss_by_sample(w1, w, inputs, targets, activation, loss), w2
        )
        # Central differences: rounding 1e-16 L / 1e-6 with L near 100, truncation smaller.
        found_1 = (w1 - run.weights[0].w1[seed]) / rate
        found_2 = (w2 - run.weights[0].w2[seed]) / rate
        np.testing.assert_allclose(found_1, expected_1, atol=1e-7)
        np.testing.assert_allclose(found_2, expected_2, atol=1e-7)


@pytest.mark.parametrize("activation", ["relu", "linear"])
@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_recorded_losses_are_means_before_the_update(
    data, make_settings, start_weights, activation, loss
):
    inputs, targets = data
    before = start_weights(4, 5, 3)
    settings = make_settings(activation=activation, loss=loss, learning_rate=1e-3, steps=2)
    run = train_network(inputs, targets, settings, initial=before)
    after = run.weights[0]
    expected = [
        loss_by_sample(w.w1[0], w.w2[0], inputs, targets, activation, "mean")
        for w in (before, after)
    ]
    # Two orders of summing some twenty squares.
    np.testing.assert_allclose(run.losses[0], expected, rtol=1e-13)


def test_one_step_by_hand(make_settings):
    # Two samples, P = 2; the second neuron is closed on the first sample, the first on the second.
    inputs = np.array([[1.0, -1.0]])
    targets = np.array([[2.0, 3.0]])
    start = LayerWeights(w1=np.array([[[1.0], [-2.0]]]), w2=np.array([[[0.5, 1.0]]]))
    settings = make_settings(hidden=2, learning_rate=0.1, loss="sum", steps=2)
    run = train_network(inputs, targets, settings, initial=start)
    # Sample 1: hidden (1, 0), y - yhat = 2 - 0.5 = 1.5.  Sample 2: hidden (0, 2), 3 - 2 = 1.
    # w2 += 0.1 (1.5*1, 1*2);  w1 += 0.1 (0.5*1.5*1, 1.0*1*(-1)).
    np.testing.assert_allclose(run.weights[0].w2[0], [[0.65, 1.2]], rtol=1e-15)
    np.testing.assert_allclose(run.weights[0].w1[0], [[1.075], [-2.1]], rtol=1e-15)
    # Mean loss although the summed one is descended: (1.5^2 + 1)/4, then with
    # yhat = 1.075*0.65 and 2.1*1.2.
    after = ((2 - 1.075 * 0.65) ** 2 + (3 - 2.1 * 1.2) ** 2) / 4
    np.testing.assert_allclose(run.losses[0], [0.8125, after], rtol=1e-15)


def aligned_problem(loss: str):
    """Targets with modes s, inputs with d, and weights balanced and aligned with them."""
    rng = np.random.default_rng(3)
    s, d, start = np.array([2.0, 1.0, 0.5]), np.array([0.7, 1.1, 0.4]), np.array([0.02, 0.05, 0.01])
    u, v, r = (np.linalg.qr(rng.standard_normal((n, 3)))[0] for n in (5, 3, 4))
    samples = 3
    inputs = v * np.sqrt(samples * d)  # X Xᵀ / P = V D Vᵀ
    targets = u * (s * np.sqrt(samples / d))  # Y Xᵀ / P = U S Vᵀ
    amplitude = np.sqrt(start)
    weights = LayerWeights(w1=((r * amplitude) @ v.T)[None], w2=((u * amplitude) @ r.T)[None])

    def closed_loss(time):
        plateau = s / d
        strength = plateau / (1 + (plateau / start - 1) * np.exp(-2 * s * time[:, None]))
        initial = np.sum(targets**2) / (2 * samples)
        return initial - np.sum(s * strength - d * strength**2 / 2, axis=1)

    per_step = samples if loss == "sum" else 1.0  # tau = 1/(P eta) or 1/eta
    return inputs, targets, weights, closed_loss, per_step


@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_aligned_linear_network_follows_the_sigmoid_in_first_order(loss, make_settings):
    inputs, targets, weights, closed_loss, per_step = aligned_problem(loss)
    deviations = []
    for rate in (0.02, 0.01, 0.005):
        rate = rate / per_step
        steps = round(6 / (rate * per_step)) + 1
        settings = make_settings(
            hidden=4, learning_rate=rate, loss=loss, steps=steps, activation="linear"
        )
        run = train_network(inputs, targets, settings, initial=weights)
        predicted = closed_loss(np.arange(steps) * rate * per_step)
        deviations.append(np.abs(run.losses[0] - predicted).max() / predicted[0])
    orders = np.log2(np.array(deviations[:-1]) / deviations[1:])
    assert deviations[-1] < 0.01
    # Euler's method is of first order; the next term moves the estimate by about the rate times s.
    assert np.all((orders > 0.8) & (orders < 1.2)), (deviations, orders)


def test_neurons_without_gradient_stay(make_settings):
    # A neuron that is closed on all samples has no gradient and must not move.
    start = LayerWeights(w1=np.array([[[-1.0], [1.0]]]), w2=np.array([[[1.0, 1.0]]]))
    run = train_network([[1.0, 2.0]], [[1.0, 1.0]], make_settings(hidden=2), initial=start)
    assert run.weights[0].w1[0, 0, 0] == -1.0
    assert run.weights[0].w2[0, 0, 0] == 1.0
    assert run.weights[0].w1[0, 1, 0] != 1.0


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 3, 2), (3, 1, 1)])
@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_given_weights_are_left_alone(shape, activation, make_settings, start_weights):
    # With one input or one hidden unit a transposed view is contiguous: no copy by accident.
    n_x, hidden, n_y = shape
    start = start_weights(n_x, hidden, n_y)
    w1, w2 = start.w1.copy(), start.w2.copy()
    rng = np.random.default_rng(0)
    settings = make_settings(hidden=hidden, activation=activation)
    run = train_network(
        rng.standard_normal((n_x, 4)), rng.standard_normal((n_y, 4)), settings, initial=start
    )
    np.testing.assert_array_equal(start.w1, w1)
    np.testing.assert_array_equal(start.w2, w2)
    assert run.losses[0, -1] != run.losses[0, 0]
