"""The figures of a derivation, with those of its confrontation where there is one."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.derivation import Derivation
from symreln.claims.integration import network_of
from symreln.claims.prediction import closed_forms, predict
from symreln.claims.solve import at_values
from symreln.errors import InputError, NotSupportedError
from symreln.laws.integrate import DRAWN
from symreln.report.plots import modes_sketches, still_sketches, thinned
from symreln.report.sketch import Figures, begin_to_draw

if TYPE_CHECKING:
    from symreln.claims.curves import Prediction
    from symreln.experiment.outcome import Validation
    from symreln.experiment.strengths import ModeMeasured


def begin_drawings(
    derivation: Derivation, validation: Validation | None, more: Figures | None, *, pdf: bool
) -> Figures:
    """Have a derivation drawn, and its confrontation where there is one.

    Args:
        derivation: What was derived.
        validation: What training showed, or None.
        more: Its own figures.
        pdf: Whether LaTeX is to include them.
    """
    prediction = _prediction(derivation, validation)
    modes = modes_sketches(derivation, prediction, _measured(validation))
    parts = [derivation.ask(STILL[pdf]), begin_to_draw(modes, pdf=pdf), *([more] if more else [])]
    names = [name for own, _ in parts for name in own]
    return names, lambda: tuple(each for _, drawn in parts for each in drawn())


def _still(derivation: Derivation, *, pdf: bool) -> Figures:
    return begin_to_draw(still_sketches(derivation), pdf=pdf)


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
    if derivation.strength0 is None:  # no network, or no initial strength is derived
        return None
    with suppress(InputError, NotSupportedError):
        return drawn_prediction(derivation, network_of(derivation.spec).steps)
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
