"""Whether a confrontation of a graph tests it: :mod:`symreln.experiment.untested` of its modes."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.integration import network_of
from symreln.errors import LimitReachedError
from symreln.experiment.metrics import DROP, drop_time
from symreln.experiment.untested import Untested

if TYPE_CHECKING:
    from symreln.experiment.scalar_modes import ScalarModes

#: Times at which the flow is looked at within a span; a step is found to one in LOOKS².
LOOKS = 49
#: Spans that a step is sought within, in units of the steps that were trained, but of no less than
#: RISE times the pace of the fastest mode.
SPANS = (1, 4, 16, 64)
RISE = 8


def why_graph_untested(
    modes: ScalarModes, loss: np.ndarray, start: float, tolerance: float
) -> Untested | None:
    """Return why trained graphs test nothing, or None where they do.

    Args:
        modes: What is confronted.
        loss: Mean loss of the networks that are the test, shape (steps,).
        start: Amplitude with which their edges start, in effect.
        tolerance: Largest allowed distance.
    """
    fell = float(np.abs(loss - loss[0]).max() / loss[0])
    if fell > tolerance and drop_time(loss) is not None:
        return None
    drops = step_below(modes, start, DROP * modes.flow_loss(0.0, np.zeros(1))[0])
    if fell > tolerance and drops is None:
        return None  # no drop is predicted either
    return Untested(
        fell=fell,
        learnable=modes.learnable,
        tolerance=tolerance,
        steps=network_of(modes.spec).steps - 1,
        drops=drops,
        half=None,
    )


def step_below(modes: ScalarModes, start: float, level: float) -> int | None:
    """Return about at which step the flow's loss gets down to a level, or None.

    Args:
        modes: Whose flow it is.
        start: Amplitude of all edges.
        level: A mean loss.
    """
    least = max(network_of(modes.spec).steps, RISE * modes.pace)
    for span in SPANS:
        times = np.linspace(0, span * least, LOOKS)
        try:
            below = modes.flow_loss(start, times) <= level
            if below.any():
                last = int(np.argmax(below))
                fine = np.linspace(times[max(0, last - 1)], times[last], LOOKS)
                reached = modes.flow_loss(start, np.concatenate([[0.0], fine]))[1:] <= level
                return ceil(fine[int(np.argmax(reached))])
        except LimitReachedError:
            return None
    return None
