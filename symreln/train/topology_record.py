"""What is recorded of a network given as a graph, worked out from its weights with numpy alone."""

from __future__ import annotations

import numpy as np

from symreln.train.network import EdgeWeights
from symreln.train.record import Observer
from symreln.train.topology import GatedGraph


def graph_maps_observer(graph: GatedGraph, n_x: int, n_y: int, samples: int) -> Observer:
    """Observer of the product of weights along each pathway, at the size of the whole data.

    Raises:
        LimitReachedError: The graph has too many pathways.
    """
    paths = graph.paths(samples)
    ends = []
    for path in paths:
        source, target = graph.edges[path[0]].source, graph.edges[path[-1]].target
        outputs, inputs = graph.by_name[target].outputs, graph.by_name[source].inputs
        ends.append((np.array(outputs)[:, None], np.array(inputs)))

    def observe(step: int, weights: tuple[EdgeWeights, ...]) -> np.ndarray:
        maps = np.zeros((weights[0].seeds, len(paths), n_y, n_x))
        for place, (path, (outputs, inputs)) in enumerate(zip(paths, ends, strict=True)):
            product = weights[path[0]].matrix
            for edge in path[1:]:
                product = weights[edge].matrix @ product
            maps[:, place, outputs, inputs] = product
        return maps

    return observe


def graph_outputs_observer(
    graph: GatedGraph, inputs: np.ndarray, n_y: int, *, biases: bool = False
) -> Observer:
    """Observer of the outputs of all samples."""

    def observe(step: int, weights: tuple[EdgeWeights, ...]) -> np.ndarray:
        found = np.zeros((weights[0].seeds, n_y, inputs.shape[1]))
        held = held_nodes(graph, inputs, weights, biases=biases)
        for node in graph.nodes:
            if node.outputs:
                found[:, list(node.outputs)] += held[node.name]
        return found

    return observe


def held_nodes(
    graph: GatedGraph, inputs: np.ndarray, weights: tuple[EdgeWeights, ...], *, biases: bool
) -> dict[str, np.ndarray]:
    """Return what every node holds of the samples, each of shape (seeds, size, P).

    Args:
        graph: Nodes, edges and gates.
        inputs: X, shape (n_x, P).
        weights: One entry an edge.
        biases: Whether their last columns are biases, which act where the edge is on an open path.
    """
    seeds, samples = weights[0].seeds, inputs.shape[1]
    _, live = graph.live(samples)
    held: dict[str, np.ndarray] = {}
    for node in graph.order:
        here = np.zeros((seeds, node.size, samples))
        if node.inputs:
            here = here + inputs[list(node.inputs)]
        for edge, one, opened in zip(graph.edges, weights, live, strict=True):
            if edge.target == node.name:
                matrix = one.matrix[:, :, :-1] if biases else one.matrix
                part = matrix @ held[edge.source]
                if biases:
                    part = part + one.matrix[:, :, -1:] * opened
                here = here + part * _gains(edge.gate, samples)
        held[node.name] = here * _gains(node.gate, samples)
    return held


def _gains(gate: tuple[float, ...] | None, samples: int) -> np.ndarray:
    return np.ones(samples) if gate is None else np.array(gate)
