"""A confrontation with another initial scale, learning rate or width: the same data and gates.

Spectra depend on none of the three, so that a derivation holds for the changed experiment as it is;
predictions and trainings read the changed network.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.claims.integration import network_of
from symreln.claims.prediction import predict_training
from symreln.claims.starts import chain_of, start_factors
from symreln.errors import NotSupportedError
from symreln.experiment.closed import predict_aligned, predict_chain, train_aligned
from symreln.experiment.comparing import is_aligned
from symreln.experiment.metrics import Distance, Interval, compare, exactly, mutual_distance
from symreln.experiment.training import train
from symreln.experiment.uninformative import steps_for_scale

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.curves import Prediction
    from symreln.claims.derivation import Derivation
    from symreln.experiment.outcome import Validation
    from symreln.specs.spec import Spec

#: Networks that are trained again: what is looked for is half of a distance beyond the tolerance,
#: which the scatter of a few seldom hides; and at most, where they are small.
_FEW, _MANY = 4, 32
#: Multiplications of a training above which no more than a few are: seconds of one core.
_BUDGET = 1e8


@record
class Variation:
    """How a training differs from that of its spec; data, gates and draws are the same.

    Attributes:
        std: Factor of the initial standard deviation (of both where there are two).
        rate: Factor of the learning rate; steps are divided by it, so that the time stays.
        width: Factor of all hidden units.
        full_batch: Whether steps are taken on all samples, whatever the spec says.
    """

    std: Fraction = Fraction(1)
    rate: Fraction = Fraction(1)
    width: int = 1
    full_batch: bool = False

    @property
    def same_strength(self) -> bool:
        """Whether modes start as strong as they did."""
        return self.std * self.std * self.width == 1

    def of(self, spec: Spec, steps: int | None = None) -> Spec:
        """Return the spec of the varied training.

        Args:
            spec: With a network.
            steps: Recorded steps; by default those that cover the same time.
        """
        network = network_of(spec)
        out = network.init_std_out
        altered = replace(
            network,
            hidden=network.hidden * self.width,
            init_std=network.init_std * self.std,
            init_std_out=None if out is None else out * self.std,
            learning_rate=network.learning_rate * self.rate,
            batch_size=None if self.full_batch else network.batch_size,
            steps=ceil((network.steps - 1) / self.rate) + 1 if steps is None else steps,
        )
        return replace(spec.wider(self.width), network=altered)


SAME = Variation()
"""The spec's own training."""


class Trials:
    """A confrontation that is predicted and trained once more with things changed, each once."""

    def __init__(self, case: Validation) -> None:
        self.case = case
        self._losses, self._curves = cache(self._trained), cache(self._predicted)
        self._numbers = cache(partial(_changed, case.numbers))

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
        return mutual_distance(curve[None], losses, self.case.rng, self.case.error[0])

    def before(self, pair: str, change: Variation = SAME) -> float:
        """Return the distance as it was, to the networks that an experiment is measured with."""
        losses = self.losses(pair, SAME)
        losses = losses if change == SAME else losses[: self.few]
        return compare(self.theory(pair, SAME), losses.mean(axis=0)).max_abs_over_initial

    def theory(self, pair: str, change: Variation) -> np.ndarray:
        """Return the predicted loss, shape (steps,)."""
        return self._curves(is_aligned(pair), change)

    def losses(self, pair: str, change: Variation = SAME) -> np.ndarray:
        """Return the trained losses, one row a network."""
        return self._losses(pair, change)

    @property
    def few(self) -> int:
        """How many networks are trained again."""
        spec = self.case.numbers.spec
        network, data = network_of(spec), spec.dataset
        layers = data.n_x + data.n_y + network.hidden * (network.layers - 2)
        cost = 3 * network.steps * data.samples * network.hidden * layers
        return int(np.clip(_BUDGET // max(cost, 1), _FEW, _MANY))

    def _predicted(self, aligned: bool, change: Variation) -> np.ndarray:
        """Predict the judged loss of a changed experiment, shape (steps,)."""
        case, numbers = self.case, self._numbers(change)
        if aligned:
            return predict_aligned(numbers, case.chain)
        if change == SAME:
            return case.judged_curves.loss
        found = predicted_again(numbers, case.kappas)
        return found.loss if case.judged == "closed" else found.reduced

    def _trained(self, pair: str, change: Variation) -> np.ndarray:
        """Return the losses of networks that are trained again."""
        case, numbers = self.case, self._numbers(change)
        if change == SAME:
            found = case.run(pair).losses
            if is_aligned(pair) or len(found) >= self.few:
                return found
        if is_aligned(pair):
            return train_aligned(numbers, case.chain).losses
        kind = pair.removeprefix("theory_vs_")
        return train(kind, numbers.spec, case.kappas, self.few, case.rng).losses


def _changed(numbers: Derivation, change: Variation) -> Derivation:
    """Return the derivation for a changed experiment, for as many steps as it takes.

    Raises:
        NotSupportedError: There is none, or none that gets as far.
    """
    if change == SAME:
        return numbers
    if numbers.spec.switches:
        msg = "gates switch at given steps, which a changed experiment would not be at"
        raise NotSupportedError(msg)
    found = replace(numbers, spec=change.of(numbers.spec))
    if change.same_strength:
        return found  # as strong a start, so as many steps
    steps = steps_for_scale(numbers, found)
    if steps is None:
        msg = "the changed experiment was not found to get as far"
        raise NotSupportedError(msg)
    return replace(numbers, spec=change.of(numbers.spec, steps))


def predicted_again(numbers: Derivation, kappas: Mapping[str, float]) -> Prediction:
    """Predict a changed experiment as :func:`symreln.experiment.predictions.predict_all` does.

    Args:
        numbers: Of the changed experiment.
        kappas: κ of pathways by name: a property of the data, which no change touches.
    """
    if not numbers.known.matrices.holds:
        return predict_chain(numbers, chain_of(numbers))
    return predict_training(numbers, start_factors(numbers, kappas))
