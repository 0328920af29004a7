"""The curves that a derivation predicts, in float64."""

from __future__ import annotations

from typing import Literal

import numpy as np

from symreln.base.records import record
from symreln.claims.constants import Constant, count_free
from symreln.errors import InputError
from symreln.specs.finding import nearest, shown

#: What a verdict is about: closed forms, the integrated reduction, or the effective network.
Judged = Literal["closed", "reduced", "effective"]


@record(eq=False)
class ModeCurve:
    """Predicted strength of one mode.

    Attributes:
        pathway: Name of the pathway.
        label: Symbol of the strength.
        closed: The closed form at every time (for coupled modes, the strength in their
            Lotka-Volterra system), or None.
        integrated: uᵀ W_p(t) v from the integrated flow, mean over equal modes, or None where
            the closed form is the flow.
        plateau: s / d_eff in floats, or None.
        multiplicity: Equal modes that the curve stands for.
    """

    pathway: str
    label: str
    closed: np.ndarray | None
    integrated: np.ndarray | None
    plateau: float | None
    multiplicity: int

    @property
    def best(self) -> np.ndarray:
        """The integrated strength where there is one, else the closed form."""
        curve = self.closed if self.integrated is None else self.integrated
        if curve is None:
            msg = f"mode {self.label} has no curve"
            raise InputError(msg)
        return curve

    def of(self, judged: Judged) -> np.ndarray:
        """Return the curve that is judged."""
        return self.closed if judged == "closed" and self.closed is not None else self.best


@record(eq=False)
class Prediction:
    """Predicted curves of a derivation.

    Attributes:
        times: Times in steps, shape (times,).
        reduced: Mean loss 1/(2P) Σ‖y − ŷ‖², shape (times,), of the integrated reduction, or of the
            closed forms where nothing is integrated. Beside ``loss`` it says what these leave out.
        method: How ``reduced`` was computed, in words.
        closed_loss: The loss of the closed forms alone, later stages from their head
            starts, or of the Lotka-Volterra system of coupled modes; None where there is neither.
        flow_loss: The loss of the flow, that is of infinitely small steps, where ``reduced`` is
            that of gradient descent; None where it is the flow's or the closed forms'.
        modes: One curve a mode that learns something.
        judged: "closed" where closed forms of all modes are printed: then these are judged as
            printed; "effective" where gates come from the data, and ``reduced`` is the effective
            network's; "reduced" otherwise.
        constants: Every number of ``loss`` and of ``reduced`` that is not in the spec.
        drawn: The losses of the networks whose mean ``reduced`` is, shape (draws, times), where
            these are drawn; else None.
    """

    times: np.ndarray
    reduced: np.ndarray
    method: str
    closed_loss: np.ndarray | None
    modes: tuple[ModeCurve, ...]
    flow_loss: np.ndarray | None = None
    judged: Judged = "reduced"
    constants: tuple[Constant, ...] = ()
    drawn: np.ndarray | None = None

    def __getitem__(self, label: str) -> np.ndarray:
        """Return the predicted strength of a mode, shape (times,).

        Raises:
            InputError: No mode that learns has this label.
        """
        found = {mode.label: mode for mode in self.modes}
        if label not in found:
            msg = f"found {shown(label)}, which is no mode that learns. {nearest(label, found)}"
            raise InputError(msg)
        return found[label].of(self.judged)

    @property
    def loss(self) -> np.ndarray:
        """The predicted loss, which is judged: of the closed forms, where these are of all modes.

        Shape (times,); else that of the integrated reduction.
        """
        closed = self.closed_loss if self.judged == "closed" else None
        return self.reduced if closed is None else closed

    @property
    def computed(self) -> str:
        """How ``loss`` is computed, in words, and what it is set beside."""
        if self.judged != "closed" or self.closed_loss is self.reduced:
            return self.method
        return f"closed forms, of all modes; beside them, {self.method}"

    @property
    def free_constants(self) -> int:
        """How many of the constants were assumed or fitted."""
        return count_free(self.constants)

    def __repr__(self) -> str:
        """Return a line: the dataclass's own would print every array."""
        return (
            f"Prediction({self.method}; {len(self.times)} times up to {self.times[-1]:g}, "
            f"{len(self.modes)} curves, loss {self.loss[0]:.4g} to {self.loss[-1]:.4g})"
        )


def in_phase(text: str, begin: int) -> str:
    """Return what something is called in the phase from a step on.

    Example:
        >>> in_phase("common", 0), in_phase("common", 150)
        ('common', 'common, step 150')
    """
    return f"{text}, step {begin}" if begin else text
