"""A graph in numbers: strengths and loss over time, and the full flow against the reduction.

Every edge starts aligned, with strength ``network.init_std`` in every mode that learns something
and with nothing in others, which therefore stay at nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.errors import NoClosedFormError
from symreln.exact.truth import Truth
from symreln.graphs.aligned import aligned_weights, lacking_units, learning
from symreln.graphs.components import components
from symreln.graphs.data import GraphData
from symreln.graphs.diagonal import decide_diagonal
from symreln.graphs.flow import GraphFlow
from symreln.graphs.modes import TOLERANCE, graph_modes
from symreln.graphs.numbers import half_time
from symreln.graphs.scalars import ScalarFlows, chain_velocity, sampled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.graphs.components import Component
    from symreln.graphs.data import Bundle
    from symreln.graphs.derivation import NetworkDerivation
    from symreln.spec.model import Spec

MOMENTS = 8
"""Times after the start at which the full flow is compared; it costs far more."""

BETWEEN = 20
"""Points of a curve from one of these times to the next."""

MOST_WEIGHTS = 50_000
"""Weights of the whole graph up to which the full flow is integrated: seconds."""


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Strengths:
    """Strengths of the modes of pathways that see the same data.

    Attributes:
        label: Name of the pathways.
        values: Shape (modes, times), the product of the edges summed over the pathways.
        plateaus: Shape (modes,), NaN where a mode has no plateau of its own.
    """

    label: str
    values: np.ndarray
    plateaus: np.ndarray


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Curves:
    """What the reduction predicts at the declared values.

    Attributes:
        start: Strength with which every aligned edge starts in every mode.
        times: In steps, shape (times,).
        strengths: One entry a bundle; those of equal data in a regular component once.
        loss: Shape (times,).
        moments: Indices of ``times`` at which the full flow was integrated.
        full: Its loss there; empty where the graph has more than MOST_WEIGHTS weights.
        speed: For a routing network, how many times faster the strongest mode comes to half its
            plateau than with unshared pathways, from the same start; else None.
    """

    start: float
    times: np.ndarray
    strengths: tuple[Strengths, ...]
    loss: np.ndarray
    moments: np.ndarray
    full: np.ndarray
    speed: float | None

    @property
    def difference(self) -> float | None:
        """Largest difference of the losses over the first one; None without the full flow."""
        if not len(self.full):
            return None
        apart = float(np.abs(self.full - self.loss[self.moments]).max())
        return apart / float(self.full[0] or 1.0)


def curves(derivation: NetworkDerivation) -> Curves:
    """Return strengths and loss at the declared values.

    Raises:
        NoClosedFormError: There are no numbers, or not all modes have strengths: correlations
            that do not diagonalise, or a hidden node with fewer units than modes.
    """
    spec = _with_numbers(derivation.spec)
    assert spec.graph is not None
    assert spec.network is not None
    data = GraphData(graph=spec.graph, dataset=spec.dataset)
    start = float(spec.network.init_std)
    times = np.linspace(0, spec.network.steps - 1, MOMENTS * BETWEEN + 1)
    scaled = times / float(spec.network.tau(spec.dataset.samples))
    parts = [_part(component, start, scaled) for component in components(data, spec)]
    for part in parts:
        if lacking := lacking_units(part.component, len(part.vectors)):
            raise NoClosedFormError(lacking)
    data = _with_used_units(data, parts)
    full = GraphFlow.of(data)
    moments = np.arange(0, len(times), BETWEEN)
    learned = [(part.component, part.vectors) for part in parts]
    weights = aligned_weights(data.graph, learned, start)
    found = np.array([])
    if sum(w.size for w in weights) <= MOST_WEIGHTS:
        states = full.trajectory(weights, list(scaled[moments]))
        found = np.array([full.loss(state) for state in states])
    return Curves(
        start=start,
        times=times,
        strengths=tuple(item for part in parts for item in part.strengths),
        loss=full.half_power + np.sum([part.loss for part in parts], axis=0),
        moments=moments,
        full=found,
        speed=_speed(derivation, parts[0], start),
    )


def _with_numbers(spec: Spec) -> Spec:
    """Return a spec at its declared values.

    Raises:
        NoClosedFormError: A value or the network is missing.
    """
    if spec.network is None:
        msg = "the spec has no [network], which says where the weights start"
        raise NoClosedFormError(msg)
    bare = [parameter.name for parameter in spec.parameters if parameter.value is None]
    if bare:
        msg = f"no value is declared for {', '.join(bare)}"
        raise NoClosedFormError(msg)
    return spec.at_values()


@dataclass(frozen=True, kw_only=True, eq=False)
class _Part:
    """A component in numbers.

    Attributes:
        component: The component.
        vectors: Of every mode that learns something, unit vectors by outer node.
        strengths: Curves.
        loss: What it adds to the loss, at every time.
        numbers: s and d of the modes of a regular component, strongest first.
    """

    component: Component
    vectors: Sequence[Mapping[str, np.ndarray]]
    strengths: tuple[Strengths, ...]
    loss: np.ndarray
    numbers: tuple[np.ndarray, np.ndarray] | None = None


def _part(component: Component, start: float, times: np.ndarray) -> _Part:
    if component.form is not None:
        return _regular(component, start, times)
    decision = decide_diagonal(component.data)
    if component.is_regular or decision.outcome is not Truth.PROVEN:
        reason = component.why if component.is_regular else decision.reason
        msg = f"modes have no strengths of their own: {reason}"
        raise NoClosedFormError(msg)
    data = component.data
    modes = graph_modes(data, decision)
    learns = learning(modes)
    flows = ScalarFlows.of(learns or modes)
    states = sampled(flows.velocity, np.full((flows.edges, flows.modes), start), times, BETWEEN)
    totals = np.array([flows.totals(state) for state in states])  # (times, bundles, modes)
    return _Part(
        component=component,
        vectors=[mode.vectors for mode in learns],
        strengths=tuple(
            Strengths(
                label=bundle.effective.pathway.name,
                values=totals[:, b, reached].T,
                plateaus=np.full(len(reached), np.nan),
            )
            for b, bundle in enumerate(data.bundles)
            if (reached := [k for k, m in enumerate(learns) if _reaches(m.vectors, bundle)])
        )
        if learns
        else (),
        loss=np.array([flows.loss(state) if learns else 0.0 for state in states]),
    )


def _reaches(vectors: Mapping[str, np.ndarray], bundle: Bundle) -> bool:
    return bundle.source in vectors and bundle.target in vectors


def _regular(component: Component, start: float, times: np.ndarray) -> _Part:
    modes = pathway_modes(component.data)
    weights = np.full((len(component.counts), len(modes.s)), start)
    states = sampled(chain_velocity(component.counts, modes.s, modes.d), weights, times, BETWEEN)
    strengths = states.prod(axis=1).T
    s, d = modes.s[:, None], modes.d[:, None]
    names = component.data.bundles[0].effective.pathway.name
    more = len(component.paths) - 1
    outer = {node.name: node.kind for node in component.data.graph.nodes if not node.is_hidden}
    return _Part(
        component=component,
        vectors=[
            {name: (modes.v if kind == "input" else modes.u)[:, k] for name, kind in outer.items()}
            for k in range(len(modes.s))
        ],
        strengths=(
            Strengths(
                label=names + (f" and {more} alike" if more else ""),
                values=strengths,
                plateaus=modes.s / modes.d,
            ),
        )
        if len(modes.s)
        else (),
        loss=-len(component.paths) * (s * strengths - d * strengths**2 / 2).sum(axis=0),
        numbers=(modes.s, modes.d),
    )


def _with_used_units(data: GraphData, parts: Sequence[_Part]) -> GraphData:
    """Return a graph without the hidden units that no mode uses: their weights stay at 0."""
    used: dict[str, int] = {}
    for part in parts:
        for edge in part.component.data.graph.edges:
            for name in (edge.source, edge.target):
                used[name] = max(used.get(name, 1), len(part.vectors))
    nodes = tuple(
        replace(n, size=min(n.size, used.get(n.name, 1))) if n.is_hidden else n
        for n in data.graph.nodes
    )
    return GraphData(graph=replace(data.graph, nodes=nodes), dataset=data.dataset)


def _speed(derivation: NetworkDerivation, part: _Part, start: float) -> float | None:
    if derivation.no_routing or part.numbers is None or not len(part.numbers[0]):
        return None
    s, d = (float(numbers[0]) for numbers in part.numbers)
    alone = half_time((1, 1, 1), s, d, start)
    return alone / half_time(part.component.counts, s, d, start)


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class PathwayModes:
    """Modes of a pathway that learn something, strongest first; float64.

    Attributes:
        u: Output vectors, shape (outputs, modes).
        s: Singular values.
        v: Input vectors, shape (inputs, modes).
        d: Input eigenvalues.
    """

    u: np.ndarray
    s: np.ndarray
    v: np.ndarray
    d: np.ndarray


def pathway_modes(data: GraphData) -> PathwayModes:
    """Return the modes that all pathways of a regular component have; its data diagonalise.

    A generic combination of Sigma^x and (Sigma^yx)^T Sigma^yx, which commute, has their joint
    eigenvectors.
    """
    bundle = data.bundles[0]
    sigma_yx = data.sigma_yx[0].to_numpy()
    sigma_x = bundle.effective.sigma_x.to_numpy()
    gram = sigma_yx.T @ sigma_yx
    sizes = [float(np.linalg.norm(m)) or 1.0 for m in (gram, sigma_x)]
    v = np.linalg.eigh(gram / sizes[0] + sigma_x / (np.pi * sizes[1]))[1]
    s = np.linalg.norm(sigma_yx @ v, axis=0)
    order = [k for k in np.argsort(-s) if s[k] > TOLERANCE * s.max()]
    s, v = s[order], v[:, order]
    return PathwayModes(u=sigma_yx @ v / s, s=s, v=v, d=np.einsum("ik,ij,jk->k", v, sigma_x, v))
