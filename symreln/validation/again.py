"""A confrontation done again with one number changed, for what it says of an assumption."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from symreln.errors import InputError, NotSupportedError
from symreln.validation.changed import (
    Change,
    changed,
    predicted_again,
    steps_for_scale,
    trained_again,
)
from symreln.validation.closed import predict_aligned, train_aligned
from symreln.validation.findings import Finding
from symreln.validation.metrics import compare

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from symreln.derivation import Derivation
    from symreln.dynamics.chain_start import ChainStart
    from symreln.train.network import TrainingRun
    from symreln.validation.band import PredictedBand
    from symreln.validation.metrics import CurveComparison

#: Networks of each kind that are trained again, at most: what is looked for is half of a distance
#: beyond the tolerance, which the scatter of a few does not hide.
MOST_SEEDS = 4
HALF = Fraction(1, 2)
#: The pair of curves of the GDLN that starts aligned.
ALIGNED = "descent_vs_aligned"
#: Halvings of the scale, or of the rate, while each takes away more than half of the distance and
#: leaves more than the tolerance; of a deviation of order 2 these leave one part in 65 536.
HALVINGS = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Confronted:
    """What a diagnosis starts from.

    Attributes:
        numbers: The derivation, without free parameters.
        kappas: κ of pathways by name.
        prediction: The predicted loss.
        network: The trained networks, or None.
        gdln: The trained GDLNs.
        metrics: Distances by pair.
        tolerance: Largest allowed one.
        rng: Seed of the confrontation.
        predicted: The predicted band of the network, or of the GDLN where there is no other.
        aligned: The GDLN that started aligned, where one was trained.
        chain: Where modes of three or more layers start; None for one or two.
    """

    numbers: Derivation
    kappas: Mapping[str, float]
    prediction: np.ndarray
    network: TrainingRun | None
    gdln: TrainingRun
    metrics: Mapping[str, CurveComparison]
    tolerance: float
    rng: int
    predicted: PredictedBand | None = None
    aligned: TrainingRun | None = None
    chain: ChainStart | None = None

    def distance(self, pair: str) -> float | None:
        """Return max |ΔL|/L(0) of a pair, or None where it was not measured."""
        found = self.metrics.get(pair)
        return None if found is None else found.max_abs_over_initial

    def run(self, pair: str) -> TrainingRun:
        """Return the trained side of a pair."""
        run = {"theory_vs_relu": self.network, ALIGNED: self.aligned}.get(pair, self.gdln)
        assert run is not None  # a pair that was not trained has no distance
        return run

    @property
    def few(self) -> int:
        """Networks of each kind that are trained again."""
        return min(MOST_SEEDS, self.gdln.seeds)

    def before(self, pair: str) -> float:
        """Return the distance to the networks that are trained again, as they were."""
        if pair == ALIGNED:  # one network, beside a prediction of its own
            return self.metrics[pair].max_abs_over_initial
        curve = self.run(pair).losses[: self.few].mean(axis=0)
        return compare(self.prediction, curve).max_abs_over_initial


class Again:
    """Experiments that are predicted and trained once more, each once."""

    def __init__(self, case: Confronted) -> None:
        self._case = case
        self._known: dict[Change, dict[str, float] | str] = {}

    def halved(
        self, name: str, pair: str, change: Callable[[Fraction], Change], what: str
    ) -> Finding:
        """Halve a number again and again, for as long as that takes more than half away."""
        factor = HALF
        found = self.finding(name, change(factor), pair, f"half {what}")
        for _ in range(1, HALVINGS):
            if not found.explains or (found.after or 0.0) <= self._case.tolerance:
                break
            factor /= 2
            more = self.finding(name, change(factor), pair, f"{factor} of {what}")
            if more.after is None or more.after >= (found.after or 0.0) / 2:
                break
            found = more
        return found

    def finding(self, name: str, change: Change, pair: str, replaced: str) -> Finding:
        """Replace one assumption and measure the distance of a pair again."""
        distances = self._distances(change)
        told = isinstance(distances, str)
        return Finding(
            assumption=name,
            replaced=replaced,
            before=self._case.before(pair),
            after=None if told else distances[pair],
            why_not=distances if told else "",
        )

    def _distances(self, change: Change) -> dict[str, float] | str:
        if change not in self._known:
            self._known[change] = self._measured(change)
        return self._known[change]

    def _measured(self, change: Change) -> dict[str, float] | str:
        case = self._case
        if case.numbers.later:
            return "gates switch at given steps, which a changed experiment would not be at"
        try:
            numbers = self._changed(change)
            if numbers is None:
                return "the changed experiment was not found to get as far"
            loss = predicted_again(numbers, case.kappas).loss
            network, gdln = trained_again(numbers, case.kappas, case.few, case.rng)
            curves = {"theory_vs_relu": (loss, network), "theory_vs_gdln": (loss, gdln)}
            if case.aligned is not None and change.width == 1:  # as many units: the same chain
                curves[ALIGNED] = (
                    predict_aligned(numbers, case.chain),
                    train_aligned(numbers, case.chain),
                )
        except (InputError, NotSupportedError) as error:
            return str(error)
        return {
            pair: compare(predicted, run.mean_loss).max_abs_over_initial
            for pair, (predicted, run) in curves.items()
            if run is not None
        }

    def _changed(self, change: Change) -> Derivation | None:
        numbers = changed(self._case.numbers, change)
        if change.std * change.std * change.width == 1:
            return numbers  # as strong a start, so as many steps
        steps = steps_for_scale(self._case.numbers, numbers)
        return None if steps is None else changed(self._case.numbers, change, steps)
