"""Whether a confrontation could have told a wrong prediction from a right one at all.

A theory is not tested where nothing was learned in the steps that were trained: then the
prediction that nothing ever is learned, L(t) = L(0), is within the tolerance too, or the loss of a
kind of network has not dropped yet although it could. "Agrees" would say nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.base.rounding import percent
from symreln.errors import SymrelnError
from symreln.experiment.metrics import DROP, drop_time
from symreln.experiment.variations import step_below
from symreln.experiment.words import bound_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.derivation import Derivation


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


def why_uninformative(
    numbers: Derivation, losses: Sequence[np.ndarray], tolerance: float
) -> Uninformative | None:
    """Return why trained networks test nothing, or None where they do.

    Args:
        numbers: The derivation, without free parameters.
        losses: Mean loss of each kind of network that is judged, shape (steps,).
        tolerance: Largest allowed distance.
    """
    learnable = learnable_share(numbers)
    found = too_little(losses, learnable, tolerance)
    if found is None:
        return None
    initial = float(numbers.initial_loss.to_fraction())
    return replace(
        found,
        drops=_step(numbers, DROP * initial) if 1 - learnable < DROP else None,
        half=_step(numbers, (1 - learnable / 2) * initial),
    )


def learnable_share(numbers: Derivation) -> float:
    """Return the share of the first loss that can be learned at all."""
    return 1 - float((numbers.least_loss / numbers.initial_loss).to_fraction())


def too_little(
    losses: Sequence[np.ndarray], learnable: float, tolerance: float
) -> Uninformative | None:
    """Return that training made too little progress to test a prediction, or None.

    Args:
        losses: Mean loss of each kind of network that is judged, shape (steps,).
        learnable: :func:`learnable_share`.
        tolerance: Largest allowed distance.
    """
    fell = [float(np.abs(loss - loss[0]).max() / loss[0]) for loss in losses]
    still = any(drop_time(loss) is None for loss in losses) and 1 - learnable < DROP
    if min(fell) > tolerance and not still:
        return None
    return Uninformative(
        fell=min(fell),
        learnable=learnable,
        tolerance=tolerance,
        steps=len(losses[0]) - 1,
        drops=None,
        half=None,
    )


def _step(numbers: Derivation, level: float) -> int | None:
    try:
        return step_below(numbers, level)
    except SymrelnError:
        return None  # a range or a level that the flow is not integrated at: the rest is said
