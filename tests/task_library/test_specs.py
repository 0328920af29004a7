"""The ready-made specs against the numbers of the paper, and their training against stability."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import symreln as sr
from symreln.task_library.registry import SPECS, spec_path


def test_the_list_is_complete_and_in_words():
    listed = sr.tasks()
    assert tuple(listed) == SPECS
    assert len(set(SPECS)) == len(SPECS)
    assert all(summary and "\n" not in summary for summary in listed.values())
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
