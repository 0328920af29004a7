"""Edges that pathways share: the nodes and edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from symreln.base.records import record
from symreln.claims.claim import Claim
from symreln.document.document_model import Block, Figure, Section

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.networks.shared_edges import EdgeData


@record(eq=False)
class _SharedEdges(Claim):
    """Nodes and edges.

    Attributes:
        edges: Them, the pathways along them, and how many of these use each edge.
    """

    edges: EdgeData

    def values(self) -> dict[str, Any]:
        """Return "nodes", "edges", "pathways" with the edges of each, and "depth"."""
        graph, uses = self.edges.graph, self.edges.uses
        return {
            "nodes": [
                {"name": n.name, "kind": n.kind, "size": n.size, "gate": n.gate_text}
                for n in graph.nodes
            ],
            "edges": [
                {
                    "name": edge.name,
                    "from": edge.source,
                    "to": edge.target,
                    "gate": edge.gate_text,
                    "pathways": uses[place],
                }
                for place, edge in enumerate(graph.edges)
            ],
            "pathways": [
                {"name": graph.name(path), "edges": [graph.edges[e].name for e in path.edges]}
                for path in self.edges.paths
            ],
            "depth": graph.depth,
        }

    def says(self) -> Iterator[Block]:
        """Draw them in a chapter of their own."""
        words = (
            "The graph, from inputs on the left to outputs on the right. Below a gated node is its "
            "gate: a mark for every sample on which it is open. Dashed edges are gated. The width "
            "of an edge grows with the pathways that use it. Names, sizes and gates are listed in "
            "derivation.json."
        )
        alt = "Nodes as boxes in columns, edges as arrows from left to right."
        figure = Figure(name="graph", caption=words, alt=alt, label="fig:graph")
        yield Section(title="The network", label="sec:network", blocks=(figure,))


def edges_of(derivation: Derivation) -> _SharedEdges | None:
    """Return nodes and edges; None where every pathway has edges of its own."""
    return _SharedEdges(edges=derivation.spec.edges) if derivation.known.unlike else None
