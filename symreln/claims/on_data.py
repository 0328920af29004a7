"""What the lines of a derivation say of every dataset, checked on this one in exact arithmetic.

Losses are computed from their definition over the samples, at integer weights that are drawn once;
no correlation, spectrum or formula of the derivation enters them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from symreln.exact.linear import complement_projector
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.verdict.judge import stage_modes
from symreln.verdict.residual import closed_residual, plateau_errors, plateau_gain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.derivation import PathwayDerivation, StageDerivation
    from symreln.networks.bundles import NetworkData
    from symreln.networks.effective import EffectiveDataset
    from symreln.networks.parts import Edge, Node

#: Hidden units of the weights that are drawn.
_UNITS = 2
#: Largest entry of these.
_LARGEST = 9
#: Edges of a graph that are moved.
_MOST_EDGES = 6
#: The share of their plateaus at which the loss of the modes is compared.
_SHARE = Fraction(1, 3)


@dataclass(frozen=True, kw_only=True, eq=False)
class StageOnData:
    """One stage on its dataset.

    Attributes:
        stage: The stage.
        layers: Layers of weights of its pathways.
    """

    stage: StageDerivation
    layers: int

    @property
    def _seen(self) -> list[EffectiveDataset]:
        return [pathway.effective for pathway in self.stage.pathways]

    @property
    def _apart(self) -> list[PathwayDerivation]:
        """The pathways that no symmetry maps to an earlier one."""
        return [p for p in self.stage.pathways if p.effective.image is None]

    @cached_property
    def _targets(self) -> ExactMatrix:
        return self._seen[0].goal.matrix

    @cached_property
    def _weights(self) -> list[list[ExactMatrix]]:
        random = np.random.default_rng(0)
        return [[drawn(shape, random) for shape in self._shapes(seen)] for seen in self._seen]

    def _shapes(self, seen: EffectiveDataset) -> list[tuple[int, int]]:
        sizes = [len(seen.pathway.inputs), *[_UNITS] * (self.layers - 1), seen.dataset.n_y]
        return [(after, before) for before, after in pairwise(sizes)]

    @cached_property
    def _outputs(self) -> list[ExactMatrix]:
        """What every pathway gives out on all samples, from its gated inputs."""
        return [
            seen.masked(chain(weights) @ seen.features)
            for seen, weights in zip(self._seen, self._weights, strict=True)
        ]

    def starts_at_its_loss(self) -> bool:
        """Whether the loss with all outputs zero, over the samples, is the one that is printed."""
        return self._loss(()) == self.stage.initial_loss

    def sees_gated_inputs(self) -> bool:
        """Whether gating what a pathway gives out is giving it gated inputs, at every sample."""
        for seen, weights, found in zip(self._seen, self._weights, self._outputs, strict=True):
            inputs = seen.dataset.inputs.select(rows=seen.pathway.inputs)
            if seen.pathway.boundary:
                on = inputs.select(columns=seen.pathway.boundary)
                inputs = complement_projector(on) @ inputs
            gated = (chain(weights) @ inputs).scaled_columns(seen.pathway.gate)
            if not (seen.masked(gated) - found).is_zero:
                return False
        return True

    def follows_its_gradient(self) -> bool:
        """Whether W_afterᵀ E W_beforeᵀ is the negative gradient of the loss of the samples.

        Of every layer of the first pathway, at the weights drawn. The loss is quadratic in one
        matrix, so that its central difference along any direction is its derivative, exactly.
        """
        own, weights, random = self._seen[0], self._weights[0], np.random.default_rng(1)
        error, others = self._error(), self._outputs[1:]
        for place, matrix in enumerate(weights):
            term = chain(weights[place + 1 :]).T @ error if weights[place + 1 :] else error
            term = term @ chain(weights[:place]).T if place else term
            direction = drawn(matrix.shape, random)
            beside = [
                [*weights[:place], matrix + direction.scale(sign), *weights[place + 1 :]]
                for sign in (1, -1)
            ]
            up, down = (
                self._loss([own.masked(chain(each) @ own.features), *others]) for each in beside
            )
            if (up - down) / 2 + term.frobenius(direction) != 0:
                return False
        return True

    def _error(self) -> ExactMatrix:
        """Return E of the first pathway, from the correlations of the derivation."""
        own = self._seen[0]
        error = own.sigma_yx
        for seen, weights in zip(self._seen, self._weights, strict=True):
            written = own.masked(seen.masked(chain(weights) @ seen.cross_sigma_x(own)))
            error = error - written
        return error

    def _loss(self, outputs: Sequence[ExactMatrix]) -> Scalar:
        left = self._targets
        for each in outputs:
            left = left - each
        return left.frobenius(left) / (2 * left.shape[1])

    def commutes_as_said(self) -> bool:
        """Whether Sigma^x and M commute where the derivation says so, and only there.

        Where they do every mode of rational s² and d is one of both.
        """
        return all(map(_commutes_as_said, self._apart))

    def leaves_nulls(self) -> bool:
        """Whether Sigma^yx maps every mode that is said to have nothing to learn to 0."""
        return all(
            (p.effective.sigma_yx @ each.generators).is_zero
            for p in self._apart
            for each in p.spectrum.classes
            if each.is_null
        )

    def sums_close(self) -> bool:
        """Whether no error is left where all strengths are s/d_eff, entry by entry."""
        errors = plateau_errors(self._modes, self.stage.verdict.d_eff)
        return all(error.is_zero for error in errors)

    def loses_by_modes(self) -> bool:
        """Whether the loss of the samples is that of the modes, at a third of their plateaus."""
        left = closed_residual(self._seen[0].goal, self._modes, self.stage.verdict.d_eff)
        learned = (self._targets - left.matrix).scale(_SHARE)
        gain = plateau_gain(self._modes, self.stage.verdict.d_eff)
        expected = self.stage.initial_loss - gain * (2 * _SHARE - _SHARE**2)
        return self._loss([learned]) == expected

    @cached_property
    def _modes(self) -> tuple:
        pathways = self.stage.pathways
        return stage_modes(tuple(self._seen), tuple(p.spectrum for p in pathways))

    def is_learned_before(self, later: StageDerivation) -> bool:
        """Whether what a later stage is left has no correlation with this one's gated inputs."""
        goal = later.pathways[0].effective.goal
        return self.stage.final_loss == later.initial_loss and all(
            p.effective.masked(goal.correlated(p.effective.features)).is_zero for p in self._apart
        )


def _commutes_as_said(pathway: PathwayDerivation) -> bool:
    sigma_yx, sigma_x = pathway.effective.sigma_yx, pathway.effective.sigma_x
    m, known = sigma_yx.T @ sigma_yx, pathway.spectrum.commutator
    found = (m @ sigma_x - sigma_x @ m).first_nonzero()
    if known is not None or found is not None:
        return known is not None and found == (known.row, known.column, known.value)
    for each in pathway.spectrum.classes:
        if each.degree > 1 or each.d is None:
            continue
        vectors = each.generators
        pairs = ((m, each.eigenvalue[0]), (sigma_x, each.d[0]))
        if any(not (a @ vectors - vectors.scale(n)).is_zero for a, n in pairs):
            return False
    return True


def drawn(shape: tuple[int, int], random: np.random.Generator) -> ExactMatrix:
    """Return a matrix of small integers."""
    entries = random.integers(-_LARGEST, _LARGEST, size=shape, endpoint=True)
    return ExactMatrix.from_rows(entries.tolist(), columns=shape[1])


def graph_follows_its_gradient(data: NetworkData) -> bool:
    """Whether the flow of every edge is the negative gradient of the loss of the samples.

    At small integer weights on every edge. No path holds an edge twice, so that the loss is
    quadratic in one matrix and its central difference is its derivative, exactly. At most
    :data:`_MOST_EDGES` edges are moved.

    Args:
        data: The graph on its dataset.
    """
    random = np.random.default_rng(0)
    weights = [drawn(data.graph.shape(place), random) for place in range(len(data.graph.edges))]
    errors = _graph_errors(data, weights)
    for edge in range(min(len(weights), _MOST_EDGES)):
        direction = drawn(weights[edge].shape, random)
        slope = sum(
            (_edge_term(data, weights, errors, place, edge).frobenius(direction)
             for place, path in enumerate(data.paths) if edge in path.edges),
            start=Scalar((), 0),
        )  # fmt: skip
        up, down = (
            _graph_loss(
                data, [*weights[:edge], weights[edge] + direction.scale(sign), *weights[edge + 1 :]]
            )
            for sign in (1, -1)
        )
        if (up - down) / 2 + slope != 0:
            return False
    return True


def graph_runs_along_paths(data: NetworkData) -> bool:
    """Whether nodes and edges, run node by node with all gates, are the sum over gated paths.

    At small integer weights on every edge.

    Args:
        data: The graph on its dataset.
    """
    random, graph = np.random.default_rng(0), data.graph
    weights = [drawn(graph.shape(place), random) for place in range(len(graph.edges))]
    values: dict[str, ExactMatrix] = {}

    def value(node: Node) -> ExactMatrix:
        if node.name not in values:
            given = [
                _gated(weights[e] @ value(graph.node(graph.edges[e].source)), graph.edges[e])
                for e in graph.incoming[node.name]
            ]
            whole = _added(given) if given else data.dataset.inputs.select(rows=node.inputs)
            values[node.name] = _gated(whole, node)
        return values[node.name]

    left = data.dataset.targets
    for node in graph.nodes:
        if node.outputs:
            left = left - value(node).placed(node.outputs, range(left.shape[1]), left.shape)
    return left.frobenius(left) / (2 * left.shape[1]) == _graph_loss(data, weights)


def _gated(values: ExactMatrix, part: Node | Edge) -> ExactMatrix:
    return values if part.gate is None else values.scaled_columns(part.gate)


def _graph_loss_by_correlations(data: NetworkData, weights: Sequence[ExactMatrix]) -> Scalar:
    """Return the loss from the correlations of the derivation."""
    totals, targets = _graph_totals(data, weights), data.dataset.targets
    found = targets.frobenius(targets) / (2 * targets.shape[1])
    for total, sigma in zip(totals, data.sigma_yx, strict=True):
        found = found - total.frobenius(sigma)
    for (c, b), sigma in data.sigma_x.items():
        found = found + totals[b].frobenius(data.overlaps[c, b] @ totals[c] @ sigma) / 2
    return found


def graph_loss_is_of_correlations(data: NetworkData) -> bool:
    """Whether the loss of the samples is that of the correlations, at small integer weights.

    Args:
        data: The graph on its dataset.
    """
    random = np.random.default_rng(0)
    weights = [drawn(data.graph.shape(place), random) for place in range(len(data.graph.edges))]
    return _graph_loss(data, weights) == _graph_loss_by_correlations(data, weights)


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


def _graph_totals(data: NetworkData, weights: Sequence[ExactMatrix]) -> list[ExactMatrix]:
    """Return T_b of every bundle."""
    return [
        _added([chain([weights[e] for e in data.paths[p].edges]) for p in bundle.paths])
        for bundle in data.bundles
    ]


def _graph_errors(data: NetworkData, weights: Sequence[ExactMatrix]) -> list[ExactMatrix]:
    """Return E_b of every bundle, from the correlations of the derivation."""
    totals, errors = _graph_totals(data, weights), list(data.sigma_yx)
    for (c, b), sigma in data.sigma_x.items():
        errors[b] = errors[b] - data.overlaps[c, b] @ totals[c] @ sigma
    return errors


def _graph_loss(data: NetworkData, weights: Sequence[ExactMatrix]) -> Scalar:
    """Return the loss over the samples."""
    left = data.dataset.targets
    for bundle, total in zip(data.bundles, _graph_totals(data, weights), strict=True):
        seen = bundle.effective
        written = data.graph.node(bundle.target).outputs
        given = (total @ seen.dataset.inputs.select(rows=seen.pathway.inputs)).scaled_columns(
            seen.pathway.gate
        )
        left = left - given.placed(written, range(given.shape[1]), left.shape)
    return left.frobenius(left) / (2 * left.shape[1])


def _added(matrices: Sequence[ExactMatrix]) -> ExactMatrix:
    found = matrices[0]
    for matrix in matrices[1:]:
        found = found + matrix
    return found


def chain(weights: Sequence[ExactMatrix]) -> ExactMatrix:
    """Return the product of matrices, the first one on the right."""
    found = weights[0]
    for matrix in weights[1:]:
        found = matrix @ found
    return found
