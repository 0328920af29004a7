"""The scalar modes of nodes and edges as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.claims.integration import network_of
from symreln.claims.network.components import components
from symreln.errors import LimitReachedError, NotSupportedError
from symreln.exact.truth import Truth
from symreln.experiment.metrics import DROP, drop_time, point
from symreln.experiment.uninformative import Uninformative
from symreln.experiment.verdicts import Verdict, outcome_of
from symreln.laws.finite_steps import at_steps, delays
from symreln.laws.scalar_modes import aligned_weights, lacking_units, learning, scalar_modes
from symreln.networks.bundles import NetworkData
from symreln.verdict.diagonal import decide_diagonal

if TYPE_CHECKING:
    from symreln.claims.network.components import Component
    from symreln.experiment.edge_start import EdgeStart
    from symreln.laws.network_flow import NetworkFlow
    from symreln.laws.scalar_modes import ScalarMode
    from symreln.specs.model import Spec

#: The pairs of curves: from an aligned start, and from random weights.
ALIGNED, RANDOM = "theory_vs_aligned", "theory_vs_gdln"


@record(eq=False)
class Descent:
    """Gradient descent on the scalar modes of a graph, step by step.

    Attributes:
        start: Amplitude with which every edge starts in every mode.
        loss: Mean loss, shape (steps,).
        strengths: Summed over the pathways that see the same data, at the last step; one number a
            mode that learns, by the bundle's label.
    """

    start: float
    loss: np.ndarray
    strengths: dict[str, tuple[float, ...]]


#: Times at which the flow is looked at within a span; a step is found to one in LOOKS².
LOOKS = 49
#: Spans that a step is sought within, in units of the steps that were trained, but of no less than
#: _RISE times the pace of the fastest mode.
_SPANS = (1, 4, 16, 64)
_RISE = 8


@record(eq=False)
class ScalarModes:
    """The scalar modes of all parts of a graph.

    Attributes:
        spec: Without free parameters, with a network.
        data: The graph on its data.
        parts: Its components.
        modes: Those of each component that learn something.
    """

    spec: Spec
    data: NetworkData
    parts: tuple[Component, ...]
    modes: tuple[tuple[ScalarMode, ...], ...]

    @classmethod
    def of(cls, spec: Spec) -> ScalarModes:
        """Find them.

        Raises:
            NotSupportedError: They are not proven to be the whole dynamics.
        """
        if network_of(spec).training == "staged":
            msg = "network.training: graphs are derived and trained jointly. Leave it out"
            raise NotSupportedError(msg)
        data = NetworkData(graph=spec.network_graph, dataset=spec.dataset)
        parts, found = components(data, spec), []
        for part in parts:
            decision = decide_diagonal(part.data)
            if decision.outcome is not Truth.PROVEN:
                msg = (
                    "the graph is confronted where its data diagonalise, so that every mode has "
                    f"strengths of its own; here that is {decision.outcome.value}: "
                    f"{decision.reason}"
                )
                raise NotSupportedError(msg)
            found.append(tuple(learning(scalar_modes(part.data, decision))))
            if lacking := lacking_units(part.data, len(found[-1])):
                raise NotSupportedError(lacking)
        return cls(spec=spec, data=data, parts=parts, modes=tuple(found))

    def descend(self, start: float) -> Descent:
        """Predict gradient descent from edges that all start with one amplitude in every mode."""
        loss, strengths = self._silent_loss(), {}
        rate, steps = self._rate, len(loss)
        for part, modes in zip(self.parts, self.modes, strict=True):
            final = []
            for mode in modes:
                own, totals = _descent(mode, start, rate, steps)
                loss += own
                final.append(totals)
            for place, bundle in enumerate(part.data.bundles):
                ends = {bundle.source, bundle.target}
                strengths[bundle.effective.pathway.name] = tuple(
                    totals[place] if ends <= mode.vectors.keys() else 0.0
                    for mode, totals in zip(modes, final, strict=True)
                )
        return Descent(start=start, loss=loss, strengths=strengths)

    def _silent_loss(self) -> np.ndarray:
        """The loss of outputs that are zero, at every step."""
        targets, samples = self.spec.dataset.targets.to_numpy(), self.spec.dataset.samples
        return np.full(network_of(self.spec).steps, float((targets**2).sum()) / (2 * samples))

    @property
    def _rate(self) -> float:
        return 1 / float(network_of(self.spec).tau(self.spec.dataset.samples))

    def expected_loss(self, starts: Sequence[float]) -> np.ndarray:
        """Predict the mean loss over edges that start with one of these amplitudes in a mode.

        For regular parts: their edges stay alike at each place, so that L numbers are a mode.
        """
        loss = self._silent_loss()
        for part, modes in zip(self.parts, self.modes, strict=True):
            s = np.array([mode.flow.sigma_yx[0][0, 0] for mode in modes])[:, None]
            d = np.array([mode.flow.sigma_x[0, 0][0, 0] for mode in modes])[:, None]
            places = [np.tile(np.array(starts), (len(modes), 1)) for _ in part.counts]
            for step in range(len(loss)):
                strength = np.prod(places, axis=0)
                gain = (s * strength - d * strength**2 / 2).mean(axis=1).sum()
                loss[step] -= len(part.paths) * gain
                pull = self._rate * (s - d * strength)
                slopes = [
                    count * pull * np.prod(places[:place] + places[place + 1 :], axis=0)
                    for place, count in enumerate(part.counts)
                ]
                places = [w + slope for w, slope in zip(places, slopes, strict=True)]
        return loss

    def flow_loss(self, start: float, times: np.ndarray) -> np.ndarray:
        """Predict the loss of infinitely small steps from one amplitude everywhere.

        Args:
            start: The amplitude at time 0.
            times: Ascending times in steps, the first of them 0.

        Raises:
            LimitReachedError: The flow could not be followed.
        """
        loss = np.full(len(times), self._silent_loss()[0])
        for flow, many, states in self._followed(start, times):
            loss += many * np.array([flow.loss(state) for state in states])
        return loss

    def closed_loss(self, start: float) -> np.ndarray:
        """Predict the loss of the closed forms of regular parts, in steps, from one amplitude.

        The flow's curves, read at the steps of :mod:`symreln.laws.finite_steps`.

        Raises:
            LimitReachedError: The flow could not be followed.
        """
        loss = self._silent_loss()
        times = np.arange(len(loss), dtype=float)
        for flow, many, states in self._followed(start, times):
            loss += many * _loss_at_steps(flow, states, times, self._rate)
        return loss

    def _followed(
        self, start: float, times: np.ndarray
    ) -> Iterator[tuple[NetworkFlow, int, list[list[np.ndarray]]]]:
        """Yield the flow of every part, of how many pathways alike it is of one, and its states."""
        for part, modes in zip(self.parts, self.modes, strict=True):
            if modes:
                flow, many = part.flow(modes)
                begin = [np.full(shape, start) for shape in flow.shapes]
                yield flow, many, flow.trajectory(begin, times, tau=1 / self._rate)

    def step_below(self, start: float, level: float) -> int | None:
        """Return about at which step the flow's loss gets down to a level, or None.

        Args:
            start: Amplitude of all edges.
            level: A mean loss.
        """
        least = max(network_of(self.spec).steps, _RISE * self.pace)
        for span in _SPANS:
            times = np.linspace(0, span * least, LOOKS)
            try:
                below = self.flow_loss(start, times) <= level
                if below.any():
                    last = int(np.argmax(below))
                    fine = np.linspace(times[max(0, last - 1)], times[last], LOOKS)
                    reached = self.flow_loss(start, np.concatenate([[0.0], fine]))[1:] <= level
                    return ceil(fine[int(np.argmax(reached))])
            except LimitReachedError:
                return None
        return None

    @property
    def pace(self) -> float:
        """Steps in which the drive of the strongest mode takes an edge from 0 to 1."""
        largest = max(
            (abs(s) for modes in self.modes for m in modes for s in m.strengths), default=0
        )
        return 1 / (self._rate * largest) if largest else 0.0

    @property
    def learnable(self) -> float:
        """The most that any strengths take off the loss, over the first: ½ sᵀ H⁺ s of all modes.

        H couples the strengths of the bundles. A bound where pathways that share edges cannot have
        strengths apart.
        """
        gain = 0.0
        for flow in (mode.flow for modes in self.modes for mode in modes):
            s = np.array([float(each[0, 0]) for each in flow.sigma_yx])
            square = np.zeros((len(s), len(s)))
            for (c, b), sigma in flow.sigma_x.items():
                square[b, c] += float(flow.overlaps[c, b][0, 0] * sigma[0, 0])
            gain += float(s @ np.linalg.pinv(square, hermitian=True) @ s) / 2
        return min(1.0, gain / float(self._silent_loss()[0]))

    def aligned(self, start: float) -> list[np.ndarray]:
        """Return weights of all edges with one amplitude in every mode that learns."""
        parts = [
            (part.edges, [mode.vectors for mode in modes])
            for part, modes in zip(self.parts, self.modes, strict=True)
        ]
        return aligned_weights(self.data.graph, parts, start)

    def measured(self, maps: np.ndarray) -> dict[str, tuple[float, ...]]:
        """Return uᵀ T v of every mode by the bundle's label, T summed over its pathways.

        Args:
            maps: Of every pathway, at the size of the data, shape (pathways, n_y, n_x).
        """
        graph, found = self.data.graph, {}
        for part, modes in zip(self.parts, self.modes, strict=True):
            for bundle in part.data.bundles:
                paths = [part.paths[place] for place in bundle.paths]
                rows = list(graph.node(bundle.target).outputs)
                columns = list(graph.node(bundle.source).inputs)
                total = maps[paths].sum(axis=0)[np.ix_(rows, columns)]
                found[bundle.effective.pathway.name] = tuple(
                    float(mode.vectors[bundle.target] @ total @ mode.vectors[bundle.source])
                    if {bundle.target, bundle.source} <= mode.vectors.keys()
                    else 0.0
                    for mode in modes
                )
        return found


def _loss_at_steps(
    flow: NetworkFlow, states: Sequence[Sequence[np.ndarray]], times: np.ndarray, rate: float
) -> np.ndarray:
    """Return what modes side by side, of one pathway, add to the loss at every step."""
    weights = np.array(states)[..., 0, 0]  # (times, edges, modes)
    velocities = rate * np.array([flow.velocity(state) for state in states])[..., 0, 0]
    uses = np.array(flow.uses or (1,) * weights.shape[1])[:, None]
    strengths = weights.prod(axis=1)
    moved = [
        np.delete(weights, edge, axis=1).prod(axis=1) * velocities[:, edge]
        for edge in range(weights.shape[1])
    ]
    slopes = np.sum(moved, axis=0)
    after = delays(np.sqrt((velocities**2 / uses).sum(axis=1)))
    s, d = (matrix[:, 0, 0] for matrix in (flow.sigma_yx[0], flow.sigma_x[0, 0]))
    found = np.zeros(len(times))
    for mode in range(len(s)):
        strength = at_steps(times, strengths[:, mode], slopes[:, mode], after[:, mode])
        found -= s[mode] * strength - d[mode] * strength**2 / 2
    return found


def _descent(
    mode: ScalarMode, start: float, rate: float, steps: int
) -> tuple[np.ndarray, list[float]]:
    """What one mode adds to the loss at every step, and its strengths at the last one."""
    flow = mode.flow
    weights = [np.full((1, 1), start) for _ in flow.shapes]
    losses = np.empty(steps)
    for step in range(steps):
        losses[step] = flow.loss(weights)
        if step + 1 < steps:
            slopes = flow.velocity(weights)
            weights = [w + rate * slope for w, slope in zip(weights, slopes, strict=True)]
    return losses, [float(total[0, 0]) for total in flow.totals(weights)]


@record(eq=False)
class EdgeModes:
    """What a confrontation of nodes and edges says of their scalar modes.

    Attributes:
        scalar: The scalar modes.
        start: Where those of random weights start in effect, or why that is not derived: then the
            prediction is that of the aligned start.
        descent: The scalar modes from the aligned start.
        strengths: (label, number of the mode, by ``descent``, of the aligned GDLN).
    """

    scalar: ScalarModes
    start: EdgeStart | str
    descent: Descent
    strengths: tuple[tuple[str, int, float, float], ...]

    @property
    def unpredicted(self) -> str:
        """Why nothing is predicted of random weights, or ""."""
        return self.start if isinstance(self.start, str) else ""

    @property
    def judged_pairs(self) -> tuple[str, ...]:
        """Random weights, the harder comparison, where something is predicted of them."""
        return (ALIGNED if self.unpredicted else RANDOM,)

    def verdict(self, tolerance: float, *, tested: bool) -> Verdict:
        """Return the judgement of the strengths of the GDLN that started aligned.

        Args:
            tolerance: Largest distance at the end, over the largest strength.
            tested: Whether training tests it.
        """
        largest = max((abs(row[2]) for row in self.strengths), default=0.0)
        found = max((abs(row[2] - row[3]) for row in self.strengths), default=0.0) / (largest or 1)
        return Verdict(
            outcome=outcome_of(point(found), tolerance) if tested else "not tested",
            value=found,
            interval=(found, found),
            tolerance=tolerance,
            reason=f"relative error {found:.1e} of the largest strength, at the last step of the "
            "GDLN that started aligned, which nothing random enters",
        )

    def why_uninformative(self, loss: np.ndarray, tolerance: float) -> Uninformative | None:
        """Return why training does not test the prediction; None where it does.

        Args:
            loss: The trained mean loss that is judged, shape (steps,).
            tolerance: Share of the first loss that is told apart.
        """
        fell, modes = float(np.abs(loss - loss[0]).max() / loss[0]), self.scalar
        if fell > tolerance and drop_time(loss) is not None:
            return None
        start = self.descent.start if isinstance(self.start, str) else self.start.amplitude
        drops = modes.step_below(start, DROP * modes.flow_loss(0.0, np.zeros(1))[0])
        if fell > tolerance and drops is None:
            return None  # no drop is predicted either
        return Uninformative(
            fell=fell,
            learnable=modes.learnable,
            tolerance=tolerance,
            steps=network_of(modes.spec).steps - 1,
            drops=drops,
            half=None,
        )
