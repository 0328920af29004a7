"""Scalar modes of a part of a graph, all of them in one integration; float64."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import DOP853

from symreln.base.summaries import short_repr
from symreln.errors import LimitReachedError
from symreln.graphs.flow import RELATIVE_TOLERANCE, rounding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from symreln.graphs.flow import GraphFlow
    from symreln.graphs.modes import GraphMode


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class ScalarFlows:
    r"""One number an edge and mode; the flow of :mod:`symreln.graphs.modes` for all modes.

    Attributes:
        paths: Edges of every pathway.
        bundle_of: Bundle of every pathway.
        s: Shape (bundles, modes).
        d: :math:`o_{bc} d_{cb}` by (c, b), each of shape (modes,).
        edges: Number of edges.
    """

    paths: tuple[tuple[int, ...], ...]
    bundle_of: tuple[int, ...]
    s: np.ndarray
    d: Mapping[tuple[int, int], np.ndarray]
    edges: int

    @classmethod
    def of(cls, modes: Sequence[GraphMode]) -> ScalarFlows:
        """Return the flows of one mode or more of one graph together."""
        first: GraphFlow = modes[0].flow
        return cls(
            paths=first.paths,
            bundle_of=first.bundle_of,
            s=np.array([mode.strengths for mode in modes]).T,
            d={
                pair: np.array(
                    [float((m.flow.overlaps[pair] * m.flow.sigma_x[pair])[0, 0]) for m in modes]
                )
                for pair in first.sigma_x
            },
            edges=len(first.shapes),
        )

    @property
    def modes(self) -> int:
        """The number of modes."""
        return self.s.shape[1]

    def totals(self, weights: np.ndarray) -> np.ndarray:
        """Return T_b, shape (bundles, modes), of weights of shape (edges, modes)."""
        found = np.zeros_like(self.s)
        for path, bundle in zip(self.paths, self.bundle_of, strict=True):
            found[bundle] += weights[list(path)].prod(axis=0)
        return found

    def velocity(self, weights: np.ndarray) -> np.ndarray:
        """Return τ dw/dt, shape (edges, modes)."""
        totals, errors = self.totals(weights), self.s.copy()
        for (c, b), d in self.d.items():
            errors[b] -= totals[c] * d
        found = np.zeros((self.edges, self.modes))
        for path, bundle in zip(self.paths, self.bundle_of, strict=True):
            for place, edge in enumerate(path):
                others = [*path[:place], *path[place + 1 :]]
                found[edge] += weights[others].prod(axis=0) * errors[bundle]
        return found

    def loss(self, weights: np.ndarray) -> float:
        """Return what the modes add to the loss of the network that gives 0."""
        totals = self.totals(weights)
        square = sum(float((totals[b] * totals[c] * d).sum()) for (c, b), d in self.d.items())
        return square / 2 - float((self.s * totals).sum())


def chain_velocity(
    counts: Sequence[int], s: np.ndarray, d: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return τ dw/dt of the modes of a chain of shared edges, as a function of w.

    Args:
        counts: How many pathways use an edge, place by place; w has shape (places, modes).
        s: Singular values, shape (modes,).
        d: Input eigenvalues, shape (modes,).
    """
    uses = np.array(counts, dtype=float)[:, None]

    def velocity(weights: np.ndarray) -> np.ndarray:
        places = range(len(weights))
        others = np.array([np.delete(weights, place, axis=0).prod(axis=0) for place in places])
        return uses * others * (s - d * weights.prod(axis=0))

    return velocity


def sampled(
    velocity: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    times: np.ndarray,
    between: int,
) -> np.ndarray:
    """Return an array at every time: steps end at every ``between``-th of them.

    The others are read off the steps' interpolants, which is good enough to draw.

    Args:
        velocity: Derivative of an array, a function of it alone.
        start: Array at times[0].
        times: Ascending times, a multiple of ``between`` and one more.
        between: How many times lie from one end of steps to the next.

    Raises:
        LimitReachedError: The step size fell below what float64 resolves.
    """
    shape = start.shape
    if not start.size or times[-1] <= times[0]:
        return np.array([start] * len(times))

    def rhs(_time: float, state: np.ndarray) -> np.ndarray:
        return velocity(state.reshape(shape)).ravel()

    found = [start]
    for first in range(0, len(times) - 1, between):
        inner = list(times[first + 1 : first + between])
        state, end = found[-1].ravel(), float(times[first + between])
        solver = DOP853(
            rhs, float(times[first]), state, end, rtol=RELATIVE_TOLERANCE, atol=rounding(state)
        )
        while solver.status == "running":
            solver.atol = rounding(solver.y)
            message = solver.step()
            if solver.status == "failed":
                msg = f"the modes could not be integrated past t = {solver.t:.6g}: {message}"
                raise LimitReachedError(msg)
            reader = solver.dense_output() if inner and inner[0] <= solver.t else None
            while reader is not None and inner and inner[0] <= solver.t:
                found.append(reader(inner.pop(0)).reshape(shape))
        found.append(solver.y.reshape(shape))
    return np.array(found)
