"""Whether a confrontation could have told a wrong prediction from a right one at all.

A theory is not tested where nothing was learned in the steps that were trained: then the
prediction that nothing ever is learned, L(t) = L(0), is within the tolerance too, or the loss of a
kind of network has not dropped yet although it could. "Agrees" would say nothing.

How many steps it takes is read off the predicted flow.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from symreln.base.records import record
from symreln.base.rounding import percent
from symreln.claims.derivation import Derivation
from symreln.claims.integration import network_of
from symreln.claims.prediction import closed_forms, of_given_gates, predict
from symreln.claims.probes import learning_modes
from symreln.claims.starts import chain_of
from symreln.errors import SymrelnError
from symreln.experiment.metrics import DROP, bound_text, drop_time
from symreln.laws.integrate import DRAWN, PRECISE

#: Times at which a predicted loss is looked at where only a step is sought: it is then found to
#: one in as many.
_LOOKS = 2001
#: Times that the fastest mode grows by e, at first and at most, that a step is sought within.
_FIRST_SPAN, _LAST_SPAN = 64, 1 << 16


@record
class Uninformative:
    """Why training tests nothing.

    Attributes:
        fell: Largest change of the trained mean loss that changed least, over its first.
        learnable: Share of the first loss that can be learned at all, from the data alone; of a
            graph the most that it can be.
        tolerance: Largest allowed distance.
        steps: Steps that were trained.
        drops: About the step at which the loss is predicted to have dropped, below 0.9 L(0), or
            None where it never is.
        half: About the step at which half of what can be learned is predicted to be, or None.
    """

    fell: float
    learnable: float
    tolerance: float
    steps: int
    drops: int | None
    half: int | None

    @property
    def hopeless(self) -> bool:
        """Whether all that can be learned is within the tolerance: more steps would not help."""
        return self.learnable <= self.tolerance

    def sentence(self) -> str:
        """Return the reason, as it stands after a colon."""
        if self.learnable <= 0:  # no tolerance is small enough for that
            return "nothing can be learned of these targets with these gates"
        if self.hopeless:
            return (
                f"all that can be learned is {percent(self.learnable, self.tolerance)} of L(0), "
                f"within the tolerance of {bound_text(self.tolerance)}; it takes a smaller one"
            )
        steps = {"the first drop": self.drops, "half of what can be learned": self.half}
        known = [f"about {n} steps for {what}" for what, n in steps.items() if n is not None]
        return (
            f"training made too little progress to test the prediction (in {self.steps} steps the "
            f"loss changed by {percent(self.fell, self.tolerance)} of L(0))"
            + (f"; it takes {' and '.join(known)}" if known else "")
        )

    @classmethod
    def of(
        cls, numbers: Derivation, losses: Sequence[np.ndarray], tolerance: float
    ) -> Uninformative | None:
        """Return why trained networks test nothing, or None where they do.

        Args:
            numbers: The derivation, without free parameters.
            losses: Mean loss of each kind of network that is judged, shape (steps,).
            tolerance: Largest allowed distance.
        """
        learnable = 1 - float((numbers.least_loss / numbers.initial_loss).to_fraction())
        fell = [float(np.abs(loss - loss[0]).max() / loss[0]) for loss in losses]
        drops = 1 - learnable < DROP
        still = drops and any(drop_time(loss) is None for loss in losses)
        if min(fell) > tolerance and not still:
            return None
        initial = float(numbers.initial_loss.to_fraction())
        return cls(
            fell=min(fell),
            learnable=learnable,
            tolerance=tolerance,
            steps=len(losses[0]) - 1,
            drops=_step(numbers, DROP * initial) if drops else None,
            half=_step(numbers, (1 - learnable / 2) * initial),
        )


def _step(numbers: Derivation, level: float) -> int | None:
    try:
        return _step_below(numbers, level)
    except SymrelnError:
        return None  # a range or a level that the flow is not integrated at: the rest is said


def _step_below(numbers: Derivation, level: float) -> int | None:
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
        # And of gates from the data not by the effective network, which ends with the training.
        return predict(of_given_gates(numbers), times, accuracy, factors={}).reduced
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
    found = _step_below(smaller, end + (start - end) / 1000)
    return None if found is None else max(steps, found + 1)
