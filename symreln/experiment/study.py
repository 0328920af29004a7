"""Convergence: initial scale and learning rate halved twice; deviations must shrink as predicted.

**Learning rate.** Gradient descent at rate η is off its flow by a term proportional to η, so the
change of a curve from η to η/2 is twice that from η/2 to η/4: order 1. Tested for the theory and
for trained networks, from the same draws.

**Initial scale.** What silent alignment drops of a start, Q = [W1ᵀ; W2], are the parts along the
shrinking combinations (v, −u)/√2 of every mode and along directions without one. Scaled by σ, they
change W2 W1 by terms of σ² while small weights grow: at the start by products of two weights; later
a part that does not grow meets one that has grown to order one only as an amplitude that shrank
from σ to below σ², or in directions that the targets have no part in, where the loss is quadratic
in a map of order σ. So the loss of a network and that of a network which starts from the growing
part alone differ by σ², up to a logarithm: order 2. Closed forms drop the same of the expected
start: for a mode, with g = E[Q Qᵀ], the flow's strength is c with c² = a² − g² and the closed form
(a + c)/2 with a − c shrinking, so they differ by at most g/2 = π0, at t = 0.

An order is confirmed where the nearest whole number is the predicted one and every value is smaller
than the one before. How the distances of theory to networks change is shown beside: fewer units
and gates that move in the network leave some that no halving mends.

What grows of a random start: all that silent alignment leaves of it.

Source: the assumption is 2.1.2 of [Jarvis2025]; of a mode's two amplitudes only the combination
(W1 v + W2ᵀ u)/√2 grows while weights are small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of, reduced_flow
from symreln.claims.prediction import closed_forms
from symreln.claims.probes import probe_bases
from symreln.claims.solve import at_values
from symreln.claims.widths import own_curves
from symreln.errors import InputError, NotSupportedError
from symreln.experiment.changed import changed, predicted_again, steps_for_scale, why_not_changed
from symreln.experiment.metrics import Distance, Interval, compare, distance
from symreln.experiment.strengths import mean_interval
from symreln.experiment.training import (
    GDLN,
    SAME,
    Variation,
    gated_pathways,
    train,
    train_gated,
    train_pair,
)
from symreln.train.record import Recording
from symreln.train.weights import LayerWeights

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from symreln.claims.derivation import Derivation
    from symreln.train.run import TrainingRun

#: Factors of the initial scale, and of the learning rate.
LEVELS = (Fraction(1), Fraction(1, 2), Fraction(1, 4))
#: Deviation over L(0) under which it is rounding, and no order is measured.
ROUNDING = 1e-12

RATE, SCALE = "learning rate", "initial scale"


@short_repr
@dataclass(frozen=True, kw_only=True)
class MeasuredOrder:
    """One deviation at falling learning rate or initial scale.

    Attributes:
        halved: "learning rate" or "initial scale".
        subject: "theory", "closed", "relu" (the network) or "gdln".
        what: Which deviation, in words.
        predicted: Its order.
        values: max |ΔL|/L(0) from level to level, mean over networks.
        order: log2 of the ratio of the last two values, with its interval over networks (Student's
            t); None where they are rounding.
        drift: By how much the order differs between the first two and the last two values: how far
            it may be from its limit. None where there are two values only.
    """

    halved: str
    subject: str
    what: str
    predicted: int
    values: tuple[float, ...]
    order: Interval
    drift: float | None

    @property
    def confirmed(self) -> bool | None:
        """Whether the values shrink at the predicted order; None where they are rounding."""
        if self.order.value is None:
            return None
        shrinks = all(later < earlier for earlier, later in pairwise(self.values))
        return shrinks and abs(self.order.value - self.predicted) < 0.5


@short_repr
@dataclass(frozen=True, kw_only=True)
class LevelDistance:
    """The distance of theory to trained networks at one level.

    Attributes:
        halved: "learning rate" or "initial scale".
        factor: Of the spec's.
        steps: Steps trained.
        pairs: Distances by the interface's names.
    """

    halved: str
    factor: Fraction
    steps: int
    pairs: Mapping[str, Distance]


@short_repr
@dataclass(frozen=True, kw_only=True)
class Study:
    """What halving does.

    Attributes:
        seeds: Networks of each kind and level.
        orders: Deviations with a predicted order.
        distances: Theory against networks, level by level.
        not_measured: (what, why) of orders that the spec has not.
    """

    seeds: int
    orders: tuple[MeasuredOrder, ...]
    distances: tuple[LevelDistance, ...]
    not_measured: tuple[tuple[str, str], ...]


def check_study(numbers: Derivation) -> None:
    """Refuse what cannot be halved.

    Raises:
        NotSupportedError: Gates switch at given steps.
    """
    if why := why_not_changed(numbers):
        msg = f"--study: {why}. Leave --study or the switches out"
        raise NotSupportedError(msg)


def study(
    derivation: Derivation,
    kappas: Mapping[str, float],
    seeds: int,
    rng: int,
    report: Callable[[int, int], None] | None = None,
) -> Study:
    """Halve the learning rate and the initial scale twice, predict, train and compare.

    Args:
        derivation: What is confronted; its spec needs a network and values.
        kappas: κ of pathways by name, as the confrontation has found them.
        seeds: Networks of each kind and level, the confrontation's first ones.
        rng: Seed of the confrontation.
        report: Called with (done, total) levels.

    Raises:
        InputError: Training diverged, or a smaller start never gets as far.
        NotSupportedError: Gates switch.
    """
    numbers = derivation.ask(at_values)
    check_study(numbers)
    work = _Study(numbers, kappas, seeds, rng)
    levels = [(RATE, factor) for factor in LEVELS] + [(SCALE, factor) for factor in LEVELS]
    for place, (halved, factor) in enumerate(levels):
        work.level(halved, factor)
        if report is not None:
            report(place + 1, len(levels))
    return work.result()


class _Study:
    """The levels under way."""

    def __init__(
        self, numbers: Derivation, kappas: Mapping[str, float], seeds: int, rng: int
    ) -> None:
        self._numbers, self._kappas, self._seeds, self._rng = numbers, kappas, seeds, rng
        self._distances: list[LevelDistance] = []
        #: Curves at common times by subject, one entry a rate, each (networks, steps).
        self._rates: dict[str, list[np.ndarray]] = {}
        #: Deviations by subject, one entry a scale, each (networks,).
        self._scales: dict[str, list[np.ndarray]] = {}
        self._first: tuple[TrainingRun | None, TrainingRun] | None = None

    def level(self, halved: str, factor: Fraction) -> None:
        """Predict and train at one level."""
        numbers = self._at(halved, factor)
        loss = predicted_again(numbers, self._kappas).loss
        runs = self._trained(numbers, factor)
        named = {"relu": runs[0], "gdln": runs[1]}
        trained = {name: run.losses for name, run in named.items() if run is not None}
        self._distances.append(
            LevelDistance(
                halved=halved,
                factor=factor,
                steps=len(loss) - 1,
                pairs={
                    f"reduced_vs_{name}": distance(loss, losses, self._rng)
                    for name, losses in trained.items()
                },
            )
        )
        if halved == RATE:
            stride = int(1 / factor)
            for name, losses in {"theory": loss[None], **trained}.items():
                self._rates.setdefault(name, []).append(losses[:, ::stride])
            return
        for name, deviation in self._dropped(numbers, runs[1].losses):
            self._scales.setdefault(name, []).append(deviation)

    def _at(self, halved: str, factor: Fraction) -> Derivation:
        if halved == RATE:
            return changed(self._numbers, Variation(rate=factor))
        if factor == 1:
            return self._numbers
        smaller = changed(self._numbers, Variation(std=factor))
        steps = steps_for_scale(self._numbers, smaller)
        if steps is None:
            msg = f"--study: from {factor} of init_std the loss is not predicted to get as far"
            raise InputError(msg)
        return changed(self._numbers, Variation(std=factor), steps)

    def _trained(
        self, numbers: Derivation, factor: Fraction
    ) -> tuple[TrainingRun | None, TrainingRun]:
        if factor == 1 and self._first is not None:  # both ladders begin with the spec as it is
            return self._first
        found = train_pair(numbers.spec, self._kappas, self._seeds, self._rng, record=Recording())
        if factor == 1:
            self._first = found
        return found

    def _dropped(self, numbers: Derivation, losses: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        """Yield what dropping all but the growing part of the start changes."""
        if not why_no_growing_part(numbers):
            kept = _train_growing(numbers, self._kappas, self._seeds, self._rng).losses
            yield "gdln", np.abs(kept - losses).max(axis=1) / losses[:, 0]
        if not _why_no_closed(numbers):
            times = np.arange(network_of(numbers.spec).steps, dtype=float)
            closed = closed_forms(numbers, times, flow=True)
            assert closed is not None
            flow = reduced_flow(numbers).trajectory(times).losses
            yield "closed", np.array([compare(closed.loss, flow).max_abs_over_initial])

    def result(self) -> Study:
        """Return what was found."""
        orders = [*self._rate_orders(), *self._scale_orders()]
        missing = [
            ("what silent alignment drops", why_no_growing_part(self._numbers)),
            ("what closed forms drop", _why_no_closed(self._numbers)),
        ]
        return Study(
            seeds=self._seeds,
            orders=tuple(orders),
            distances=tuple(self._distances),
            not_measured=tuple((what, why) for what, why in missing if why),
        )

    def _rate_orders(self) -> Iterator[MeasuredOrder]:
        names = {"theory": "theory", "relu": "network", "gdln": "GDLN"}
        for subject, curves in self._rates.items():
            changes = [
                np.abs(slow - fast).max(axis=1) / fast[:, 0] for fast, slow in pairwise(curves)
            ]
            what = f"change of the {names[subject]} from a rate to its half"
            yield _order(RATE, subject, what, 1, changes)

    def _scale_orders(self) -> Iterator[MeasuredOrder]:
        names = {
            "gdln": "what is not the growing part of the GDLN's start",
            "closed": "what closed forms drop of the expected start",
        }
        for subject, values in self._scales.items():
            yield _order(SCALE, subject, names[subject], 2, values)


def _order(
    halved: str, subject: str, what: str, predicted: int, values: Sequence[np.ndarray]
) -> MeasuredOrder:
    """Measure an order from deviations at falling levels, one entry a network."""
    means = tuple(float(value.mean()) for value in values)
    order, drift = Interval(value=None, low=None, high=None), None
    if min(float(value.min()) for value in values) > ROUNDING:
        orders = [np.log2(early / late) for early, late in pairwise(values)]
        order = mean_interval(orders[-1])
        drift = float((orders[-1] - orders[0]).mean()) if len(orders) > 1 else None
    return MeasuredOrder(
        halved=halved,
        subject=subject,
        what=what,
        predicted=predicted,
        values=means,
        order=order,
        drift=drift,
    )


def _why_no_closed(numbers: Derivation) -> str:
    if not numbers.closed or not own_curves(numbers).holds or not numbers.loss_separates:
        return "the modes are not closed ones whose loss is a sum"
    if not numbers.known.plain.holds or len(numbers.stages) > 1:
        return "their flow is not that of one stage of two layers of equal initial scale"
    return ""


def why_no_growing_part(numbers: Derivation) -> str:
    """Return why the growing part of a start is not known, or ""."""
    plain = numbers.known.plain
    if not plain.holds:
        return f"it is known of {plain.why}"
    if len(numbers.stages) > 1:
        return "a later stage grows first by what the earlier ones have not learned yet"
    if not numbers.closed:
        return "modes that lose, or directions that turn, grow from what does not grow at first"
    return ""


def _train_growing(
    numbers: Derivation, kappas: Mapping[str, float], seeds: int, rng: int
) -> TrainingRun:
    """Train the confrontation's first GDLNs from the growing part of their starts alone.

    Of every pathway's start are kept (W1 v + W2ᵀ u)/√2 for all modes (u, v) that learn something:
    the layers are then balanced and aligned.

    Args:
        numbers: Of one stage, with a network of two layers of equal initial scale.
        kappas: κ of pathways by name.
        seeds: Networks.
        rng: Seed of the confrontation.
    """
    spec = numbers.spec
    drawn = train(GDLN, SAME.of(spec, steps=1), kappas, seeds, rng)
    gated = gated_pathways(spec, kappas)
    initial = {}
    for pathway, one, weights in zip(numbers.pathways, gated, drawn.weights, strict=True):
        u, v, _ = probe_bases(pathway)
        initial[one.name] = growing_part(u[list(one.outputs)], v, weights)
    return train_gated(spec, kappas, initial=initial)


def growing_part(u: np.ndarray, v: np.ndarray, weights: LayerWeights) -> LayerWeights:
    """Return what grows of a pathway's weights: the projection on (v, u)/√2 of every mode.

    Args:
        u: Output vectors, orthonormal columns, (n_y, R).
        v: Input vectors, orthonormal columns, (n_x, R).
        weights: Of all seeds.
    """
    amplitudes = (weights.w1 @ v + np.swapaxes(weights.w2, 1, 2) @ u) / 2
    return LayerWeights(w1=amplitudes @ v.T, w2=u @ np.swapaxes(amplitudes, 1, 2))
