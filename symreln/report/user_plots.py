"""Figures that a Python user asks for: into given axes, or a new figure that notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.derivation import Derivation, Derived
from symreln.claims.integration import network_of
from symreln.claims.network.derivation import NetworkDerivation
from symreln.claims.network.in_numbers import in_numbers
from symreln.claims.prediction import closed_forms, predict
from symreln.claims.solve import at_values
from symreln.errors import NoClosedFormError
from symreln.laws.integrate import DRAWN
from symreln.report.drawing import FONT_SIZE, INK, styled
from symreln.report.drawings import network_sketches
from symreln.report.plots import derivation_sketches, drawn_times

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from matplotlib.axes import Axes

    from symreln.claims.curves import Prediction
    from symreln.report.drawing import Sketch


def new_panel() -> Axes:
    """Return the axes of a new figure of pyplot's, so that notebooks and windows show it."""
    # Here, because pyplot takes time to import and documents are drawn without it.
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


@styled
def plot_derivation(derivation: Derived, ax: Axes | None = None) -> Axes:
    """Draw strengths on the left scale and the loss on the right one.

    Args:
        derivation: What is drawn, at the declared values.
        ax: Where; a new figure by default.

    Raises:
        InputError: There is no network, or a parameter has no value.
        NoClosedFormError: A graph whose modes have no strengths of their own.
    """
    sketch, times, loss = _drawn(derivation)
    ax = new_panel() if ax is None else ax
    sketch.draws(**{**sketch.shown, "ax": ax})
    beside = ax.twinx()
    beside.plot(times, loss, color=INK, linewidth=1.2, linestyle=(0, (1.2, 1.2)))
    beside.set_ylabel("loss $L(t)$, dotted", fontsize=FONT_SIZE)
    beside.set_ylim(bottom=0)
    beside.tick_params(labelsize=FONT_SIZE - 1, colors=INK, length=3, width=0.6)
    beside.spines["top"].set_visible(False)
    return ax


def _drawn(derivation: Derived) -> tuple[Sketch, np.ndarray, np.ndarray]:
    """Return the sketch of the strengths, the times and the loss at them."""
    if isinstance(derivation, NetworkDerivation):
        curves = derivation.ask(in_numbers).found
        if isinstance(curves, str):
            msg = f"plot: {curves}"
            raise NoClosedFormError(msg)
        return _strengths(network_sketches(derivation)), curves.times, curves.loss
    assert isinstance(derivation, Derivation)
    steps = network_of(derivation.spec).steps
    prediction = _prediction(derivation.ask(at_values), drawn_times(steps))
    return (
        _strengths(derivation_sketches(derivation, prediction)),
        prediction.times,
        prediction.loss,
    )


def _prediction(numbers: Derivation, times: np.ndarray) -> Prediction:
    """Return the closed forms as printed, or where there are none the integrated reduction."""
    return closed_forms(numbers, times) or predict(numbers, times, accuracy=DRAWN)


def _strengths(sketches: Iterable[Sketch]) -> Sketch:
    for sketch in sketches:
        if sketch.name == "modes":
            return sketch
    msg = "plot: no mode learns anything, so that there is nothing to draw"
    raise NoClosedFormError(msg)
