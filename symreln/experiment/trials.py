"""A confrontation predicted and trained once more with numbers of the network changed.

Initial scale, learning rate, width or batches are other, the data and the gates the same. Spectra
depend on none of them, so that a derivation holds for the changed experiment as it is; predictions
and trainings read the changed network.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.integration import network_of
from symreln.claims.prediction import closed_forms, predict, predict_training
from symreln.claims.probes import learning_modes
from symreln.claims.starts import chain_of, mode_kappas, start_factors
from symreln.errors import NotSupportedError
from symreln.experiment.closed import predict_aligned, predict_chain, train_aligned
from symreln.experiment.comparing import is_aligned
from symreln.experiment.metrics import Distance, Interval, compare, exactly, mutual_distance
from symreln.experiment.training import SAME, Variation, train
from symreln.laws.integrate import DRAWN, PRECISE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.curves import Prediction
    from symreln.claims.derivation import Derivation
    from symreln.experiment.outcome import Validation

#: Networks that are trained again: what is looked for is half of a distance beyond the tolerance,
#: which the scatter of a few seldom hides; and at most, where they are small.
FEW, MANY = 4, 32
#: Multiplications of a training above which no more than a few are: seconds of one core.
BUDGET = 1e8
#: Times at which a predicted loss is looked at where only a step is sought: it is then found to
#: one in as many.
LOOKS = 2001
#: Times that the fastest mode grows by e, at first and at most, that a step is sought within.
FIRST_SPAN, LAST_SPAN = 64, 1 << 16


class Trials:
    """A confrontation that is predicted and trained once more with things changed, each once."""

    def __init__(self, case: Validation) -> None:
        self.case = case
        self._error = case.error[0]
        self._losses: dict[tuple[str, Variation], np.ndarray] = {}
        self._curves: dict[tuple[bool, Variation], np.ndarray] = {}
        self._numbers: dict[Variation, Derivation] = {SAME: case.numbers}

    def distance(self, pair: str, change: Variation = SAME) -> Distance[Interval]:
        """Return what is between theory and training in a changed experiment.

        Raises:
            InputError: It cannot be done.
            NotSupportedError: What is replaced is not there.
        """
        return self.distance_of(pair, self.theory(pair, change), change)

    def distance_of(
        self, pair: str, curve: np.ndarray, change: Variation = SAME
    ) -> Distance[Interval]:
        """Return what is between a curve and the networks of an experiment."""
        losses = self.losses(pair, change)
        if is_aligned(pair):
            return exactly(compare(curve, losses.mean(axis=0)))
        return mutual_distance(curve[None], losses, self.case.rng, self._error)

    def before(self, pair: str, change: Variation = SAME) -> float:
        """Return the distance as it was, to the networks that an experiment is measured with."""
        losses = self.losses(pair, SAME)
        losses = losses if change == SAME else losses[: self.few]
        return compare(self.theory(pair, SAME), losses.mean(axis=0)).max_abs_over_initial

    def theory(self, pair: str, change: Variation) -> np.ndarray:
        """Return the predicted loss, shape (steps,)."""
        key = (is_aligned(pair), change)
        if key not in self._curves:
            self._curves[key] = self._predicted(change, aligned=key[0])
        return self._curves[key]

    def losses(self, pair: str, change: Variation = SAME) -> np.ndarray:
        """Return the trained losses, one row a network."""
        key = (pair, change)
        if key not in self._losses:
            self._losses[key] = self._trained(pair, change)
        return self._losses[key]

    @property
    def few(self) -> int:
        """How many networks are trained again."""
        spec = self.case.numbers.spec
        network, data = network_of(spec), spec.dataset
        layers = data.n_x + data.n_y + network.hidden * (network.layers - 2)
        cost = 3 * network.steps * data.samples * network.hidden * layers
        return int(np.clip(BUDGET // max(cost, 1), FEW, MANY))

    def _predicted(self, change: Variation, *, aligned: bool) -> np.ndarray:
        """Predict the judged loss of a changed experiment, shape (steps,)."""
        case, numbers = self.case, self._of(change)
        if aligned:
            return predict_aligned(numbers, case.chain)
        if change == SAME:
            return case.prediction.loss
        found = predicted_again(numbers, case.kappas)
        return found.loss if case.judged == "closed" else found.reduced

    def _trained(self, pair: str, change: Variation) -> np.ndarray:
        """Return the losses of networks that are trained again."""
        case, numbers = self.case, self._of(change)
        if change == SAME:
            found = case.run(pair).losses
            if is_aligned(pair) or len(found) >= self.few:
                return found
        if is_aligned(pair):
            return train_aligned(numbers, case.chain).losses
        kind = pair.removeprefix("theory_vs_")
        return train(kind, numbers.spec, case.kappas, self.few, case.rng).losses

    def _of(self, change: Variation) -> Derivation:
        """Return the derivation for a changed experiment, for as many steps as it takes."""
        if change not in self._numbers:
            self._numbers[change] = _long_enough(self.case.numbers, change)
        return self._numbers[change]


def changed(numbers: Derivation, variation: Variation, steps: int | None = None) -> Derivation:
    """Return the derivation for the changed experiment.

    Args:
        numbers: Without free parameters, with a network.
        variation: What is changed.
        steps: Recorded steps; by default those that cover the same time.

    Raises:
        NotSupportedError: There is none.
    """
    if numbers.spec.switches:
        msg = "gates switch at given steps, which a changed experiment would not be at"
        raise NotSupportedError(msg)
    return replace(numbers, spec=variation.of(numbers.spec, steps))


def _long_enough(numbers: Derivation, change: Variation) -> Derivation:
    found = changed(numbers, change)
    if change.same_strength:
        return found  # as strong a start, so as many steps
    steps = steps_for_scale(numbers, found)
    if steps is None:
        msg = "the changed experiment was not found to get as far"
        raise NotSupportedError(msg)
    return changed(numbers, change, steps)


def predicted_again(
    numbers: Derivation, kappas: Mapping[str, float], start: float = 1.0
) -> Prediction:
    """Predict a changed experiment as :func:`symreln.experiment.predictions.predict_all` does.

    Args:
        numbers: As :func:`changed` returns it.
        kappas: κ of pathways by name: a property of the data, which no change touches.
        start: How many times as strong the modes of the first stage start.
    """
    if not numbers.known.matrices.holds:
        return predict_chain(numbers, chain_of(numbers))
    factors = start_factors(numbers, mode_kappas(numbers, kappas))
    if start != 1:
        own = [m.label for p in numbers.stages[0].pathways for m in p.modes if not m.is_null]
        factors |= {label: Fraction(factors.get(label, 1)) * Fraction(start) for label in own}
    return predict_training(numbers, factors)


def step_below(numbers: Derivation, level: float) -> int | None:
    """Return about at which step the predicted loss gets down to ``level``, or None.

    Args:
        numbers: Without free parameters, with a network.
        level: A mean loss.
    """
    modes = [mode.s.to_float() for _, mode in learning_modes(numbers)]
    if not modes or numbers.later:
        return None
    pace = float(numbers.tau or 1) / (2 * max(modes))  # steps in which the fastest grows by e
    span = FIRST_SPAN
    while span <= LAST_SPAN:
        times = np.linspace(0, span * pace, LOOKS)
        below = _flow_loss(numbers, times, DRAWN) <= level
        if below.any():
            return ceil(times[int(np.argmax(below))])
        span *= 4
    return None


def _flow_loss(numbers: Derivation, times: np.ndarray, accuracy: float = PRECISE) -> np.ndarray:
    """Return the loss of the flow, of more than two layers from where they start in effect."""
    if chain_of(numbers) is None:
        # About: not from where the early phase says, which would be followed for every variation.
        return predict(numbers, times, accuracy, factors={}).reduced
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
    found = step_below(smaller, end + (start - end) / 1000)
    return None if found is None else max(steps, found + 1)
