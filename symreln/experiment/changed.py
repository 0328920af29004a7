"""One experiment with another initial scale, learning rate or width: the same data and gates.

Spectra depend on none of the three, so a derivation holds for the changed experiment as it is;
predictions and trainings read the changed network.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.integration import network_of
from symreln.claims.prediction import closed_forms, predict, predict_training
from symreln.claims.probes import learning_modes
from symreln.claims.starts import chain_of, mode_kappas, start_factors
from symreln.errors import NotSupportedError
from symreln.experiment.closed import predict_chain
from symreln.experiment.training import Variation
from symreln.laws.integrate import DRAWN, PRECISE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.curves import Prediction
    from symreln.claims.derivation import Derivation

#: Times at which a predicted loss is looked at where only a step is sought: it is then found to
#: one in as many.
LOOKS = 2001
#: Times that the fastest mode grows by e, at first and at most, that a step is sought within.
FIRST_SPAN, LAST_SPAN = 64, 1 << 16


def changed(numbers: Derivation, variation: Variation, steps: int | None = None) -> Derivation:
    """Return the derivation for the changed experiment.

    Args:
        numbers: Without free parameters, with a network.
        variation: What is changed.
        steps: Recorded steps; by default those that cover the same time.

    Raises:
        NotSupportedError: There is none.
    """
    if numbers.spec.switches:
        msg = "gates switch at given steps, which a changed experiment would not be at"
        raise NotSupportedError(msg)
    return replace(numbers, spec=variation.of(numbers.spec, steps))


def predicted_again(numbers: Derivation, kappas: Mapping[str, float]) -> Prediction:
    """Predict a changed experiment as :func:`symreln.experiment.predictions.predict_all` does.

    Args:
        numbers: As :func:`changed` returns it.
        kappas: κ of pathways by name: a property of the data, which no change touches.
    """
    if not numbers.known.matrices.holds:
        return predict_chain(numbers, chain_of(numbers))
    return predict_training(numbers, start_factors(numbers, mode_kappas(numbers, kappas)))


def step_below(numbers: Derivation, level: float) -> int | None:
    """Return about at which step the predicted loss gets down to ``level``, or None.

    Args:
        numbers: Without free parameters, with a network.
        level: A mean loss.
    """
    modes = [mode.s.to_float() for _, mode in learning_modes(numbers)]
    if not modes or numbers.later:
        return None
    pace = float(numbers.tau or 1) / (2 * max(modes))  # steps in which the fastest grows by e
    span = FIRST_SPAN
    while span <= LAST_SPAN:
        times = np.linspace(0, span * pace, LOOKS)
        below = _flow_loss(numbers, times, DRAWN) <= level
        if below.any():
            return ceil(times[int(np.argmax(below))])
        span *= 4
    return None


def _flow_loss(numbers: Derivation, times: np.ndarray, accuracy: float = PRECISE) -> np.ndarray:
    """Return the loss of the flow, of more than two layers from where they start in effect."""
    if chain_of(numbers) is None:
        # About: not from where the early phase says, which would be followed for every variation.
        return predict(numbers, times, accuracy, factors={}).reduced
    found = closed_forms(numbers, times)
    assert found is not None  # such networks are confronted where their modes are closed
    return found.reduced


def steps_for_scale(numbers: Derivation, smaller: Derivation) -> int | None:
    """Return how many steps a smaller start takes to get as far, or None where it never does.

    Args:
        numbers: The experiment as it is.
        smaller: The same from a smaller start.
    """
    steps = network_of(numbers.spec).steps
    end = float(_flow_loss(numbers, np.array([0.0, steps - 1]))[-1])
    # Near its end a loss is within rounding of it: reached to one in a thousand of the whole fall
    # is as far.
    start = float(numbers.initial_loss.to_fraction())
    found = step_below(smaller, end + (start - end) / 1000)
    return None if found is None else max(steps, found + 1)
