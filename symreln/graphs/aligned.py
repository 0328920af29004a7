"""Which modes of a graph learn, in floats, and weights that start aligned with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.graphs.modes import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from symreln.graphs.components import Component
    from symreln.graphs.modes import GraphMode
    from symreln.network.model import Network

    #: Unit vectors of a mode by data node; nodes that it does not reach are missing.
    Vectors = Mapping[str, np.ndarray]


def learning(modes: Sequence[GraphMode]) -> list[GraphMode]:
    """Return the modes of a part that have a drive: some s that is not 0 in float64."""
    largest = max((abs(s) for mode in modes for s in mode.strengths), default=0.0)
    return [m for m in modes if max(map(abs, m.strengths), default=0.0) > TOLERANCE * largest]


def lacking_units(part: Component, modes: int) -> str:
    """Return which hidden node is too small for its modes, and how to mend it; empty for none."""
    for node in part.data.graph.nodes:
        if node.is_hidden and node.size < modes:
            return (
                f"node '{node.name}' has {node.size} units for {modes} modes, and which of them "
                f"it learns is not derived; give it at least {modes} (size, or network.hidden)"
            )
    return ""


def aligned_weights(
    graph: Network, parts: Iterable[tuple[Component, Sequence[Vectors]]], start: float
) -> list[np.ndarray]:
    """Return weights of all edges with one amplitude in every mode that learns something.

    Mode k of a part takes the k-th unit of every hidden node.

    Args:
        graph: The whole graph.
        parts: Every component with the vectors of its modes, for which it has units enough.
        start: The amplitude.
    """
    found = [np.zeros(graph.shape(place)) for place in range(len(graph.edges))]
    for part, modes in parts:
        for place in part.edges:
            edge = graph.edges[place]
            for number, vectors in enumerate(modes):
                ends = [
                    _vector(graph, vectors, name, number) for name in (edge.target, edge.source)
                ]
                if ends[0] is not None and ends[1] is not None:
                    found[place] += start * np.outer(ends[0], ends[1])
    return found


def _vector(graph: Network, vectors: Vectors, name: str, number: int) -> np.ndarray | None:
    node = graph.node(name)
    return np.eye(node.size)[number] if node.is_hidden else vectors.get(name)
