"""Weight decay: trained gated deep linear networks beside gradient descent on their modes.

The closed forms with s − λ, of infinitely small steps, are beside it. Only where they are the whole
prediction, one stage of closed modes. The values of λ come from the data: half of the weakest s,
under which every mode is learned, and one between two values of s, under which the weaker modes die
out; with a single s, one above it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of
from symreln.claims.prediction import predict_training
from symreln.claims.probes import learning_modes, probe_bases
from symreln.claims.widths import narrow_pathways
from symreln.experiment.changed import changed
from symreln.experiment.metrics import CurveComparison, compare
from symreln.experiment.trained import (
    ProgressCallback,
)
from symreln.experiment.training import GDLN, Variation, train
from symreln.train.record import Recording

if TYPE_CHECKING:
    from symreln.claims.curves import Prediction
    from symreln.claims.derivation import Derivation
    from symreln.train.run import TrainingRun

#: Relative difference from which two values of s are two: they are exact numbers, rounded once.
DISTINCT = 1e-9


@dataclass(frozen=True, kw_only=True)
class DecayedMode:
    """One mode at the last step of training with weight decay.

    Attributes:
        label: Symbol of its strength.
        s: Singular value of its pathway's Sigma^yx.
        plateau: s/d, where it ends without weight decay.
        predicted: Strength by gradient descent on the modes.
        trained: Mean over seeds and over equal modes of uᵀ W v.
    """

    label: str
    s: float
    plateau: float
    predicted: float
    trained: float


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class DecayRule:
    """Training with one weight decay.

    Attributes:
        weight_decay: λ.
        theory: Distance of gradient descent on the modes, step by step, to the mean of the GDLNs.
        closed: The same of the closed forms.
        modes: At the last step, strongest first.
    """

    weight_decay: float
    theory: CurveComparison
    closed: CurveComparison
    modes: tuple[DecayedMode, ...]

    @property
    def dying(self) -> tuple[str, ...]:
        """Labels of the modes with s ≤ λ, which are not learned."""
        return tuple(mode.label for mode in self.modes if mode.s <= self.weight_decay)


def why_no_decay(derivation: Derivation) -> str:
    """Return why no closed form covers weight decay, or ""."""
    if not derivation.closed:
        level = derivation.verdict.level.value
        return f"the verdict is {level!r}, and the closed form with s − λ is for closed modes"
    if derivation.ask(narrow_pathways):
        return "a pathway has fewer hidden units than modes"
    if derivation.later:
        return "gates switch"
    if len(derivation.stages) > 1:
        return "later stages learn what weight decay keeps the earlier ones from learning"
    if not derivation.loss_separates:
        return "the loss is no sum over modes"
    return "" if learning_modes(derivation) else "no mode learns anything"


def decay_values(derivation: Derivation) -> tuple[float, ...]:
    """Return the values of λ that are compared, 0 first; none where no closed form covers them."""
    if why_no_decay(derivation):
        return ()
    found: list[float] = []
    for s in sorted(mode.s.to_float() for _, mode in learning_modes(derivation)):
        if not found or s > found[-1] * (1 + DISTINCT):
            found.append(s)
    middle = len(found) // 2
    between = 1.5 * found[0] if len(found) == 1 else (found[middle - 1] + found[middle]) / 2
    return 0.0, found[0] / 2, between


def compare_decay(
    derivation: Derivation, seeds: int, rng: int, part: Callable[[], ProgressCallback | None]
) -> tuple[DecayRule, ...]:
    """Train GDLNs with every λ of :func:`decay_values` and compare them with the theory.

    Their pathways have the units that the closed forms' initial strength counts.

    Args:
        derivation: Without free parameters, with a network.
        seeds: Networks for each λ, all from the same initial weights.
        rng: Seed; the stream is that of the confrontation's GDLNs.
        part: Gives the callback of progress for the next training.
    """
    return tuple(
        _decayed(derivation, value, seeds, rng, part()) for value in decay_values(derivation)
    )


def _decayed(
    derivation: Derivation, value: float, seeds: int, rng: int, progress: ProgressCallback | None
) -> DecayRule:
    spec = derivation.spec
    prediction = predict_training(decayed(derivation, value))
    closed = prediction.closed_loss
    assert closed is not None  # why_no_decay has told
    last = Recording(quantities=("maps",), steps=(network_of(spec).steps - 1,))
    by = Variation(weight_decay=Fraction(value))
    run = train(GDLN, spec, {}, seeds, rng, by, record=last, progress=progress)
    return DecayRule(
        weight_decay=value,
        theory=compare(prediction.loss, run.mean_loss),
        closed=compare(closed, run.mean_loss),
        modes=_modes(derivation, prediction, run),
    )


def decayed(derivation: Derivation, value: float) -> Derivation:
    """Return the derivation of the same network with weight decay ``value``."""
    return changed(derivation, Variation(weight_decay=Fraction(value)))


def _modes(
    derivation: Derivation, prediction: Prediction, run: TrainingRun
) -> tuple[DecayedMode, ...]:
    curves = {curve.label: curve.best for curve in prediction.modes}
    trained = trained_strengths(derivation, run.snapshots["maps"][:, -1].mean(axis=0))
    found = [
        DecayedMode(
            label=mode.label,
            s=mode.s.to_float(),
            plateau=mode.s.to_float() / mode.d_eff.to_float(),
            predicted=float(curves[mode.label][-1]),
            trained=trained[mode.label],
        )
        for _, mode in learning_modes(derivation)
        if mode.d_eff is not None  # of closed modes every one has it
    ]
    return tuple(sorted(found, key=lambda mode: -mode.s))


def trained_strengths(derivation: Derivation, maps: np.ndarray) -> dict[str, float]:
    """Return uᵀ W_p v by the mode's label, the mean over equal modes.

    Args:
        derivation: With modes.
        maps: W_p of every pathway at the size of the data, shape (pathways, n_y, n_x).
    """
    found: dict[str, list[float]] = {}
    for place, pathway in enumerate(derivation.pathways):
        u, v, labels = probe_bases(pathway)
        own = maps[place][:, list(pathway.effective.pathway.inputs)]
        for column, label in enumerate(labels):
            found.setdefault(label, []).append(float(u[:, column] @ own @ v[:, column]))
    return {label: float(np.mean(values)) for label, values in found.items()}
