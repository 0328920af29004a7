r"""Coupled matrices whose gates switch: the weights are carried over, the equations change.

Between two switches the flow is that of :mod:`symreln.laws.coupled_matrices`. Its coordinates
must hold every phase: :math:`V_p` spans what the pathway sees with any of its gates and
:math:`U_p` every direction in which its error can point then. Both are the spans of the phases'
samples taken together, so the weights in them are all that any phase can read or move.

Float64 only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from symreln.base.summaries import short_repr
from symreln.laws.block_flow import symmetric_root
from symreln.laws.coupled_matrices import (
    CoupledMatrices,
    MatrixTrajectory,
    ReducedMatrices,
    reduced_in,
)
from symreln.laws.integrate import PRECISE, Accuracy, integrate
from symreln.laws.packing import Packing


@dataclass(frozen=True, kw_only=True, eq=False)
class EqualModes:
    """Equal modes of a pathway.

    Attributes:
        pathway: Which pathway.
        u: Left singular vectors, shape (n_y, multiplicity).
        v: Right singular vectors among the pathway's inputs, shape (inputs, multiplicity).
        factor: Q Qᵀ/g along their growing directions (v, u)/√2 at the start; 1 is expected.
    """

    pathway: int
    u: np.ndarray
    v: np.ndarray
    factor: float = 1.0


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class SwitchedMatrices:
    """A gated deep linear network with one hidden layer whose gates switch.

    Attributes:
        phases: The network with the gates of every phase; pathways differ in gates alone.
        switches: First step of every phase but the first, ascending.
    """

    phases: tuple[CoupledMatrices, ...]
    switches: tuple[int, ...]

    @cached_property
    def _together(self) -> CoupledMatrices:
        """The phases' samples side by side: its spans hold those of every phase."""
        first = self.phases[0]
        pathways = tuple(
            replace(
                first.pathways[p],
                inputs=np.hstack([phase.pathways[p].inputs for phase in self.phases]),
                gate=np.concatenate([phase.pathways[p].gate for phase in self.phases]),
            )
            for p in range(len(first.pathways))
        )
        targets = np.hstack([phase.targets for phase in self.phases])
        return replace(first, pathways=pathways, targets=targets)

    @cached_property
    def _reduced(self) -> tuple[ReducedMatrices, ...]:
        bases = self._together.output_bases, self._together.input_bases
        return tuple(reduced_in(phase, *bases) for phase in self.phases)

    @property
    def rate(self) -> float:
        """Largest rate with which a mode of any phase relaxes to its plateau, 2 s/tau."""
        return max(reduced.rate for reduced in self._reduced) / self.phases[0].tau

    def trajectory(
        self,
        times: np.ndarray,
        probes: Sequence[EqualModes] = (),
        accuracy: Accuracy = PRECISE,
        starts: Sequence[EqualModes] = (),
    ) -> MatrixTrajectory:
        """Integrate the flow from the expected start.

        Args:
            times: Ascending times in steps; times[0] is the start. At a switch the new gates hold.
            probes: Modes; the mean of uᵀ W_p v over the equal ones is returned, one row a probe
                in one array.
            accuracy: How the flow is integrated.
            starts: Modes that do not start as expected, each once.
        """
        tau = self.phases[0].tau

        def follow(
            velocity: Callable[[np.ndarray], np.ndarray], state: np.ndarray, inside: np.ndarray
        ) -> Iterator[tuple[slice, np.ndarray]]:
            def rhs(_: float, flat: np.ndarray) -> np.ndarray:
                return velocity(flat) / tau

            return integrate(rhs, state, inside, self.rate, accuracy)

        return self._followed(np.asarray(times, float), probes, starts, follow)

    def descent(
        self, steps: int, probes: Sequence[EqualModes] = (), starts: Sequence[EqualModes] = ()
    ) -> MatrixTrajectory:
        """Return what :meth:`trajectory` does for gradient descent with its finite steps.

        Args:
            steps: How many steps are recorded, the start among them.
            probes: As for the flow.
            starts: As for the flow.
        """
        tau = self.phases[0].tau

        def follow(
            velocity: Callable[[np.ndarray], np.ndarray], state: np.ndarray, inside: np.ndarray
        ) -> Iterator[tuple[slice, np.ndarray]]:
            for place in range(len(inside)):
                yield slice(place, place + 1), state[:, None]
                state = state + velocity(state) / tau

        return self._followed(np.arange(steps, dtype=float), probes, starts, follow)

    @property
    def multiplications(self) -> int:
        """How many multiplications a step of one network takes, about."""
        reduced = self._reduced[0]
        samples = reduced.targets.shape[1]
        total = 0
        for q, width, lift in zip(self._start(()), reduced.widths, reduced.lifts, strict=True):
            outputs = len(q) - width
            total += 4 * width * outputs * len(q)
            total += outputs * width * (width * len(reduced.widths) + samples)
            total += lift.size * samples
        return total

    def descents(self, steps: int, starts: Sequence[Sequence[EqualModes]]) -> np.ndarray:
        """Return the losses of many networks by gradient descent, shape (networks, steps).

        Args:
            steps: How many steps are recorded, the start among them.
            starts: Of every network the modes that do not start as expected.
        """
        each = [self._start(own) for own in starts]
        state = [np.stack(parts) for parts in zip(*each, strict=True)]
        rate, losses = 1 / self.phases[0].tau, np.empty((len(starts), steps))
        phase = 0
        for step in range(steps):
            while phase < len(self.switches) and step >= self.switches[phase]:
                phase += 1
            reduced = self._reduced[phase]
            maps = reduced.maps(state)
            losses[:, step] = reduced.losses(maps)
            state = reduced.stepped(state, maps, rate)
        return losses

    def similarities(self, steps: Sequence[int], starts: Sequence[EqualModes] = ()) -> np.ndarray:
        r"""Return the products of what the hidden layer holds of samples, by gradient descent.

        .. math:: S_{\mu\nu} = \sum_p (V_p^T x_\mu)^T B_p^T B_p (V_p^T x_\nu), \quad
                  B_p = W_{1,p} V_p,

        x under the gates of the step's phase.

        Args:
            steps: K of them, ascending.
            starts: As for the flow.

        Returns:
            Shape (K, P, P).
        """
        state, rate, phase = self._start(starts), 1 / self.phases[0].tau, 0
        found = []
        for step in range(steps[-1] + 1):
            while phase < len(self.switches) and step >= self.switches[phase]:
                phase += 1
            reduced = self._reduced[phase]
            if step == steps[len(found)]:
                widths, inputs = reduced.widths, reduced.inputs
                held = [q[:w].T @ x for q, w, x in zip(state, widths, inputs, strict=True)]
                found.append(sum(h.T @ h for h in held))
            state = reduced.stepped(state, reduced.maps(state), rate)
        return np.array(found)

    def _followed(
        self,
        times: np.ndarray,
        probes: Sequence[EqualModes],
        starts: Sequence[EqualModes],
        follow: Callable[..., Iterator[tuple[slice, np.ndarray]]],
    ) -> MatrixTrajectory:
        """Follow phase after phase, each from the weights that the one before has left."""
        functionals = [self._functional(probe) for probe in probes]
        state = self._start(starts)
        packing = Packing.of(state)
        flat = packing.pack(state)
        losses, strengths = np.empty(len(times)), np.empty((len(probes), len(times)))
        coming = [switch for switch in self.switches if switch > times[0]]
        edges = [times[0], *coming, np.inf]
        phases = self._reduced[len(self.switches) - len(coming) :]
        for reduced, (begin, end) in zip(phases, pairwise(edges), strict=True):
            (places,) = np.nonzero((times >= begin) & (times < end))
            # Both ends of the phase are visited, whether or not they are asked for.
            stops = [begin, *times[places]] + ([end] if times[-1] >= end else [])
            inside = np.unique(stops)
            number = dict(zip(times[places].tolist(), places.tolist(), strict=True))
            for part, states in follow(
                lambda flat, reduced=reduced: reduced.derivative(packing.unpack(flat)), flat, inside
            ):
                for time, column in zip(inside[part].tolist(), states.T, strict=True):
                    flat = column
                    if time in number:
                        maps = reduced.maps(packing.unpack(column))
                        losses[number[time]] = reduced.loss(maps)
                        for row, (p, functional) in enumerate(functionals):
                            strengths[row, number[time]] = np.vdot(functional, maps[p])
            if end > times[-1]:
                break
        return MatrixTrajectory(losses=losses, strengths=(strengths,))

    def _coordinates(self, modes: EqualModes) -> tuple[np.ndarray, np.ndarray]:
        u = self._together.output_bases[modes.pathway].T @ modes.u
        return u, self._together.input_bases[modes.pathway].T @ modes.v

    def _functional(self, probe: EqualModes) -> tuple[int, np.ndarray]:
        u, v = self._coordinates(probe)
        return probe.pathway, u @ v.T / u.shape[1]

    def _start(self, starts: Sequence[EqualModes]) -> list[np.ndarray]:
        """Return Q of every pathway; see CoupledMatrices.start."""
        together = self._together
        grams = [np.eye(len(q)) for q in together.start()]
        for start in starts:
            u, v = self._coordinates(start)
            along = np.vstack([v, u])
            grams[start.pathway] += 0.5 * (start.factor - 1) * (along @ along.T)
        return [np.sqrt(together.gram_scale) * symmetric_root(gram) for gram in grams]
