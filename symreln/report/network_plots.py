"""The figures of a network of nodes and edges, from results to sketches of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.network.described import described
from symreln.claims.network.in_numbers import in_numbers
from symreln.report.drawing import Sketch
from symreln.report.figures import LossCurve, PathwayModes
from symreln.report.graph_figure import EdgeMark, NodeMark, graph_figure
from symreln.report.plots import MOST_CURVES, loss_sketch, modes_sketch

if TYPE_CHECKING:
    from symreln.claims.network.curves import Curves
    from symreln.claims.network.derivation import NetworkDerivation
    from symreln.network.model import Network
    from symreln.network.parts import Gain

#: Nodes, edges and samples up to which a graph can be read in print.
MOST_NODES = 60
MOST_EDGES = 160
#: Share of the first loss below which float64 knows no loss.
NOISE = 1e-13
#: Groups of pathways up to which each has a colour.
MOST_GROUPS = 8


def network_sketches(derivation: NetworkDerivation) -> list[Sketch]:
    """Sketch the graph and, where there are numbers, strengths and loss."""
    found = []
    graph = derivation.graph
    if len(graph.nodes) <= MOST_NODES and len(graph.edges) <= MOST_EDGES:
        found.append(_graph(derivation))
    curves = derivation.ask(in_numbers).found
    if not isinstance(curves, str):
        if curves.strengths:
            found.append(_modes(curves))
        found.append(_loss(curves))
    return found


def _graph(derivation: NetworkDerivation) -> Sketch:
    graph = derivation.graph
    uses = [count for _, count in derivation.ask(described).edges]
    part = {e: n for n, c in enumerate(derivation.components) for e in c.edges}
    columns = node_columns(graph)
    places = {node.name: k for k, node in enumerate(graph.nodes)}
    nodes = [
        NodeMark(
            label=node.name, kind=node.kind, column=columns[node.name], gate=_letters(node.gate)
        )
        for node in graph.nodes
    ]
    edges = [
        EdgeMark(
            source=places[edge.source],
            target=places[edge.target],
            uses=uses[place],
            gated=edge.gate is not None,
            part=part.get(place, -1),
        )
        for place, edge in enumerate(graph.edges)
    ]
    return Sketch(name="graph", draws=graph_figure, shown={"nodes": nodes, "edges": edges})


def node_columns(graph: Network) -> dict[str, int]:
    """Return how many edges lie at most before every node; outputs stand in the last column."""
    columns = {node.name: 0 for node in graph.nodes}
    for _ in graph.nodes:
        for edge in graph.edges:
            columns[edge.target] = max(columns[edge.target], columns[edge.source] + 1)
    return {n.name: graph.depth if n.outputs else columns[n.name] for n in graph.nodes}


def _letters(gate: tuple[Gain, ...] | None) -> str:
    if gate is None:
        return ""
    return "".join("0" if g == 0 else "1" if g == 1 else "g" for g in gate)


def _modes(curves: Curves) -> Sketch:
    return modes_sketch(
        [
            PathwayModes(
                label=item.label,
                times=curves.times,
                strengths=item.values[:MOST_CURVES],
                plateaus=item.plateaus[:MOST_CURVES],
            )
            for item in curves.strengths[:MOST_GROUPS]
        ]
    )


def _loss(curves: Curves) -> Sketch:
    # Losses are differences of numbers of the first one's size: below, only rounding is left.
    seen = np.where(curves.loss > NOISE * curves.loss[0], curves.loss, np.nan)
    return loss_sketch([LossCurve(label="reduction", times=curves.times, loss=seen)])
