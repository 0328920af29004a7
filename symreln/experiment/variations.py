"""One experiment with another initial scale, learning rate or width: the same data and gates.

Spectra depend on none of the three, so that a derivation holds for the changed experiment as it is;
predictions and trainings read the changed network.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
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
_LOOKS = 2001
#: Times that the fastest mode grows by e, at first and at most, that a step is sought within.
_FIRST_SPAN, _LAST_SPAN = 64, 1 << 16


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


def long_enough(numbers: Derivation, change: Variation) -> Derivation:
    """Return the derivation for a changed experiment, for as many steps as it takes.

    Raises:
        NotSupportedError: There is none, or none that gets as far.
    """
    found = changed(numbers, change)
    if change.same_strength:
        return found  # as strong a start, so as many steps
    steps = steps_for_scale(numbers, found)
    if steps is None:
        msg = "the changed experiment was not found to get as far"
        raise NotSupportedError(msg)
    return changed(numbers, change, steps)


def predicted_again(
    numbers: Derivation, kappas: Mapping[str, float], start: float = 1.0
) -> Prediction:
    """Predict a changed experiment as :func:`symreln.experiment.predictions.predict_all` does.

    Args:
        numbers: As :func:`changed` returns it.
        kappas: κ of pathways by name: a property of the data, which no change touches.
        start: How many times as strong the modes of the first stage start.
    """
    if not numbers.known.matrices.holds:
        return predict_chain(numbers, chain_of(numbers))
    factors = start_factors(numbers, mode_kappas(numbers, kappas))
    if start != 1:
        own = [m.label for p in numbers.stages[0].pathways for m in p.modes if not m.is_null]
        factors |= {label: Fraction(factors.get(label, 1)) * Fraction(start) for label in own}
    return predict_training(numbers, factors)


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
    span = _FIRST_SPAN
    while span <= _LAST_SPAN:
        times = np.linspace(0, span * pace, _LOOKS)
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
