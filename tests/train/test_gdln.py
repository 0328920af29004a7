"""Gated deep linear networks: gradients under gates and masks, stages, replay of a ReLU network."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest

from symreln.train.network import GatedPathway
from symreln.train.record import Recording
from symreln.train.trainers import train_gdln, train_network
from symreln.train.weights import LayerWeights


def output_by_sample(pathway, w1, w2, inputs, n_y):
    """g(μ) O W2 W1 I x_μ for all samples, with masks as matrices."""
    n_x, samples = inputs.shape
    mask_in = np.zeros((len(pathway.inputs), n_x))
    mask_in[np.arange(len(pathway.inputs)), list(pathway.inputs)] = 1
    mask_out = np.zeros((n_y, len(pathway.outputs)))
    mask_out[list(pathway.outputs), np.arange(len(pathway.outputs))] = 1
    outputs = np.zeros((n_y, samples))
    for sample in range(samples):
        outputs[:, sample] = (
            pathway.gate[sample] * mask_out @ (w2 @ (w1 @ (mask_in @ inputs[:, sample])))
        )
    return outputs


def gradient_of(pathway, weights, others, inputs, targets, loss):
    """Central differences of the loss of (targets − others) in the weights of one pathway."""

    def value(w1, w2):
        error = targets - others - output_by_sample(pathway, w1, w2, inputs, len(targets))
        return 0.5 * np.sum(error**2) / (1 if loss == "sum" else inputs.shape[1])

    def differences(array, function, step=1e-6):
        gradient = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            shift = np.zeros_like(array)
            shift[index] = step
            gradient[index] = (function(array + shift) - function(array - shift)) / (2 * step)
        return gradient

    w1, w2 = weights.w1[0], weights.w2[0]
    return differences(w1, lambda w: value(w, w2)), differences(w2, lambda w: value(w1, w))


def initial_of(pathways, start_weights, seeds=1):
    return {
        p.name: start_weights(len(p.inputs), p.hidden, len(p.outputs), seeds=seeds, key=position)
        for position, p in enumerate(pathways)
    }


def with_gains(pathways):
    """The same pathways with other gates than 0 and 1 on the samples on which they are open."""
    factors = np.array([0.5, -1.25, 2, 1, 0.75, 1.5, -0.5])
    return tuple(replace(p, gate=factors * p.gate) for p in pathways)


@pytest.mark.parametrize("gains", [False, True])
@pytest.mark.parametrize("training", ["joint", "staged"])
@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_step_goes_down_the_gradient(
    data, pathways, make_settings, start_weights, training, loss, gains
):
    inputs, targets = data
    if gains:
        pathways = with_gains(pathways)
    initial = initial_of(pathways, start_weights)
    rate = 1e-3
    settings = make_settings(loss=loss, learning_rate=rate, steps=2)
    run = train_gdln(inputs, targets, pathways, settings, training=training, initial=initial)
    outputs = {
        p.name: output_by_sample(p, initial[p.name].w1[0], initial[p.name].w2[0], inputs, 3)
        for p in pathways
    }
    for position, pathway in enumerate(pathways):
        seen = [
            outputs[other.name]
            for other in pathways
            if other is not pathway and (training == "joint" or other.stage <= pathway.stage)
        ]
        others = sum(seen, np.zeros((3, 7)))
        before, after = initial[pathway.name], run.weights[position]
        expected = gradient_of(pathway, before, others, inputs, targets, loss)
        # Central differences: rounding 1e-16 L / 1e-6 with L near 100, truncation smaller.
        np.testing.assert_allclose((before.w1 - after.w1)[0] / rate, expected[0], atol=1e-7)
        np.testing.assert_allclose((before.w2 - after.w2)[0] / rate, expected[1], atol=1e-7)
    total = np.sum((targets - sum(outputs.values())) ** 2) / (2 * 7)
    # Two orders of summing some twenty squares.
    np.testing.assert_allclose(run.losses[0, 0], total, rtol=1e-13)


def test_one_step_by_hand(make_settings):
    # Two scalar pathways: "all" on both samples, "second" on the second sample only.
    pathways = [
        GatedPathway(name="all", gate=[1, 1], inputs=[0], outputs=[0], hidden=1),
        GatedPathway(name="second", gate=[0, 1], inputs=[0], outputs=[0], hidden=1, stage=2),
    ]
    one = LayerWeights(w1=np.array([[[1.0]]]), w2=np.array([[[1.0]]]))
    two = LayerWeights(w1=np.array([[[2.0]]]), w2=np.array([[[1.0]]]))
    settings = make_settings(loss="sum", learning_rate=0.1, steps=2)
    found = {}
    for training in ("joint", "staged"):
        run = train_gdln(
            [[1.0, 1.0]],
            [[3.0, 5.0]],
            pathways,
            settings,
            training=training,
            initial={"all": one, "second": two},
        )
        found[training] = [w.w1.item() for w in run.weights] + [w.w2.item() for w in run.weights]
        # Residuals of both pathways: 3 - 1 = 2, 5 - 1 - 2 = 2; mean loss (4 + 4)/4.
        assert run.losses[0, 0] == 2.0
    # Joint, "all" pulls with 2 + 2 = 4; staged with (3 - 1) + (5 - 1) = 6, not seeing "second".
    # "second" pulls with 2 in both: w1 = 2 + 0.1*1*2, w2 = 1 + 0.1*2*2.
    np.testing.assert_allclose(found["joint"], [1.4, 2.2, 1.4, 1.4], rtol=1e-15)
    np.testing.assert_allclose(found["staged"], [1.6, 2.2, 1.6, 1.4], rtol=1e-15)


def test_staged_with_one_stage_is_joint(data, pathways, make_settings):
    same = [dataclasses.replace(pathway, stage=4) for pathway in pathways]
    runs = [
        train_gdln(*data, some, make_settings(), training=training, seeds=3, rng=1)
        for some, training in ((same, "joint"), (same, "staged"), (pathways, "staged"))
    ]
    np.testing.assert_array_equal(runs[0].losses, runs[1].losses)
    for joint, staged in zip(runs[0].weights, runs[1].weights, strict=True):
        np.testing.assert_array_equal(joint.w1, staged.w1)
    assert np.abs(runs[2].losses - runs[0].losses).max() > 1e-3  # stages do change the training


def test_early_stages_do_not_notice_later_ones(data, pathways, make_settings):
    settings = make_settings(steps=60)
    with_later = train_gdln(*data, pathways, settings, training="staged", seeds=2, rng=5)
    alone = train_gdln(*data, pathways[:2], settings, training="staged", seeds=2, rng=5)
    joint = train_gdln(*data, pathways, settings, training="joint", seeds=2, rng=5)
    for position in range(2):
        a, b = with_later.weights[position], alone.weights[position]
        np.testing.assert_array_equal(a.w1, b.w1)
        np.testing.assert_array_equal(a.w2, b.w2)
        assert np.abs(joint.weights[position].w2 - b.w2).max() > 1e-3


def test_closed_samples_and_masked_inputs_have_no_say(data, pathways, make_settings):
    # Change what only masked or gated-off entries see: "late" alone must train the same.
    inputs, targets = (array.copy() for array in data)
    late = (pathways[2],)
    settings = make_settings(steps=30)
    before = train_gdln(inputs, targets, late, settings, rng=0)
    inputs[1] += 5  # not an input of "late"
    inputs[:, [0, 2, 4]] += 7  # its gate is closed there
    after = train_gdln(inputs, targets, late, settings, rng=0)
    np.testing.assert_array_equal(before.weights[0].w1, after.weights[0].w1)
    inputs[0, 1] += 1  # an input on an open sample
    changed = train_gdln(inputs, targets, late, settings, rng=0)
    assert np.abs(changed.weights[0].w1 - after.weights[0].w1).max() > 1e-6


def test_replays_a_relu_network_whose_gates_are_constant(make_settings):
    # Inputs e1, e2, weights of opposite signs: a neuron is open on one sample, and the weight that
    # keeps it closed on the other gets no gradient, so its gate never moves.
    rng = np.random.default_rng(8)
    inputs, targets = np.eye(2), rng.standard_normal((3, 2))
    size = 0.1 + rng.random((1, 6, 2))
    signs = np.array([[1, -1]] * 4 + [[-1, 1]] * 2)
    w1, w2 = size * signs, 0.1 * rng.standard_normal((1, 3, 6))
    settings = make_settings(hidden=6, learning_rate=0.05, steps=400)
    relu = train_network(inputs, targets, settings, initial=LayerWeights(w1=w1, w2=w2))
    pathways = [
        GatedPathway(name="first", gate=[1, 0], inputs=range(2), outputs=range(3), hidden=4),
        GatedPathway(name="second", gate=[0, 1], inputs=range(2), outputs=range(3), hidden=2),
    ]
    initial = {
        "first": LayerWeights(w1=w1[:, :4], w2=w2[:, :, :4]),
        "second": LayerWeights(w1=w1[:, 4:], w2=w2[:, :, 4:]),
    }
    gdln = train_gdln(inputs, targets, pathways, settings, initial=initial)
    assert relu.losses[0, -1] < 0.5 * relu.losses[0, 0]
    # The same arithmetic in another order, 400 steps of contracting dynamics.
    np.testing.assert_allclose(gdln.losses, relu.losses, rtol=1e-11)
    np.testing.assert_allclose(gdln.weights[0].w1, relu.weights[0].w1[:, :4], rtol=1e-11)


def test_one_open_pathway_is_the_linear_network(data, make_settings, start_weights):
    start = start_weights(4, 5, 3, seeds=2)
    whole = GatedPathway(name="w", gate=[1] * 7, inputs=range(4), outputs=range(3), hidden=5)
    settings = make_settings(activation="linear")
    linear = train_network(*data, settings, initial=start)
    gdln = train_gdln(*data, [whole], settings, initial={"w": start})
    np.testing.assert_array_equal(linear.losses, gdln.losses)


@pytest.mark.parametrize("training", ["joint", "staged"])
def test_recorded_maps_give_the_recorded_losses(data, pathways, make_settings, training):
    inputs, targets = data
    record = Recording(quantities=("maps", "contribution"), steps=(0, 3, 19))
    run = train_gdln(
        inputs, targets, pathways, make_settings(), training=training, seeds=2, rng=0, record=record
    )
    maps = run.snapshots["maps"]
    assert maps.shape == (2, 3, 4, 3, 4)
    gates = np.array([pathway.gate for pathway in pathways])
    outputs = np.einsum("skpyx,xm,pm->skym", maps, inputs, gates)
    losses = np.sum((targets - outputs) ** 2, axis=(2, 3)) / (2 * 7)
    # Two orders of summing some hundred products.
    np.testing.assert_allclose(losses, run.losses[:, [0, 3, 19]], rtol=1e-12)
    assert run.snapshots["contribution"].shape == (2, 3, 4 + 3 + 2 + 2)
    last = run.weights[2]
    expected = np.linalg.norm(last.w1, axis=2) * np.linalg.norm(last.w2, axis=1)
    np.testing.assert_array_equal(run.snapshots["contribution"][:, -1, 7:9], expected)
