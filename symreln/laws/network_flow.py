r"""The flow of a graph's weights in float64, of the full network or of a reduced one.

.. math:: \tau\dot W_e = \sum_{p \ni e} W_{after(e,p)}^T E(p) W_{before(e,p)}^T

of the *mean* loss 1/(2P) Σ‖y − ŷ‖². A reduction is the same flow with smaller matrices, and scalar
modes are many flows of matrices (1, 1) side by side, so there is one class for all. Matrices may
have a leading axis, of flows that do not meet. Source: [Saxe2022].
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.errors import InputError
from symreln.laws.integrate import integrate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.networks.bundles import NetworkData


@record(eq=False)
class NetworkFlow:
    """Weights on the edges of a graph and what drives them.

    Attributes:
        shapes: Shape of every edge's weights.
        paths: Edges of every pathway, from the input to the output.
        bundle_of: Bundle of every pathway.
        sigma_yx: Input-output correlation of every bundle.
        sigma_x: Sigma^x(c, b) by (c, b).
        overlaps: O_{bc} by (c, b).
        half_power: Loss of the network that gives 0, 1/(2P) Σ‖y‖².
        uses: How many pathways use an edge, where one stands for all that do; else empty.
    """

    shapes: tuple[tuple[int, ...], ...]
    paths: tuple[tuple[int, ...], ...]
    bundle_of: tuple[int, ...]
    sigma_yx: tuple[np.ndarray, ...]
    sigma_x: Mapping[tuple[int, int], np.ndarray]
    overlaps: Mapping[tuple[int, int], np.ndarray]
    half_power: float
    uses: tuple[int, ...] = ()

    @classmethod
    def of(cls, data: NetworkData) -> NetworkFlow:
        """Return the full flow of a graph on a dataset without free parameters.

        Raises:
            InputError: A parameter occurs in the data or in a gate.
        """
        graph = data.graph
        targets = data.dataset.targets.to_numpy()
        return cls(
            shapes=tuple(graph.shape(place) for place in range(len(graph.edges))),
            paths=tuple(path.edges for path in data.paths),
            bundle_of=tuple(data.bundle_of[place] for place in range(len(data.paths))),
            sigma_yx=tuple(matrix.to_numpy() for matrix in data.sigma_yx),
            sigma_x={pair: matrix.to_numpy() for pair, matrix in data.sigma_x.items()},
            overlaps={pair: matrix.to_numpy() for pair, matrix in data.overlaps.items()},
            half_power=float((targets**2).sum()) / (2 * data.dataset.samples),
        )

    @classmethod
    def beside(cls, flows: Sequence[NetworkFlow]) -> NetworkFlow:
        """Return flows of matrices of the same shapes, at least one, as one with a leading axis."""
        first = flows[0]
        return replace(
            first,
            shapes=tuple((len(flows), *shape) for shape in first.shapes),
            sigma_yx=tuple(map(np.array, zip(*(f.sigma_yx for f in flows), strict=True))),
            sigma_x={k: np.array([f.sigma_x[k] for f in flows]) for k in first.sigma_x},
            overlaps={k: np.array([f.overlaps[k] for f in flows]) for k in first.overlaps},
            half_power=sum(flow.half_power for flow in flows),
        )

    def alone(self, uses: tuple[int, ...]) -> NetworkFlow:
        """Return the flow of the first pathway, where all are alike and start alike.

        Args:
            uses: How many pathways use each of its edges.
        """
        path, bundle = self.paths[0], self.bundle_of[0]
        return replace(
            self,
            shapes=tuple(self.shapes[edge] for edge in path),
            paths=(tuple(range(len(path))),),
            bundle_of=(0,),
            sigma_yx=(self.sigma_yx[bundle],),
            sigma_x={(0, 0): self.sigma_x[bundle, bundle]},
            overlaps={(0, 0): self.overlaps[bundle, bundle]},
            uses=uses,
        )

    def totals(self, weights: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return T_b, the sum of the products of weights along the pathways of every bundle."""
        found = [np.zeros_like(matrix) for matrix in self.sigma_yx]
        for path, bundle in zip(self.paths, self.bundle_of, strict=True):
            found[bundle] += _before(weights, path)[-1]
        return found

    def errors(self, weights: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return E_b of every bundle."""
        totals = self.totals(weights)
        found = [matrix.copy() for matrix in self.sigma_yx]
        for (c, b), sigma in self.sigma_x.items():
            found[b] -= self.overlaps[c, b] @ totals[c] @ sigma
        return found

    def velocity(self, weights: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return τ dW_e/dt of every edge."""
        errors = self.errors(weights)
        found = [np.zeros(shape) for shape in self.shapes]
        for path, bundle in zip(self.paths, self.bundle_of, strict=True):
            before = _before(weights, path)
            signal = errors[bundle]  # W_afterᵀ E
            for place in range(len(path) - 1, -1, -1):
                edge = path[place]
                found[edge] += signal if place == 0 else signal @ _turned(before[place - 1])
                signal = _turned(weights[edge]) @ signal
        for slope, many in zip(found, self.uses, strict=False):
            slope *= many
        return found

    def loss(self, weights: Sequence[np.ndarray]) -> float:
        """Return the mean loss 1/(2P) Σ‖y − ŷ‖²."""
        totals = self.totals(weights)
        linear = sum(float((s * t).sum()) for s, t in zip(self.sigma_yx, totals, strict=True))
        square = 0.0
        for (c, b), sigma in self.sigma_x.items():
            square += float((totals[b] * (self.overlaps[c, b] @ totals[c] @ sigma)).sum())
        return self.half_power - linear + square / 2

    def trajectory(
        self,
        start: Sequence[np.ndarray],
        times: Sequence[float] | np.ndarray,
        tau: float = 1.0,
        between: int = 1,
    ) -> list[list[np.ndarray]]:
        """Return the weights at every time.

        Args:
            start: Weights at times[0], one matrix an edge.
            times: Ascending times.
            tau: Time constant, in the unit of times.
            between: Every so many times a step ends; the others are read off the steps'
                interpolants, which no error control sees and which is good enough to draw.

        Raises:
            InputError: The start has other shapes.
            LimitReachedError: The step size fell below what float64 resolves.
        """
        self._check(start)
        states = [np.concatenate([np.asarray(w, dtype=float).ravel() for w in start])]
        scaled = np.asarray(times) / tau
        for first in range(0, len(scaled) - 1, between):
            inner = scaled[first : first + between + 1]
            parts = [found for _, found in integrate(self._rhs, states[-1], inner)]
            states += list(np.concatenate(parts, axis=1).T[1:])
        return [self._split(state) for state in states]

    def _rhs(self, _time: float, state: np.ndarray) -> np.ndarray:
        return np.concatenate([w.ravel() for w in self.velocity(self._split(state))])

    @cached_property
    def _places(self) -> list[slice]:
        ends = np.cumsum([0, *(prod(shape) for shape in self.shapes)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def _split(self, state: np.ndarray) -> list[np.ndarray]:
        pairs = zip(self._places, self.shapes, strict=True)
        return [state[place].reshape(shape) for place, shape in pairs]

    def _check(self, start: Sequence[np.ndarray]) -> None:
        found = tuple(np.shape(w) for w in start)
        if found != self.shapes:
            msg = f"the start has weights of shapes {found}; the edges need {self.shapes}"
            raise InputError(msg)


def _before(weights: Sequence[np.ndarray], path: tuple[int, ...]) -> list[np.ndarray]:
    """Return the products of a path's weights, each up to and with one of its edges."""
    found = [weights[path[0]]]
    for edge in path[1:]:
        found.append(weights[edge] @ found[-1])
    return found


def _turned(matrix: np.ndarray) -> np.ndarray:
    return matrix.swapaxes(-1, -2)
