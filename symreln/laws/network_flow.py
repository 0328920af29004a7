r"""The flow of the weights on the edges of a graph, in float64.

.. math:: \tau\dot W_e = \sum_{p \ni e} W_{after(e,p)}^T E(p) W_{before(e,p)}^T

of the *mean* loss 1/(2P) Σ‖y − ŷ‖². Weights may have leading axes, of networks side by side.
Source: [Saxe2022].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.networks.shared_edges import EdgeData


@record(eq=False)
class NetworkFlow:
    """What drives the weights on the edges of a graph.

    Attributes:
        shapes: Shape of every edge's weights.
        paths: Edges of every pathway, from the input to the output.
        sigma_yx: Input-output correlation of every pathway.
        sigma_x: Sigma^x(q, p) by (q, p).
        overlaps: O_{pq} by (q, p).
        half_power: Loss of the network that gives 0, 1/(2P) Σ‖y‖².
    """

    shapes: tuple[tuple[int, int], ...]
    paths: tuple[tuple[int, ...], ...]
    sigma_yx: tuple[np.ndarray, ...]
    sigma_x: Mapping[tuple[int, int], np.ndarray]
    overlaps: Mapping[tuple[int, int], np.ndarray]
    half_power: float

    @classmethod
    def of(cls, edges: EdgeData) -> NetworkFlow:
        """Return the flow of a graph on a dataset without free parameters.

        Raises:
            InputError: A parameter occurs in the data or in a gate.
        """
        targets = edges.dataset.targets.to_numpy()
        return cls(
            shapes=tuple(map(edges.graph.shape, range(len(edges.graph.edges)))),
            paths=tuple(path.edges for path in edges.paths),
            sigma_yx=tuple(matrix.to_numpy() for matrix in edges.sigma_yx),
            sigma_x={pair: matrix.to_numpy() for pair, matrix in edges.sigma_x.items()},
            overlaps={pair: matrix.to_numpy() for pair, matrix in edges.overlaps.items()},
            half_power=float((targets**2).sum()) / (2 * edges.dataset.samples),
        )

    def maps(self, weights: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return T_p, the product of the weights along every pathway."""
        return [_before(weights, path)[-1] for path in self.paths]

    def velocity(self, weights: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return τ dW_e/dt of every edge."""
        maps = self.maps(weights)
        errors = [s + np.zeros_like(t) for s, t in zip(self.sigma_yx, maps, strict=True)]
        for (q, p), sigma in self.sigma_x.items():
            errors[p] -= self.overlaps[q, p] @ maps[q] @ sigma
        found = [np.zeros_like(matrix) for matrix in weights]
        for path, signal in zip(self.paths, errors, strict=True):
            before = _before(weights, path)
            for place in range(len(path) - 1, -1, -1):
                edge = path[place]
                found[edge] += signal if place == 0 else signal @ _turned(before[place - 1])
                if place:
                    signal = _turned(weights[edge]) @ signal
        return found

    def loss(self, maps: Sequence[np.ndarray]) -> np.ndarray:
        """Return the mean loss 1/(2P) Σ‖y − ŷ‖² of every network, from its maps."""
        pairs = zip(self.sigma_yx, maps, strict=True)
        found = np.full(maps[0].shape[:-2], self.half_power)
        for s, t in pairs:
            found = found - (s * t).sum(axis=(-2, -1))
        for (q, p), sigma in self.sigma_x.items():
            square = maps[p] * (self.overlaps[q, p] @ maps[q] @ sigma)
            found = found + square.sum(axis=(-2, -1)) / 2
        return found


def _before(weights: Sequence[np.ndarray], path: tuple[int, ...]) -> list[np.ndarray]:
    """Return the products of a path's weights, each up to and with one of its edges."""
    found = [weights[path[0]]]
    for edge in path[1:]:
        found.append(weights[edge] @ found[-1])
    return found


def _turned(matrix: np.ndarray) -> np.ndarray:
    return matrix.swapaxes(-1, -2)
