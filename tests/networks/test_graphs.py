"""Networks of nodes and edges, from tables to what is derived of them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

import symreln as sr
from symreln.exact.truth import Truth
from symreln.report import html
from symreln.specs.spec import Spec
from tests.networks.examples import random_data, shared_spec, spec_of
from tests.own_specs import drawn
from tests.strategies import seeds

TABLES = {
    "title": "Two paths",
    "dataset": {
        "X": [["1", "1", "0"], ["0", "g", "1"]],
        "Y": [["1", "0", "1"]],
        "labels": {"context": [1, 1, 2], "side": ["left", "right", "right"]},
        "groups": {"inputs": {"both": [0, 1]}},
    },
    "parameters": {"g": {"positive": True, "value": "1/2"}},
    "node": [
        {"name": "x", "inputs": "both"},
        {"name": "h", "size": 3, "gate": "context == 1"},
        {"name": "k_{side}", "each": "side", "size": 2, "gate": "side == {side}"},
        {"name": "y", "outputs": "all"},
    ],
    "edge": [
        {"from": "x", "to": "h"},
        {"from": "h", "to": "y", "gate": ["1", "g", 1]},
        {"from": "x", "to": "k_{side}", "each": "side"},
        {"from": "k_{side}", "to": "y", "each": "side", "name": "up {side}"},
    ],
}
#: White inputs, and such that do not commute with the targets' correlation.
WHITE, MIXED = [[1, 0, 1, 0], [0, 1, 0, 1]], [[1, 0, 1, 2], [0, 1, 1, 1]]
TARGETS = [[2, 1, 2, 1], [1, 2, 1, 2]]
#: Edges "from to" of graphs from x to y whose edges follow no one equation, with the reason.
IRREGULAR = {
    "x h, h y, x y": "different numbers of edges",
    "x h, h a, h b, a y, b y": "meet on common samples",
    "x h, x g, h a, g a, h b, a y, b y": "different numbers of pathways",
}


def graph_of(edges: str, x: list[list[int]] = WHITE) -> Spec:
    small = {"hidden": 4, "init_std": "1/4", "loss": "mean", "steps": 50}
    return sr.load(drawn(edges, {"X": x, "Y": TARGETS}, **small))


def chain(depth: int) -> str:
    """The edges of one pathway of so many."""
    return ", ".join(f"{a} {b}" for a, b in pairwise(["x", *"abcd"[: depth - 1], "y"]))


# -- tables ----------------------------------------------------------------------------------------


def test_nodes_and_edges_become_a_graph_with_its_pathways():
    spec = sr.load(TABLES)
    assert spec.graph is not None
    assert [n.name for n in spec.graph.nodes] == ["x", "h", "k_left", "k_right", "y"]
    edges = ["x → k_left", "x → k_right", "up left", "up right"]
    assert [e.name for e in spec.graph.edges][2:] == edges
    assert {p.name: p.open_samples for p in spec.pathways} == {
        "x → h → y": (0, 1),
        "x → k_left → y": (0,),
        "x → k_right → y": (1, 2),
    }
    at = spec.at_values()
    assert at.graph is not None
    assert at.parameters == ()
    assert str(spec.pathways[0].gate[1]) == "g_"
    assert str(at.pathways[0].gate[1]) == "1/2"


# -- derivations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["xor", "linear-hierarchy", "contextual-3"])
def test_pathways_as_a_graph_have_the_same_modes_and_verdict(name: str):
    """Two edges through a hidden node of its own for each, trained jointly."""
    asked = sr.load(name, ["dataset.items=2"] if name == "contextual-3" else []).at_values()
    pathways = tuple(replace(p, stage=1) for p in asked.pathways)
    asked = replace(asked, network=None, pathways=pathways)
    graph = asked.network_graph
    both = sr.derive(asked), sr.derive(replace(asked, graph=graph))
    first, second = ([(m.s, m.d, m.d_eff, m.family) for m in each.modes] for each in both)
    assert first == second
    assert both[0].verdict.reasons == both[1].verdict.reasons


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_a_chain_is_closed_by_the_law_of_its_depth(depth: int):
    found = sr.derive(graph_of(chain(depth)))
    names = {1: "shallow", 2: "two-layer balanced"}
    assert found.level is sr.Level.CLOSED
    assert {mode.family for mode in found.modes} == {names.get(depth, "depth L balanced")}
    assert all(step.outcome is Truth.PROVEN for step in found.steps)


def test_sharing_divides_time_by_the_gain():
    """Used by 2, 4, 4 and 2 pathways: N = 64, so that all is 64^(1/4) times as fast."""
    found = sr.derive(shared_spec())
    alone = sr.derive(replace(shared_spec(), graph=None, network=None))
    assert found.level is sr.Level.CLOSED_BY_SYMMETRY
    assert alone.level is sr.Level.CLOSED
    assert {mode.family for mode in found.modes} == {"depth L balanced"}
    page = found.to_latex()
    assert r"\tau \to \frac{\sqrt{2} \tau}{4}" in page
    assert found.certificate is None


@pytest.mark.parametrize("edges", IRREGULAR)
@pytest.mark.parametrize("x", [WHITE, MIXED])
def test_edges_without_one_equation_are_integrated(edges: str, x: list[list[int]]):
    found = sr.derive(graph_of(edges, x))
    level = sr.Level.COUPLED_MODES if x is WHITE else sr.Level.COUPLED_MATRICES
    assert found.level is level
    assert IRREGULAR[edges] in found.verdict.reasons[-1]
    assert all(step.outcome is Truth.PROVEN for step in found.steps)
    assert found.certificate is None
    page = html.render(found.to_document())
    assert "Nothing closes further" in page
    curves = found.evaluate([0, 5, 49])
    assert curves.loss[0] > curves.loss[1] > curves.loss[2]
    assert "drawn from the initialisation distribution" in curves.method


@pytest.mark.parametrize("depth", [1, 3])
def test_a_chain_whose_modes_do_not_close_keeps_its_matrices(depth: int):
    found = sr.derive(graph_of(chain(depth), MIXED))
    assert found.level is sr.Level.COUPLED_MATRICES
    assert "not diagonalisable" in found.verdict.reasons[0]
    losses = found.evaluate(np.arange(50.0)).loss
    assert np.all(np.diff(losses) < 1e-12)


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_any_graph_is_derived_and_written(seed: int):
    """Random layers, edges that skip, gates with gains, on data of low rank."""
    found = sr.derive(spec_of(random_data(Random(seed).randrange(10**6))))
    written = json.loads(json.dumps(found.to_json()))
    assert written["verdict"]["level"] == found.level.value
    assert len(written["pathways"]) == len(found.spec.pathways)
    assert html.render(found.to_document())
