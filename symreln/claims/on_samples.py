"""What is said of the flow of edges for every dataset, checked on this one in exact arithmetic.

Losses are computed from their definition over the samples, at small integer weights on every edge,
drawn once; no correlation, spectrum or formula of the derivation enters them.
"""

from __future__ import annotations

from functools import reduce
from operator import add, matmul
from typing import TYPE_CHECKING

import numpy as np

from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.networks.parts import Edge, Node
    from symreln.networks.shared_edges import EdgeData

#: Edges of a graph that are moved, and the largest weight that is drawn.
_MOST_EDGES, _LARGEST = 6, 9


def follows_its_gradient(edges: EdgeData) -> bool:
    """Whether the flow of every edge is the negative gradient of the loss of the samples.

    No path holds an edge twice, so that the loss is quadratic in one matrix and its central
    difference is its derivative, exactly. At most :data:`_MOST_EDGES` edges are moved.
    """
    random = np.random.default_rng(0)
    weights = _drawn_weights(edges, random)
    maps = [_along(edges, weights, path) for path in range(len(edges.paths))]
    errors = list(edges.sigma_yx)
    for (q, p), sigma in edges.sigma_x.items():
        errors[p] = errors[p] - edges.overlaps[q, p] @ maps[q] @ sigma
    for edge in range(min(len(weights), _MOST_EDGES)):
        direction = _drawn(weights[edge].shape, random)
        slope = Scalar((), 0)
        for path, error in zip(edges.paths, errors, strict=True):
            if edge in path.edges:
                place = path.edges.index(edge)
                before, after = path.edges[:place], path.edges[place + 1 :]
                term = chain([weights[e] for e in after]).T @ error if after else error
                term = term @ chain([weights[e] for e in before]).T if before else term
                slope = slope + term.frobenius(direction)
        up, down = (
            _loss(edges, [*weights[:edge], weights[edge] + moved, *weights[edge + 1 :]])
            for moved in (direction, direction.scale(-1))
        )
        if (up - down) / 2 + slope != 0:
            return False
    return True


def runs_along_paths(edges: EdgeData) -> bool:
    """Whether nodes and edges, run node by node with all gates, are the sum over gated paths."""
    graph, weights = edges.graph, _drawn_weights(edges, np.random.default_rng(0))
    values: dict[str, ExactMatrix] = {}

    def value(node: Node) -> ExactMatrix:
        if node.name not in values:
            given = [
                _gated(weights[e] @ value(graph.node(graph.edges[e].source)), graph.edges[e])
                for e in graph.incoming[node.name]
            ]
            whole = reduce(add, given) if given else edges.dataset.inputs.select(rows=node.inputs)
            values[node.name] = _gated(whole, node)
        return values[node.name]

    left = edges.dataset.targets
    for node in graph.nodes:
        if node.outputs:
            left = left - value(node).placed(node.outputs, range(left.shape[1]), left.shape)
    return left.frobenius(left) / (2 * left.shape[1]) == _loss(edges, weights)


def _gated(values: ExactMatrix, part: Node | Edge) -> ExactMatrix:
    return values if part.gate is None else values.scaled_columns(part.gate)


def _along(edges: EdgeData, weights: Sequence[ExactMatrix], path: int) -> ExactMatrix:
    return chain([weights[edge] for edge in edges.paths[path].edges])


def _loss(edges: EdgeData, weights: Sequence[ExactMatrix]) -> Scalar:
    """Return the loss over the samples."""
    left = edges.dataset.targets
    for place, path in enumerate(edges.paths):
        source, target = edges.graph.node(path.source), edges.graph.node(path.target)
        inputs = edges.dataset.inputs.select(rows=source.inputs).scaled_columns(path.gate)
        given = _along(edges, weights, place) @ inputs
        left = left - given.placed(target.outputs, range(given.shape[1]), left.shape)
    return left.frobenius(left) / (2 * left.shape[1])


def chain(weights: Sequence[ExactMatrix]) -> ExactMatrix:
    """Return the product of matrices, the first one on the right."""
    return reduce(matmul, reversed(weights))


def _drawn_weights(edges: EdgeData, random: np.random.Generator) -> list[ExactMatrix]:
    return [_drawn(edges.graph.shape(edge), random) for edge in range(len(edges.graph.edges))]


def _drawn(shape: tuple[int, int], random: np.random.Generator) -> ExactMatrix:
    """Return a matrix of small integers."""
    entries = random.integers(-_LARGEST, _LARGEST, size=shape, endpoint=True)
    return ExactMatrix.from_rows(entries.tolist(), columns=shape[1])
