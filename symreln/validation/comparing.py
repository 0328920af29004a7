"""Every pair of curves of a confrontation that is compared, by the interface's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.validation.closed import predict_aligned
from symreln.validation.metrics import CurveComparison, compare

if TYPE_CHECKING:
    from symreln.derivation import Derivation
    from symreln.train.network import TrainingRun
    from symreln.validation.foretold import Foretold

#: Names of the pairs of curves, fixed by the interface.
PAIRS = ("theory_vs_gdln", "theory_vs_relu", "gdln_vs_relu")
#: The pairs that the tolerance is for. Closed forms and flows are of infinitely small steps, and
#: their distance says what those cost, not whether the theory holds.
JUDGED = ("theory_vs_gdln", "theory_vs_relu", "descent_vs_aligned")


def curve_metrics(
    numbers: Derivation,
    foretold: Foretold,
    network: TrainingRun | None,
    gdln: TrainingRun,
    aligned: TrainingRun | None,
) -> dict[str, CurveComparison]:
    """Compare every pair of curves.

    Args:
        numbers: A derivation without free parameters, with a network.
        foretold: What was predicted.
        network: The trained networks, or None.
        gdln: The trained gated deep linear networks.
        aligned: A GDLN that started aligned, or None.
    """
    prediction = foretold.prediction
    metrics = {"theory_vs_gdln": compare(prediction.loss, gdln.mean_loss)}
    judge, name = gdln.mean_loss, "gdln"
    if network is not None:
        judge, name = network.mean_loss, "relu"
        metrics["theory_vs_relu"] = compare(prediction.loss, network.mean_loss)
        metrics["gdln_vs_relu"] = compare(gdln.mean_loss, network.mean_loss)
        if foretold.moving is not None:
            metrics["moving_vs_relu"] = compare(foretold.moving.losses, network.mean_loss)
    flow, closed = prediction.flow_loss, prediction.closed_loss
    if flow is not None and flow is not closed:
        metrics[f"flow_vs_{name}"] = compare(flow, judge)
    if closed is not None and closed is not prediction.loss:
        metrics[f"closed_vs_{name}"] = compare(closed, judge)
    if aligned is not None:
        descent = predict_aligned(numbers, foretold.chain)
        metrics["descent_vs_aligned"] = compare(descent, aligned.mean_loss)
        if closed is not None:
            metrics["closed_vs_aligned"] = compare(closed, aligned.mean_loss)
    return metrics
