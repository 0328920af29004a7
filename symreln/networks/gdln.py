"""A gated deep linear network: nodes, edges and the paths between them, as a checked value.

What nodes and edges must be to make a network.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from symreln.base.records import record
from symreln.errors import LimitReachedError, Problem, SpecError
from symreln.networks.parts import Edge, Gain, Gate, Node, gate_at

Part = TypeVar("Part", Node, Edge)

MAX_PATHS = 1000
"""As many as a spec may list by hand: beyond it the exact reduction has that many terms squared."""


@record
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


@record
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
        if problems := _problems_of(self.nodes, self.edges):
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
        for name in _in_order(self.nodes, self.edges):
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


def _in_order(nodes: Sequence[Node], edges: Sequence[Edge]) -> list[str]:
    """Return the names of the nodes, each after all that it reads; those on cycles are left out."""
    waiting = Counter(edge.target for edge in edges)
    targets = defaultdict(list)
    for edge in edges:
        targets[edge.source].append(edge.target)
    ready = [node.name for node in nodes if not waiting[node.name]]
    for name in ready:  # grows while it is read
        for target in targets[name]:
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return ready


def _problems_of(nodes: Sequence[Node], edges: Sequence[Edge]) -> list[Problem]:
    """Return all that keeps nodes and edges from being a network, with the index of each."""
    found = [*_names("node", nodes), *_names("edge", edges), *_nodes(nodes, edges)]
    found += _ends(nodes, edges)
    # Names and ends first: what follows needs them.
    return found or [*_cycles(nodes, edges), *_idle(nodes, edges)]


def _problem(path: str, found: str, expected: str, hint: str = "") -> Problem:
    return Problem(path=path, found=found, expected=expected, hint=hint)


def _names(kind: str, items: Sequence[Node] | Sequence[Edge]) -> Iterator[Problem]:
    if not items:
        yield _problem(kind, f"no {kind}", f"at least one [[{kind}]]")
    first: dict[str, int] = {}
    for place, item in enumerate(items):
        earlier = first.setdefault(item.name, place)
        if earlier != place:
            found = f'the name "{item.name}", which {kind}[{earlier}] has'
            yield _problem(f"{kind}[{place}].name", found, "a name of its own")


def _nodes(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[Problem]:
    for place, node in enumerate(nodes):
        path, held = f"node[{place}]", node.inputs or node.outputs
        if node.inputs and node.outputs:
            hint = "An edge from an input node to an output node is a path, too."
            found = f'node "{node.name}" with inputs and outputs'
            yield _problem(path, found, "inputs, or outputs, or neither", hint)
        if held and node.size != len(held):
            expected = f"its number of {node.kind}s, {len(held)}"
            yield _problem(f"{path}.size", str(node.size), expected)
        if node.size < 1:
            yield _problem(f"{path}.size", str(node.size), "at least one unit")
    lengths = {len(item.gate) for item in (*nodes, *edges) if item.gate}
    if len(lengths) > 1:
        found = f"gates for {' and for '.join(map(str, sorted(lengths)))} samples"
        yield _problem("node", found, "one entry for every sample")


def _ends(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[Problem]:
    known = {node.name: node for node in nodes}
    for place, edge in enumerate(edges):
        for key, end in (("from", edge.source), ("to", edge.target)):
            if end not in known:
                hint = f"Known: {', '.join(list(known)[:12])}."
                yield _problem(
                    f"edge[{place}].{key}", f'the unknown node "{end}"', "the name of a node", hint
                )
        if edge.source in known and known[edge.source].outputs:
            found = f'the output node "{edge.source}"'
            yield _problem(f"edge[{place}].from", found, "an input or hidden node")
        if edge.target in known and known[edge.target].inputs:
            found = f'the input node "{edge.target}"'
            yield _problem(f"edge[{place}].to", found, "a hidden or output node")


def _cycles(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[Problem]:
    left = {node.name: None for node in nodes}
    for name in _in_order(nodes, edges):
        del left[name]
    if left:
        trail = [next(iter(left))]
        while trail[-1] not in trail[:-1]:
            # Every node that is left reads one that is left.
            trail.append(
                next(e.source for e in edges if e.target == trail[-1] and e.source in left)
            )
        cycle = trail[trail.index(trail[-1]) :][::-1]
        expected = "edges that lead from inputs to outputs without return"
        yield _problem(
            "edge", f"the cycle {' → '.join(cycle)}", expected, "Remove one of its edges."
        )


def _idle(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[Problem]:
    read, written = {edge.source for edge in edges}, {edge.target for edge in edges}
    for place, node in enumerate(nodes):
        missing = ["into"] * (not node.inputs and node.name not in written)
        missing += ["out of"] * (not node.outputs and node.name not in read)
        if missing:
            found = f'the {node.kind} node "{node.name}" with no edge {" or ".join(missing)} it'
            hint = "Or give it inputs or outputs." if node.kind == "hidden" else ""
            yield _problem(f"node[{place}]", found, "a node between an input and an output", hint)
