"""Weight decay: its gradient, its convention for both losses, and the closed form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from symreln.train.trainers import train_gdln, train_network
from tests.train.test_arrays import strict
from tests.train.test_relu import aligned_problem, finite_difference, loss_by_sample

DECAY = 0.3


def penalised(w1, w2, inputs, targets, activation, loss):
    """Loss and decay as theory.md 4 writes them: λ/2 of all squares beside the mean loss."""
    decay = DECAY / 2 * (np.sum(w1**2) + np.sum(w2**2))
    data = loss_by_sample(w1, w2, inputs, targets, activation, loss)
    return data + decay * (inputs.shape[1] if loss == "sum" else 1)


@pytest.mark.parametrize("activation", ["relu", "linear"])
@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_step_goes_down_the_gradient(data, make_settings, start_weights, activation, loss):
    before, rate = start_weights(4, 5, 3, seeds=2), 1e-3
    settings = make_settings(
        activation=activation, loss=loss, learning_rate=rate, steps=2, weight_decay=DECAY
    )
    run = train_network(*data, settings, initial=before)
    for seed in range(2):
        w1, w2 = before.w1[seed], before.w2[seed]
        expected_1 = finite_difference(
            lambda w, w2=w2: penalised(w, w2, *data, activation, loss), w1
        )
        expected_2 = finite_difference(
            lambda w, w1=w1: penalised(w1, w, *data, activation, loss), w2
        )
        # Central differences: rounding 1e-16 L / 1e-6 with L near 100, truncation smaller.
        np.testing.assert_allclose((w1 - run.weights[0].w1[seed]) / rate, expected_1, atol=1e-7)
        np.testing.assert_allclose((w2 - run.weights[0].w2[seed]) / rate, expected_2, atol=1e-7)
    # The recorded loss is the data's alone.
    plain = train_network(*data, replace(settings, weight_decay=0.0), initial=before)
    np.testing.assert_array_equal(run.losses[:, 0], plain.losses[:, 0])


@pytest.mark.parametrize("training", ["joint", "staged"])
def test_every_weight_of_a_gdln_shrinks_beside_its_step(data, pathways, make_settings, training):
    settings = make_settings(steps=2, learning_rate=0.01)
    start, plain, decayed = (
        train_gdln(*data, pathways, changed, training=training, seeds=2, rng=1).weights
        for changed in (
            replace(settings, steps=1),
            settings,
            replace(settings, weight_decay=DECAY),
        )
    )
    for before, one, other in zip(start, plain, decayed, strict=True):
        for layer in ("w1", "w2"):
            expected = getattr(one, layer) - 0.01 * DECAY * getattr(before, layer)
            np.testing.assert_allclose(getattr(other, layer), expected, rtol=1e-13, atol=1e-16)


def test_both_losses_mean_the_same_decay(data, make_settings):
    mean = make_settings(learning_rate=0.07, weight_decay=DECAY, steps=50)
    summed = replace(mean, loss="sum", learning_rate=0.07 / 7)
    one, other = (train_network(*data, s, seeds=2, rng=0).losses for s in (mean, summed))
    np.testing.assert_allclose(one, other, rtol=1e-11)


@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_aligned_start_follows_the_form_with_s_less_lambda(loss, make_settings):
    # s = 2, 1, 0.5 and λ = 0.7: the first two are learned to (s − λ)/d, the third dies out.
    inputs, targets, weights, _, per_step = aligned_problem(loss)
    s, d, start = np.array([2.0, 1.0, 0.5]), np.array([0.7, 1.1, 0.4]), np.array([0.02, 0.05, 0.01])
    growth = s - 0.7
    deviations = []
    for rate in (0.02, 0.01, 0.005):
        rate = rate / per_step
        steps = round(9 / (rate * per_step)) + 1
        settings = make_settings(
            hidden=4,
            learning_rate=rate,
            loss=loss,
            steps=steps,
            activation="linear",
            weight_decay=0.7,
        )
        run = train_network(inputs, targets, settings, initial=weights)
        time = np.arange(steps)[:, None] * rate * per_step
        strength = (growth / d) / (1 + (growth / (d * start) - 1) * np.exp(-2 * growth * time))
        gained = np.sum(s * strength - d * strength**2 / 2, axis=1)
        predicted = np.sum(targets**2) / 6 - gained
        deviations.append(np.abs(run.losses[0] - predicted).max() / predicted[0])
        assert np.all(np.sign(strength[-1] - start) == np.sign(growth))
    orders = np.log2(np.array(deviations[:-1]) / deviations[1:])
    assert deviations[-1] < 0.01
    # Euler's method is of first order; the next term moves the estimate by about the rate times s.
    assert np.all((orders > 0.8) & (orders < 1.2)), (deviations, orders)


def test_the_same_on_another_library_and_in_workers(data, pathways, make_settings):
    settings = make_settings(steps=40, weight_decay=DECAY)
    here, there, portable = (
        train_gdln(*arrays, pathways, settings, training="staged", seeds=3, rng=0, workers=workers)
        for arrays, workers in ((data, 1), (data, 2), (strict(data), None))
    )
    np.testing.assert_array_equal(here.losses, there.losses)
    np.testing.assert_allclose(portable.losses, here.losses, rtol=1e-12)
    relu, other = (
        train_network(*arrays, settings, seeds=2, rng=0) for arrays in (data, strict(data))
    )
    np.testing.assert_allclose(other.losses, relu.losses, rtol=1e-12)
