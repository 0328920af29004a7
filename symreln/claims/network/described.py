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
from symreln.document.typeset import phrase, say
from symreln.document.words import fraction_latex
from symreln.specs.number import WrittenDecimal
from symreln.verdict.spaces import minimal_spaces

if TYPE_CHECKING:
    from symreln.claims.network.derivation import NetworkDerivation
    from symreln.document.inlines import Content
    from symreln.networks.bundles import NetworkData
    from symreln.networks.parts import Edge, Node
    from symreln.specs.model import NetworkSpec
    from symreln.verdict.spaces import NodeSpaces

#: Rows of a table; derivation.json has all.
MOST = 40
#: Correlations of bundles in the bases of their nodes.
IN_BASES = (
    r"$S_b = R_{\mathrm{out}(b)}^{\top} \Sigma^{yx}(b) R_{\mathrm{in}(b)}$, "
    r"$K_{bb'} = R_{\mathrm{out}(b)}^{\top} O_{bb'} R_{\mathrm{out}(b')}$ and "
    r"$D_{b'b} = R_{\mathrm{in}(b')}^{\top} \Sigma^{x}(b', b) R_{\mathrm{in}(b)}$"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Described(Claim):
    """Nodes, edges and pathways, and the spaces that their flow does not leave.

    Attributes:
        data: The graph on its data.
        spaces: At the input and output nodes.
        serving: What the spaces are the smallest of.
        network: How it is trained, or None where the spec does not say.
    """

    data: NetworkData
    spaces: NodeSpaces
    serving: str
    network: NetworkSpec | None

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
            (Code(graph.name(path)), str(bundle + 1), str(sum(value != 0 for value in path.gate)))
            for path, bundle in zip(data.paths, data.bundle_of, strict=True)
        ]
        return Section(
            title="The network",
            label="sec:network",
            blocks=(
                prose(f"{data.dataset.description} "),
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
                    "A pathway $p$ is a gated path from an input to an output node. Pathways with "
                    "the same input node, output node and gate $g_b$ see the same data: they are a "
                    "bundle $b$. Of its **effective dataset**, $X_b$ has the rows of $X$ at its "
                    "input node and $Y_b$ those of $Y$ at its output node, each column times the "
                    "gate; $O_{bb'}$ is 1 where an output of bundle $b'$ is one of $b$'s, and 0 "
                    "elsewhere. Correlations carry $1/P$ over all $P$ samples:"
                ),
                equation(
                    r"\Sigma^{yx}(b) = \tfrac{1}{P}\, Y_b X_b^{\top}, \qquad "
                    r"\Sigma^{x}(b', b) = \tfrac{1}{P}\, X_{b'} X_b^{\top}.",
                    label="eq:correlations",
                ),
                say(
                    r"Weights $W_e$ of an edge $e$ follow the gradient of the mean loss, $\tau "
                    r"\dot{W}_e = -\partial L/\partial W_e$ [@Saxe2022]. With $W_{\mathrm{after}"
                    r"(e,p)}$ and $W_{\mathrm{before}(e,p)}$ the products of the weights along $p$ "
                    "after and before $e$, and $T_b$ the sum of the products of the weights along "
                    "the pathways of a bundle,"
                ),
                equation(
                    r"\tau \dot{W}_e &= \sum_{p \ni e} W_{\mathrm{after}(e,p)}^{\top} E_{b(p)} "
                    r"W_{\mathrm{before}(e,p)}^{\top},",
                    r"E_b &= \Sigma^{yx}(b) - \sum_{b'} O_{bb'} T_{b'} \Sigma^{x}(b', b).",
                    label="eq:flow",
                ),
                say(
                    "{time} An edge that more pathways use collects more terms. There are {count} "
                    f"bundles. {words}",
                    time=self._time(),
                    count=str(len(data.bundles)),
                ),
            ),
        )

    def _time(self) -> Content:
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

    def _reduction(self) -> Section:
        rows = [
            (Code(node.name), node.kind, str(node.size), str(dimension))
            for node, dimension in self._outer
        ]
        return Section(
            title="The reduction per edge",
            label="sec:reduction",
            blocks=(
                say(
                    r"The weights keep the form $W_e = R_{\mathrm{to}(e)} B_e "
                    r"R_{\mathrm{from}(e)}^{\top}$ for all time, $R_n$ being an orthonormal basis "
                    "of a space of node $n$. They keep it if they start in it, and if the spaces "
                    "of input and output nodes contain the images of the correlations. These are "
                    f"the smallest {self.serving}; the space of a hidden node is any that contains "
                    "its start:",
                ),
                _table(("node", "kind", "units", "dimension"), rows, "llrr", "Invariant spaces"),
                say(
                    rf"With {IN_BASES}, where $\mathrm{{in}}(b)$ and $\mathrm{{out}}(b)$ are "
                    "the "
                    "input and output node of $b$, and with products of $B$ in the place of those "
                    "of $W$,"
                ),
                equation(
                    r"\tau \dot{B}_e = \sum_{p \ni e} B_{\mathrm{after}(e,p)}^{\top} "
                    r"\Bigl[ S_b - \sum_{b'} K_{bb'} B_{b'} D_{b'b} \Bigr] "
                    r"B_{\mathrm{before}(e,p)}^{\top}.",
                    label="eq:reduced",
                ),
            ),
        )


def described(derivation: NetworkDerivation) -> Described:
    """Return the network, its flow and the spaces that the flow does not leave."""
    serving = (
        "such spaces for all values of the parameters"
        if derivation.spec.parameters
        else "such spaces"
    )
    return Described(
        data=derivation.data,
        spaces=minimal_spaces(derivation.data),
        serving=serving,
        network=derivation.spec.network,
    )


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
