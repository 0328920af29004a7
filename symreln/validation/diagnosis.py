"""Which assumption fails where theory and training disagree, each named on evidence.

One approximation is replaced at a time by what it stands for, and the distance is measured again.
An assumption is named where that takes away more than half of the distance: what is left is then
less than what it cost. Where several do, all are named, but for gates and alignment where a smaller
start alone mends it; gates only where the GDLN, which has them, bears the theory out. Where none
does, the distance is unexplained, and that is said.

| assumption | replaced by |
|---|---|
| alignment | a start that is aligned (of more than two layers: two need none) |
| gates | gates that move, predicted; of a linear network no gates |
| initial scale | half of it, predicted and trained, for as far as the loss got |
| step size | half the learning rate, predicted and trained, for the same time |
| width | four times the units at half the initial scale: the same strengths, half the scatter |
| many networks | the mean of all networks of the law, of which those trained are a draw |

The last one comes first, where pathways have few units and the prediction is a mean of networks
that were drawn: a distance that their law gives the mean of so few by chance alone, in 1 of 20
cases or more, says nothing of the others. Scale and rate are halved again while that takes more
than half away and leaves too much.

Scale, rate and width train the first networks of each kind again, from the same draws. They are
done only where theory and training disagree; half the learning rate only where finite steps can be
seen: in a loss that rises, which the flow's never does. More units only where nothing else was
found, and where the theory takes many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from symreln.errors import InputError, NotSupportedError
from symreln.integration import network_of
from symreln.prediction import learning_modes, predict_training
from symreln.validation.changed import (
    Change,
    changed,
    predicted_again,
    steps_for_scale,
    trained_again,
)
from symreln.validation.metrics import compare
from symreln.validation.trained import is_one_map
from symreln.validation.words import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from symreln.derivation import Derivation
    from symreln.train.network import TrainingRun
    from symreln.validation.band import PredictedBand
    from symreln.validation.metrics import CurveComparison

#: Networks of each kind that are trained again, at most: what is looked for is half of a distance
#: beyond the tolerance, which the scatter of a few does not hide.
MOST_SEEDS = 4
#: Rise of a loss over the first one, in one step, above which it is no rounding.
ROUNDING = 1e-12

HALF = Fraction(1, 2)
#: Halvings of the scale, or of the rate, while each takes away more than half of the distance and
#: leaves more than the tolerance; of a deviation of order 2 these leave one part in 65 536.
HALVINGS = 8

ALIGNMENT, GATES, SCALE, STEP, WIDTH, NETWORKS = (
    "alignment",
    "gates",
    "initial scale",
    "step size",
    "width",
    "many networks",
)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One assumption, replaced.

    Attributes:
        assumption: Its name.
        replaced: By what, in words.
        before: max |ΔL|/L(0) with the assumption.
        after: The same with it replaced; None where that was not possible.
        why_not: Why it was not, or "".
        measured: A quantity beside it that says the same, in words, or "".
    """

    assumption: str
    replaced: str
    before: float
    after: float | None
    why_not: str = ""
    measured: str = ""

    @property
    def explains(self) -> bool:
        """Whether more than half of the distance goes with the assumption."""
        return self.after is not None and self.after < self.before / 2


@dataclass(frozen=True, kw_only=True)
class PairDiagnosis:
    """Why one pair of curves disagrees.

    Attributes:
        pair: Its name, as in ``metrics``.
        findings: What was tried, in order.
    """

    pair: str
    findings: tuple[Finding, ...]

    @cached_property
    def failed(self) -> tuple[str, ...]:
        """The assumptions that are named; none where the distance is unexplained."""
        named = [found.assumption for found in self.findings if found.explains]
        # Gates that move are predicted at the scale of the spec and take it into account too, and
        # layers align the better the smaller they start: where that mends it, it is the cause.
        less = (GATES, ALIGNMENT) if SCALE in named else ()
        return tuple(name for name in dict.fromkeys(named) if name not in less)

    @property
    def left(self) -> float | None:
        """Least distance with a named assumption replaced; None where nothing is named."""
        known = [
            found.after
            for found in self.findings
            if found.assumption in self.failed and found.after is not None
        ]
        return min(known, default=None)


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

    def distance(self, pair: str) -> float | None:
        """Return max |ΔL|/L(0) of a pair, or None where it was not measured."""
        found = self.metrics.get(pair)
        return None if found is None else found.max_abs_over_initial

    def run(self, pair: str) -> TrainingRun:
        """Return the trained side of a pair."""
        run = self.network if pair == "theory_vs_relu" else self.gdln
        assert run is not None  # a pair that was not trained has no distance
        return run

    @property
    def few(self) -> int:
        """Networks of each kind that are trained again."""
        return min(MOST_SEEDS, self.gdln.seeds)

    def before(self, pair: str) -> float:
        """Return the distance to the networks that are trained again, as they were."""
        curve = self.run(pair).losses[: self.few].mean(axis=0)
        return compare(self.prediction, curve).max_abs_over_initial


def diagnose(case: Confronted, pairs: tuple[str, ...]) -> tuple[PairDiagnosis, ...]:
    """Say of every pair which assumption fails.

    A GDLN that starts aligned has the theory's own start, gates and steps: nothing is replaced.

    Args:
        case: What was predicted and trained.
        pairs: Those that disagree.
    """
    again = _Again(case)
    return tuple(
        PairDiagnosis(pair=pair, findings=tuple(_findings(case, pair, again))) for pair in pairs
    )


def _findings(case: Confronted, pair: str, again: _Again) -> Iterator[Finding]:
    if pair == "descent_vs_aligned":
        return
    probes: tuple[Callable[[Confronted, str, _Again], Finding | None], ...] = (
        _alignment,
        _gates,
        _step_size,
        _scale,
    )
    chance = _networks(case, pair)
    if chance is not None:
        yield chance
        return
    named = False
    for probe in probes:
        found = probe(case, pair, again)
        if found is not None:
            named = named or found.explains
            yield found
    if not named and not case.numbers.narrow:  # few units are drawn, not taken as many
        yield _width(case, pair, again)


def _networks(case: Confronted, pair: str) -> Finding | None:
    """Return that chance alone gives a mean of so few networks this distance, where it does."""
    if case.predicted is None or not case.numbers.narrow:
        return None  # few units are drawn whole; elsewhere what the band leaves out is looked for
    before, count = case.distance(pair), len(case.run(pair).losses)
    chance = case.predicted.by_chance(count)
    if before is None or chance < before:
        return None
    return Finding(
        assumption=NETWORKS,
        replaced="the mean of all networks of the law",
        before=before,
        after=0.0,
        measured=(
            f"by chance alone the mean of {count} is up to {percent(chance)} off that of all, "
            "in 95 of 100 cases"
        ),
    )


def _alignment(case: Confronted, pair: str, again: _Again) -> Finding | None:
    # Of two layers the reduction holds from any start, aligned or not.
    aligned = case.distance("descent_vs_aligned")
    if aligned is None or network_of(case.numbers.spec).layers <= 2:
        return None
    before = case.distance(pair)
    assert before is not None
    what = "a start that is aligned with the modes"
    return Finding(assumption=ALIGNMENT, replaced=what, before=before, after=aligned)


def _gates(case: Confronted, pair: str, again: _Again) -> Finding | None:
    if pair != "theory_vs_relu":
        return None
    moving, gdln = case.distance("moving_vs_relu"), case.distance("theory_vs_gdln")
    what = "gates that move, predicted from single units"
    if moving is None:
        what, moving = "one pathway, always open, as in a linear network", _ungated(case)
    if moving is None or gdln is None:
        return None
    before = case.distance(pair)
    assert before is not None
    if gdln > case.tolerance:
        # Then the theory fails with its own gates in place: they are not what it fails by.
        why = "the GDLN, whose gates are the spec's, disagrees too"
        return Finding(assumption=GATES, replaced=what, before=before, after=None, why_not=why)
    return Finding(assumption=GATES, replaced=what, before=before, after=moving)


def _ungated(case: Confronted) -> float | None:
    """Return the distance of the theory without gates; None but for a linear network of gates."""
    spec, network = case.numbers.spec, network_of(case.numbers.spec)
    if network.activation != "linear" or network.layers != 2 or is_one_map(spec):
        return None
    from symreln.pipeline import derive_unchecked

    data, first = spec.dataset, spec.pathways[0]
    whole = replace(
        first,
        gate=(1,) * data.samples,
        inputs=tuple(range(data.n_x)),
        outputs=tuple(range(data.n_y)),
        then=(),
    )
    loss = predict_training(derive_unchecked(replace(spec, pathways=(whole,)))).loss
    return compare(loss, case.run("theory_vs_relu").mean_loss).max_abs_over_initial


def _step_size(case: Confronted, pair: str, again: _Again) -> Finding | None:
    if largest_rise(case.run(pair).losses) <= ROUNDING:
        return None
    return again.halved(STEP, pair, lambda factor: Change(rate=factor), "the learning rate")


def _scale(case: Confronted, pair: str, again: _Again) -> Finding | None:
    late = too_late(case.numbers)
    measured = "" if not late else f"{', '.join(late)} would start beyond half of their heights"
    found = again.halved(SCALE, pair, lambda factor: Change(std=factor), "the initial scale")
    return replace(found, measured=measured)


def _width(case: Confronted, pair: str, again: _Again) -> Finding:
    # As strong a start: H σ² is the same.
    what = "four times the units at half the initial scale"
    return again.finding(WIDTH, Change(std=HALF, width=4), pair, what)


def too_late(numbers: Derivation) -> tuple[str, ...]:
    """Return the modes that have no half-time: π0 ≥ s/(2 d_eff), which no small start has."""
    start = float(numbers.strength0 or 0)
    return tuple(
        mode.label
        for _, mode in learning_modes(numbers)
        if mode.d_eff is not None and start * mode.d_eff.to_float() >= mode.s.to_float() / 2
    )


def largest_rise(losses: np.ndarray) -> float:
    """Return the largest rise of a loss from one step to the next, over its first.

    The loss of a flow never rises, nor that of descent with small steps.

    Args:
        losses: Shape (seeds, steps).
    """
    if losses.shape[1] < 2:
        return 0.0
    return float((np.diff(losses, axis=1).max(axis=1) / losses[:, 0]).max())


class _Again:
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
        except (InputError, NotSupportedError) as error:
            return str(error)
        runs = {"theory_vs_relu": network, "theory_vs_gdln": gdln}
        return {
            pair: compare(loss, run.mean_loss).max_abs_over_initial
            for pair, run in runs.items()
            if run is not None
        }

    def _changed(self, change: Change) -> Derivation | None:
        numbers = changed(self._case.numbers, change)
        if change.std * change.std * change.width == 1:
            return numbers  # as strong a start, so as many steps
        steps = steps_for_scale(self._case.numbers, numbers)
        return None if steps is None else changed(self._case.numbers, change, steps)
