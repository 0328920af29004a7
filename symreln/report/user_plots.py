"""Figures that a Python user asks for: into given axes, or a new figure that notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
from symreln.report.figures import PathwayModes, loss_curve, mode_trajectories
from symreln.report.plots import derivation_sketches, drawn_times

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from symreln.claims.curves import Prediction
    from symreln.experiment.outcome import Validation
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
    _beside(ax, times, loss)
    return ax


@styled
def plot_curves(found: Prediction, ax: Axes | None = None) -> Axes:
    """Draw predicted strengths, a look a pathway, and the loss on the right scale."""
    names = dict.fromkeys(curve.pathway for curve in found.modes)
    rows = {name: [c.of(found.judged) for c in found.modes if c.pathway == name] for name in names}
    shown = [
        PathwayModes(label=n, times=found.times, strengths=np.array(r)) for n, r in rows.items()
    ]
    ax = mode_trajectories(shown, ax=new_panel() if ax is None else ax)
    _beside(ax, found.times, found.loss)
    return ax


@styled
def plot_validation(validation: Validation, ax: Axes | None = None) -> Axes:
    """Draw the losses of theory and networks."""
    # Here, because it brings everything that trains networks.
    from symreln.report.validation_plots import losses_of

    curves, unit = losses_of(validation)
    return loss_curve(curves, ax=new_panel() if ax is None else ax, unit=unit)


def _beside(ax: Axes, times: np.ndarray, loss: np.ndarray) -> None:
    """Draw the loss on the right scale."""
    beside = ax.twinx()
    beside.plot(times, loss, color=INK, linewidth=1.2, linestyle=(0, (1.2, 1.2)))
    beside.set_ylabel("loss $L(t)$, dotted", fontsize=FONT_SIZE)
    beside.set_ylim(bottom=0)
    beside.tick_params(labelsize=FONT_SIZE - 1, colors=INK, length=3, width=0.6)
    beside.spines["top"].set_visible(False)


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
