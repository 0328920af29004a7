"""A confrontation done again with one thing changed, for what it says of an assumption.

The theory's own curve once more, with one of the things that it takes for granted replaced.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field
from fractions import Fraction
from itertools import islice
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.claims.head_start import mode_laws
from symreln.claims.integration import check_two_layers, network_of
from symreln.claims.prediction import (
    closed_curves,
    first_starts,
    loss_of_curves,
    matrices_of,
)
from symreln.claims.starts import mode_kappas, start_factors
from symreln.claims.widths import own_curves
from symreln.errors import NotSupportedError
from symreln.experiment.changed import changed, predicted_again, steps_for_scale
from symreln.experiment.closed import predict_aligned, train_aligned
from symreln.experiment.comparing import JUDGED, is_aligned
from symreln.experiment.gate_patterns import effect_of_gates, shown_gates
from symreln.experiment.metrics import Interval, compare, mutual_distance, point
from symreln.experiment.training import SAME, Variation, pair_streams, train

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.curves import Judged
    from symreln.claims.derivation import Derivation
    from symreln.experiment.outcome import Validation


@record
class Instead:
    """What is taken in the place of what the theory takes for granted.

    Attributes:
        starts: (stage, factor) of the stage whose pathways start with other strengths.
        followed: Whether earlier stages are followed as they learn; closed forms take each of
            their modes as not learned up to its half-time, and as learned from then on.
        stepwise: Whether modes go by the network's finite steps all along; closed forms keep step
            while they grow from little.
    """

    starts: tuple[tuple[int, float], ...] = ()
    followed: bool = False
    stepwise: bool = False


def curve_instead(
    numbers: Derivation, kappas: Mapping[str, float], judged: Judged, instead: Instead
) -> np.ndarray:
    """Return the judged loss at every step of the network with things replaced.

    Args:
        numbers: Without free parameters, with a network.
        kappas: κ of pathways by name, which the reduction starts from; closed forms do not.
        judged: Which curve it is.
        instead: What is replaced.

    Raises:
        NotSupportedError: The curve is not made of what is replaced.
    """
    if instead == Instead():
        found = predicted_again(numbers, kappas)
        return found.loss if judged == "closed" else found.reduced
    check_replaced(numbers, "starts")
    if judged == "reduced":
        return _descent(numbers, kappas, instead)
    if not instead.followed:
        return _closed(numbers, kappas, instead)
    network = network_of(numbers.spec)
    check_two_layers(numbers.known, "Integration of the reduced flow")
    times = np.arange(network.steps, dtype=float)
    starts = first_starts(numbers, _factors_of(numbers, kappas))
    return numbers.ask(matrices_of).trajectory(times, starts=starts).losses


def check_replaced(numbers: Derivation, what: str) -> None:
    """Refuse to replace what each mode of a reduction starts from or is gated by.

    Raises:
        NotSupportedError: The reduction does not follow modes one by one.
    """
    if not numbers.known.matrices.holds or not own_curves(numbers).holds:
        msg = f"{what} are replaced in networks of two layers with gates that stay and many units"
        raise NotSupportedError(msg)


def _descent(numbers: Derivation, kappas: Mapping[str, float], instead: Instead) -> np.ndarray:
    starts, steps = (
        first_starts(numbers, _factors_of(numbers, kappas)),
        network_of(numbers.spec).steps,
    )
    matrices, factors = numbers.ask(matrices_of), _factors(numbers, instead)
    return matrices.descent(steps, starts=starts, factors=factors).losses


def _factors_of(numbers: Derivation, kappas: Mapping[str, float]) -> dict[str, Fraction]:
    return start_factors(numbers, mode_kappas(numbers, kappas))


def _factors(numbers: Derivation, instead: Instead) -> dict[int, float]:
    """Return by how much every pathway starts stronger, by its place."""
    times = dict(instead.starts)
    stages = [pathway.effective.pathway.stage for pathway in numbers.pathways]
    return {place: times[stage] for place, stage in enumerate(stages) if stage in times}


def _closed(numbers: Derivation, kappas: Mapping[str, float], instead: Instead) -> np.ndarray:
    """Return the loss of the closed forms from other starts, or step by step."""
    grid = np.arange(network_of(numbers.spec).steps, dtype=float)
    factors = _factors_of(numbers, kappas)
    times, found = dict(instead.starts), {}
    for factor in {1.0, *times.values()}:
        # Strengths start with the variance of the weights.
        started = changed(numbers, Variation(std=Fraction(sqrt(factor))))
        curves = _curves(started, grid, instead, factors)
        for pathway in numbers.pathways:
            if times.get(pathway.effective.pathway.stage, 1.0) == factor:
                found |= {m.label: curves[m.label] for m in pathway.modes if m.label in curves}
    return loss_of_curves(numbers, found, grid, factors)


def _curves(
    numbers: Derivation, grid: np.ndarray, instead: Instead, factors: Mapping[str, Fraction]
) -> dict[str, np.ndarray]:
    if instead.stepwise:
        return _stepped(numbers, len(grid), factors)
    return closed_curves(numbers, grid, factors=factors)


def _stepped(
    numbers: Derivation, steps: int, factors: Mapping[str, Fraction]
) -> dict[str, np.ndarray]:
    """Return the closed modes by gradient descent's own steps, as :func:`closed_curves` does."""
    laws = mode_laws(numbers, factors=factors)
    return {n: np.array([*islice(each.law.steps(), steps)]).ravel() for n, each in laws.items()}


#: Networks that are trained again: what is looked for is half of a distance beyond the tolerance,
#: which the scatter of a few seldom hides; and at most, where they are small.
FEW, MANY = 4, 32
#: Multiplications of a training above which no more than a few are: seconds of one core.
BUDGET = 1e8
HALF = Fraction(1, 2)
#: The pairs of curves by what was trained.
GDLN, RELU = JUDGED


@record
class Experiment:
    """What is other than in the confrontation.

    Attributes:
        change: Numbers of the network that are multiplied, predicted and trained again.
        instead: What the theory takes for granted that is replaced.
        gates: Whether the theory's units have the gates that the network's show.
    """

    change: Variation = SAME
    instead: Instead = field(default_factory=Instead)
    gates: bool = False


class Trials(ABC):
    """A confrontation that is predicted and trained once more with things changed, each once."""

    def __init__(self, case: Validation) -> None:
        self._case = case
        self._error = case.error[0]
        self._losses: dict[tuple[str, Variation], np.ndarray] = {}
        self._curves: dict[tuple[bool, Experiment], np.ndarray] = {}

    @property
    @abstractmethod
    def few(self) -> int:
        """How many networks are trained again."""

    @abstractmethod
    def predicted(self, made: Experiment, *, aligned: bool) -> np.ndarray:
        """Predict the losses, one row, or one for every network whose gates it takes.

        Args:
            made: What is other than in the confrontation.
            aligned: Whether the networks start aligned with the modes.
        """

    @abstractmethod
    def trained(self, pair: str, change: Variation) -> np.ndarray:
        """Train the networks of a pair again and return their losses, one row a network."""

    def distance(self, pair: str, made: Experiment) -> Interval:
        """Return what is between the theory and training, max |ΔL|/L(0), with its interval.

        Raises:
            InputError: The changed experiment cannot be done.
            NotSupportedError: What is replaced is not there.
        """
        theory, trained = self.theory(pair, made), self.losses(pair, made.change)
        found = mutual_distance(theory, trained, self._case.rng, self._error).max_abs_over_initial
        return point(found.value) if is_aligned(pair) else found

    def before(self, pair: str, made: Experiment) -> float:
        """Return the distance as it was, to the networks that an experiment is measured with."""
        losses = self.losses(pair, SAME)
        if made.change != SAME:
            losses = losses[: self.few]
        return compare(self.theory(pair, Experiment())[0], losses.mean(axis=0)).max_abs_over_initial

    def theory(self, pair: str, made: Experiment) -> np.ndarray:
        """Return the predicted losses, one row, or one for every network whose gates it takes."""
        key = (is_aligned(pair), made)
        if key not in self._curves:
            self._curves[key] = self.predicted(made, aligned=key[0])
        return self._curves[key]

    def losses(self, pair: str, change: Variation) -> np.ndarray:
        """Return the trained losses, one row a network."""
        key = (pair, change)
        if key not in self._losses:
            self._losses[key] = self.trained(pair, change)
        return self._losses[key]


class Again(Trials):
    """Those of pathways."""

    def __init__(self, case: Validation) -> None:
        super().__init__(case)
        self.case = case
        self._numbers: dict[Variation, Derivation] = {SAME: case.numbers}

    @property
    def few(self) -> int:
        """How many networks are trained again."""
        spec = self.case.numbers.spec
        network, data = network_of(spec), spec.dataset
        layers = data.n_x + data.n_y + network.hidden * (network.layers - 2)
        cost = 3 * network.steps * data.samples * network.hidden * layers
        return int(np.clip(BUDGET // max(cost, 1), FEW, MANY))

    def predicted(self, made: Experiment, *, aligned: bool) -> np.ndarray:
        """Predict the losses; see :meth:`Trials.predicted`."""
        case, numbers = self.case, self.numbers(made.change)
        if aligned:
            return predict_aligned(numbers, case.chain)[None]
        if made == Experiment():
            return case.prediction.loss[None]
        curve = curve_instead(numbers, case.kappas, case.judged, made.instead)[None]
        return curve + self._effect() if made.gates else curve

    def numbers(self, change: Variation) -> Derivation:
        """Return the derivation for a changed experiment, for as many steps as it takes."""
        if change not in self._numbers:
            self._numbers[change] = self._changed(change)
        return self._numbers[change]

    def trained(self, pair: str, change: Variation) -> np.ndarray:
        """Return the losses of networks that are trained again."""
        case, numbers = self.case, self.numbers(change)
        if change == SAME:
            found = case.run(pair).losses
            if is_aligned(pair) or len(found) >= self.few:
                return found
        if is_aligned(pair):
            return train_aligned(numbers, case.chain).losses
        kind = pair.removeprefix("theory_vs_")
        return train(kind, numbers.spec, case.kappas, self.few, case.rng).losses

    def _changed(self, change: Variation) -> Derivation:
        case = self.case
        numbers = changed(case.numbers, change)
        if change.std * change.std * change.width == 1:
            return numbers  # as strong a start, so as many steps
        steps = steps_for_scale(case.numbers, numbers)
        if steps is None:
            msg = "the changed experiment was not found to get as far"
            raise NotSupportedError(msg)
        return changed(case.numbers, change, steps)

    def _effect(self) -> np.ndarray:
        """Return what the gates that the networks show do, one row a pair of GDLNs."""
        case, losses = self.case, self.losses(RELU, SAME)[:FEW]
        gates = shown_gates(case.numbers, case.prediction, losses, pair_streams(case.rng)[0])
        # Closed forms start from half of the units, not from κ.
        kappas = {} if case.judged == "closed" else case.kappas
        return effect_of_gates(case.numbers, kappas, gates, FEW, case.rng)
