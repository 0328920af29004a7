"""The Monte Carlo error of the judged curve, from the standard errors of estimated constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from symreln.claims.integration import network_of
from symreln.claims.prediction import closed_forms, predict_training
from symreln.experiment.intervals import LEVEL, simultaneous_radius

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.derivation import Derivation
    from symreln.claims.prediction import Prediction
    from symreln.laws.chain_start import ChainStart

#: Standard errors of the ends of an interval for a mean.
ENDS = float(ndtri((1 + LEVEL) / 2))


def kappa_error(
    numbers: Derivation,
    prediction: Prediction,
    kappas: Mapping[str, float],
    errors: Mapping[str, float],
) -> tuple[float, float]:
    """Return the radii that the errors of κ leave to the judged curves.

    All κ are moved together to the upper ends of their intervals: they are means over the same
    units.

    Args:
        numbers: Without free parameters.
        prediction: From these κ.
        kappas: By the label of the modes.
        errors: Their standard errors, likewise.

    Returns:
        That of the loss over L(0), and that of strengths over their plateaus.
    """
    if prediction.judged == "closed":
        return 0.0, 0.0  # takes none of them
    if prediction.drawn is not None:
        losses = prediction.drawn.losses
        radius = simultaneous_radius(losses, 0)
        return (0.0 if radius is None else radius / float(losses[:, 0].mean())), 0.0
    if not kappas:
        return 0.0, 0.0
    moved = {label: kappa + ENDS * errors[label] for label, kappa in kappas.items()}
    return _largest(predict_training(numbers, moved), prediction)


def chain_error(
    numbers: Derivation, prediction: Prediction, start: ChainStart
) -> tuple[float, float]:
    """Return the same for the start of modes of three or more layers."""
    network = network_of(numbers.spec)
    kappa = start.kappa + ENDS * start.error
    strength = (kappa * float(network.init_std) * np.sqrt(start.units)) ** start.layers
    moved = closed_forms(numbers, prediction.times, float(strength))
    assert moved is not None  # the prediction has closed forms
    return _largest(moved, prediction)


def _largest(moved: Prediction, prediction: Prediction) -> tuple[float, float]:
    """Return the largest differences of the judged curves, of modes over their plateaus."""
    loss = np.abs(moved.theory - prediction.theory).max() / prediction.theory[0]
    strengths = [
        float(np.abs(one.of(prediction.judged) - other.of(prediction.judged)).max() / other.plateau)
        for one, other in zip(moved.modes, prediction.modes, strict=True)
        if other.plateau
    ]
    return float(loss), max(strengths, default=0.0)
