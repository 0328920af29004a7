"""A network of nodes and edges on its data, said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from symreln.base.records import record
from symreln.claims.claim import Claim
from symreln.document.model import (
    Block,
    Code,
    Figure,
    Math,
    Section,
    Table,
    prose,
)
from symreln.document.typeset import phrase
from symreln.document.words import fraction_latex
from symreln.specs.number import WrittenDecimal

if TYPE_CHECKING:
    from symreln.claims.network.derivation import NetworkDerivation
    from symreln.document.inlines import Content, Inline
    from symreln.networks.bundles import NetworkData
    from symreln.networks.parts import Edge
    from symreln.specs.model import NetworkSpec

#: Rows of a table; derivation.json has all.
MOST = 40


@record(eq=False)
class Described(Claim):
    """Nodes, edges and pathways.

    Attributes:
        data: The graph on its data.
        network: How it is trained, or None where the spec does not say.
    """

    data: NetworkData
    network: NetworkSpec | None

    @property
    def edges(self) -> list[tuple[Edge, int]]:
        """Every edge and how many pathways use it."""
        paths = self.data.paths
        return [
            (edge, sum(place in path.edges for path in paths))
            for place, edge in enumerate(self.data.graph.edges)
        ]

    def values(self) -> dict[str, Any]:
        """Return "nodes", "edges", "pathways" and "depth"."""
        data, graph = self.data, self.data.graph
        return {
            "nodes": [
                {
                    "name": node.name,
                    "kind": node.kind,
                    "size": node.size,
                    "gate": node.gate_text,
                }
                for node in graph.nodes
            ],
            "edges": [
                {
                    "name": edge.name,
                    "from": edge.source,
                    "to": edge.target,
                    "gate": edge.gate_text,
                    "pathways": uses,
                }
                for edge, uses in self.edges
            ],
            "pathways": [
                {
                    "name": graph.name(path),
                    "edges": [graph.edges[place].name for place in path.edges],
                    "samples": sum(value != 0 for value in path.gate),
                    "bundle": data.bundle_of[number],
                }
                for number, path in enumerate(data.paths)
            ],
            "depth": graph.depth,
        }

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own."""
        graph, data = self.data.graph, self.data
        nodes = [(Code(n.name), n.kind, str(n.size), Code(n.gate_text)) for n in graph.nodes]
        edges = [
            (Code(e.name), Code(e.source), Code(e.target), Code(e.gate_text), str(uses))
            for e, uses in self.edges
        ]
        paths = [
            (Code(graph.name(path)), str(bundle + 1), str(sum(value != 0 for value in path.gate)))
            for path, bundle in zip(data.paths, data.bundle_of, strict=True)
        ]
        yield Section(
            title="The network",
            label="sec:network",
            blocks=(
                prose(f"{data.dataset.description} ", *self._time()),
                _picture(),
                _table(("node", "kind", "units", "gate"), nodes, "llrp", "Nodes"),
                _table(("edge", "from", "to", "gate", "pathways"), edges, "lllpr", "Edges"),
                _table(
                    ("pathway", "bundle", "open samples"),
                    paths,
                    "prr",
                    "Pathways: gated paths; those of a bundle see the same data",
                ),
            ),
        )

    def _time(self) -> tuple[Inline, ...]:
        """Say what the time constant is."""
        if self.network is None:
            return phrase(
                r"Here $\tau$ is $1/\eta$ for a mean loss and $1/(P \eta)$ for a sum over samples, "
                r"$\eta$ being the learning rate, and time $t$ counts steps."
            )
        formula = r"1/(P \eta)" if self.network.loss == "sum" else r"1/\eta"
        return phrase(
            "Time $t$ counts steps of full-batch gradient descent. With learning rate {rate} and "
            f"training on the {self.network.loss} over samples, the time constant is "
            "{tau} steps.",
            rate=Math(rf"\eta = {fraction_latex(self.network.learning_rate)}"),
            tau=Math(
                rf"\tau = {formula} = "
                + fraction_latex(
                    self.network.tau(self.data.dataset.samples),
                    decimals=isinstance(self.network.learning_rate, WrittenDecimal),
                )
            ),
        )


def described(derivation: NetworkDerivation) -> Described:
    """Return the network and how it is trained."""
    return Described(data=derivation.data, network=derivation.spec.network)


def _picture() -> Figure:
    words = (
        "The graph, from inputs on the left to outputs on the right. Below a gated node is its "
        "gate: a mark for every sample on which it is open. Dashed edges are gated. The width of "
        "an edge grows with the pathways that use it."
    )
    alt = "Nodes as boxes in columns, edges as arrows from left to right."
    return Figure(name="graph", caption=words, alt=alt, label="fig:graph")


def _table(
    header: tuple[str, ...], rows: Sequence[tuple[Content, ...]], alignment: str, caption: str
) -> Table:
    return Table(
        header=header, rows=tuple(rows), alignment=alignment, caption=f"{caption}.", most=MOST
    )
