"""A gated deep linear network: nodes, edges and the paths between them, as a checked value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from symreln.base.summaries import short_repr
from symreln.errors import LimitReachedError, SpecError
from symreln.network.checks import in_order, problems_of
from symreln.network.parts import Edge, Gain, Gate, Node, gate_at

Part = TypeVar("Part", Node, Edge)

MAX_PATHS = 1000
"""As many as a spec may list by hand: beyond it the exact reduction has that many terms squared."""


@dataclass(frozen=True, kw_only=True)
class Path:
    """A gated path from an input node to an output node: what the theory calls a pathway.

    Attributes:
        nodes: Names of its nodes, from the input to the output.
        edges: Indices of its edges, in the same order.
        gate: Product of the gates of its nodes and edges, length P; open somewhere.
    """

    nodes: tuple[str, ...]
    edges: tuple[int, ...]
    gate: Gate

    @property
    def source(self) -> str:
        """Name of its input node."""
        return self.nodes[0]

    @property
    def target(self) -> str:
        """Name of its output node."""
        return self.nodes[-1]


@short_repr
@dataclass(frozen=True, kw_only=True)
class Network:
    """Nodes and edges without cycles; every node lies between an input and an output.

    Attributes:
        nodes: In the order given.
        edges: In the order given.

    Raises:
        SpecError: It is no such network; every problem found is listed, with the index of its node
            or edge.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def __post_init__(self) -> None:
        if problems := problems_of(self.nodes, self.edges):
            raise SpecError(problems)

    @cached_property
    def node_index(self) -> dict[str, int]:
        """Place of every node by its name."""
        return {node.name: place for place, node in enumerate(self.nodes)}

    def node(self, name: str) -> Node:
        """Return the node of this name."""
        return self.nodes[self.node_index[name]]

    @cached_property
    def incoming(self) -> dict[str, tuple[int, ...]]:
        """Indices of the edges that write a node, by its name."""
        return self._gathered([edge.target for edge in self.edges])

    @cached_property
    def outgoing(self) -> dict[str, tuple[int, ...]]:
        """Indices of the edges that read a node, by its name."""
        return self._gathered([edge.source for edge in self.edges])

    def _gathered(self, ends: list[str]) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {node.name: () for node in self.nodes}
        for place, end in enumerate(ends):
            found[end] += (place,)
        return found

    def shape(self, edge: int) -> tuple[int, int]:
        """Return the shape of an edge's weights: (size of its target, size of its source)."""
        found = self.edges[edge]
        return self.node(found.target).size, self.node(found.source).size

    @cached_property
    def depth(self) -> int:
        """The largest number of edges from an input to an output."""
        depths = {node.name: 0 for node in self.nodes}
        for name in in_order(self.nodes, self.edges):
            for place in self.outgoing[name]:
                target = self.edges[place].target
                depths[target] = max(depths[target], depths[name] + 1)
        return max(depths.values())

    def paths(self, samples: int) -> tuple[Path, ...]:
        """Return every path from an input to an output whose gates are open together somewhere.

        In the order of the input nodes, then of the edges at every node.

        Args:
            samples: P, the number of samples.

        Raises:
            LimitReachedError: There are more than MAX_PATHS.
        """
        found: list[Path] = []
        for node in self.nodes:
            if node.inputs:
                start = Path(nodes=(node.name,), edges=(), gate=(1,) * samples)
                for path in self._onward(start, node):
                    found.append(path)
                    if len(found) > MAX_PATHS:
                        msg = (
                            f"the graph has more than {MAX_PATHS} pathways, each of them a term in "
                            "every other's error. Close paths by gates, or merge nodes"
                        )
                        raise LimitReachedError(msg)
        return tuple(found)

    def _onward(self, path: Path, *passed: Node | Edge) -> Iterator[Path]:
        """Yield every path that begins with a path, whose last edge and node are ``passed``."""
        gate = path.gate
        for item in passed:
            if item.gate is not None:
                gate = tuple(_product(x, y) for x, y in zip(gate, item.gate, strict=True))
        if all(value == 0 for value in gate):
            return
        path = replace(path, gate=gate)
        if self.node(path.target).outputs:
            yield path
        for place in self.outgoing[path.target]:
            edge = self.edges[place]
            longer = replace(path, nodes=(*path.nodes, edge.target), edges=(*path.edges, place))
            yield from self._onward(longer, edge, self.node(edge.target))

    def name(self, path: Path) -> str:
        """Return a path's nodes, or its edges where edges are parallel, from the input on."""
        ends = [(edge.source, edge.target) for edge in self.edges]
        if any(ends.count(ends[place]) > 1 for place in path.edges):
            return " / ".join(self.edges[place].name for place in path.edges)
        return " → ".join(path.nodes)

    def at(self, values: Mapping[str, Fraction]) -> Network:
        """Return the network with parameters in its gains replaced by values.

        Raises:
            ZeroDivisionError: A gain is infinite there.
        """

        def replaced(item: Part) -> Part:
            return item if item.gate is None else replace(item, gate=gate_at(item.gate, values))

        return replace(
            self,
            nodes=tuple(map(replaced, self.nodes)),
            edges=tuple(map(replaced, self.edges)),
        )


def _product(x: Gain, y: Gain) -> Gain:
    """Return a product; 0 and 1 stay whole numbers, as gates are read elsewhere."""
    if x == 0 or y == 0:
        return 0
    product = x * y
    return 1 if product == 1 else product
