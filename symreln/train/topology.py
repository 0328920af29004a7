"""A gated deep linear network as a graph, in floats: nodes, edges, gates, pathways."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from symreln.base.summaries import short_repr
from symreln.errors import InputError, LimitReachedError
from symreln.train.network import GatedPathway

MAX_MAPS = 1000
"""Pathways that a graph's maps are recorded for."""

Gate = tuple[float, ...] | None


@short_repr
@dataclass(frozen=True, kw_only=True)
class GatedNode:
    """Units that are gated together.

    Attributes:
        name: Unique name.
        size: Units; of a node with inputs or outputs their number.
        gate: Shape (P,), a factor for every sample; None where it is always open.
        inputs: Indices of the inputs that it holds; empty but for an input node.
        outputs: Indices of the outputs that it writes to; empty but for an output node.
        stage: Of an output node, used by staged training only.
    """

    name: str
    size: int
    gate: Gate = None
    inputs: Sequence[int] = ()
    outputs: Sequence[int] = ()
    stage: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "gate", _gate(f"node {self.name!r}", self.gate))
        for group in ("inputs", "outputs"):
            indices = tuple(int(index) for index in getattr(self, group))
            object.__setattr__(self, group, indices)
            if len(set(indices)) != len(indices) or (indices and min(indices) < 0):
                msg = f"node {self.name!r}: {group} are {indices}. Give indices from 0 up, once."
                raise InputError(msg)
        held = self.inputs or self.outputs
        if self.inputs and self.outputs:
            msg = f"node {self.name!r}: it has inputs and outputs. Give one of them, or neither."
            raise InputError(msg)
        if self.size < 1 or (held and self.size != len(held)):
            wanted = len(held) or "at least 1"
            msg = f"node {self.name!r}: size is {self.size}. Give {wanted}."
            raise InputError(msg)


@dataclass(frozen=True, kw_only=True)
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "gate", _gate(f"edge {self.name!r}", self.gate))


def _gate(where: str, gate: Sequence[float] | None) -> Gate:
    if gate is None:
        return None
    found = tuple(float(value) for value in gate)
    if not all(math.isfinite(value) for value in found):
        msg = f"{where}: its gate holds a value that is not finite. Give a number a sample."
        raise InputError(msg)
    return found


@short_repr
@dataclass(frozen=True, kw_only=True)
class GatedGraph:
    """Nodes and edges without cycles.

    On sample μ a node holds g(μ) Σ_e g_e(μ) W_e h_source(μ), an input node g(μ) times its inputs;
    ŷ_μ is the sum of the output nodes at the outputs that they write to.

    Raises:
        InputError: Names repeat or are not known, an edge enters an input or leaves an output, or
            there is a cycle.
    """

    nodes: tuple[GatedNode, ...]
    edges: tuple[GatedEdge, ...]

    def __post_init__(self) -> None:
        for kind, items in (("nodes", self.nodes), ("edges", self.edges)):
            names = [item.name for item in items]
            if not names or len(set(names)) != len(names):
                msg = f"{kind}: names are {names}. Give at least one, each its own name."
                raise InputError(msg)
        for edge in self.edges:
            self._check(edge)
        if len(self.order) < len(self.nodes):
            left = [node.name for node in self.nodes if node not in self.order]
            msg = f"edges: nodes {left} lie on or after a cycle. Remove one of its edges."
            raise InputError(msg)

    def _check(self, edge: GatedEdge) -> None:
        for end in (edge.source, edge.target):
            if end not in self.by_name:
                msg = f"edge {edge.name!r}: no node {end!r}. There are {list(self.by_name)}."
                raise InputError(msg)
        if self.by_name[edge.source].outputs or self.by_name[edge.target].inputs:
            msg = (
                f"edge {edge.name!r}: {edge.source!r} → {edge.target!r}. "
                "Edges leave no output node and enter no input node."
            )
            raise InputError(msg)

    @cached_property
    def by_name(self) -> dict[str, GatedNode]:
        """Nodes by their names."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def order(self) -> tuple[GatedNode, ...]:
        """Nodes, each after all that it reads; those on or after cycles are left out."""
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
        return [(self.by_name[e.target].size, self.by_name[e.source].size) for e in self.edges]

    @cached_property
    def depth(self) -> int:
        """The largest number of edges from an input to an output."""
        depths = {node.name: 0 for node in self.nodes}
        for node in self.order:
            for edge in self.edges:
                if edge.source == node.name:
                    depths[edge.target] = max(depths[edge.target], depths[node.name] + 1)
        return max(depths.values())

    def check_fits(self, n_x: int, n_y: int, samples: int) -> None:
        """Raise InputError where the graph does not fit data of these sizes."""
        for kind, items in (("node", self.nodes), ("edge", self.edges)):
            for item in items:
                if item.gate is not None and len(item.gate) != samples:
                    msg = (
                        f"{kind} {item.name!r}: {len(item.gate)} gates for {samples} samples. "
                        f"Give one gate per sample (shape ({samples},))."
                    )
                    raise InputError(msg)
        for node in self.nodes:
            for group, indices, size in (
                ("inputs", node.inputs, n_x),
                ("outputs", node.outputs, n_y),
            ):
                if indices and max(indices) >= size:
                    msg = (
                        f"node {node.name!r}: {group} hold index {max(indices)}, but the data have "
                        f"{size}. Give indices from 0 to {size - 1}."
                    )
                    raise InputError(msg)

    def live(self, samples: int) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
        """Samples on which nodes, by name, and edges lie on an open path from input to output.

        Truth values of shape (P,): elsewhere they are zero, or nothing reads them.
        """
        forward = {n.name: _opened(n.gate, samples) & bool(n.inputs) for n in self.nodes}
        for node in self.order:
            for edge in self.edges:
                if edge.target == node.name:
                    opened = _opened(edge.gate, samples) & _opened(node.gate, samples)
                    forward[node.name] = forward[node.name] | (forward[edge.source] & opened)
        backward = {n.name: _opened(n.gate, samples) & bool(n.outputs) for n in self.nodes}
        for node in reversed(self.order):
            for edge in self.edges:
                if edge.source == node.name:
                    opened = _opened(edge.gate, samples) & _opened(node.gate, samples)
                    backward[node.name] = backward[node.name] | (backward[edge.target] & opened)
        nodes = {name: forward[name] & backward[name] for name in forward}
        edges = [
            forward[e.source] & backward[e.target] & _opened(e.gate, samples) for e in self.edges
        ]
        return nodes, edges

    def paths(self, samples: int) -> tuple[tuple[int, ...], ...]:
        """Edges of every path from an input to an output whose gates are open together somewhere.

        In the order of the input nodes, then of the edges at every node.

        Raises:
            LimitReachedError: There are more than MAX_MAPS.
        """
        found: list[tuple[int, ...]] = []

        def extend(node: GatedNode, path: tuple[int, ...], opened: np.ndarray) -> None:
            opened = opened & _opened(node.gate, samples)
            if not opened.any():
                return
            if node.outputs:
                found.append(path)
                if len(found) > MAX_MAPS:
                    msg = f"maps: the graph has more than {MAX_MAPS} pathways. Leave maps out."
                    raise LimitReachedError(msg)
            for place, edge in enumerate(self.edges):
                if edge.source == node.name:
                    passed = opened & _opened(edge.gate, samples)
                    extend(self.by_name[edge.target], (*path, place), passed)

        for node in self.nodes:
            if node.inputs:
                extend(node, (), np.ones(samples, dtype=bool))
        return tuple(found)


def _opened(gate: Gate, samples: int) -> np.ndarray:
    return np.ones(samples, dtype=bool) if gate is None else np.array(gate) != 0


def chain_graph(
    pathways: Sequence[GatedPathway],
    layers: int,
    gated: Literal["inputs", "outputs"] = "inputs",
) -> GatedGraph:
    """The graph of pathways that share nothing, each a chain of so many layers of weights.

    Edges come pathway by pathway, from the inputs on; each hidden node has the pathway's units.

    Args:
        pathways: Their stage is that of their output node.
        layers: Layers of weights.
        gated: At which end the gate is. Without biases it is the same network.

    Raises:
        InputError: Fewer than one layer, or names that repeat.
    """
    if layers < 1:
        msg = f"layers: found {layers}. Give at least 1."
        raise InputError(msg)
    nodes, edges = [], []
    for pathway in pathways:
        name = pathway.name
        if pathway.boundary:
            msg = (
                f"pathway {name!r}: its inputs are made orthogonal to samples, which two layers "
                "without biases are trained with. Leave the other layers or the biases out."
            )
            raise InputError(msg)
        inner = [GatedNode(name=f"{name}.{k}", size=pathway.hidden) for k in range(1, layers)]
        gate = {gated: tuple(pathway.gate)}
        first = GatedNode(
            name=f"{name}.in",
            size=len(pathway.inputs),
            gate=gate.get("inputs"),
            inputs=pathway.inputs,
        )
        last = GatedNode(
            name=f"{name}.out",
            size=len(pathway.outputs),
            gate=gate.get("outputs"),
            outputs=pathway.outputs,
            stage=pathway.stage,
        )
        chain = [first, *inner, last]
        nodes += chain
        edges += [
            GatedEdge(name=f"{name}.{k + 1}", source=chain[k].name, target=chain[k + 1].name)
            for k in range(layers)
        ]
    return GatedGraph(nodes=tuple(nodes), edges=tuple(edges))
