"""Networks given as graphs against their scalar modes, from aligned starts and from random ones."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import symreln as sr
from symreln import validate
from symreln.base.rounding import percent
from symreln.cli.main import _guarded
from symreln.errors import NotSupportedError
from symreln.experiment.edge_start import EdgeStart, blow_up, early_flow, edge_start
from symreln.experiment.scalar_modes import ScalarModes
from symreln.experiment.training import gated_network, training_settings
from symreln.laws.chain_start import chain_start
from symreln.report.chapters.agreement import agreement_chapter
from symreln.report.content import derivation_chapters
from symreln.report.validation_json import validation_to_json
from symreln.train.trainers import train_gated_network

DATA = {
    "X": [["1", "0", "2", "0"], ["0", "1", "0", "1"]],
    "Y": [["3", "0", "1", "0"], ["0", "2", "0", "1"]],
    "labels": {"half": [1, 1, 2, 2]},
}
NETWORK = {
    "hidden": 40,
    "init_std": "1/50",
    "learning_rate": "1/20",
    "loss": "mean",
    "steps": 300,
    "activation": "linear",
}


def table(nodes: str, edges: str, **network):
    """A spec of nodes "name in|out|hidden [gate]" and edges "from to [gate]" apart by commas."""
    kinds = {"in": {"inputs": [0, 1]}, "out": {"outputs": [0, 1]}, "hidden": {}}
    found_nodes, found_edges = [], []
    for text in nodes.split(", "):
        name, kind, *gate = text.split(" ", 2)
        found_nodes.append({"name": name, **kinds[kind], **({"gate": gate[0]} if gate else {})})
    for number, text in enumerate(edges.split(", ")):
        source, target, *gate = text.split(" ", 2)
        entry = {"name": f"e{number}", "from": source, "to": target}
        found_edges.append({**entry, **({"gate": gate[0]} if gate else {})})
    return {
        "dataset": DATA,
        "node": found_nodes,
        "edge": found_edges,
        "network": {**NETWORK, **network},
    }


GRAPHS = {
    "chain of three": ("x in, a hidden, b hidden, y out", "x a, a b, b y"),
    "skip": ("x in, a hidden, b hidden, y out", "x a, a b, b y, a y half == 2"),
    "shared first edge": (
        "x in, a hidden, y out half == 1, z out half == 2",
        "x a, a y, a z",
    ),
    "lengths": ("x in, a hidden, y out", "x a half == 1, a y half == 1, x y half == 2"),
    "two parts": (
        "x in half == 1, w in half == 2, a hidden, b hidden, y out half == 1, z out half == 2",
        "x a, a y, w b, b z",
    ),
}


def validated(name, **network):
    return validate(sr.derive(sr.load(table(*GRAPHS[name], **network))), seeds=3, rng=2)


@pytest.mark.parametrize("name", GRAPHS)
def test_scalar_modes_are_the_trained_graph_from_an_aligned_start(name):
    """Losses at every step and strengths at the end, in whole matrices and in single numbers."""
    found = validated(name, init_std="1/5")
    theory, trained = found.edges.descent, found.aligned
    scale = trained.losses[0, 0]
    np.testing.assert_allclose(theory.loss, trained.losses[0], atol=1e-12 * scale)
    assert trained.losses[0, -1] < 0.9 * scale
    assert found.verdicts["modes"].value < 1e-10
    assert max(row[3] for row in found.edges.strengths) > 0.5
    assert found.metrics["theory_vs_aligned"].max_abs_over_initial < 1e-12


def test_the_routing_network_is_its_scalar_modes():
    small = ("network.hidden=30", 'network.init_std="1/100"', "network.steps=220")
    found = validate(sr.derive(sr.load("routing", overrides=small)), seeds=6, rng=1)
    assert found.metrics["theory_vs_aligned"].max_abs_over_initial < 1e-10
    assert found.verdicts["modes"].value < 1e-10
    assert len(found.edges.strengths) == 8 * 4
    text = str(agreement_chapter(found))
    assert "32 isolated modes of random weights" in text
    assert f"{found.edges.start.amplitude:.4g} ± " in text
    # Random weights: the strengths rise when the start says, as far as networks agree themselves.
    distance = found.metrics["reduced_vs_gdln"].max_abs_over_initial
    law = percent(distance, found.tolerance)
    assert (
        f"the scalar modes, step by step, which is not judged, is {law} from the GDLN"
        in found.sentence()
    )
    judged = found.intervals["theory_vs_gdln"].max_abs_over_initial
    assert found.agrees == (judged.high <= found.tolerance)
    # Closed forms are printed for all of its parts: these are judged.
    assert validation_to_json(found)["judged"] == "closed"
    assert judged.value == found.metrics["closed_vs_gdln"].max_abs_over_initial
    assert distance < found.floor.mean.max_abs_over_initial
    assert found.metrics["reduced_vs_gdln"].mean_abs_over_initial < 0.02


def test_a_wrong_graph_disagrees():
    """The confrontation can fail: modes of a shared edge beside a network that shares none."""
    spec = sr.load(table(*GRAPHS["shared first edge"])).at_values()
    apart = sr.load(
        table("x in, a hidden, b hidden, y out half == 1, z out half == 2", "x a, a y, x b, b z")
    ).at_values()
    data = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    weights = ScalarModes.of(apart).aligned(0.02)
    graph = gated_network(apart.graph)
    initial = {e.name: w[None] for e, w in zip(graph.edges, weights, strict=True)}
    trained = train_gated_network(*data, graph, training_settings(apart), initial=initial)
    theory = ScalarModes.of(spec).descend(0.02)
    assert np.abs(theory.loss - trained.losses[0]).max() > 0.05 * trained.losses[0, 0]


def test_a_chain_starts_where_chains_do():
    """Two programs for one number: a graph's start and that of the chain's own module."""
    spec = sr.load(table(*GRAPHS["chain of three"])).at_values()
    found = edge_start(spec, ScalarModes.of(spec).parts)
    assert isinstance(found, EdgeStart)
    own = chain_start(3, 40)
    kappa = found.amplitude / (0.02 * np.sqrt(40))
    error = np.hypot(own.error, found.error / (0.02 * np.sqrt(40)))
    assert abs(kappa - own.kappa) < 5 * error
    assert error < 0.02


def test_the_blow_up_of_shared_edges_is_that_of_their_equations():
    """Aligned, M = 4 domains and K = 2: a' = K b c, b' = 8 a c, c' = K a b from 1, 1, 1."""
    spec = sr.load("routing").at_values()
    flow = early_flow(ScalarModes.of(spec).parts[0], hidden=1)
    found = blow_up(flow, [np.ones((1, 1)) for _ in flow.shapes], 3)
    # b² − 4 a² = −3 is conserved, c = a: a' = 2 a sqrt(4 a² − 3), T = ∫ da/(2 a sqrt(4a² − 3)).
    expected = np.arcsin(np.sqrt(3) / 2) / (2 * np.sqrt(3))
    assert found == pytest.approx(expected, rel=3e-4)


def test_two_edges_start_at_their_growing_combination():
    """Mean over 40 networks of one first edge and two last ones, early, against the aligned one."""
    spec = sr.load(table(*GRAPHS["shared first edge"], hidden=60, init_std="1/10000")).at_values()
    parts = ScalarModes.of(spec).parts
    found = edge_start(spec, parts)
    assert isinstance(found, str)  # the data of the two halves differ
    assert "regular" in found
    same = table(*GRAPHS["shared first edge"], hidden=60, init_std="1/10000", steps=90)
    same["dataset"] = {
        **DATA,
        "X": [["1", "0", "1", "0"], ["0", "1", "0", "1"]],
        "Y": [["3", "0", "3", "0"], ["0", "2", "0", "2"]],
    }
    spec = sr.load(same).at_values()
    modes = ScalarModes.of(spec)
    found = edge_start(spec, modes.parts)
    assert found.amplitude == pytest.approx(1e-4 * np.sqrt(120) / (1 + np.sqrt(2)), rel=1e-12)
    settings = training_settings(spec)
    data = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    runs = train_gated_network(*data, gated_network(spec.graph), settings, seeds=40, rng=0)
    theory = modes.expected_loss(found.amplitudes)
    risen = np.argmax(runs.mean_loss < 0.5 * runs.mean_loss[0])
    assert abs(risen - np.argmax(theory < 0.5 * theory[0])) <= 1
    assert np.abs(theory - runs.mean_loss).max() < 0.03 * theory[0]


def test_the_mean_over_starts_is_that_of_the_scalar_modes():
    """L numbers a mode against a number an edge."""
    spec = sr.load("routing", overrides=("network.steps=60",)).at_values()
    modes = ScalarModes.of(spec)
    starts = (0.1, 0.25)
    apart = [modes.descend(start).loss for start in starts]
    np.testing.assert_allclose(modes.expected_loss(starts), np.mean(apart, axis=0), atol=1e-14)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("skip", "different numbers of edges"),
        ("lengths", "parts differ|different numbers"),
    ],
)
def test_starts_that_are_not_derived_are_said(name, reason):
    found = validated(name)
    assert isinstance(found.edges.start, str)
    assert re.search(reason, found.edges.start)
    assert list(found.metrics) == ["theory_vs_aligned"]
    assert "theory" not in found.curves
    assert "against the GDLN that started aligned" in found.verdicts["loss"].reason
    assert "of random weights nothing is predicted" in found.sentence()
    assert validation_to_json(found)["judged"] in ("closed", "reduced")
    result = derivation_chapters(found.derivation, found, ("loss",))[0]
    assert "against the GDLN that started aligned" in str(result)
    assert validation_to_json(found)["initial_strengths"]["why_not"] == found.edges.start
    assert "recorded, and not compared" in str(agreement_chapter(found))


def test_what_is_not_covered_is_refused(tmp_path, capsys):
    with pytest.raises(NotSupportedError, match="3 units for 4 modes"):
        validate(sr.derive(sr.load("routing", overrides=("network.hidden=3",))), seeds=1)
    staged = ('network.training="staged"',)
    with pytest.raises(NotSupportedError, match="jointly"):
        validate(sr.derive(sr.load("routing", overrides=staged)), seeds=1)
    coloured = table(*GRAPHS["chain of three"])
    coloured["dataset"] = {"X": [["1", "2"], ["0", "1"]], "Y": [["3", "1"], ["1", "3"]]}
    with pytest.raises(NotSupportedError, match="diagonalise"):
        validate(sr.derive(sr.load(coloured)), seeds=1)
    assert _guarded(["validate", "routing", "--representations", "--out", str(tmp_path)]) == 2
    assert "--representations" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    ["validate", pytest.param("run", marks=pytest.mark.slow)],  # run draws and typesets
)
def test_the_commands_write_it(command, tmp_path):
    keys = ("network.steps=20", "network.hidden=6", "dataset.items=2")
    asked = [command, "routing", "--seeds", "2", "--quiet", "--out", str(tmp_path)]
    assert _guarded([*asked, *(f"--set={key}" for key in keys)]) == 3
    written = json.loads((tmp_path / "validation.json").read_text())
    assert written["format"] == "symreln-validation/2"
    assert written["metrics"]["theory_vs_aligned"]["max_abs_over_initial"] < 1e-10
    assert written["metrics"]["theory_vs_relu"] is None
    assert {"theory_vs_gdln", "gdln_vs_relu"} <= set(written["metrics"])
    assert written["initial_strengths"]["random"]["followed"] == 32
    assert written["verdict"] == "not tested"  # in so few steps nothing is learned
    with np.load(tmp_path / "curves.npz") as curves:
        assert curves["gdln"].shape == (2, 20)
        assert curves["theory"].shape == (20,)
    assert (tmp_path / "derivation.html").exists() == (command == "run")
    if command == "run":
        assert "Theory against training" in (tmp_path / "derivation.html").read_text()
    assert "svg" in (tmp_path / "loss.svg").read_text()
