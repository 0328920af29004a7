"""The ready-made specs against the numbers of the paper, and their training against stability."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import symreln as sr
from symreln.task_library import list_tasks
from symreln.task_library.registry import SPECS, spec_path


def test_the_list_is_complete_and_in_words():
    listed = list_tasks()
    assert tuple(name for name, _ in listed) == SPECS
    assert len(set(SPECS)) == len(SPECS)
    assert all(summary and "\n" not in summary for _, summary in listed)
    files = {path.stem for path in Path(spec_path("xor")).parent.glob("*.toml")}
    assert files == set(SPECS)


@pytest.mark.parametrize("name", SPECS)
def test_every_spec_loads_with_a_network_and_values(name: str):
    spec = sr.load(name)
    assert spec.network is not None
    assert spec.source == name
    assert spec.dataset.task
    at_values = spec.at_values()
    assert at_values.parameters == ()
    assert at_values.dataset.inputs.to_numpy().shape == spec.dataset.inputs.shape


# Paper, section 5: contexts -> context scale, hidden units; section 4 has the first line too.
PUBLISHED = [
    ("contextual-3", 3, Fraction(1), 700, (11, 24), (60, 24)),
    ("contextual-4", 4, Fraction(11, 10), 500, (12, 32), (75, 32)),
    ("contextual-5", 5, Fraction(27, 20), 600, (13, 40), (90, 40)),
    ("contextual-different", 3, Fraction(1), 700, (11, 24), (60, 24)),
]


@pytest.mark.parametrize(("name", "contexts", "scale", "hidden", "x", "y"), PUBLISHED)
def test_contextual_specs_are_as_published(name, contexts, scale, hidden, x, y):
    spec = sr.load(name)
    network, data = spec.network, spec.dataset
    assert network is not None
    assert (data.inputs.shape, data.targets.shape) == (x, y)
    assert (spec.values, network.hidden) == ({"c": scale}, hidden)
    assert network.init_std == Fraction(5, 1000) / hidden
    assert (network.learning_rate, network.loss, network.steps) == (Fraction(1, 1000), "sum", 8001)
    assert network.training == "staged"
    assert network.tau(data.samples) == Fraction(1000, data.samples)
    common, *others = spec.pathways
    assert (common.gate, common.stage) == ((1,) * data.samples, 1)
    assert common.inputs == tuple(range(data.n_x))
    assert len(others) == contexts
    for k, pathway in enumerate(others, start=1):
        assert pathway.gate == tuple(int(label != k) for label in data.labels["context"])
        assert (pathway.inputs, pathway.stage) == (tuple(range(8)), 2)
        assert pathway.outputs == tuple(range(data.n_y))


def test_different_structures_are_in_their_contexts():
    equal, different = sr.load("contextual-3").dataset, sr.load("contextual-different").dataset
    assert different.options["structures"] == "hierarchy, ring, cross"
    assert equal.inputs == different.inputs
    a, b = equal.targets.to_numpy(), different.targets.to_numpy()
    changed = {int(row) // 15 for row in np.argwhere(a != b)[:, 0]}
    assert changed == {2, 3}


@pytest.mark.parametrize(
    ("name", "values", "gates"),
    [
        ("xor", {"Delta": 0}, np.eye(4)),
        ("xor-linear", {"Delta": 2}, [[1, 1, 0, 0], [0, 0, 1, 1]]),
        ("contextual-3-modular", {"c": 1}, np.repeat(np.eye(3), 8, axis=1)),
    ],
)
def test_gates_of_ready_made_specs(name, values, gates):
    spec = sr.load(name)
    assert spec.values == values
    assert np.array_equal([p.gate for p in spec.pathways], gates)
    assert all(len(p.inputs) == spec.dataset.n_x for p in spec.pathways)


@pytest.mark.parametrize("name", ["linear-hierarchy", "iris", "digits"])
def test_steps_of_the_linear_networks_are_stable(name: str):
    """Trained through the correlations alone, which for a linear network is the same.

    Gradient descent is stable while learning_rate times the largest curvature (times P for the
    loss "sum") is below 2; beyond that the loss oscillates and no flow describes it.
    """
    spec = sr.load(name).at_values()
    network, samples = spec.network, spec.dataset.samples
    assert network is not None
    assert (network.loss, network.activation) == ("sum", "linear")
    x, y = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    sigma_x, sigma_yx = x @ x.T / samples, y @ x.T / samples
    rng, std = np.random.default_rng(0), float(network.init_std)
    first = rng.normal(0, std, (network.hidden, x.shape[0]))
    second = rng.normal(0, std, (y.shape[0], network.hidden))
    rate, losses = float(network.learning_rate) * samples, []
    for _ in range(network.steps):
        total = second @ first
        losses.append(float(((total @ sigma_x - 2 * sigma_yx) * total).sum()))
        error = sigma_yx - total @ sigma_x
        first, second = first + rate * second.T @ error, second + rate * error @ first.T
    # 1e-12: rounding of a loss near 1.
    assert np.diff(losses).max() < 1e-12
    curvature = np.linalg.norm(second, 2) ** 2 * np.linalg.norm(sigma_x, 2)
    curvature += np.linalg.norm(first @ sigma_x @ first.T, 2)
    assert rate * curvature < 1.5
    # And the run is long enough to learn all but a twentieth of what a linear map can.
    best = -np.trace(sigma_yx @ np.linalg.pinv(sigma_x) @ sigma_yx.T)
    assert losses[-1] < 0.95 * best


@pytest.mark.parametrize("name", ["linear-hierarchy", "xor", "xor-linear"])
def test_small_specs_train_to_the_end(name: str):
    """The numbers that the paper does not give: the loss must have converged at the last step."""
    spec = sr.load(name).at_values()
    network = spec.network
    assert network is not None
    x, y = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    rng, std = np.random.default_rng(0), float(network.init_std)
    first = rng.normal(0, std, (network.hidden, x.shape[0]))
    second = rng.normal(0, std, (y.shape[0], network.hidden))
    rate, losses = float(network.learning_rate), []
    for _ in range(network.steps):
        gate = 1.0 if network.activation == "linear" else (first @ x > 0)
        hidden = gate * (first @ x)
        error = y - second @ hidden
        losses.append(float((error**2).sum()))
        step = rate * (gate * (second.T @ error)) @ x.T
        second = second + rate * error @ hidden.T
        first = first + step
    # Converged: the last tenth of the run changes nothing that a plot could show.
    assert losses[-1] < 1e-6 * losses[0]
    assert losses[9 * len(losses) // 10] < 1e-4 * losses[0]
    # And not at once: the plateau of small initialisation takes at least a twentieth of the run.
    assert losses[len(losses) // 20] > 0.9 * losses[0]
