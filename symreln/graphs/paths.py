"""Pathways of a graph: gated paths from an input node to an output node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from symreln.errors import LimitReachedError
from symreln.graphs.model import MAX_PATHS
from symreln.spec.model import PathwaySpec

if TYPE_CHECKING:
    from symreln.graphs.model import Edge, Graph, Node
    from symreln.spec.model import Gain


@dataclass(frozen=True, kw_only=True)
class GraphPath:
    """One pathway.

    Attributes:
        source: Name of its input node.
        target: Name of its output node.
        edges: Indices of its edges, from the input to the output.
        gate: Product of the gates of its nodes and edges, length P; open somewhere.
    """

    source: str
    target: str
    edges: tuple[int, ...]
    gate: tuple[Gain, ...]

    def name(self, graph: Graph) -> str:
        """Return its nodes, or its edges where edges are parallel, from the input on."""
        ends = [(edge.source, edge.target) for edge in graph.edges]
        if any(ends.count(ends[place]) > 1 for place in self.edges):
            return " / ".join(graph.edges[place].name for place in self.edges)
        return " → ".join([self.source, *(graph.edges[place].target for place in self.edges)])

    def spec(self, graph: Graph) -> PathwaySpec:
        """Return what it applies to the dataset: its gate, its inputs and its outputs."""
        source, target = graph.node(self.source), graph.node(self.target)
        return PathwaySpec(
            name=self.name(graph),
            gate=self.gate,
            gate_text="product of the gates on its nodes and edges",
            inputs=source.inputs,
            inputs_text=source.inputs_text or "all",
            outputs=target.outputs,
            outputs_text=target.outputs_text or "all",
        )


def pathways(graph: Graph, samples: int) -> tuple[GraphPath, ...]:
    """Return every path from an input to an output whose gates are open together somewhere.

    In the order of the input nodes, then of the edges at every node.

    Args:
        graph: The graph.
        samples: P, the number of samples.

    Raises:
        LimitReachedError: There are more than MAX_PATHS.
    """
    found: list[GraphPath] = []
    for node in graph.nodes:
        if node.inputs:
            start = GraphPath(
                source=node.name, target=node.name, edges=(), gate=_gate(node, samples)
            )
            _extend(graph, start, found, samples)
    return tuple(found)


def _extend(graph: Graph, path: GraphPath, found: list[GraphPath], samples: int) -> None:
    """Add every pathway that begins with a path."""
    if all(value == 0 for value in path.gate):
        return
    if graph.node(path.target).outputs:
        found.append(path)
        if len(found) > MAX_PATHS:
            msg = (
                f"the graph has more than {MAX_PATHS} pathways, each of them a term in every "
                "other's error. Close paths by gates, or merge nodes"
            )
            raise LimitReachedError(msg)
        return
    for place in graph.outgoing[path.target]:
        edge = graph.edges[place]
        gate = _times(path.gate, _gate(edge, samples))
        gate = _times(gate, _gate(graph.node(edge.target), samples))
        longer = GraphPath(
            source=path.source, target=edge.target, edges=(*path.edges, place), gate=gate
        )
        _extend(graph, longer, found, samples)


def _gate(item: Node | Edge, samples: int) -> tuple[Gain, ...]:
    return (1,) * samples if item.gate is None else item.gate


def _times(a: tuple[Gain, ...], b: tuple[Gain, ...]) -> tuple[Gain, ...]:
    return tuple(_product(x, y) for x, y in zip(a, b, strict=True))


def _product(x: Gain, y: Gain) -> Gain:
    """Return a product; 0 and 1 stay whole numbers, as gates are read elsewhere."""
    if x == 0 or y == 0:
        return 0
    if x == 1:
        return y
    if y == 1:
        return x
    product = x * y
    return 1 if product == 1 else product
