"""The theory's own curve once more, with one of the things that it takes for granted replaced."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.early import mode_kappas
from symreln.claims.integration import descending_flow, network_of, reduced_flow
from symreln.claims.prediction import closed_curves, loss_of_maps, loss_of_modes, mode_starts
from symreln.claims.widths import narrow_pathways
from symreln.errors import NotSupportedError
from symreln.experiment.changed import changed, predicted_again
from symreln.experiment.closed import aligned_steps
from symreln.experiment.training import Variation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.curves import Judged
    from symreln.claims.derivation import Derivation


@dataclass(frozen=True, kw_only=True)
class Instead:
    """What is taken in the place of what the theory takes for granted.

    Attributes:
        starts: (stage, factor) of the stages whose pathways start with other strengths.
        followed: Whether earlier stages are followed as they learn; closed forms take them as
            converged.
        stepwise: Whether modes go by the network's finite steps; closed forms are of the flow.
        apart: Whether scalar modes of edges start each from its own start, not from their mean.
    """

    starts: tuple[tuple[int, float], ...] = ()
    followed: bool = False
    stepwise: bool = False
    apart: bool = False

    def starting(self, stage: int, factor: float) -> Instead:
        """Return the same with another start of a stage."""
        return replace(self, starts=(*(s for s in self.starts if s[0] != stage), (stage, factor)))


def curve_instead(
    numbers: Derivation, kappas: Mapping[str, float], judged: Judged, instead: Instead
) -> np.ndarray:
    """Return the judged loss at every step of the network with things replaced.

    Args:
        numbers: Without free parameters, with a network.
        kappas: κ of pathways by name, which the reduction starts from; closed forms do not.
        judged: Which curve it is.
        instead: What is replaced.

    Raises:
        NotSupportedError: The curve is not made of what is replaced.
    """
    if instead == Instead():
        found = predicted_again(numbers, kappas)
        return found.theory if judged == "closed" else found.loss
    if not numbers.known.matrices.holds or numbers.later or numbers.ask(narrow_pathways):
        msg = "starts are replaced in networks of two layers with gates that stay and many units"
        raise NotSupportedError(msg)
    if judged == "reduced":
        return _descent(numbers, kappas, instead)
    if not instead.followed:
        return _closed(numbers, instead)
    if instead.stepwise:
        return _descent(numbers, {}, instead)
    times = np.arange(network_of(numbers.spec).steps, dtype=float)
    flow = reduced_flow(numbers)
    return flow.trajectory(times, starts=(), factors=_factors(numbers, instead)).losses


def _descent(numbers: Derivation, kappas: Mapping[str, float], instead: Instead) -> np.ndarray:
    starts = mode_starts(numbers, mode_kappas(numbers, kappas))
    steps, flow = network_of(numbers.spec).steps, descending_flow(numbers)
    return flow.descent(steps, starts=starts, factors=_factors(numbers, instead)).losses


def _factors(numbers: Derivation, instead: Instead) -> dict[int, float]:
    """Return by how much every pathway starts stronger, by its place."""
    times = dict(instead.starts)
    stages = [pathway.effective.pathway.stage for pathway in numbers.pathways]
    return {place: times[stage] for place, stage in enumerate(stages) if stage in times}


def _closed(numbers: Derivation, instead: Instead) -> np.ndarray:
    """Return the loss of the closed forms from other starts, or step by step."""
    grid = np.arange(network_of(numbers.spec).steps, dtype=float)
    times, found = dict(instead.starts), {}
    for factor in {1.0, *times.values()}:
        # Strengths start with the variance of the weights.
        started = changed(numbers, Variation(std=Fraction(sqrt(factor))))
        curves = _curves(started, grid, instead)
        for pathway in numbers.pathways:
            if times.get(pathway.effective.pathway.stage, 1.0) == factor:
                found |= {m.label: curves[m.label] for m in pathway.modes if m.label in curves}
    loss = loss_of_modes(numbers, found, grid)
    return loss_of_maps(numbers, found) if loss is None else loss


def _curves(numbers: Derivation, grid: np.ndarray, instead: Instead) -> dict[str, np.ndarray]:
    return aligned_steps(numbers) if instead.stepwise else closed_curves(numbers, grid)
