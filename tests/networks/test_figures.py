"""Figures of graphs: what they show, and where there is none."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

import symreln as sr
from symreln.report import drawings, html, latex
from symreln.report.content import derivation_document
from symreln.report.drawings import network_sketches
from symreln.report.looks import INK
from symreln.report.network_figure import draw_network, node_columns
from symreln.report.sketch import begin_to_draw
from tests.networks.examples import random_data, shared_spec, spec_of
from tests.networks.test_components import NETWORK
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
    uses = [sum(e in p.edges for p in derivation.data.paths) for e in range(len(graph.edges))]
    assert sketch.shown["uses"] == uses
    ax = draw_network(**sketch.shown)
    assert sum(isinstance(p, FancyBboxPatch) for p in ax.patches) == len(graph.nodes)
    arrows = [p for p in ax.patches if isinstance(p, FancyArrowPatch)]
    gated = [edge.gate is not None for edge in graph.edges]
    assert [arrow.get_linestyle() != "-" for arrow in arrows] == gated
    gates = [node.gate for node in graph.nodes if node.gate is not None]
    cells = [p for p in ax.patches if isinstance(p, Rectangle)]
    assert len(cells) == sum(len(gate) + 1 for gate in gates)
    shades = [p.get_facecolor()[:3] for p in cells if p.get_fill()]
    open_, closed = to_rgb(INK), to_rgb("white")
    for gain, shade in zip(chain.from_iterable(gates), shades, strict=True):
        assert (shade == closed, shade == open_) == (gain == 0, gain == 1)
    assert {text.get_text() for text in ax.texts} == {node.name for node in graph.nodes}


def test_figures_stand_in_both_documents() -> None:
    derivation = sr.derive(replace(shared_spec(), network=NETWORK))
    sketches = network_sketches(derivation)
    assert [sketch.name for sketch in sketches] == ["graph", "modes", "loss"]
    document = derivation_document(derivation, figures=begin_to_draw(sketches, pdf=False)())
    page, paper = html.render(document), latex.render(document)
    for name in ("graph", "modes", "loss"):
        assert f"figures/{name}" in paper
    assert page.count("<svg") == 3


def test_a_graph_too_large_for_print_has_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    derivation = sr.derive(spec_of(random_data(22)))
    monkeypatch.setattr(drawings, "MOST_NODES", 3)
    assert network_sketches(derivation) == []
    assert "The graph, from inputs" not in html.render(derivation_document(derivation))


def test_losses_below_rounding_are_not_drawn() -> None:
    numbers = ['init_std="1/10"', 'learning_rate="1/20"', 'loss="sum"', "steps=121"]
    small = ["parameters.M.value=2", "dataset.items=2", *(f"network.{text}" for text in numbers)]
    derivation = sr.derive(sr.load("routing", small))
    *_, loss = network_sketches(derivation)
    values = loss.shown["panels"][0].curves[0].y
    assert np.isnan(values[-1])
    assert np.nanmin(values) > 1e-13 * values[0]


def test_a_page_without_sliders_has_no_section_for_them(tmp_path):
    sr.derive("routing").save(tmp_path, ["html"])
    text = (tmp_path / "derivation.html").read_text("utf-8")
    assert "no sliders" not in text
    assert "Explore" not in text
