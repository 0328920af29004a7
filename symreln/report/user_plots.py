"""Figures that a Python user asks for: into given axes, or a new figure that notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpl_toolkits.axes_grid1 import make_axes_locatable

from symreln.base.summaries import short_list
from symreln.claims.derivation import Derivation
from symreln.claims.integration import network_of
from symreln.errors import NoClosedFormError
from symreln.report.drawing import FONT_SIZE, dress, styled
from symreln.report.drawings import drawn_prediction
from symreln.report.figures import draw_panel
from symreln.report.looks import INK, PALETTE
from symreln.report.plots import MOST_CURVES, TIME, loss_panel, modes_sketches
from symreln.specs.arguments import whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from matplotlib.axes import Axes

    from symreln.experiment.outcome import Validation


def _new_panels(**options: Any) -> Any:
    """Return the axes of a new figure of pyplot's, so that notebooks and windows show it."""
    # Here, because pyplot takes time to import and documents are drawn without it.
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained", **options)[1]


@styled
def plot_derivation(derivation: Derivation, ax: Axes | None = None) -> Axes:
    """Draw strengths and, below, the loss over the same times.

    Args:
        derivation: What is drawn, at the declared values.
        ax: Where; a new figure by default.

    Raises:
        InputError: There is no network, or a parameter has no value.
        NoClosedFormError: No mode learns anything.
    """
    prediction = drawn_prediction(derivation, network_of(derivation.spec).steps)
    sketches = modes_sketches(derivation, prediction)
    if not sketches and prediction.judged == "effective":
        shown = ax or _new_panels()
        shown.plot(prediction.times, prediction.loss, color=INK, linewidth=1.4)
        dress(shown, x=TIME, y="loss $L(t)$")
        return shown
    if not sketches:
        msg = "plot: no mode learns anything, so that there is nothing to draw"
        raise NoClosedFormError(msg)
    upper, lower = _panels(ax)
    draw_panel(upper, sketches[0].shown["panels"][0], beside=False)
    lower.plot(prediction.times, prediction.loss, color=INK, linewidth=1.4)
    dress(lower, x=upper.get_xlabel(), y="loss $L(t)$")
    lower.set_ylim(bottom=0)
    upper.set_xlabel("")
    upper.tick_params(labelbottom=False)
    # A loss leaves the room that strengths do not.
    handles, labels = upper.get_legend_handles_labels()
    lower.legend(handles, labels, loc="best", fontsize=FONT_SIZE - 1, frameon=False)
    return upper


@styled
def plot_validation(validation: Validation, ax: Axes | None = None) -> Axes:
    """Draw the losses of theory and networks."""
    # Here, because it brings everything that trains networks.
    from symreln.report.validation_plots import losses_of

    shown = draw_panel(ax or _new_panels(), loss_panel(losses_of(validation)))
    shown.legend(loc="best", fontsize=FONT_SIZE - 1, frameon=False)
    return shown


@styled
def plot_outputs(
    times: np.ndarray,
    values: np.ndarray,
    output: int,
    samples: Sequence[int] | None,
    ax: Axes | None,
) -> Axes:
    """Draw one output over time, a line for samples that are alike.

    Args:
        times: In steps, shape (times,).
        values: Outputs, shape (times, samples, outputs).
        output: Which is drawn.
        samples: Which samples, all where None.
        ax: Where; a new figure by default.

    Raises:
        InputError: There is no such output or sample.
    """
    _, count, width = values.shape
    chosen = [whole_number(each, "samples", 0, count - 1) for each in samples or range(count)]
    curves = values[:, :, whole_number(output, "output", 0, width - 1)]
    alike: dict[bytes, list[int]] = {}
    for sample in chosen:
        alike.setdefault(curves[:, sample].round(9).tobytes(), []).append(sample)
    drawn = ax or _new_panels()
    for place, own in enumerate(alike.values()):
        label = f"sample{'s' * (len(own) > 1)} {short_list([*map(str, own)], 'samples')}"
        color = PALETTE[place % len(PALETTE)]
        drawn.plot(times, curves[:, own[0]], color=color, linewidth=1.4, label=label)
    dress(drawn, x="step $t$", y=rf"output $\hat{{y}}_{{{output}}}(t)$")
    if len(alike) <= MOST_CURVES:
        drawn.legend(fontsize=FONT_SIZE - 1, frameon=False)
    return drawn


def _panels(ax: Axes | None) -> tuple[Axes, Axes]:
    """Return two panels over the same times: of a new figure, or of the place of given axes."""
    if ax is not None:
        return ax, make_axes_locatable(ax).append_axes("bottom", size="45%", pad=0.12, sharex=ax)
    upper, lower = _new_panels(nrows=2, sharex=True, height_ratios=(2, 1))
    return upper, lower
