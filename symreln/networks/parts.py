"""What a network is made of: nodes and edges, and what their gates hold."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from symreln.base.records import record
from symreln.exact.scalar import Scalar

Gain = int | Scalar
"""What a gate multiplies a sample by: 0, 1, or a gain in the declared parameters."""

Gate = tuple[Gain, ...]
"""A gain for every sample, length P."""


def gate_at(gate: Gate, values: Mapping[str, Fraction]) -> Gate:
    """Return a gate at values of its parameters, with 0 and 1 where a gain is one of them.

    Raises:
        ZeroDivisionError: A gain is infinite there.
    """
    found = [gain if isinstance(gain, int) else gain.substitute(values) for gain in gate]
    return tuple(int(gain == 1) if gain == 0 or gain == 1 else gain for gain in found)


@record
class Switch:
    """A gate that is taken during the training.

    Attributes:
        step: The first update that is made with it, from 1.
        gate: 0 or 1 a sample, length P.
        gate_text: What the user wrote for it.
    """

    step: int
    gate: Gate
    gate_text: str


@record
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
        stage: Training stage of the weights at it, from 1.
        boundary: Samples to which what it reads is made orthogonal.
        then: Gates that it takes later, by ascending step.
    """

    name: str
    size: int
    gate: Gate | None = None
    gate_text: str = "all"
    inputs: tuple[int, ...] = ()
    inputs_text: str = ""
    outputs: tuple[int, ...] = ()
    outputs_text: str = ""
    stage: int = 1
    boundary: tuple[int, ...] = ()
    then: tuple[Switch, ...] = ()

    @property
    def is_hidden(self) -> bool:
        """Whether it is neither an input nor an output."""
        return self.kind == "hidden"

    @property
    def kind(self) -> str:
        """What it is: "input", "output" or "hidden"."""
        return "input" if self.inputs else "output" if self.outputs else "hidden"


@record
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
    gate: Gate | None = None
    gate_text: str = "all"
