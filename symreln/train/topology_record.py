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


def graph_outputs_observer(graph: GatedGraph, inputs: np.ndarray, n_y: int) -> Observer:
    """Observer of the outputs of all samples."""
    samples = inputs.shape[1]

    def observe(step: int, weights: tuple[EdgeWeights, ...]) -> np.ndarray:
        found = np.zeros((weights[0].seeds, n_y, samples))
        held: dict[str, np.ndarray] = {}
        for node in graph.order:
            here = inputs[list(node.inputs)] if node.inputs else np.zeros((node.size, samples))
            for edge, one in zip(graph.edges, weights, strict=True):
                if edge.target == node.name:
                    here = here + one.matrix @ (held[edge.source] * _gains(edge.gate, samples))
            held[node.name] = here * _gains(node.gate, samples)
            if node.outputs:
                found[:, list(node.outputs)] += held[node.name]
        return found

    return observe


def _gains(gate: tuple[float, ...] | None, samples: int) -> np.ndarray:
    return np.ones(samples) if gate is None else np.array(gate)
