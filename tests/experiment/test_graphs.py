"""Networks given as nodes and edges against what is predicted of them."""

from __future__ import annotations

import numpy as np
import pytest

import symreln as sr
from symreln.cli.main import _guarded
from symreln.errors import NotSupportedError
from symreln.experiment.training import gated_network, training_settings
from symreln.train.trainers import train_gated_network
from tests.own_specs import drawn

HALVES = {
    "X": [["1", "0", "1", "0"], ["0", "1", "0", "1"]],
    "Y": [["3", "0", "3", "0"], ["0", "2", "0", "2"]],
    "labels": {"half": [1, 1, 2, 2]},
}
NETWORK = {"hidden": 60, "init_std": "1/50", "loss": "mean", "steps": 300}
#: Edges, and gates of nodes and of edges.
GRAPHS = {
    "chain of three": ("x a, a b, b y", {}),
    "parallel": ("x a, a y, x b, b y", {}),
    "shared first edge": ("x a, a y1, a y2", {"y1": "half == 1", "y2": "half == 2"}),
    "skip": ("x a, a b, b y, a y", {"a y": "half == 2"}),
    "lengths": ("x a, a y, x y", {"x a": "half == 1", "a y": "half == 1", "x y": "half == 2"}),
}


def spec_of(name: str, **network) -> sr.Spec:
    edges, gates = GRAPHS[name]
    return sr.load(drawn(edges, HALVES, gates, **NETWORK | network))


def validated(name: str, seeds: int = 4, **network) -> sr.Validation:
    return sr.validate(spec_of(name, **network), seeds=seeds, rng=2)


@pytest.mark.parametrize("name", ["chain of three", "shared first edge"])
def test_closed_edges_are_the_graph_trained_from_a_balanced_start(name):
    """Gradient descent on single modes against whole matrices, step by step."""
    found = validated(name)
    aligned = found.metrics["descent_vs_aligned"]
    assert aligned.max_abs_over_initial < 1e-12
    assert found.metrics["closed_vs_aligned"].max_abs_over_initial < 0.02
    assert found.aligned.losses[0, -1] < 0.5 * found.aligned.losses[0, 0]
    assert found.judged == "closed"
    assert found.to_json()["metrics"]["theory_vs_relu"] is None
    assert "the nodes of a graph are gated as given" in found.sentence()


def test_the_routing_network_is_predicted_to_its_seed_floor():
    small = ("network.hidden=60", 'network.init_std="1/100"', "network.steps=400")
    found = sr.validate(sr.load("routing", overrides=small), seeds=6, rng=1)
    assert found.metrics["descent_vs_aligned"].max_abs_over_initial < 1e-10
    floor = found.floor.mean.max_abs_over_initial
    assert found.metrics["reduced_vs_gdln"].max_abs_over_initial < floor
    assert found.metrics["reduced_vs_gdln"].mean_abs_over_initial < 0.02
    assert len(found.prediction.modes) == 24
    (constant,) = [each for each in found.constants if each.source == "estimated"]
    assert constant.value == pytest.approx(0.53, abs=0.02)


@pytest.mark.parametrize("name", ["skip", "lengths"])
def test_edges_that_do_not_close_are_predicted_by_what_is_drawn(name):
    """The mean over networks drawn from the distribution, against networks of other draws."""
    found = validated(name, 12, hidden=100)
    assert found.judged == "reduced"
    distance = found.metrics["theory_vs_gdln"].max_abs_over_initial
    assert distance < max(0.03, found.floor.mean.max_abs_over_initial)
    assert found.aligned is None
    assert "drawn from the initialisation distribution" in found.to_json()["method"]


def test_a_wrong_graph_disagrees():
    """The confrontation can fail: modes of a shared edge beside networks that share none."""
    shared = sr.derive(spec_of("shared first edge"))
    apart = spec_of("parallel")
    data = apart.dataset.inputs.to_numpy(), apart.dataset.targets.to_numpy()
    graph = gated_network(apart.graph)
    trained = train_gated_network(*data, graph, training_settings(apart), seeds=4, rng=0)
    theory = shared.evaluate(np.arange(300.0)).loss
    assert np.abs(theory - trained.mean_loss).max() > 0.05 * theory[0]


def test_what_is_not_covered_is_refused(tmp_path, capsys):
    with pytest.raises(NotSupportedError, match="hidden units"):
        sr.validate(sr.load("routing", overrides=("network.hidden=3",)), seeds=1)
    assert _guarded(["validate", "routing", "--representations", "--out", str(tmp_path)]) == 2
    assert "--representations" in capsys.readouterr().err
