"""Edges that pathways share: the nodes and edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from symreln.base.records import record
from symreln.claims.claim import Claim
from symreln.document.model import Block, Code, Figure, Section, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.claims.derivation import Derivation
    from symreln.document.model import Content
    from symreln.networks.model import Network, Path

#: Rows of a table; derivation.json has all.
_MOST = 40


@record(eq=False)
class SharedEdges(Claim):
    """Nodes and edges.

    Attributes:
        graph: Them.
        paths: The pathways along them.
        uses: How many pathways use each edge, by its place.
    """

    graph: Network
    paths: tuple[Path, ...]
    uses: Mapping[int, int]

    def values(self) -> dict[str, Any]:
        """Return "nodes", "edges", "pathways" with the edges of each, and "depth"."""
        graph, uses = self.graph, self.uses
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
                for path in self.paths
            ],
            "depth": graph.depth,
        }

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own."""
        graph, uses = self.graph, self.uses
        nodes = [(Code(n.name), n.kind, str(n.size), Code(n.gate_text)) for n in graph.nodes]
        edges = [
            (Code(e.name), Code(e.source), Code(e.target), Code(e.gate_text), str(uses[place]))
            for place, e in enumerate(graph.edges)
        ]
        words = (
            "The graph, from inputs on the left to outputs on the right. Below a gated node is its "
            "gate: a mark for every sample on which it is open. Dashed edges are gated. The width "
            "of an edge grows with the pathways that use it."
        )
        alt = "Nodes as boxes in columns, edges as arrows from left to right."
        yield Section(
            title="The network",
            label="sec:network",
            blocks=(
                Figure(name="graph", caption=words, alt=alt, label="fig:graph"),
                _table(("node", "kind", "units", "gate"), nodes, "llrp", "Nodes"),
                _table(("edge", "from", "to", "gate", "pathways"), edges, "lllpr", "Edges"),
            ),
        )


def edges_of(derivation: Derivation) -> SharedEdges | None:
    """Return nodes and edges; None where every pathway has edges of its own."""
    if not derivation.known.unlike:
        return None
    edges = derivation.spec.edges
    return SharedEdges(graph=edges.graph, paths=edges.paths, uses=edges.uses)


def _table(
    header: tuple[str, ...], rows: Sequence[tuple[Content, ...]], alignment: str, caption: str
) -> Table:
    return Table(
        header=header, rows=tuple(rows), alignment=alignment, caption=f"{caption}.", most=_MOST
    )
