"""The figures of a derivation, with those of its confrontation where there is one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.derivation import Derivation
from symreln.claims.prediction import closed_forms, predict
from symreln.claims.solve import at_values
from symreln.errors import InputError, NotSupportedError
from symreln.laws.integrate import DRAWN
from symreln.report.plots import modes_sketches, still_sketches, thinned
from symreln.report.sketch import begin_to_draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from symreln.claims.curves import Prediction
    from symreln.document.document_model import Drawing
    from symreln.experiment.outcome import Validation
    from symreln.experiment.strengths import ModeMeasured


def begin_drawings(
    derivation: Derivation, validation: Validation | None, *, pdf: bool
) -> tuple[list[str], Callable[[], tuple[Drawing, ...]]]:
    """Have a derivation drawn, and its confrontation where there is one.

    Args:
        derivation: What was derived.
        validation: What training showed, or None.
        pdf: Whether LaTeX is to include them.

    Returns:
        The figures' names, and what returns the figures when they are drawn.
    """
    names, still = derivation.ask(STILL[pdf])
    prediction = _prediction(derivation, validation)
    sketches = modes_sketches(derivation, prediction, _measured(validation))
    drawn, more = begin_to_draw(sketches, pdf=pdf), ()
    if validation is not None:
        # Here, because it brings everything that trains networks.
        from symreln.report.validation_plots import validation_drawings

        more = validation_drawings(validation, pdf=pdf)
    names = [*names, *(each.name for each in (*sketches, *more))]
    return names, lambda: (*still(), *drawn(), *more)


def _still(
    derivation: Derivation, *, pdf: bool
) -> tuple[list[str], Callable[[], tuple[Drawing, ...]]]:
    sketches = still_sketches(derivation)
    return [each.name for each in sketches], begin_to_draw(sketches, pdf=pdf)


#: Rules by ``pdf`` that have drawn what needs no prediction; as :func:`begin_drawings`.
STILL = {pdf: partial(_still, pdf=pdf) for pdf in (True, False)}


def _prediction(derivation: Derivation, validation: Validation | None) -> Prediction | None:
    """Return the curves to draw, or None where there are none.

    A derivation by itself shows the closed forms that it prints; beside a confrontation it shows
    the prediction that was confronted. A value or the network may be missing, or training may be
    bound to diverge: then validation says so, and the derivation, which is exact all the same,
    has no figure of curves.
    """
    if validation is not None:
        return validation.prediction
    network = derivation.spec.network
    no_start = derivation.strength0 is None  # no network, or no initial strength is derived
    if network is None or no_start or any(p.value is None for p in derivation.spec.parameters):
        return None
    try:
        return drawn_prediction(derivation, network.steps)
    except (InputError, NotSupportedError):
        return None


def drawn_prediction(derivation: Derivation, steps: int) -> Prediction:
    """Return what is judged: closed forms at declared values, where there are none the reduction.

    Where gates come from the data it is the effective network.
    """
    numbers, times = derivation.ask(at_values), thinned(np.arange(steps)).astype(float)
    if numbers.spec.find:
        return predict(numbers, times)
    return closed_forms(numbers, times) or predict(numbers, times, accuracy=DRAWN)


def _measured(validation: Validation | None) -> list[tuple[str, ModeMeasured]]:
    """Return the strengths of trained networks that are those of a mode, with their names."""
    if validation is None:
        return []
    names = {"gdln": "GDLN, measured", "relu": f"{validation.network_name}, measured"}
    return [
        (names[mode.subject], mode)
        for mode in validation.modes
        if not mode.why_not(validation.tolerance)
    ]
