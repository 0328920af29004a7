"""The figure of a graph: what it shows, and where there is none."""

from __future__ import annotations

from itertools import chain

from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

import symreln as sr
from symreln.report.looks import INK
from symreln.report.network_figure import draw_network
from tests.networks.examples import random_data


def test_the_graph_shows_every_node_edge_and_gate() -> None:
    data = random_data(22)
    graph = data.graph
    ax = draw_network(graph, [data.uses[edge] for edge in range(len(graph.edges))])
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


def test_shared_edges_are_drawn_in_both_documents(tmp_path) -> None:
    small = ["parameters.M.value=2", "dataset.items=2"]
    sr.derive(sr.load("routing", small)).save(tmp_path)
    assert "The graph, from inputs" in (tmp_path / "derivation.html").read_text("utf-8")
    assert "figures/graph" in (tmp_path / "derivation.tex").read_text("utf-8")
    sr.derive("linear-hierarchy").save(tmp_path, ["html"])
    assert "The graph, from inputs" not in (tmp_path / "derivation.html").read_text("utf-8")
