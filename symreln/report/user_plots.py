"""Figures that a Python user asks for: into given axes, or a new figure that notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpl_toolkits.axes_grid1 import make_axes_locatable

from symreln.claims.derivation import Derivation
from symreln.claims.integration import network_of
from symreln.claims.orbits import short_list
from symreln.errors import NoClosedFormError
from symreln.report.drawing import FONT_SIZE, dress, legend_below, styled
from symreln.report.drawings import drawn_prediction
from symreln.report.figures import draw_panel
from symreln.report.looks import INK, PALETTE
from symreln.report.plots import MOST_CURVES, loss_panel, modes_sketches
from symreln.specs.arguments import whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from matplotlib.axes import Axes

    from symreln.claims.outputs import OutputCurves
    from symreln.experiment.outcome import Validation
    from symreln.report.sketch import Sketch


def _new_panel() -> Axes:
    """Return the axes of a new figure of pyplot's, so that notebooks and windows show it."""
    # Here, because pyplot takes time to import and documents are drawn without it.
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


@styled
def plot_derivation(derivation: Derivation, ax: Axes | None = None) -> Axes:
    """Draw strengths and, below, the loss over the same times.

    Args:
        derivation: What is drawn, at the declared values.
        ax: Where; a new figure by default.

    Raises:
        InputError: There is no network, or a parameter has no value.
        NoClosedFormError: A graph whose modes have no strengths of their own.
    """
    sketch, times, loss = _drawn(derivation)
    upper, lower = _panels(ax)
    draw_panel(upper, sketch.shown["panels"][0], beside=ax is None)
    return _draw_loss(upper, lower, times, loss, below=ax is None)


@styled
def plot_validation(validation: Validation, ax: Axes | None = None) -> Axes:
    """Draw the losses of theory and networks."""
    # Here, because it brings everything that trains networks.
    from symreln.report.validation_plots import losses_of

    shown = draw_panel(ax or _new_panel(), loss_panel(losses_of(validation)))
    shown.legend(loc="best", fontsize=FONT_SIZE - 1, frameon=False)
    return shown


@styled
def plot_outputs(
    outputs: OutputCurves, output: int, samples: Sequence[int] | None, ax: Axes | None
) -> Axes:
    """Draw one output over time, a line for samples that are alike.

    Raises:
        InputError: There is no such output or sample.
    """
    _, count, width = outputs.values.shape
    chosen = [whole_number(each, "samples", 0, count - 1) for each in samples or range(count)]
    curves = outputs.values[:, :, whole_number(output, "output", 0, width - 1)]
    alike: dict[bytes, list[int]] = {}
    for sample in chosen:
        alike.setdefault(curves[:, sample].round(9).tobytes(), []).append(sample)
    drawn = ax or _new_panel()
    for place, own in enumerate(alike.values()):
        label = f"sample{'s' * (len(own) > 1)} {short_list([*map(str, own)], 'samples')}"
        color = PALETTE[place % len(PALETTE)]
        drawn.plot(outputs.times, curves[:, own[0]], color=color, linewidth=1.4, label=label)
    dress(drawn, x="step $t$", y=rf"output $\hat{{y}}_{{{output}}}(t)$")
    if len(alike) <= MOST_CURVES:
        drawn.legend(fontsize=FONT_SIZE - 1, frameon=False)
    return drawn


def _panels(ax: Axes | None) -> tuple[Axes, Axes]:
    """Return two panels over the same times: of a new figure, or of the place of given axes."""
    if ax is not None:
        return ax, make_axes_locatable(ax).append_axes("bottom", size="45%", pad=0.12, sharex=ax)
    from matplotlib import pyplot

    options: dict[str, Any] = {"sharex": True, "height_ratios": (2, 1), "layout": "constrained"}
    upper, lower = pyplot.subplots(2, 1, **options)[1]
    return upper, lower


def _draw_loss(
    upper: Axes, lower: Axes, times: np.ndarray, loss: np.ndarray, *, below: bool
) -> Axes:
    """Draw the loss into the lower panel, which has the axis of times; return the upper one.

    The legend stands ``below`` both, or where it hides least: below given axes there may be others.
    """
    lower.plot(times, loss, color=INK, linewidth=1.4)
    dress(lower, x=upper.get_xlabel(), y="loss $L(t)$")
    lower.set_ylim(bottom=0)
    upper.set_xlabel("")
    upper.tick_params(labelbottom=False)
    handles, labels = upper.get_legend_handles_labels()
    if below:
        legend_below(upper, handles, labels)
    else:  # a loss leaves the room that strengths do not
        lower.legend(handles, labels, loc="best", fontsize=FONT_SIZE - 1, frameon=False)
    return upper


def _drawn(derivation: Derivation) -> tuple[Sketch, np.ndarray, np.ndarray]:
    """Return the sketch of the strengths, the times and the loss at them."""
    prediction = drawn_prediction(derivation, network_of(derivation.spec).steps)
    return (
        _strengths(modes_sketches(derivation, prediction)),
        prediction.times,
        prediction.loss,
    )


def _strengths(sketches: Iterable[Sketch]) -> Sketch:
    for sketch in sketches:
        if sketch.name == "modes":
            return sketch
    msg = "plot: no mode learns anything, so that there is nothing to draw"
    raise NoClosedFormError(msg)
