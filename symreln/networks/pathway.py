"""Pathways as asked for one by one, and the network for which they are shorthand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from symreln.base.records import record
from symreln.exact.scalar import Scalar
from symreln.networks.gdln import Network, Path
from symreln.networks.parts import Edge, Gate, Node, Switch, gate_at


@record
class PathwaySpec:
    """One pathway of the gated deep linear network, as asked for.

    Attributes:
        name: Unique name.
        gate: 0, 1 or an exact gain for every sample, length P.
        gate_text: What the user wrote for it.
        inputs: Indices of the inputs that the pathway sees, ascending.
        inputs_text: What the user wrote for them ("all", a group's name, or a list).
        outputs: Indices of the outputs that it writes to, ascending.
        outputs_text: What the user wrote for them.
        stage: Training stage, from 1.
        hidden: Hidden units of its own, or None for what the network gives to every pathway.
        boundary: Samples to which the pathway's inputs are made orthogonal, written / in its gate:
            it sees Π X, Π the projector on the complement of their inputs. Units of a partial gate
            have a pre-activation of 0 on them; see :mod:`symreln.gating.partial`.
        then: Gates that it takes later, by ascending step.

    Example:
        >>> import symreln as sr
        >>> first = sr.load("contextual-3").pathways[1]
        >>> first.name, first.gate_text, len(first.open_samples)
        ('off_1', 'context != 1', 16)
    """

    name: str
    gate: Gate
    gate_text: str = "all"
    inputs: tuple[int, ...]
    inputs_text: str = "all"
    outputs: tuple[int, ...]
    outputs_text: str = "all"
    stage: int = 1
    hidden: int | None = None
    boundary: tuple[int, ...] = ()
    then: tuple[Switch, ...] = ()

    @classmethod
    def along(cls, network: Network, path: Path) -> PathwaySpec:
        """Return what a path of a network applies to the dataset: its gate, inputs and outputs."""
        source, target = network.node(path.source), network.node(path.target)
        hidden = [network.node(name).size for name in path.nodes[1:-1]]
        return cls(
            name=network.name(path),
            gate=path.gate,
            gate_text="product of the gates on its nodes and edges",
            inputs=source.inputs,
            inputs_text=source.inputs_text or "all",
            outputs=target.outputs,
            outputs_text=target.outputs_text or "all",
            hidden=min(hidden, default=None),
        )

    @property
    def open_samples(self) -> tuple[int, ...]:
        """Indices of the samples on which the gate is not identically 0."""
        return tuple(index for index, value in enumerate(self.gate) if value != 0)

    @property
    def has_gains(self) -> bool:
        """Whether the gate takes other values than 0 and 1, which no ReLU gives."""
        return any(issubclass(kind, Scalar) for kind in set(map(type, self.gate)))

    def at(self, values: Mapping[str, Fraction]) -> PathwaySpec:
        """Return the pathway with parameters in its gains replaced by values.

        Raises:
            ZeroDivisionError: A gain is infinite there.
        """
        return replace(self, gate=gate_at(self.gate, values)) if self.has_gains else self

    def during(self, step: int) -> PathwaySpec:
        """Return the pathway with the gate that an update at ``step`` is made with, for good."""
        taken = [switch for switch in self.then if switch.step <= step]
        if not taken:
            return replace(self, then=())
        return replace(self, gate=taken[-1].gate, gate_text=taken[-1].gate_text, then=())


def network_of(
    pathways: Sequence[PathwaySpec], *, layers: int = 2, hidden: int | None = None
) -> Network:
    """Return the nodes and edges for which pathways are shorthand.

    Args:
        pathways: At least one.
        layers: L, edges of every pathway; L - 1 nodes are its own, the first of them gated.
        hidden: Units of nodes whose pathway does not say; by default as many as every map between
            its ends needs.
    """
    taken = {pathway.name for pathway in pathways}

    def free(name: str) -> str:
        while name in taken:
            name += "'"
        taken.add(name)
        return name

    ends: dict[tuple[str, tuple[int, ...]], Node] = {}
    own_nodes: list[Node] = []
    edges: list[Edge] = []
    for path in pathways:
        for kind in ("inputs", "outputs"):
            indices, text = getattr(path, kind), getattr(path, f"{kind}_text")
            if (kind, indices) not in ends:
                name = free(f"{'x' if kind == 'inputs' else 'y'}: {text}")
                held: dict[str, Any] = {kind: indices, f"{kind}_text": text}
                ends[kind, indices] = Node(name=name, size=len(indices), **held)
        fewest = min(len(path.inputs), len(path.outputs))
        size = path.hidden or hidden or fewest
        always = all(gain == 1 for gain in path.gate)
        gated: dict[str, Any] = {"gate": None if always else path.gate, "gate_text": path.gate_text}
        trail = [ends["inputs", path.inputs].name, ends["outputs", path.outputs].name]
        if layers == 1:
            edges.append(Edge(name=path.name, source=trail[0], target=trail[1], **gated))
            continue
        gated |= {"stage": path.stage, "boundary": path.boundary, "then": path.then}
        own = [path.name, *(free(f"{path.name} ({layer})") for layer in range(2, layers))]
        own_nodes.append(Node(name=path.name, size=size, **gated))
        own_nodes += [Node(name=name, size=size) for name in own[1:]]
        trail[1:1] = own
        edges += [Edge(name=f"{a} → {b}", source=a, target=b) for a, b in pairwise(trail)]
    inputs = [node for node in ends.values() if node.inputs]
    outputs = [node for node in ends.values() if node.outputs]
    return Network(nodes=(*inputs, *own_nodes, *outputs), edges=tuple(edges))
