"""Figures of graphs: what they show, and where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

import symreln as sr
from symreln.report import html, latex, network_plots
from symreln.report.content import derivation_document
from symreln.report.drawing import draw_all
from symreln.report.graph_figure import graph_figure
from symreln.report.network_plots import network_sketches, node_columns
from tests.network.examples import random_data, shared_spec, spec_of
from tests.network.test_components import NETWORK
from tests.strategies import seeds


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_every_edge_leads_to_the_right(seed: int) -> None:
    graph = random_data(seed).graph
    columns = node_columns(graph)
    assert all(columns[edge.source] < columns[edge.target] for edge in graph.edges)
    assert {columns[node.name] for node in graph.nodes if node.outputs} == {graph.depth}


def test_the_graph_shows_every_node_edge_and_gate() -> None:
    derivation = sr.derive(spec_of(random_data(22)))
    (sketch,) = network_sketches(derivation)
    graph = derivation.graph
    nodes, edges = sketch.shown["nodes"], sketch.shown["edges"]
    gates = {node.label: node.gate for node in nodes}
    for node in graph.nodes:
        expected = "" if node.gate is None else "".join(
            "0" if g == 0 else "1" if g == 1 else "g" for g in node.gate
        )  # fmt: skip
        assert gates[node.name] == expected
    assert [edge.gated for edge in edges] == [edge.gate is not None for edge in graph.edges]
    uses = [sum(e in p.edges for p in derivation.data.paths) for e in range(len(graph.edges))]
    assert [edge.uses for edge in edges] == uses
    ax = graph_figure(nodes, edges)
    assert sum(isinstance(p, FancyBboxPatch) for p in ax.patches) == len(nodes)
    assert sum(isinstance(p, FancyArrowPatch) for p in ax.patches) == len(edges)
    cells = sum(len(node.gate) + 1 for node in nodes if node.gate)
    assert sum(isinstance(p, Rectangle) for p in ax.patches) == cells
    assert {text.get_text() for text in ax.texts} == {node.name for node in graph.nodes}


def test_figures_stand_in_both_documents() -> None:
    derivation = sr.derive(replace(shared_spec(), network=NETWORK))
    sketches = network_sketches(derivation)
    assert [sketch.name for sketch in sketches] == ["graph", "modes", "loss"]
    document = derivation_document(derivation, figures=draw_all(sketches, pdf=False))
    page, paper = html.render(document), latex.render(document)
    for name in ("graph", "modes", "loss"):
        assert f"figures/{name}" in paper
    assert page.count("<svg") == 3


def test_a_graph_too_large_for_print_has_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    derivation = sr.derive(spec_of(random_data(22)))
    monkeypatch.setattr(network_plots, "MOST_NODES", 3)
    assert network_sketches(derivation) == []
    assert "The graph, from inputs" not in html.render(derivation_document(derivation))


def test_losses_below_rounding_are_not_drawn() -> None:
    numbers = ['init_std="1/10"', 'learning_rate="1/20"', 'loss="sum"', "steps=121"]
    small = ["parameters.M.value=2", "dataset.items=2", *(f"network.{text}" for text in numbers)]
    derivation = sr.derive(sr.load("routing", small))
    *_, loss = network_sketches(derivation)
    values = loss.shown["curves"][0].loss
    assert np.isnan(values[-1])
    assert np.nanmin(values) > 1e-13 * values[0]
