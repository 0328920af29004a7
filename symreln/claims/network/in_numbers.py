"""A graph in numbers: strengths and loss over time, and the full flow against the reduction.

Every edge starts aligned, with strength ``network.init_std`` in every mode that learns something
and with nothing in others, which therefore stay at nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.records import record
from symreln.claims.claim import Claim
from symreln.claims.network.components import components
from symreln.document.model import Block, Figure, Math, Section, prose
from symreln.document.numerals import decimal_latex, scientific_latex
from symreln.document.typeset import phrase, typeset
from symreln.errors import FloatRangeError, LimitReachedError, NoClosedFormError
from symreln.exact.truth import Truth
from symreln.laws.network_flow import NetworkFlow
from symreln.laws.scalar_modes import aligned_weights, lacking_units, learning, scalar_modes
from symreln.laws.three_edges import half_time
from symreln.networks.bundles import NetworkData
from symreln.verdict.diagonal import decide_diagonal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.claims.network.components import Component
    from symreln.claims.network.derivation import NetworkDerivation
    from symreln.laws.scalar_modes import ScalarMode
    from symreln.networks.bundles import Bundle
    from symreln.specs.model import Spec


@record(eq=False)
class InNumbers(Claim):
    """What the reduction predicts at the declared values.

    Attributes:
        found: Strengths and loss, or why there are none.
    """

    found: Curves | str

    def values(self) -> dict[str, Any]:
        """Return the start, and how near the reduction is to the full flow."""
        found = self.found
        if isinstance(found, str):
            return {"missing": found}
        return {"missing": None, "start": found.start, "difference": found.difference}

    def lines(self) -> Iterator[str]:
        """Say how near the reduction is to the full flow, or why there are no curves."""
        if isinstance(self.found, str):
            yield f"no curves: {self.found}"
        elif self.found.difference is not None:
            apart = self.found.difference
            yield (
                "verified numerically: losses of the full flow and of the reduction differ by at "
                f"most {apart:.1e} of L(0)"
            )

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own."""
        blocks = (
            (prose("No strengths are drawn: ", *typeset(self.found), "."),)
            if isinstance(self.found, str)
            else tuple(_blocks(self.found))
        )
        yield Section(title="In numbers", label="sec:numbers", blocks=blocks)


def curve_figures() -> tuple[Figure, ...]:
    """Return the figures of loss and strengths, which the first page shows."""
    return (
        Figure(
            name="loss",
            caption="Loss of the reduction, down to the resolution of float64.",
            alt="Loss against time on a linear and a logarithmic scale.",
        ),
        Figure(
            name="modes",
            caption=phrase(
                "Strengths of pathways over time, from the reduction; thin lines are plateaus "
                "$s/d$ of modes that have one of their own."
            ),
            alt="Strength of every mode against time, one colour for pathways of equal data.",
        ),
    )


def in_numbers(derivation: NetworkDerivation) -> InNumbers:
    """Return strengths and loss at the declared values, or why there are none."""
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            return InNumbers(found=_curves(derivation))
    except (NoClosedFormError, FloatRangeError, LimitReachedError) as error:
        return InNumbers(found=str(error))
    except (OverflowError, FloatingPointError):
        return InNumbers(found="float64 has no room for a number of the network")


def _blocks(found: Curves) -> Iterator[Block]:
    yield prose(
        "Every edge starts aligned, with strength ",
        Math(decimal_latex(repr(found.start))),
        " in every mode that learns something.",
    )
    if found.difference is None:
        yield prose("The graph has too many weights for the full flow to be integrated.")
        return
    yield prose(
        "Verified numerically: all matrices of the graph were integrated from the same weights as "
        "the reduced equations, but for hidden units that no mode uses, whose weights stay at 0. "
        "The losses differ by at most ",
        Math(scientific_latex(found.difference)),
        " of the first.",
    )


MOMENTS = 8
"""Times after the start at which the full flow is compared; it costs far more."""

_BETWEEN = 20
"""Points of a curve from one of these times to the next."""

_MOST_WEIGHTS = 50_000
"""Weights of the whole graph up to which the full flow is integrated: seconds."""


@record(eq=False)
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


@record(eq=False)
class Curves:
    """What the reduction predicts at the declared values.

    Attributes:
        start: Strength with which every aligned edge starts in every mode.
        times: In steps, shape (times,).
        strengths: One entry a bundle; those of equal data in a regular component once.
        loss: Shape (times,).
        difference: Largest distance to the loss of the full flow, at ``MOMENTS`` times, over the
            first one; None where the graph has more than _MOST_WEIGHTS weights.
        speed: For a routing network, how many times faster the strongest mode comes to half its
            plateau than with unshared pathways, from the same start; else None.
    """

    start: float
    times: np.ndarray
    strengths: tuple[Strengths, ...]
    loss: np.ndarray
    difference: float | None
    speed: float | None


def _curves(derivation: NetworkDerivation) -> Curves:
    """Return strengths and loss at the declared values.

    Raises:
        NoClosedFormError: There are no numbers, or not all modes have strengths: correlations
            that do not diagonalise, or a hidden node with fewer units than modes.
    """
    spec = _with_numbers(derivation.spec)
    assert spec.network is not None
    data = NetworkData(graph=spec.network_graph, dataset=spec.dataset)
    start = float(spec.network.init_std)
    times = np.linspace(0, spec.network.steps - 1, MOMENTS * _BETWEEN + 1)
    scaled = times / float(spec.network.tau(spec.dataset.samples))
    parts = [_part(component, start, scaled) for component in components(data, spec)]
    for part in parts:
        if lacking := lacking_units(part.component.data, len(part.vectors)):
            raise NoClosedFormError(lacking)
    data = _with_used_units(data, parts)
    full = NetworkFlow.of(data)
    loss = full.half_power + np.sum([part.loss for part in parts], axis=0)
    learned = [(part.component.edges, part.vectors) for part in parts]
    weights = aligned_weights(data.graph, learned, start)
    difference = None
    if sum(w.size for w in weights) <= _MOST_WEIGHTS:
        states = full.trajectory(weights, scaled[::_BETWEEN])
        whole = np.array([full.loss(state) for state in states])
        difference = float(np.abs(whole - loss[::_BETWEEN]).max()) / float(whole[0] or 1.0)
    return Curves(
        start=start,
        times=times,
        strengths=tuple(item for part in parts for item in part.strengths),
        loss=loss,
        difference=difference,
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
    bare = [parameter.given for parameter in spec.parameters if parameter.value is None]
    if bare:
        msg = f"no value is declared for {', '.join(bare)}"
        raise NoClosedFormError(msg)
    return spec.at_values()


@record(eq=False)
class _Part:
    """A component in numbers.

    Attributes:
        component: The component.
        vectors: Of every mode that learns something, unit vectors by outer node.
        strengths: Curves.
        loss: What it adds to the loss, at every time.
        flow: The modes' flow, strongest first, of one pathway where all are alike; None where
            nothing learns.
    """

    component: Component
    vectors: Sequence[Mapping[str, np.ndarray]]
    strengths: tuple[Strengths, ...]
    loss: np.ndarray
    flow: NetworkFlow | None


def _part(component: Component, start: float, times: np.ndarray) -> _Part:
    data, alike = component.data, component.form is not None
    if component.is_regular and not alike:
        msg = f"modes have no strengths of their own: {component.why}"
        raise NoClosedFormError(msg)
    if alike:
        data = data.alone(data.paths[0].edges)
    decision = decide_diagonal(data)
    if decision.outcome is not Truth.PROVEN:
        msg = f"modes have no strengths of their own: {decision.reason}"
        raise NoClosedFormError(msg)
    modes = sorted(
        learning(scalar_modes(data, decision)), key=lambda m: -max(map(abs, m.strengths))
    )
    if not modes:
        none = np.zeros(len(times))
        return _Part(component=component, vectors=(), strengths=(), loss=none, flow=None)
    flow, many = component.flow(modes)
    weights = [np.full(shape, start) for shape in flow.shapes]
    states = flow.trajectory(weights, times, between=_BETWEEN)
    totals = np.array([flow.totals(state) for state in states])[..., 0, 0]
    return _Part(
        component=component,
        vectors=_everywhere(component, modes) if alike else [mode.vectors for mode in modes],
        strengths=tuple(
            Strengths(
                label=component.name
                if many > 1
                else component.data.bundles[b].effective.pathway.name,
                values=totals[:, b, reached].T,
                plateaus=np.divide(*_numbers(flow)) if alike else np.full(len(reached), np.nan),
            )
            for b, bundle in enumerate(data.bundles)
            if (reached := [k for k, m in enumerate(modes) if _reaches(m.vectors, bundle)])
        ),
        loss=many * np.array([flow.loss(state) for state in states]),
        flow=flow,
    )


def _numbers(flow: NetworkFlow) -> tuple[np.ndarray, np.ndarray]:
    """Return s and d of the modes of one pathway."""
    return flow.sigma_yx[0][:, 0, 0], flow.sigma_x[0, 0][:, 0, 0]


def _everywhere(component: Component, modes: Sequence[ScalarMode]) -> list[dict[str, np.ndarray]]:
    """Return the vectors at all outer nodes of modes of one pathway, which all have alike."""
    graph = component.data.graph
    first = component.data.paths[0]
    ends = {"input": first.source, "output": first.target}
    outer = [node for node in graph.nodes if not node.is_hidden]
    return [{node.name: mode.vectors[ends[node.kind]] for node in outer} for mode in modes]


def _reaches(vectors: Mapping[str, np.ndarray], bundle: Bundle) -> bool:
    return bundle.source in vectors and bundle.target in vectors


def _with_used_units(data: NetworkData, parts: Sequence[_Part]) -> NetworkData:
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
    return NetworkData(graph=replace(data.graph, nodes=nodes), dataset=data.dataset)


def _speed(derivation: NetworkDerivation, part: _Part, start: float) -> float | None:
    if isinstance(derivation.routing_sizes, str) or part.flow is None:
        return None
    s, d = (float(numbers[0]) for numbers in _numbers(part.flow))
    alone = half_time((1, 1, 1), s, d, start)
    return alone / half_time(part.component.counts, s, d, start)
