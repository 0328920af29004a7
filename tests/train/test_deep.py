"""Networks of any depth: gradients, one hidden layer, biases, streams, and replayed gates."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import array_api_strict
import numpy as np
import pytest

from symreln.errors import InputError
from symreln.train.network import GatedPathway, pathway_network
from symreln.train.record import Recording
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import replay_gates, train_deep_network, train_graph, train_network


def made(**changes):
    values = {
        "hidden": 1,
        "init_std": 0.6,
        "learning_rate": 0.01,
        "loss": "mean",
        "steps": 2,
    }
    return TrainingSettings(**{**values, **changes})


def drawn(widths, *, n_x=4, n_y=3, seeds=1, biases=False, key=0):
    rng = np.random.default_rng([8, key])
    sizes = (n_x, *widths, n_y)
    return [
        rng.standard_normal((seeds, after, before + biases)) / np.sqrt(before)
        for before, after in pairwise(sizes)
    ]


def loss_by_sample(layers, inputs, targets, activation, loss, biases):
    """The loss written out, one sample after the other."""
    total = 0.0
    for x, y in zip(inputs.T, targets.T, strict=True):
        held = x
        for place, layer in enumerate(layers):
            held = layer @ (np.append(held, 1.0) if biases else held)
            if place + 1 < len(layers) and activation == "relu":
                held = np.array([max(value, 0.0) for value in held])
        total += 0.5 * sum((y - held) ** 2)
    return total if loss == "sum" else total / inputs.shape[1]


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("activation", ["relu", "linear"])
@pytest.mark.parametrize(
    ("widths", "loss", "decay"),
    [((), "mean", 0.0), ((5,), "sum", 0.0), ((4, 3), "mean", 0.3), ((3, 5, 2), "sum", 0.02)],
)
def test_a_step_goes_down_the_gradient(data, widths, activation, loss, decay, biases):
    inputs, targets = data
    before = drawn(widths, seeds=2, biases=biases)
    rate = 1e-3
    chosen = made(activation=activation, loss=loss, learning_rate=rate, weight_decay=decay)
    run = train_deep_network(*data, widths, chosen, initial=before, biases=biases)
    penalty = decay * (7 if loss == "sum" else 1)
    moved = 0
    for seed in range(2):
        own = [layer[seed] for layer in before]
        for place, layer in enumerate(own):
            for index in np.ndindex(layer.shape):
                values = []
                for shift in (1e-6, -1e-6):
                    changed = [one.copy() for one in own]
                    changed[place][index] += shift
                    square = sum((one**2).sum() for one in changed)
                    values.append(
                        loss_by_sample(changed, inputs, targets, activation, loss, biases)
                        + penalty * square / 2
                    )
                slope = (values[0] - values[1]) / 2e-6
                found = (layer[index] - run.matrices[place][seed][index]) / rate
                assert found == pytest.approx(slope, abs=2e-7)
                moved += abs(slope) > 1e-2
    assert moved > 10


@pytest.mark.parametrize("loss", ["sum", "mean"])
@pytest.mark.parametrize("batch", [None, 3])
def test_one_hidden_layer_is_the_two_layer_trainer(data, make_settings, loss, batch):
    """From the same random weights: the same stream in the same order."""
    chosen = make_settings(loss=loss, learning_rate=0.004, steps=80, batch_size=batch)
    chosen = replace(chosen, weight_decay=0.01)
    record = Recording(quantities=("activity", "outputs"), steps=(0, 40, 79))
    here = train_deep_network(*data, (5,), chosen, seeds=3, rng=2, record=record)
    there = train_network(*data, chosen, seeds=3, rng=2, record=record)
    np.testing.assert_array_equal(here.losses[:, 0], there.losses[:, 0])
    np.testing.assert_allclose(here.losses, there.losses, rtol=1e-12)
    np.testing.assert_array_equal(here.snapshots["activity"], there.snapshots["activity"])
    np.testing.assert_allclose(here.snapshots["outputs"], there.snapshots["outputs"], atol=1e-12)
    np.testing.assert_allclose(here.matrices[0], there.weights[0].w1, atol=1e-12)
    np.testing.assert_allclose(here.matrices[1], there.weights[0].w2, atol=1e-12)


def test_two_scales_are_those_of_the_layers(data, make_settings):
    chosen = make_settings(hidden=400, init_std=(1e-3, 2.0), steps=1)
    shallow = train_network(*data, chosen, seeds=2, rng=0)
    # 3200 and 2400 numbers: five standard errors.
    assert shallow.weights[0].w1.std() == pytest.approx(1e-3, rel=0.075)
    assert shallow.weights[0].w2.std() == pytest.approx(2.0, rel=0.075)
    deep = train_deep_network(*data, (400,), chosen, seeds=2, rng=0)
    np.testing.assert_array_equal(deep.matrices[1], shallow.weights[0].w2)


def test_a_linear_network_is_the_graph_of_its_chain(data):
    """Another program: a graph whose edges are the layers."""
    whole = GatedPathway(name="p", gate=[1] * 7, inputs=range(4), outputs=range(3), hidden=3)
    before = drawn((3, 3), seeds=2)
    graph = pathway_network([whole], 3)
    chosen = made(activation="linear", steps=60, learning_rate=0.03)
    record = Recording(quantities=("maps", "outputs"))
    here = train_deep_network(*data, (3, 3), chosen, initial=before, record=record)
    initial = {edge.name: w for edge, w in zip(graph.edges, before, strict=True)}
    there = train_graph(*data, graph, chosen, initial=initial, record=record)
    np.testing.assert_allclose(here.losses, there.losses, rtol=1e-12)
    for name in ("maps", "outputs"):
        np.testing.assert_allclose(here.snapshots[name], there.snapshots[name], atol=1e-12)


def test_biases_start_at_zero_and_are_off_by_default(data):
    chosen = made(steps=1)
    plain = train_deep_network(*data, (6, 5), chosen, seeds=2, rng=3)
    biased = train_deep_network(*data, (6, 5), chosen, seeds=2, rng=3, biases=True)
    for one, other in zip(plain.matrices, biased.matrices, strict=True):
        np.testing.assert_array_equal(other[..., :-1], one)
        assert not other[..., -1].any()
    trained = train_deep_network(*data, (6, 5), made(steps=50), seeds=2, rng=3, biases=True)
    assert all(matrix[..., -1].any() for matrix in trained.matrices)


def test_a_bias_is_the_weight_of_an_input_that_is_one(data):
    inputs, targets = data
    before = drawn((5,), biases=True)
    before[1][..., -1] = 0
    chosen = made(steps=2)
    ones = np.vstack([inputs, np.ones((1, 7))])
    biased = train_deep_network(inputs, targets, (5,), chosen, initial=before, biases=True)
    plain = train_deep_network(
        ones, targets, (5,), chosen, initial=[before[0], before[1][..., :-1]]
    )
    np.testing.assert_allclose(biased.matrices[0], plain.matrices[0], atol=1e-14)
    np.testing.assert_allclose(biased.losses[:, 0], plain.losses[:, 0], rtol=1e-14)


def test_a_seed_does_not_depend_on_batch_process_or_library(data):
    chosen = made(steps=40, learning_rate=0.05)
    few, many = (
        train_deep_network(*data, (9, 6), chosen, seeds=k, rng=7, biases=True) for k in (2, 5)
    )
    np.testing.assert_array_equal(few.losses, many.losses[:2])
    assert len(set(many.losses[:, -1])) == 5
    spread = train_deep_network(
        *data,
        (9, 6),
        chosen,
        seeds=5,
        rng=7,
        biases=True,
        workers=2,
        record=Recording(quantities=("activity",)),
    )
    np.testing.assert_array_equal(spread.losses, many.losses)
    for one, other in zip(spread.matrices, many.matrices, strict=True):
        np.testing.assert_array_equal(one, other)
    strict = [array_api_strict.asarray(values) for values in data]
    portable = train_deep_network(*strict, (9, 6), chosen, seeds=5, rng=7, biases=True)
    np.testing.assert_allclose(portable.losses, many.losses, rtol=1e-11)


@pytest.mark.parametrize("widths", [(20,), (12, 9), (7, 8, 6)])
@pytest.mark.parametrize("batch", [None, 3])
def test_replayed_gates_reproduce_the_relu_network(data, widths, batch):
    """The paper's existence statement: a gated linear network with the same outputs, every step."""
    steps, seeds = 200, 3
    chosen = made(steps=steps, learning_rate=0.05, init_std=0.4, batch_size=batch)
    every = Recording(quantities=("activity", "outputs"), steps=tuple(range(steps)))
    network = train_deep_network(*data, widths, chosen, seeds=seeds, rng=1, record=every)
    gates = network.snapshots["activity"]
    assert gates.shape == (seeds, steps, sum(widths), 7)
    assert (gates[:, 0] != gates[:, -1]).any()  # gates that move: a fixed pattern would not do
    start = train_deep_network(*data, widths, replace(chosen, steps=1), seeds=seeds, rng=1).matrices
    linear = replace(chosen, activation="linear")
    replayed = replay_gates(*data, gates, linear, start, rng=1)
    np.testing.assert_allclose(replayed.losses, network.losses, atol=1e-12)
    assert network.losses[0, -1] < 0.5 * network.losses[0, 0]
    # Outputs at every step, by another program from the first weights and the gates alone.
    if batch is None:
        outputs = written_out(start, gates, widths, *data, rate=0.05)
        np.testing.assert_allclose(outputs, network.snapshots["outputs"], atol=1e-12)
    # Gates that are frozen, or of another seed, give another network.
    for wrong in (np.repeat(gates[:, :1], steps, axis=1), np.roll(gates, 1, axis=0)):
        other = replay_gates(*data, wrong, linear, start, rng=1)
        assert np.abs(other.losses - network.losses).max() > 1e-3


def written_out(start, gates, widths, inputs, targets, rate):
    """Outputs (seeds, steps, n_y, P) of the linear network Π diag(g) W, sample by sample."""
    cuts = np.cumsum((0, *widths))
    found = np.zeros((*gates.shape[:2], len(targets), inputs.shape[1]))
    for seed in range(len(gates)):
        layers = [matrix[seed].copy() for matrix in start]
        for step in range(gates.shape[1]):
            slopes = [np.zeros_like(layer) for layer in layers]
            for sample in range(inputs.shape[1]):
                opened = [gates[seed, step, a:b, sample] for a, b in pairwise(cuts)]
                held = [inputs[:, sample]]
                for layer, gate in zip(layers, opened, strict=False):
                    held.append(gate * (layer @ held[-1]))
                out = layers[-1] @ held[-1]
                found[seed, step, :, sample] = out
                signal = (targets[:, sample] - out) / inputs.shape[1]
                for place in range(len(layers) - 1, -1, -1):
                    slopes[place] += np.outer(signal, held[place])
                    if place:
                        signal = opened[place - 1] * (layers[place].T @ signal)
            layers = [w + rate * slope for w, slope in zip(layers, slopes, strict=True)]
    return found


def test_what_does_not_fit_is_refused(data):
    with pytest.raises(InputError, match="at least 1 unit"):
        train_deep_network(*data, (3, 0), made())
    with pytest.raises(InputError, match="2 numbers for 3 layers"):
        train_deep_network(*data, (3, 3), made(init_std=(1.0, 2.0)))
    with pytest.raises(InputError, match=r"initial: shapes are"):
        train_deep_network(*data, (3,), made(), initial=drawn((4,)))
    with pytest.raises(InputError, match=r"initial: shapes are \[\]"):
        train_deep_network(*data, (3,), made(), initial=[])
    for quantity in ("maps", "contribution", "gate_maps"):
        with pytest.raises(InputError, match=f"'{quantity}' is not recorded"):
            train_deep_network(*data, (3,), made(), record=Recording(quantities=(quantity,)))
    linear = made(activation="linear")
    with pytest.raises(InputError, match="'activity' is not recorded"):
        train_deep_network(*data, (3,), linear, record=Recording(quantities=("activity",)))
    with pytest.raises(InputError, match=r"gates: shape is \(1, 2, 3\)"):
        replay_gates(*data, np.ones((1, 2, 3)), made(), drawn((3,)))
    with pytest.raises(InputError, match=r"diverged"):
        train_deep_network(*data, (5, 5), replace(linear, steps=300, learning_rate=20.0))
    for bad in ((), (1.0, -1.0), (0.0, 1.0), (float("inf"), 1.0)):
        with pytest.raises(InputError, match="init_std"):
            made(init_std=bad)
