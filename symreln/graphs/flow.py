r"""The flow of a graph's weights in float64, of the full network or of a reduced one.

.. math:: \tau\dot W_e = \sum_{p \ni e} W_{after(e,p)}^T E(p) W_{before(e,p)}^T

of the *mean* loss 1/(2P) Σ‖y − ŷ‖². A reduction is the same flow with smaller matrices, so there
is one class for both. Source: [Saxe2022].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.errors import InputError, LimitReachedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from symreln.graphs.data import GraphData

RELATIVE_TOLERANCE = 1e-12
"""Local error of a step, relative to an entry; the absolute one follows the largest entry."""


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class GraphFlow:
    """Weights on the edges of a graph and what drives them.

    Attributes:
        shapes: Shape of every edge's weights.
        paths: Edges of every pathway, from the input to the output.
        bundle_of: Bundle of every pathway.
        sigma_yx: Input-output correlation of every bundle.
        sigma_x: Sigma^x(c, b) by (c, b).
        overlaps: O_{bc} by (c, b).
        half_power: Loss of the network that gives 0, 1/(2P) Σ‖y‖².
    """

    shapes: tuple[tuple[int, int], ...]
    paths: tuple[tuple[int, ...], ...]
    bundle_of: tuple[int, ...]
    sigma_yx: tuple[np.ndarray, ...]
    sigma_x: Mapping[tuple[int, int], np.ndarray]
    overlaps: Mapping[tuple[int, int], np.ndarray]
    half_power: float

    @classmethod
    def of(cls, data: GraphData) -> GraphFlow:
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
                found[edge] += signal if place == 0 else signal @ before[place - 1].T
                signal = weights[edge].T @ signal
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
        self, start: Sequence[np.ndarray], times: Sequence[float], tau: float = 1.0
    ) -> list[list[np.ndarray]]:
        """Return the weights at every time; explicit Runge-Kutta of order 8.

        Every time asked for is the end of a step, because the output between steps is seen by no
        error control.

        Args:
            start: Weights at times[0], one matrix an edge.
            times: Ascending times.
            tau: Time constant, in the unit of times.

        Raises:
            InputError: The start has other shapes.
            LimitReachedError: The step size fell below what float64 resolves.
        """
        self._check(start)
        states = [[np.array(w, dtype=float) for w in start]]
        for begin, end in pairwise(times):
            last = np.concatenate([w.ravel() for w in states[-1]])
            states.append(self._split(steps_to(self._rhs, last, begin / tau, end / tau)))
        return states

    def _rhs(self, _time: float, state: np.ndarray) -> np.ndarray:
        return np.concatenate([w.ravel() for w in self.velocity(self._split(state))])

    @cached_property
    def _places(self) -> list[slice]:
        ends = np.cumsum([0, *(rows * columns for rows, columns in self.shapes)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def _split(self, state: np.ndarray) -> list[np.ndarray]:
        pairs = zip(self._places, self.shapes, strict=True)
        return [state[place].reshape(shape) for place, shape in pairs]

    def _check(self, start: Sequence[np.ndarray]) -> None:
        found = tuple(np.shape(w) for w in start)
        if found != self.shapes:
            msg = f"the start has weights of shapes {found}; the edges need {self.shapes}"
            raise InputError(msg)


def steps_to(
    rhs: Callable[[float, np.ndarray], np.ndarray], state: np.ndarray, begin: float, end: float
) -> np.ndarray:
    """Return the state at ``end`` by steps that end there.

    Raises:
        LimitReachedError: The step size fell below what float64 resolves.
    """
    from scipy.integrate import DOP853

    if end <= begin:
        return state
    solver = DOP853(rhs, begin, state, end, rtol=RELATIVE_TOLERANCE, atol=rounding(state))
    while solver.status == "running":
        solver.atol = rounding(solver.y)
        message = solver.step()
        if solver.status == "failed":
            msg = f"the flow could not be integrated past t = {solver.t:.6g}: {message}"
            raise LimitReachedError(msg)
    return solver.y


def _before(weights: Sequence[np.ndarray], path: tuple[int, ...]) -> list[np.ndarray]:
    """Return the products of a path's weights, each up to and with one of its edges."""
    found = [weights[path[0]]]
    for edge in path[1:]:
        found.append(weights[edge] @ found[-1])
    return found


def rounding(state: np.ndarray) -> float:
    """Return the error that rounding makes of a state's largest entry; not 0."""
    return 1e-15 * (float(np.abs(state).max(initial=0.0)) or 1.0)
