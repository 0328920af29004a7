"""A gated deep linear network as a graph: a value that has been checked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from symreln.base.summaries import short_repr
from symreln.errors import Problem, SpecError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from symreln.spec.model import Gain

MAX_PATHS = 1000
"""As many as a spec may list by hand: beyond it the exact reduction has that many terms squared."""


@short_repr
@dataclass(frozen=True, kw_only=True)
class Node:
    """A layer or a part of one: units that are gated together.

    Attributes:
        name: Unique name.
        size: Number of units; of an input or output node the number of its indices.
        gate: 0, 1 or an exact gain for every sample, length P; None where it is always open.
        gate_text: What the user wrote for it.
        inputs: Indices of the inputs that it holds, ascending; empty but for an input node.
        inputs_text: What the user wrote for them.
        outputs: Indices of the outputs that it writes to, ascending; empty but for an output node.
        outputs_text: What the user wrote for them.
    """

    name: str
    size: int
    gate: tuple[Gain, ...] | None = None
    gate_text: str = "all"
    inputs: tuple[int, ...] = ()
    inputs_text: str = ""
    outputs: tuple[int, ...] = ()
    outputs_text: str = ""

    @property
    def is_hidden(self) -> bool:
        """Whether it is neither an input nor an output."""
        return not self.inputs and not self.outputs

    @property
    def kind(self) -> str:
        """What it is: "input", "output" or "hidden"."""
        return "input" if self.inputs else "output" if self.outputs else "hidden"


@dataclass(frozen=True, kw_only=True)
class Edge:
    """Weights W_e from one node to another, shape (size of target, size of source).

    Attributes:
        name: Unique name.
        source: Name of the node that it reads.
        target: Name of the node that it writes.
        gate: 0, 1 or an exact gain for every sample; None where it is always open.
        gate_text: What the user wrote for it.
    """

    name: str
    source: str
    target: str
    gate: tuple[Gain, ...] | None = None
    gate_text: str = "all"


@short_repr
@dataclass(frozen=True, kw_only=True)
class Graph:
    """Nodes and edges without cycles; every node lies between an input and an output.

    Attributes:
        nodes: In the order given.
        edges: In the order given.

    Raises:
        SpecError: It is no such graph; every problem found is listed, with the index of its node
            or edge.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def __post_init__(self) -> None:
        problems = [*_name_problems(self), *_node_problems(self), *_edge_problems(self)]
        # Names and ends first: what follows needs them.
        problems = problems or [*_cycle_problems(self), *_idle_problems(self)]
        if problems:
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
        found: dict[str, list[int]] = {node.name: [] for node in self.nodes}
        for place, end in enumerate(ends):
            found[end].append(place)
        return {name: tuple(places) for name, places in found.items()}

    def shape(self, edge: int) -> tuple[int, int]:
        """Return the shape of an edge's weights: (size of its target, size of its source)."""
        found = self.edges[edge]
        return self.node(found.target).size, self.node(found.source).size

    def at(self, values: Mapping[str, Fraction]) -> Graph:
        """Return the graph with parameters in its gains replaced by values.

        Raises:
            ZeroDivisionError: A gain is infinite there.
        """
        return replace(
            self,
            nodes=tuple(replace(node, gate=_gate_at(node.gate, values)) for node in self.nodes),
            edges=tuple(replace(edge, gate=_gate_at(edge.gate, values)) for edge in self.edges),
        )

    @cached_property
    def depth(self) -> int:
        """The largest number of edges from an input to an output."""
        depths = {node.name: 0 for node in self.nodes}
        for name in _order(self):
            for place in self.outgoing[name]:
                target = self.edges[place].target
                depths[target] = max(depths[target], depths[name] + 1)
        return max(depths.values())


def _gate_at(
    gate: tuple[Gain, ...] | None, values: Mapping[str, Fraction]
) -> tuple[Gain, ...] | None:
    """Return a gate at values, its gains as 0 or 1 where they are one of them."""
    if gate is None:
        return None
    found = [gain if isinstance(gain, int) else gain.substitute(values) for gain in gate]
    return tuple(int(gain == 1) if gain == 0 or gain == 1 else gain for gain in found)


def _order(graph: Graph) -> list[str]:
    """Return the names of the nodes, each after all that it reads; those on cycles are left out."""
    waiting = {node.name: len(graph.incoming[node.name]) for node in graph.nodes}
    ready = [name for name, count in waiting.items() if count == 0]
    for name in ready:  # grows while it is read
        for place in graph.outgoing[name]:
            target = graph.edges[place].target
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    return ready


def _name_problems(graph: Graph) -> list[Problem]:
    found = []
    for kind, items in (("node", graph.nodes), ("edge", graph.edges)):
        if not items:
            expected = f"at least one [[{kind}]]"
            found.append(Problem(path=kind, found=f"no {kind}", expected=expected))
        first: dict[str, int] = {}
        for place, item in enumerate(items):
            earlier = first.setdefault(item.name, place)
            if earlier != place:
                what = f'the name "{item.name}", which {kind}[{earlier}] has'
                path = f"{kind}[{place}].name"
                found.append(Problem(path=path, found=what, expected="a name of its own"))
    return found


def _node_problems(graph: Graph) -> list[Problem]:
    found = []
    for place, node in enumerate(graph.nodes):
        path = f"node[{place}]"
        if node.inputs and node.outputs:
            what = f'node "{node.name}" with inputs and outputs'
            expected = "inputs, or outputs, or neither"
            hint = "An edge from an input node to an output node is a path, too."
            found.append(Problem(path=path, found=what, expected=expected, hint=hint))
        held = node.inputs or node.outputs
        if held and node.size != len(held):
            expected = f"its number of {node.kind}s, {len(held)}"
            found.append(Problem(path=f"{path}.size", found=str(node.size), expected=expected))
        if node.size < 1:
            expected = "at least one unit"
            found.append(Problem(path=f"{path}.size", found=str(node.size), expected=expected))
    lengths = Counter(len(item.gate) for item in (*graph.nodes, *graph.edges) if item.gate)
    if len(lengths) > 1:
        what = f"gates for {' and for '.join(map(str, sorted(lengths)))} samples"
        found.append(Problem(path="node", found=what, expected="one entry for every sample"))
    return found


def _edge_problems(graph: Graph) -> list[Problem]:
    known = {node.name: node for node in graph.nodes}
    found = []
    for place, edge in enumerate(graph.edges):
        for key, end in (("from", edge.source), ("to", edge.target)):
            if end not in known:
                names = ", ".join(list(known)[:12])
                path, what = f"edge[{place}].{key}", f'the unknown node "{end}"'
                expected = "the name of a node"
                hint = f"Known: {names}."
                found.append(Problem(path=path, found=what, expected=expected, hint=hint))
        if edge.source in known and known[edge.source].outputs:
            what = f'the output node "{edge.source}"'
            expected = "an input or hidden node"
            found.append(Problem(path=f"edge[{place}].from", found=what, expected=expected))
        if edge.target in known and known[edge.target].inputs:
            what = f'the input node "{edge.target}"'
            expected = "a hidden or output node"
            found.append(Problem(path=f"edge[{place}].to", found=what, expected=expected))
    return found


def _cycle_problems(graph: Graph) -> list[Problem]:
    sorted_names = set(_order(graph))
    left = [node.name for node in graph.nodes if node.name not in sorted_names]
    if not left:
        return []
    trail: list[str] = [left[0]]
    while trail[-1] not in trail[:-1]:
        # Every node that is left reads one that is left.
        places = graph.incoming[trail[-1]]
        sources = (graph.edges[place].source for place in places)
        trail.append(next(source for source in sources if source not in sorted_names))
    cycle = trail[trail.index(trail[-1]) :][::-1]
    what = f"the cycle {' → '.join(cycle)}"
    expected = "edges that lead from inputs to outputs without return"
    return [Problem(path="edge", found=what, expected=expected, hint="Remove one of its edges.")]


def _idle_problems(graph: Graph) -> list[Problem]:
    found = []
    for place, node in enumerate(graph.nodes):
        missing = []
        if not node.inputs and not graph.incoming[node.name]:
            missing.append("into")
        if not node.outputs and not graph.outgoing[node.name]:
            missing.append("out of")
        if missing:
            what = f'the {node.kind} node "{node.name}" with no edge {" or ".join(missing)} it'
            hint = "" if not node.is_hidden else "Or give it inputs or outputs."
            expected = "a node between an input and an output"
            path = f"node[{place}]"
            found.append(Problem(path=path, found=what, expected=expected, hint=hint))
    return found
