"""Every mode's measured strength beside its formula: maps projected on the predicted modes.

A trained pathway's map W_p gives uᵀ W_p v for every predicted mode. A gated deep linear network has
its pathways' maps; of a ReLU network every unit is given to the pathway whose gate reproduces the
unit's outputs at that step best. Intervals are over networks: Student's t
for the mean.

Differences are relative to the mode's plateau s/d_eff; where it has none, to the largest predicted
strength of its pathway. A strength that is farther from its formula than a whole plateau is not
that mode's: it is not attributable in a trained network without given gates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import stdtrit

from symreln.base.records import record
from symreln.claims.narrow import own_curves
from symreln.claims.probes import probe_bases
from symreln.experiment.metrics import LEVEL, Interval, alone, around

if TYPE_CHECKING:
    from symreln.claims.curves import Prediction
    from symreln.claims.derivation import Derivation
    from symreln.train.run import TrainingRun

#: Shares of its largest strength at which a mode is looked at beside the usual steps.
MARKS = (0.25, 0.5, 0.75)
METHOD = (
    f"{100 * LEVEL:g} % intervals for the mean over seeds, by Student's t; that of the largest "
    "error holds at all looked-at steps of the mode together (Bonferroni)"
)


@record(eq=False)
class ModeMeasured:
    """One mode, predicted and measured at the steps that were recorded.

    Attributes:
        subject: "gdln", or "relu" for the network (also a linear one).
        pathway: Name of its pathway.
        label: Symbol of its strength.
        multiplicity: Equal modes that both curves are means over.
        plateau: The unit of differences: s/d_eff, or the largest predicted strength of the
            pathway's modes where there is no such plateau.
        steps: The K steps.
        predicted: Shape (K,).
        measured: Shape (seeds, K).
    """

    subject: Literal["gdln", "relu"]
    pathway: str
    label: str
    multiplicity: int
    plateau: float
    steps: tuple[int, ...]
    predicted: np.ndarray
    measured: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Mean over seeds, shape (K,)."""
        return self.measured.mean(axis=0)

    @property
    def band(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Ends of the interval for the mean at every step; None for one seed."""
        radius = _radius(self.measured, LEVEL)
        return None if radius is None else (self.mean - radius, self.mean + radius)

    @property
    def difference(self) -> float:
        """Largest difference of the mean to the prediction, over the plateau."""
        return float(np.abs(self.mean - self.predicted).max() / self.plateau)

    def why_not(self, tolerance: float) -> str:
        """Return why the difference says nothing of the formula, or "".

        Args:
            tolerance: Share of the plateau under which a mode counts as not learned.
        """
        if self.subject == "relu" and self.difference > 1:
            return "not attributable"
        reached = max(np.abs(self.predicted).max(), np.abs(self.mean).max())
        return "not learned" if reached <= tolerance * self.plateau else ""

    @property
    def largest(self) -> Interval:
        """The same with its interval."""
        wider = _radius(self.measured, 1 - (1 - LEVEL) / len(self.steps))
        return around(self.difference, None if wider is None else float(wider.max() / self.plateau))

    @property
    def half_time_error(self) -> Interval:
        """Predicted less measured step of half the plateau: positive where theory is later.

        Both are interpolated between the same steps. No value where the prediction or a network
        does not get there.
        """
        level = self.plateau / 2
        predicted = _crossing(self.steps, self.predicted, level)
        found = [_crossing(self.steps, curve, level) for curve in self.measured]
        if predicted is None or any(each is None for each in found):
            return alone(None)
        errors = predicted - np.array(found, dtype=float)
        mean, radius = float(errors.mean()), _radius(errors, LEVEL)
        if radius is None:
            return alone(mean)
        return Interval(value=mean, low=mean - float(radius), high=mean + float(radius))


def measured_strengths(
    numbers: Derivation, prediction: Prediction, network: TrainingRun | None, gdln: TrainingRun
) -> tuple[ModeMeasured, ...]:
    """Return all modes that were recorded, those of the GDLN first.

    None where gates switch, whose strengths have no curve of their own from t = 0, and of narrow
    pathways, whose equal modes are learned in part and in any rotation.

    Args:
        numbers: Without free parameters.
        prediction: At every step of the network.
        network: The trained networks, or None.
        gdln: The trained GDLNs.
    """
    found = _measured(numbers, prediction, "gdln", gdln, gdln.snapshots.get("maps"))
    own = () if network is None else network_strengths(numbers, prediction, network)
    return (*found, *own)


def network_strengths(
    numbers: Derivation, prediction: Prediction, network: TrainingRun
) -> tuple[ModeMeasured, ...]:
    """Return all modes of networks without given gates; arguments as above."""
    maps = network.snapshots.get("gate_maps", network.snapshots.get("maps"))
    return tuple(_measured(numbers, prediction, "relu", network, maps))


def _measured(
    numbers: Derivation,
    prediction: Prediction,
    subject: Literal["gdln", "relu"],
    run: TrainingRun,
    maps: np.ndarray | None,
) -> list[ModeMeasured]:
    if maps is None or not own_curves(numbers).holds:
        return []
    if subject == "relu":  # a network that is linear at half speed computes ½ W₂W₁
        maps = maps / numbers.known.slower
    curves = {
        curve.label: (curve.of(prediction.judged), curve.plateau) for curve in prediction.modes
    }
    steps, found = run.snapshot_steps, []
    for place, pathway in enumerate(numbers.pathways):
        u, v, labels = probe_bases(pathway)
        own = maps[:, :, place][..., list(pathway.effective.pathway.inputs)]
        values = np.einsum("ya,skyx,xa->ska", u, own, v, optimize=True)
        own_labels = [label for label in dict.fromkeys(labels) if label in curves]
        largest = max((float(np.abs(curves[label][0]).max()) for label in own_labels), default=0.0)
        for label in own_labels:
            curve, known = curves[label]
            predicted, plateau = curve[list(steps)], known or largest
            if plateau > 0:
                columns = [i for i, each in enumerate(labels) if each == label]
                found.append(
                    ModeMeasured(
                        subject=subject,
                        pathway=pathway.name,
                        label=label,
                        multiplicity=len(columns),
                        plateau=plateau,
                        steps=steps,
                        predicted=predicted,
                        measured=values[:, :, columns].mean(axis=2),
                    )
                )
    return found


def _radius(values: np.ndarray, level: float) -> np.ndarray | None:
    """Return half the width of Student's interval for the mean over rows; None for one row."""
    seeds = len(values)
    if seeds < 2:
        return None
    quantile = float(stdtrit(seeds - 1, (1 + level) / 2))
    return quantile * values.std(axis=0, ddof=1) / np.sqrt(seeds)


def _crossing(steps: tuple[int, ...], curve: np.ndarray, level: float) -> float | None:
    """Return the first step at which a curve gets to a level, between the steps where it does."""
    above = curve >= level
    if not above.any():
        return None
    place = int(np.argmax(above))
    if place == 0:
        return float(steps[0])
    low, high = curve[place - 1], curve[place]
    part = float((level - low) / (high - low))
    return steps[place - 1] + part * (steps[place] - steps[place - 1])
