"""A network in floats: nodes, edges, gates; everything that is trained is one of these.

A ReLU network is a chain of nodes that gate themselves; a gated deep linear network is a graph with
given gates; a pathway is two edges through a node of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from symreln.base.records import record
from symreln.errors import LimitReachedError

_MAX_MAPS = 1000
"""Pathways that a graph's maps are recorded for."""

Gate = tuple[float, ...] | None


@record
class GatedNode:
    """Units that are gated together.

    Attributes:
        name: Unique name.
        size: Units; of a node with inputs or outputs their number.
        gate: Shape (P,), a factor for every sample; None where it is always open.
        relu: Whether its units gate themselves: each is open where what it receives is above zero.
        inputs: Indices of the inputs that it holds; empty but for an input node.
        outputs: Indices of the outputs that it writes to; empty but for an output node.
        stage: Of an output node, used by staged training only.
        boundary: Of an input node: samples to which its inputs are made orthogonal.
    """

    name: str
    size: int
    gate: Gate = None
    relu: bool = False
    inputs: Sequence[int] = ()
    outputs: Sequence[int] = ()
    stage: int = 1
    boundary: Sequence[int] = ()

    @property
    def hidden(self) -> bool:
        """Whether it holds neither inputs nor outputs."""
        return not self.inputs and not self.outputs


@record
class GatedEdge:
    """Weights from one node to another, shape (target's units, source's units).

    Attributes:
        name: Unique name.
        source: Name of the node that it reads.
        target: Name of the node that it writes.
        gate: Shape (P,), a factor for every sample; None where it is always open.
    """

    name: str
    source: str
    target: str
    gate: Gate = None


@record
class GatedNetwork:
    """Nodes and edges without cycles.

    On sample μ a node holds g(μ) Σ_e g_e(μ) W_e h_source(μ), a node with ReLU the positive part of
    it, an input node g(μ) times its inputs; ŷ_μ is the sum of the output nodes at the outputs that
    they write to.

    Attributes:
        nodes: The nodes.
        edges: The edges.
    """

    nodes: tuple[GatedNode, ...]
    edges: tuple[GatedEdge, ...]

    @cached_property
    def by_name(self) -> dict[str, GatedNode]:
        """Nodes by their names."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def ends(self) -> tuple[tuple[GatedNode, GatedNode], ...]:
        """Source and target of every edge."""
        return tuple((self.by_name[e.source], self.by_name[e.target]) for e in self.edges)

    @cached_property
    def pathways(self) -> tuple[tuple[GatedNode, GatedNode, GatedNode], ...]:
        """Input, hidden and output node of every pathway, where each is two edges of its own.

        In the order of the edges, which follow one another; empty for every other network.
        """
        pairs = list(zip(self.ends[::2], self.ends[1::2], strict=False))
        found = tuple((*first, second[1]) for first, second in pairs if first[1] is second[0])
        apart = len({hidden.name for _, hidden, _ in found}) == len(found)
        ended = all(first.inputs and last.outputs for first, _, last in found)
        return found if apart and ended and 2 * len(found) == len(self.edges) else ()

    @cached_property
    def order(self) -> tuple[GatedNode, ...]:
        """Nodes, each after all that it reads."""
        waiting = {node.name: 0 for node in self.nodes}
        for edge in self.edges:
            waiting[edge.target] += 1
        ready = [node for node in self.nodes if waiting[node.name] == 0]
        for node in ready:  # grows while it is read
            for edge in self.edges:
                if edge.source == node.name:
                    waiting[edge.target] -= 1
                    if waiting[edge.target] == 0:
                        ready.append(self.by_name[edge.target])
        return tuple(ready)

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Shape of every edge's weights, (target's units, source's units)."""
        return [(target.size, source.size) for source, target in self.ends]

    @cached_property
    def depths(self) -> dict[str, int]:
        """The largest number of edges on a path that ends at each node, by name."""
        depths = {node.name: 0 for node in self.nodes}
        for node in self.order:
            for edge in self.edges:
                if edge.source == node.name:
                    depths[edge.target] = max(depths[edge.target], depths[node.name] + 1)
        return depths

    @property
    def depth(self) -> int:
        """The largest number of edges from an input to an output."""
        return max(self.depths.values())

    @property
    def hidden_layers(self) -> list[list[GatedNode]]:
        """Hidden nodes of one depth after another."""
        hidden = [node for node in self.nodes if node.hidden]
        depths = sorted({self.depths[node.name] for node in hidden})
        return [[node for node in hidden if self.depths[node.name] == depth] for depth in depths]

    def live(self, samples: int) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
        """Samples on which nodes, by name, and edges lie on an open path from input to output.

        Truth values of shape (P,): elsewhere they are zero, or nothing reads them.
        """
        opened = {node.name: _opened(node.gate, samples) for node in self.nodes}
        passing = [_opened(edge.gate, samples) for edge in self.edges]
        forward = {n.name: opened[n.name] & bool(n.inputs) for n in self.nodes}
        for node in self.order:
            for edge, open_there in zip(self.edges, passing, strict=True):
                if edge.target == node.name:
                    forward[node.name] |= forward[edge.source] & open_there & opened[node.name]
        backward = {n.name: opened[n.name] & bool(n.outputs) for n in self.nodes}
        for node in reversed(self.order):
            for edge, open_there in zip(self.edges, passing, strict=True):
                if edge.source == node.name:
                    backward[node.name] |= backward[edge.target] & open_there & opened[node.name]
        nodes = {name: forward[name] & backward[name] for name in forward}
        ends = [forward[edge.source] & backward[edge.target] for edge in self.edges]
        return nodes, [end & open_there for end, open_there in zip(ends, passing, strict=True)]

    def paths(self, samples: int) -> tuple[tuple[int, ...], ...]:
        """Edges of every path from an input to an output whose gates are open together somewhere.

        In the order of the input nodes, then of the edges at every node.

        Raises:
            LimitReachedError: There are more than _MAX_MAPS.
        """
        found: list[tuple[int, ...]] = []

        def extend(node: GatedNode, path: tuple[int, ...], opened: np.ndarray) -> None:
            opened = opened & _opened(node.gate, samples)
            if not opened.any():
                return
            if node.outputs:
                found.append(path)
                if len(found) > _MAX_MAPS:
                    msg = f"maps: the graph has more than {_MAX_MAPS} pathways. Leave maps out."
                    raise LimitReachedError(msg)
            for place, edge in enumerate(self.edges):
                if edge.source == node.name:
                    passed = opened & _opened(edge.gate, samples)
                    extend(self.by_name[edge.target], (*path, place), passed)

        for node in self.nodes:
            if node.inputs:
                extend(node, (), np.ones(samples, dtype=bool))
        return tuple(found)


@record
class GatedPathway:
    """One pathway of a GDLN: ŷ_μ gets g(μ) O W2 W1 I x_μ.

    Attributes:
        name: Shown in messages and used to look the pathway up.
        gate: Shape (P,), g(μ): 0, 1 or another factor a sample.
        inputs: Indices of the inputs that the pathway sees (the diagonal of I).
        outputs: Indices of the outputs that it writes to (the diagonal of O).
        hidden: Its hidden units.
        spread: What the standard deviation of its initial weights is multiplied by.
        stage: Used by staged training only; stages are trained side by side (``train_gdln``).
        boundary: Samples to which its inputs are made orthogonal before it sees them.
    """

    name: str
    gate: Sequence[float]
    inputs: Sequence[int]
    outputs: Sequence[int]
    hidden: int
    stage: int = 1
    spread: float = 1.0
    boundary: Sequence[int] = ()


def _opened(gate: Gate, samples: int) -> np.ndarray:
    return np.ones(samples, dtype=bool) if gate is None else np.array(gate) != 0


def off_boundary(node: GatedNode, inputs: np.ndarray) -> np.ndarray:
    """Return the projector on what is orthogonal to an input node's boundary samples.

    Args:
        node: The node.
        inputs: X, shape (n_x, P).

    Returns:
        Shape (inputs of the node, inputs of the node).
    """
    on = inputs[list(node.inputs)][:, list(node.boundary)]
    u, s, _ = np.linalg.svd(on, full_matrices=False)
    frame = u[:, s > 1e-12 * s.max(initial=0.0)]
    return np.eye(len(on)) - frame @ frame.T


def own_inputs(node: GatedNode, inputs: np.ndarray) -> np.ndarray:
    """Return what an input node sees of the samples before its gate, shape (its inputs, P)."""
    rows = inputs[list(node.inputs)]
    return off_boundary(node, inputs) @ rows if node.boundary else rows


def dense_network(n_x: int, widths: Sequence[int], n_y: int, *, relu: bool) -> GatedNetwork:
    """The network ŷ = W_L σ(W_{L−1} … σ(W_1 x)), σ being ReLU or the identity.

    Args:
        n_x: Inputs.
        widths: Units of each hidden layer; empty for a single layer of weights.
        n_y: Outputs.
        relu: Whether hidden layers have ReLU.
    """
    first = GatedNode(name="inputs", size=n_x, inputs=range(n_x))
    hidden = [GatedNode(name=f"{k}", size=w, relu=relu) for k, w in enumerate(widths, start=1)]
    last = GatedNode(name="outputs", size=n_y, outputs=range(n_y))
    return _chained({"": [first, *hidden, last]})


def pathway_network(pathways: Sequence[GatedPathway], layers: int = 2) -> GatedNetwork:
    """The network of pathways that share nothing, each a chain of so many layers of weights.

    Edges come pathway by pathway, from the inputs on, which have the gate; each hidden node has
    the pathway's units.

    Args:
        pathways: Their stage is that of their output node.
        layers: Layers of weights.
    """
    return _chained({f"{each.name}.": _chain(each, layers) for each in pathways})


def _chain(pathway: GatedPathway, layers: int) -> list[GatedNode]:
    name = pathway.name
    first = GatedNode(
        name=f"{name}.in",
        size=len(pathway.inputs),
        gate=tuple(pathway.gate),
        inputs=pathway.inputs,
        boundary=pathway.boundary,
    )
    inner = [GatedNode(name=f"{name}.{k}", size=pathway.hidden) for k in range(1, layers)]
    last = GatedNode(
        name=f"{name}.out",
        size=len(pathway.outputs),
        outputs=pathway.outputs,
        stage=pathway.stage,
    )
    return [first, *inner, last]


def _chained(chains: Mapping[str, list[GatedNode]]) -> GatedNetwork:
    """Nodes one after the other; edges are called by the chain's key and their place in it."""
    return GatedNetwork(
        nodes=tuple(node for chain in chains.values() for node in chain),
        edges=tuple(
            GatedEdge(name=f"{key}{place}", source=before.name, target=after.name)
            for key, chain in chains.items()
            for place, (before, after) in enumerate(pairwise(chain), start=1)
        ),
    )
