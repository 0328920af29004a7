"""Every pair of curves of a confrontation that is compared, by its name in validation.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.records import record
from symreln.claims.prediction import closed_forms
from symreln.effective.network import monte_carlo_error
from symreln.experiment.closed import predict_aligned
from symreln.experiment.metrics import Distance, Interval, compare, mutual_distance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.experiment.predictions import Predictions
    from symreln.train.run import TrainingRun

#: Names of the pairs of curves, fixed by the interface.
PAIRS = ("theory_vs_gdln", "theory_vs_relu", "gdln_vs_relu")
#: The pairs that the tolerance is for: "theory" is the judged curve, closed forms where
#: the document prints them for every mode, else the integrated reduction.
JUDGED = ("theory_vs_gdln", "theory_vs_relu")


def is_aligned(pair: str) -> bool:
    """Whether a pair of curves starts aligned, so that nothing was drawn for it."""
    return pair.endswith("_vs_aligned")


@record(eq=False)
class CurvePair:
    """Two kinds of curves, each the mean over its rows.

    Attributes:
        first: Curve A: one row for a prediction, else one a seed, shape (rows, steps).
        second: Curve B, whose first loss is the unit: one row a seed, shape (seeds, steps).
        error: Monte Carlo error of a predicted curve A: radius of its 95 % interval over L(0).
    """

    first: np.ndarray
    second: np.ndarray
    error: float = 0.0

    def comparison(self) -> Distance[Any]:
        """Return the metrics of the means."""
        return compare(self.first.mean(axis=0), self.second.mean(axis=0))

    def distance(self, rng: int) -> Distance[Interval]:
        """Return the metrics with intervals for the means over all seeds.

        Args:
            rng: Seed of the resampling.
        """
        return mutual_distance(self.first, self.second, rng, self.error)


def theory_pairs(
    predictions: Predictions, trained: Mapping[str, TrainingRun]
) -> dict[str, CurvePair]:
    """Return the judged curve beside every kind of trained network.

    Args:
        predictions: What was predicted.
        trained: The trained networks by the name of their kind, "gdln" and "relu".
    """
    return {
        f"theory_vs_{name}": _curve_pair(predictions.judged_curves.loss, run, predictions.error[0])
        for name, run in trained.items()
    }


def other_pairs(
    predictions: Predictions, trained: Mapping[str, TrainingRun], aligned: TrainingRun | None
) -> dict[str, CurvePair]:
    """Return every other pair of curves that is compared; arguments as above.

    Args:
        predictions: What was predicted.
        trained: The trained networks by the name of their kind.
        aligned: A GDLN that started aligned, or None.
    """
    prediction, effective = predictions.prediction, predictions.effective
    pairs: dict[str, CurvePair] = {}
    gdln, network = trained["gdln"], trained.get("relu")
    if network is not None:
        pairs["gdln_vs_relu"] = CurvePair(first=gdln.losses, second=network.losses)
        if effective is not None:
            all_units, error = effective.followed, monte_carlo_error(effective.followed)
            pairs["effective_vs_relu"] = _curve_pair(effective.losses, network, effective.error)
            pairs["mean_field_vs_relu"] = _curve_pair(all_units.mean(axis=0), network, error)
    closed, flow = prediction.closed_loss, prediction.flow_loss
    curves = {"closed": closed, "modes": predictions.straight}
    if prediction.judged != "effective":
        curves["reduced"] = prediction.reduced
    pairs |= {
        f"{curve}_vs_{name}": _curve_pair(losses, run)
        for curve, losses in curves.items()
        if losses is not None
        for name, run in trained.items()
    }
    if flow is not None and flow is not closed:
        name, run = list(trained.items())[-1]
        pairs[f"flow_vs_{name}"] = _curve_pair(flow, run)
    if aligned is not None:
        descent = predict_aligned(predictions.numbers, predictions.chain)
        pairs["descent_vs_aligned"] = _curve_pair(descent, aligned)
        if closed is not None:
            pairs["closed_vs_aligned"] = _curve_pair(_from_expected(predictions), aligned)
    return pairs


def _from_expected(predictions: Predictions) -> np.ndarray:
    """Return the loss of closed forms from where an aligned network starts, which is not κ."""
    numbers, prediction = predictions.numbers, predictions.prediction
    assert prediction.closed_loss is not None  # asked before
    plain = closed_forms(numbers, prediction.times, factors={}) if predictions.kappas else None
    return prediction.closed_loss if plain is None else plain.reduced


def _curve_pair(curve: np.ndarray, run: TrainingRun, error: float = 0.0) -> CurvePair:
    """Return a predicted curve, shape (steps,), beside those of a training."""
    return CurvePair(first=curve[None], second=run.losses, error=error)
