"""Every pair of curves of a confrontation that is compared, by the interface's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.validation.closed import predict_aligned
from symreln.validation.metrics import CurveComparison, compare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.derivation import Derivation
    from symreln.train.network import TrainingRun
    from symreln.validation.foretold import Foretold

#: Names of the pairs of curves, fixed by the interface.
PAIRS = ("theory_vs_gdln", "theory_vs_relu", "gdln_vs_relu")
#: The pairs that the tolerance is for. Closed forms and flows are of infinitely small steps, and
#: their distance says what those cost, not whether the theory holds.
JUDGED = ("theory_vs_gdln", "theory_vs_relu", "descent_vs_aligned")


@dataclass(frozen=True, kw_only=True, eq=False)
class CurvePair:
    """Two kinds of curves, each the mean over its rows.

    Attributes:
        first: Curve A: one row for a prediction, else one a seed, shape (rows, steps).
        second: Curve B, whose first loss is the unit: one row a seed, shape (seeds, steps).
    """

    first: np.ndarray
    second: np.ndarray

    def comparison(self) -> CurveComparison:
        """Return the metrics of the means."""
        return compare(self.first.mean(axis=0), self.second.mean(axis=0))


def curve_metrics(pairs: Mapping[str, CurvePair]) -> dict[str, CurveComparison]:
    """Compare every pair of curves."""
    return {name: pair.comparison() for name, pair in pairs.items()}


def curve_pairs(
    numbers: Derivation,
    foretold: Foretold,
    network: TrainingRun | None,
    gdln: TrainingRun,
    aligned: TrainingRun | None,
) -> dict[str, CurvePair]:
    """Return every pair of curves that is compared.

    Args:
        numbers: A derivation without free parameters, with a network.
        foretold: What was predicted.
        network: The trained networks, or None.
        gdln: The trained gated deep linear networks.
        aligned: A GDLN that started aligned, or None.
    """
    prediction = foretold.prediction
    pairs = {"theory_vs_gdln": _pair(prediction.loss, gdln)}
    judge, name = gdln, "gdln"
    if network is not None:
        judge, name = network, "relu"
        pairs["theory_vs_relu"] = _pair(prediction.loss, network)
        pairs["gdln_vs_relu"] = CurvePair(first=gdln.losses, second=network.losses)
        if foretold.mean_field is not None:
            pairs["mean_field_vs_relu"] = _pair(foretold.mean_field.losses, network)
    flow, closed = prediction.flow_loss, prediction.closed_loss
    if flow is not None and flow is not closed:
        pairs[f"flow_vs_{name}"] = _pair(flow, judge)
    if closed is not None and closed is not prediction.loss:
        pairs[f"closed_vs_{name}"] = _pair(closed, judge)
    if foretold.modes is not None:
        pairs["modes_vs_gdln"] = _pair(foretold.modes, gdln)
        if network is not None:
            pairs["modes_vs_relu"] = _pair(foretold.modes, network)
    if aligned is not None:
        pairs["descent_vs_aligned"] = _pair(predict_aligned(numbers, foretold.chain), aligned)
        if closed is not None:
            pairs["closed_vs_aligned"] = _pair(closed, aligned)
    return pairs


def _pair(curve: np.ndarray, run: TrainingRun) -> CurvePair:
    return CurvePair(first=curve[None], second=run.losses)
