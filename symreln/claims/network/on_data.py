"""What the lines of a graph say of every dataset, checked on this one in exact arithmetic.

Losses are computed from their definition over the samples, at integer weights that are drawn once;
no correlation, spectrum or formula of the derivation enters them.
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

    from symreln.networks.bundles import NetworkData
    from symreln.networks.parts import Edge, Node

#: Edges of a graph that are moved, and the largest weight that is drawn.
_MOST_EDGES, _LARGEST = 6, 9


def follows_its_gradient(data: NetworkData) -> bool:
    """Whether the flow of every edge is the negative gradient of the loss of the samples.

    At small integer weights on every edge. No path holds an edge twice, so that the loss is
    quadratic in one matrix and its central difference is its derivative, exactly. At most
    :data:`_MOST_EDGES` edges are moved.

    Args:
        data: The graph on its dataset.
    """
    random = np.random.default_rng(0)
    weights = [_drawn(data.graph.shape(place), random) for place in range(len(data.graph.edges))]
    errors = _errors(data, weights)
    for edge in range(min(len(weights), _MOST_EDGES)):
        direction = _drawn(weights[edge].shape, random)
        slope = sum(
            (_edge_term(data, weights, errors, place, edge).frobenius(direction)
             for place, path in enumerate(data.paths) if edge in path.edges),
            start=Scalar((), 0),
        )  # fmt: skip
        up, down = (
            _loss(
                data, [*weights[:edge], weights[edge] + direction.scale(sign), *weights[edge + 1 :]]
            )
            for sign in (1, -1)
        )
        if (up - down) / 2 + slope != 0:
            return False
    return True


def runs_along_paths(data: NetworkData) -> bool:
    """Whether nodes and edges, run node by node with all gates, are the sum over gated paths.

    At small integer weights on every edge.

    Args:
        data: The graph on its dataset.
    """
    random, graph = np.random.default_rng(0), data.graph
    weights = [_drawn(graph.shape(place), random) for place in range(len(graph.edges))]
    values: dict[str, ExactMatrix] = {}

    def value(node: Node) -> ExactMatrix:
        if node.name not in values:
            given = [
                _gated(weights[e] @ value(graph.node(graph.edges[e].source)), graph.edges[e])
                for e in graph.incoming[node.name]
            ]
            whole = reduce(add, given) if given else data.dataset.inputs.select(rows=node.inputs)
            values[node.name] = _gated(whole, node)
        return values[node.name]

    left = data.dataset.targets
    for node in graph.nodes:
        if node.outputs:
            left = left - value(node).placed(node.outputs, range(left.shape[1]), left.shape)
    return left.frobenius(left) / (2 * left.shape[1]) == _loss(data, weights)


def _gated(values: ExactMatrix, part: Node | Edge) -> ExactMatrix:
    return values if part.gate is None else values.scaled_columns(part.gate)


def _edge_term(
    data: NetworkData,
    weights: Sequence[ExactMatrix],
    errors: Sequence[ExactMatrix],
    number: int,
    edge: int,
) -> ExactMatrix:
    """Return W_afterᵀ E W_beforeᵀ of an edge in a pathway."""
    edges = data.paths[number].edges
    place, term = edges.index(edge), errors[data.bundle_of[number]]
    before, after = edges[:place], edges[place + 1 :]
    term = chain([weights[e] for e in after]).T @ term if after else term
    return term @ chain([weights[e] for e in before]).T if before else term


def _totals(data: NetworkData, weights: Sequence[ExactMatrix]) -> list[ExactMatrix]:
    """Return T_b of every bundle."""
    return [
        reduce(add, (chain([weights[e] for e in data.paths[p].edges]) for p in bundle.paths))
        for bundle in data.bundles
    ]


def _errors(data: NetworkData, weights: Sequence[ExactMatrix]) -> list[ExactMatrix]:
    """Return E_b of every bundle, from the correlations of the derivation."""
    totals, errors = _totals(data, weights), list(data.sigma_yx)
    for (c, b), sigma in data.sigma_x.items():
        errors[b] = errors[b] - data.overlaps[c, b] @ totals[c] @ sigma
    return errors


def _loss(data: NetworkData, weights: Sequence[ExactMatrix]) -> Scalar:
    """Return the loss over the samples."""
    left = data.dataset.targets
    for bundle, total in zip(data.bundles, _totals(data, weights), strict=True):
        seen = bundle.effective
        written = data.graph.node(bundle.target).outputs
        given = (total @ seen.dataset.inputs.select(rows=seen.pathway.inputs)).scaled_columns(
            seen.pathway.gate
        )
        left = left - given.placed(written, range(given.shape[1]), left.shape)
    return left.frobenius(left) / (2 * left.shape[1])


def chain(weights: Sequence[ExactMatrix]) -> ExactMatrix:
    """Return the product of matrices, the first one on the right."""
    return reduce(matmul, reversed(weights))


def _drawn(shape: tuple[int, int], random: np.random.Generator) -> ExactMatrix:
    """Return a matrix of small integers."""
    entries = random.integers(-_LARGEST, _LARGEST, size=shape, endpoint=True)
    return ExactMatrix.from_rows(entries.tolist(), columns=shape[1])
