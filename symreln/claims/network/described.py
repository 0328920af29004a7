"""A network of nodes and edges on its data, said: the network, its flow, the reduction per edge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symreln.claims.claim import Claim, Step
from symreln.document.model import (
    Block,
    Code,
    Figure,
    Math,
    Section,
    Table,
    equation,
    prose,
)
from symreln.document.typeset import say
from symreln.verdict.spaces import minimal_spaces

if TYPE_CHECKING:
    from symreln.claims.network.derivation import NetworkDerivation
    from symreln.document.inlines import Content
    from symreln.network.bundles import NetworkData
    from symreln.network.parts import Edge, Node
    from symreln.verdict.spaces import NodeSpaces

#: Rows of a table; derivation.json has all.
MOST = 40


@dataclass(frozen=True, kw_only=True, eq=False)
class Described(Claim):
    """Nodes, edges and pathways, and the spaces that their flow does not leave.

    Attributes:
        data: The graph on its data.
        spaces: At the input and output nodes.
        serving: What the spaces are the smallest of.
    """

    data: NetworkData
    spaces: NodeSpaces
    serving: str

    @property
    def edges(self) -> list[tuple[Edge, int]]:
        """Every edge and how many pathways use it."""
        paths = self.data.paths
        return [
            (edge, sum(place in path.edges for path in paths))
            for place, edge in enumerate(self.data.graph.edges)
        ]

    @property
    def _outer(self) -> list[tuple[Node, int]]:
        """Input and output nodes with the dimensions of their spaces."""
        nodes = self.data.graph.nodes
        return [(n, self.spaces.dimension(n.name)) for n in nodes if not n.is_hidden]

    def values(self) -> dict[str, Any]:
        """Return "nodes", "edges", "pathways" and "depth"."""
        data, graph = self.data, self.data.graph
        dimension = {node.name: size for node, size in self._outer}
        return {
            "nodes": [
                {
                    "name": node.name,
                    "kind": node.kind,
                    "size": node.size,
                    "gate": node.gate_text,
                    "space": dimension.get(node.name),
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

    def lines(self) -> Iterator[str]:
        """Say how large the spaces are."""
        dimension = sum(size for _, size in self._outer)
        yield f"the flow does not leave spaces of dimension {dimension} in all at the outer nodes"

    def steps(self) -> Iterator[Step]:
        """Say how the spaces were checked."""
        yield Step(
            name="spaces",
            statement="the flow does not leave the spaces of input and output nodes",
            check="every correlation maps them into each other, over the integers",
        )

    def says(self) -> Iterator[Block]:
        """Say it in three chapters."""
        yield self._network()
        yield self._flow()
        yield self._reduction()

    def _network(self) -> Section:
        graph, data = self.data.graph, self.data
        nodes = [(Code(n.name), n.kind, str(n.size), Code(n.gate_text)) for n in graph.nodes]
        edges = [
            (Code(e.name), Code(e.source), Code(e.target), Code(e.gate_text), str(uses))
            for e, uses in self.edges
        ]
        paths = [
            (Code(graph.name(path)), str(sum(value != 0 for value in path.gate)))
            for path in data.paths
        ]
        return Section(
            title="The network",
            label="sec:network",
            blocks=(
                prose(f"{data.dataset.description} "),
                _picture(),
                _table(("node", "kind", "units", "gate"), nodes, "llrp", "Nodes"),
                _table(("edge", "from", "to", "gate", "pathways"), edges, "lllpr", "Edges"),
                _table(("pathway", "open samples"), paths, "pr", "Pathways: gated paths"),
            ),
        )

    def _flow(self) -> Section:
        data = self.data
        coupled = sum(c != b for c, b in data.sigma_x)
        words = (
            "No two bundles couple: no two write to a common output on common samples."
            if not coupled
            else f"{coupled} ordered pairs of bundles couple."
        )
        return Section(
            title="The flow",
            label="sec:flow",
            blocks=(
                say(
                    "Weights $W_e$ follow the gradient of the mean loss over the dataset "
                    "[@Saxe2022]. Pathways p with the same input node, output node and gate see "
                    "the same data; they are a bundle b, and $T_b$ is the sum of the products of "
                    "weights along them:"
                ),
                equation(
                    r"\tau \dot{W}_e &= \sum_{p \ni e} W_{\mathrm{after}(e,p)}^{\top} E_{b(p)} "
                    r"W_{\mathrm{before}(e,p)}^{\top}",
                    r"E_b &= \Sigma^{yx}(b) - \sum_{c} O_{bc} T_c \Sigma^{x}(c,b)",
                    label="eq:flow",
                ),
                prose(
                    "Here ",
                    Math(r"\tau"),
                    " counts steps of gradient descent: 1 over the learning rate for a mean loss, "
                    "1 over learning rate and samples for a sum. An edge that more pathways use "
                    f"collects more terms. There are {len(data.bundles)} bundles. {words}",
                ),
            ),
        )

    def _reduction(self) -> Section:
        rows = [
            (Code(node.name), node.kind, str(node.size), str(dimension))
            for node, dimension in self._outer
        ]
        return Section(
            title="The reduction per edge",
            label="sec:reduction",
            blocks=(
                prose(
                    "The weights keep the form ",
                    Math(r"W_e = R_t B_e R_s^{\top}"),
                    " for all time if they start with it and the spaces of the outer nodes hold "
                    "all that the correlations map into them. These are the smallest "
                    f"{self.serving}; a hidden node's may be any that holds its start:",
                ),
                _table(("node", "kind", "units", "dimension"), rows, "llrr", "Invariant spaces"),
                equation(
                    r"\tau \dot{B}_e = \sum_{p \ni e} B_{\mathrm{after}(e,p)}^{\top} "
                    r"\Bigl[ S_b - \sum_c K_{bc} B_c D_{cb} \Bigr] B_{\mathrm{before}(e,p)}^{\top}",
                    label="eq:reduced",
                ),
            ),
        )


def described(derivation: NetworkDerivation) -> Described:
    """Return the network, its flow and the spaces that the flow does not leave."""
    serving = (
        "that hold what every monomial of the parameters brings, so that they serve all values"
        if derivation.spec.parameters
        else "such spaces"
    )
    return Described(data=derivation.data, spaces=minimal_spaces(derivation.data), serving=serving)


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
