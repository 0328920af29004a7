"""Snapshots: at the right steps, of the right weights, reduced rightly."""

from __future__ import annotations

import numpy as np
import pytest

from symreln.errors import InputError
from symreln.train import memory
from symreln.train.assignment import nearest_gates, nearest_outputs
from symreln.train.record import Recording
from symreln.train.trainers import train_gdln, train_network


def weights_observer(step, weights):
    return np.concatenate([weights[0].w1.reshape(len(weights[0].w1), -1)], axis=1)


def test_snapshots_are_of_the_weights_at_their_step(data, make_settings):
    # Blocks of 64 steps must not shift them: compare with trainings that end at that step.
    steps = (0, 1, 63, 64, 65, 129)
    record = Recording(observers={"weights": weights_observer}, steps=steps)
    run = train_network(*data, make_settings(steps=130), seeds=2, rng=0, record=record)
    assert run.snapshot_steps == steps
    for position, step in enumerate(steps):
        short = train_network(*data, make_settings(steps=step + 1), seeds=2, rng=0)
        expected = weights_observer(step, short.weights)
        np.testing.assert_array_equal(run.snapshots["weights"][:, position], expected)


def test_default_steps_spread_over_decades():
    record = Recording(quantities=("maps",))
    steps = record.snapshot_steps(8001)
    assert (steps[0], steps[1], steps[-1]) == (0, 1, 8000)
    assert 20 <= len(steps) <= 25
    ratios = np.diff(np.log(steps[8:]))
    # Spread evenly in the logarithm, up to rounding to whole steps.
    assert ratios.max() - ratios.min() < 0.1
    assert record.snapshot_steps(1) == (0,)
    assert record.snapshot_steps(3) == (0, 1, 2)
    assert Recording().snapshot_steps(8001) == ()


def test_quantities_of_a_relu_network(data, make_settings):
    inputs, _ = data
    gates = np.array([[1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0]])
    record = Recording(
        quantities=("activity", "contribution", "maps", "gate_maps"), gates=gates, steps=(0, 19)
    )
    run = train_network(*data, make_settings(), seeds=3, rng=0, record=record)
    layer = run.weights[0]
    for seed in range(3):
        w1, w2 = layer.w1[seed], layer.w2[seed]
        activity = run.snapshots["activity"][seed, -1]
        assert activity.dtype == bool
        expected = [[w @ x > 0 for x in inputs.T] for w in w1]
        np.testing.assert_array_equal(activity, expected)
        contribution = run.snapshots["contribution"][seed, -1]
        size = [np.sqrt(w1[h] @ w1[h]) * np.sqrt(w2[:, h] @ w2[:, h]) for h in range(5)]
        np.testing.assert_allclose(contribution, size, rtol=1e-14)  # a few roundings
        np.testing.assert_allclose(run.snapshots["maps"][seed, -1, 0], w2 @ w1, rtol=1e-13)
        by_gate = np.zeros((3, 3, 4))
        for h in range(5):
            seen = w1[h] @ inputs
            own = np.maximum(seen, 0)
            distances = [float(np.sum((own - gate * seen) ** 2)) for gate in gates]
            by_gate[distances.index(min(distances))] += np.outer(w2[:, h], w1[h])
        # Up to the order of summing five products.
        np.testing.assert_allclose(run.snapshots["gate_maps"][seed, -1], by_gate, atol=1e-14)


def test_a_silent_sample_does_not_decide_whose_unit_it_is():
    # All but silent on the first sample, which differs between the gates as much as the second.
    gates = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1]])
    seen = np.array([[1e-9, 2.0, 1.0], [-1e-9, 2.0, 1.0], [3.0, -1e-9, 1.0], [2.0, 2.0, -1.0]])
    np.testing.assert_array_equal(nearest_outputs(seen, gates), [2, 1, 0, 2])
    np.testing.assert_array_equal(nearest_outputs(seen[:2], gates[:2]), [1, 1])
    assert nearest_gates(seen[:1] > 0, gates[:2])[0] == 0  # by counting it is the other's


def test_nearest_gate_ties_go_to_the_first():
    patterns = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    gates = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1]])
    index, distance = nearest_gates(patterns, gates)
    np.testing.assert_array_equal(index, [0, 0, 2])  # the first is one sample from 0 and from 1
    np.testing.assert_array_equal(distance, [1, 0, 0])


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_goes_up_to_the_total(data, make_settings, workers, monkeypatch):
    monkeypatch.setattr(memory, "CACHE_BYTES", 1)  # four chunks of one seed
    calls = []
    train_network(
        *data,
        make_settings(steps=200),
        seeds=4,
        workers=workers,
        progress=lambda done, total: calls.append((done, total)),
    )
    done = [first for first, _ in calls]
    assert done == sorted(done)
    assert calls[-1] == (800, 800)
    assert {total for _, total in calls} == {800}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (lambda: Recording(quantities=("maps",), steps=(0, 20)), r"\[20\].*from 0 to 19"),
        (lambda: Recording(quantities=("maps",), steps=()), "empty.*from 0 to 19"),
        (lambda: Recording(quantities=("loss",)), r"\['loss'\] unknown.*activity"),
        (lambda: Recording(quantities=("gate_maps",)), r"shape is \(0,\).*\(G, 7\)"),
        (lambda: Recording(quantities=("gate_maps",), gates=[[1, 0]]), r"\(1, 2\).*\(G, 7\)"),
        (
            lambda: Recording(quantities=("maps",), observers={"maps": weights_observer}),
            r"\['maps'\] are names.*Rename",
        ),
    ],
)
def test_wrong_recordings_are_refused(data, make_settings, record, message):
    with pytest.raises(InputError, match=message):
        train_network(*data, make_settings(), record=record())


@pytest.mark.parametrize("quantity", ["activity", "gate_maps"])
def test_gated_networks_have_no_activity(data, pathways, make_settings, quantity):
    with pytest.raises(InputError, match=f"'{quantity}' needs activity patterns"):
        train_gdln(*data, pathways, make_settings(), record=Recording(quantities=(quantity,)))
