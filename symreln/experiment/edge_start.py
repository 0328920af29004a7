r"""Where the modes of a gated graph start in effect, when its weights are drawn at random.

As :mod:`symreln.laws.chain_start` does it for a chain, for a regular part of a graph: pathways
of L edges each, the edges at place l in n_l of them, equal data. While outputs are small a mode's
amplitudes run up the gradient of s times their products, summed over the pathways, and with
L >= 3 to infinity at a time T; edges that all start aligned with amplitude x do so at a time
proportional to :math:`x^{2-L}`. The x of equal times is where the mode starts in effect. With two
edges a pathway amplitudes grow exponentially, fastest along the combination of all edges that
weighs the m₁ first and the m₂ last ones each as one, and its length says the same:
:math:`x = \sigma\sqrt{2H}/(\sqrt{m_1} + \sqrt{m_2})`.

Float64, seeded, with the standard error of the mean. Nothing is fitted, no network is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.laws.chain_start import ALIGNED, DRAWS, SEED, runge_kutta
from symreln.laws.network_flow import NetworkFlow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.network.components import Component
    from symreln.specs.model import Spec

#: Step of the classical Runge-Kutta method, over the shortest time in which an edge doubles.
STEP = 0.2


@record
class EdgeStart:
    """An effective start.

    Attributes:
        amplitude: x, with which every edge starts in every mode.
        error: Its standard error; 0 where it is a formula.
        amplitudes: That of every single mode that was followed, or ``amplitude`` alone.
    """

    amplitude: float
    error: float
    amplitudes: tuple[float, ...]

    def scaled(self, factor: float) -> EdgeStart:
        """Return the start of the same draws times a factor: strengths are in units of them."""
        return EdgeStart(
            amplitude=factor * self.amplitude,
            error=factor * self.error,
            amplitudes=tuple(factor * x for x in self.amplitudes),
        )


def edge_start(spec: Spec, components: Sequence[Component]) -> EdgeStart | str:
    """Return where all modes of a graph start in effect, or why that is not derived.

    Args:
        spec: Without free parameters, with a network.
        components: The parts of its graph.
    """
    assert spec.network is not None
    std = float(spec.network.init_std)
    if reason := next((c.reason for c in components if not c.is_regular), ""):
        return f"it is derived for regular parts, and {reason}"
    if any(len(place) > 1 for component in components for place in _hidden_sizes(component)):
        return "hidden nodes at one place of its pathways have different numbers of units"
    if len({_kind(component) for component in components}) > 1:
        return "its parts differ in their counts or sizes, and each would start elsewhere"
    part = components[0]
    depth = len(part.counts)
    if depth == 1:
        return "single edges start at strength 0 in expectation, and aligned ones do not"
    if depth == 2:
        edges = [len({path.edges[place] for path in part.data.paths}) for place in (0, 1)]
        ((units,),) = _hidden_sizes(part)
        scale = np.sqrt(2 * units) / sum(np.sqrt(edges))
        found = float(std * scale)
        return EdgeStart(amplitude=found, error=0.0, amplitudes=(found,))
    return _followed(part, depth, std)


def _kind(component: Component) -> tuple:
    return component.counts, len(component.paths), _hidden_sizes(component)


def _hidden_sizes(component: Component) -> tuple[frozenset[int], ...]:
    """Return the numbers of units of the hidden nodes at every place of the pathways."""
    graph, paths = component.data.graph, component.data.paths
    return tuple(
        frozenset(graph.node(graph.edges[path.edges[place]].target).size for path in paths)
        for place in range(len(component.counts) - 1)
    )


def _followed(part: Component, depth: int, std: float) -> EdgeStart:
    whole = early_flow(part)
    single = early_flow(part, hidden=1)
    known = blow_up(single, [np.ones((1, 1)) for _ in single.shapes], depth)
    children = np.random.SeedSequence(SEED).spawn(DRAWS)
    times = []
    for child in children:
        generator = np.random.default_rng(child)
        weights = [generator.standard_normal(shape) for shape in whole.shapes]
        times.append(blow_up(whole, weights, depth))
    mean, order = np.mean(times), depth - 2
    amplitude = std * (known / mean) ** (1 / order)
    relative = np.std(times, ddof=1) / np.sqrt(DRAWS) / mean / order
    return EdgeStart(
        amplitude=float(amplitude),
        error=float(amplitude * relative),
        amplitudes=tuple(std * float((known / time) ** (1 / order)) for time in times),
    )


def early_flow(part: Component, hidden: int | None = None) -> NetworkFlow:
    """Return the early flow of one mode, in units of tau/s: nothing saturates.

    Args:
        part: A regular part; its outer nodes keep one unit, the mode's.
        hidden: Units of every hidden node; its own where not given.
    """
    graph, data = part.data.graph, part.data

    def size(name: str) -> int:
        node = graph.node(name)
        return (hidden or node.size) if node.is_hidden else 1

    return NetworkFlow(
        shapes=tuple((size(edge.target), size(edge.source)) for edge in graph.edges),
        paths=tuple(path.edges for path in data.paths),
        bundle_of=tuple(data.bundle_of[place] for place in range(len(data.paths))),
        sigma_yx=tuple(np.ones((1, 1)) for _ in data.bundles),
        sigma_x={},
        overlaps={},
        half_power=0.0,
    )


def blow_up(flow: NetworkFlow, weights: Sequence[np.ndarray], depth: int) -> float:
    """Return when the weights of an early flow become infinite, in units of tau/s.

    Args:
        flow: From :func:`early_flow`; pathways of the same number of edges.
        weights: At the start.
        depth: That number, at least 3.
    """
    state, time = [np.array(w) for w in weights], 0.0
    outer = sorted({path[place] for path in flow.paths for place in (0, -1)})
    units = max(max(shape) for shape in flow.shapes)
    while True:
        first = flow.velocity(state)
        size = np.sqrt(sum((state[e] ** 2).sum() for e in outer) / len(outer))
        if size > ALIGNED * np.sqrt(units):
            break
        step = STEP * min(
            float(np.linalg.norm(w)) / norm
            for w, v in zip(state, first, strict=True)
            if (norm := float(np.linalg.norm(v))) > 0
        )
        state = runge_kutta(flow.velocity, state, first, step)
        time += step
    # Aligned weights all go as a power of the time that is left: y' = c y^(L−1).
    square = sum((state[e] ** 2).sum() for e in outer)
    growth = sum((state[e] * first[e]).sum() for e in outer)
    return float(time + square / growth / (depth - 2))
