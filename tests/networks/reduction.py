r"""The reduction per edge: :math:`W_e = R_t B_e R_s^T`, exact on the spaces of a start.

.. math:: \tau\dot B_e = \sum_{p\ni e} B_{p\setminus e}\,[S(b) - \sum_c K_{bc} B_c D(c,b)]

with :math:`S(b) = R_{out}^T \Sigma^{yx}(b) R_{in}`, :math:`D(c,b) = R_{in}^T \Sigma^x(c,b) R_{in}`
and :math:`K_{bc} = R_{out}^T O_{bc} R_{out}`: the flow of a smaller graph. Source: [Saxe2022].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.laws.network_flow import NetworkFlow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flint import fmpz_mat

    from symreln.networks.bundles import NetworkData
    from symreln.verdict.spaces import NodeSpaces


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class EdgeReduction:
    """A graph's flow in coordinates of its nodes' spaces, float64.

    Attributes:
        data: The graph on its data.
        bases: R_n of every node, orthonormal columns, shape (size, dimension).
        flow: The flow of the matrices B_e.
    """

    data: NetworkData
    bases: Mapping[str, np.ndarray]
    flow: NetworkFlow

    def project(self, weights: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return B_e = R_tᵀ W_e R_s of every edge."""
        return [r.T @ w @ s for w, (r, s) in zip(weights, self._ends(), strict=True)]

    def lift(self, reduced: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return W_e = R_t B_e R_sᵀ of every edge."""
        return [r @ b @ s.T for b, (r, s) in zip(reduced, self._ends(), strict=True)]

    def _ends(self) -> list[tuple[np.ndarray, np.ndarray]]:
        edges = self.data.graph.edges
        return [(self.bases[edge.target], self.bases[edge.source]) for edge in edges]


def reduce_edges(data: NetworkData, spaces: NodeSpaces) -> EdgeReduction:
    """Return the reduction to spaces; a node without one keeps all its units.

    Exact for every start inside the spaces, which lifting its projection gives back.

    Raises:
        InputError: A parameter without a value occurs in the data.
    """
    bases = {
        node.name: _orthonormal(spaces.bases[node.name])
        if node.name in spaces.bases
        else np.eye(node.size)
        for node in data.graph.nodes
    }
    return EdgeReduction(data=data, bases=bases, flow=_projected(data, bases))


def _projected(data: NetworkData, bases: Mapping[str, np.ndarray]) -> NetworkFlow:
    full = NetworkFlow.of(data)
    into = [bases[bundle.source] for bundle in data.bundles]
    out = [bases[bundle.target] for bundle in data.bundles]
    return NetworkFlow(
        shapes=tuple(
            (bases[edge.target].shape[1], bases[edge.source].shape[1]) for edge in data.graph.edges
        ),
        paths=full.paths,
        bundle_of=full.bundle_of,
        sigma_yx=tuple(out[b].T @ s @ into[b] for b, s in enumerate(full.sigma_yx)),
        sigma_x={(c, b): into[c].T @ s @ into[b] for (c, b), s in full.sigma_x.items()},
        overlaps={(c, b): out[b].T @ o @ out[c] for (c, b), o in full.overlaps.items()},
        half_power=full.half_power,
    )


def _orthonormal(columns: fmpz_mat) -> np.ndarray:
    """Return an orthonormal basis of the span of independent integer columns."""
    # Scaled first: integer columns may differ in size by many powers of ten.
    scaled = [_unit([int(x) for x in column]) for column in columns.transpose().tolist()]
    if not scaled:
        return np.zeros((columns.nrows(), 0))
    return np.linalg.qr(np.array(scaled).T)[0]


def _unit(column: list[int]) -> list[float]:
    largest = max(map(abs, column))
    return [entry / largest for entry in column]
