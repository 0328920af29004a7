"""What the distance between theory and network is made of, one approximation at a time.

The chain of curves begins with the theory's boldest form and ends with the trained network, or with
the GDLN where no network without gates was trained. Every link replaces one approximation by what
it stands for, so the change of the distance from link to link is what that approximation costs,
given those that are still there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.prediction import predict_training
from symreln.experiment.metrics import CurveComparison, compare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from symreln.claims.derivation import Derivation
    from symreln.experiment.predictions import Predictions
    from symreln.train.run import TrainingRun


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Term:
    """One link of the chain.

    Attributes:
        name: What the curve is.
        replaced: Which approximation of the link before it is no longer made; "" for the first.
        loss: The curve, shape (steps,).
        distance: Its distance to the mean of the networks.
    """

    name: str
    replaced: str
    loss: np.ndarray
    distance: CurveComparison


def distance_terms(
    numbers: Derivation, predictions: Predictions, trained: TrainingRun
) -> tuple[Term, ...]:
    """Return the chain from a prediction to trained networks; empty where it has no link.

    Args:
        numbers: The derivation, without free parameters.
        predictions: What was predicted, and the mean-field simulation.
        trained: The trained networks; the GDLNs where there are no others.
    """
    found = tuple(
        Term(name=name, replaced=what, loss=loss, distance=compare(loss, trained.mean_loss))
        for name, what, loss in _chain(numbers, predictions)
    )
    return found if len(found) > 1 else ()


def why_no_terms() -> str:
    """Return why the chain of a derivation has no link."""
    return "one prediction was made, and no other that assumes less"


def _chain(numbers: Derivation, predictions: Predictions) -> Iterator[tuple[str, str, np.ndarray]]:
    prediction, early, kappas = predictions.prediction, predictions.early, predictions.kappas
    replaced = ""
    later = numbers.closed and len(numbers.stages) > 1
    closed = prediction.closed_loss if later else None
    if closed is not None:
        yield "closed forms, later stages from head starts", replaced, closed
        replaced = "head starts to leading order, and steps taken as small"
    elif prediction.flow_loss is not None:
        yield "flow", replaced, prediction.flow_loss
        replaced = "infinitely small steps"
        if prediction.drawn is not None:
            replaced += ", and one start for all networks"
    if kappas and closed is None:  # closed forms start from κ too
        yield "gradient descent, half of the units", replaced, predict_training(numbers).reduced
        replaced = "half of the units in every pathway"
    units = ", units of each pathway" if kappas else ""
    if prediction.drawn is not None:
        units = ", mean over the initialisation distribution"
    yield f"theory: gradient descent{units}", replaced, prediction.reduced
    modes = {label: found.kappa for label, found in early.items()}
    if len(set(modes.values())) > len(set(kappas.values())):
        by_mode = predict_training(numbers, modes).reduced
        yield "theory with κ of each mode", "the fastest mode's κ for all of its pathway", by_mode
    if predictions.mean_field is not None:
        replaced = "fixed gates, and pathways that share no units"
        yield (
            "mean-field simulation (wide ReLU network, not the theory)",
            replaced,
            predictions.mean_field.losses,
        )
