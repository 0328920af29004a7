"""A confrontation predicted and trained once more with numbers of the network changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.integration import network_of
from symreln.experiment.closed import predict_aligned, train_aligned
from symreln.experiment.comparing import is_aligned
from symreln.experiment.metrics import Distance, Interval, compare, exactly, mutual_distance
from symreln.experiment.training import SAME, Variation, train
from symreln.experiment.variations import long_enough, predicted_again

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.experiment.outcome import Validation

#: Networks that are trained again: what is looked for is half of a distance beyond the tolerance,
#: which the scatter of a few seldom hides; and at most, where they are small.
_FEW, _MANY = 4, 32
#: Multiplications of a training above which no more than a few are: seconds of one core.
_BUDGET = 1e8


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
        return int(np.clip(_BUDGET // max(cost, 1), _FEW, _MANY))

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
            self._numbers[change] = long_enough(self.case.numbers, change)
        return self._numbers[change]
