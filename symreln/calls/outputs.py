"""What the network puts out over time, by sample and output: ŷ(t), and what each mode adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.lazy import lazy
from symreln.base.records import record
from symreln.claims.head_start import are_followed
from symreln.claims.linear_flow import is_linear, linear_curves
from symreln.claims.prediction import (
    closed_curves,
    first_starts,
    matrices_of,
    of_given_gates,
    predict,
    written_and_read,
)
from symreln.claims.probes import from_start
from symreln.claims.starts import starts_of
from symreln.errors import NoClosedFormError, NotSupportedError
from symreln.laws.integrate import PRECISE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symreln.claims.derivation import Derivation
    from symreln.report import user_plots
else:
    (user_plots,) = lazy("report", "user_plots")


@record(eq=False)
class Outputs:
    """Predicted outputs of a network, float64.

    Attributes:
        times: In steps, shape (times,).
        values: ŷ(t), shape (times, samples, outputs), each sample under its own gates.
        parts: What each mode adds to it, likewise, by label; empty where modes are not closed.
    """

    times: np.ndarray
    values: np.ndarray
    parts: Mapping[str, np.ndarray]

    @property
    def by_mode(self) -> Mapping[str, np.ndarray]:
        """What each mode adds to the outputs, by label, shape (times, samples, outputs) each.

        Raises:
            NoClosedFormError: Modes are not closed: they turn, and the outputs are no sum of them.
        """
        if not self.parts and np.any(self.values):
            msg = "by_mode: modes have no closed form, and the outputs are no sum over them"
            raise NoClosedFormError(msg)
        return self.parts

    def plot(
        self, output: int = 0, samples: Sequence[int] | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw one output over time, a line for every sample.

        Args:
            output: Which, from 0.
            samples: Which samples, from 0; all by default. Equal lines are drawn once.
            ax: Where; a new figure by default.

        Raises:
            InputError: There is no such output or sample.
        """
        return user_plots.plot_outputs(self.times, self.values, output, samples, ax)

    @classmethod
    def of(cls, derivation: Derivation, times: Sequence[float] | np.ndarray | None) -> Outputs:
        """Return ŷ(t): from the closed forms where all modes have them, else integrated.

        Args:
            derivation: Without free parameters, with a network.
            times: Ascending, in steps; every step of the network by default.

        Raises:
            NotSupportedError: Modes have no closed forms, and layers are more, or shared.
        """
        grid = predict(of_given_gates(derivation), times).times  # refuses what cannot be evaluated
        if derivation.closed and not derivation.later:
            curves = closed_curves(derivation, grid)
            if are_followed(derivation, curves):
                return _closed(derivation, grid, curves)
        if is_linear(derivation):
            found = linear_curves(derivation, grid, outputs=True)[2]
            return cls(times=grid, values=found.transpose(0, 2, 1), parts={})
        if derivation.by_edges or derivation.known.layers != 2:
            msg = "outputs are integrated for two layers, no edge shared; evaluate() has the loss"
            raise NotSupportedError(msg)
        whole, first = from_start(grid)
        starts = first_starts(derivation, derivation.ask(starts_of).factors)
        found = derivation.ask(matrices_of).outputs(whole, PRECISE, starts)
        return cls(times=grid, values=found[first:].transpose(0, 2, 1), parts={})


def _closed(derivation: Derivation, grid: np.ndarray, curves: Mapping[str, np.ndarray]) -> Outputs:
    u, read, strengths = written_and_read(derivation, curves)
    parts, begin = {}, 0
    for mode in (mode for pathway in derivation.pathways for mode in pathway.learning):
        own = slice(begin, begin + mode.multiplicity)
        parts[mode.label] = np.einsum("ya,ap,at->tpy", u[:, own], read[own], strengths[own])
        begin = own.stop
    zero = np.zeros((len(grid), read.shape[1], u.shape[0]))
    return Outputs(times=grid, values=sum(parts.values(), start=zero), parts=parts)
