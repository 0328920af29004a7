"""Which assumption fails where a graph's scalar modes and trained networks disagree.

As :mod:`symreln.validation.diagnosis` does it: one assumption is replaced at a time, and named
where the whole interval of what is left is below half of the distance. Gates are the graph's own
and cannot fail.

| assumption | replaced by |
|---|---|
| alignment | a start that is aligned with the modes |
| step size | half the learning rate, where a loss rises, as the flow's never does |
| initial scale | half of it, for as far as the loss got |
| width | four times the units at half the initial scale: about the same strengths, less scatter |

From an aligned start only steps can fail. Where smaller random weights, or more of them, are
aligned enough, their scale or number is the cause and not alignment.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from symreln.errors import InputError, NotSupportedError
from symreln.integration import network_of
from symreln.validation.again import HALF
from symreln.validation.changed import Change, changed_spec
from symreln.validation.diagnosis import ROUNDING, largest_rise
from symreln.validation.findings import ALIGNMENT, SCALE, STEP, WIDTH, Finding, PairDiagnosis
from symreln.validation.graph_pair import ALIGNED, RANDOM, GraphPair, confront_modes
from symreln.validation.graph_untested import step_below
from symreln.validation.intervals import Interval, distance
from symreln.validation.metrics import compare
from symreln.validation.scalar_modes import ScalarModes

if TYPE_CHECKING:
    from collections.abc import Iterator


def diagnose_graph(
    pair: GraphPair, disagreements: tuple[str, ...], rng: int
) -> tuple[PairDiagnosis, ...]:
    """Say of every pair of curves that disagrees which assumption fails.

    Args:
        pair: What was predicted and trained.
        disagreements: Names of the pairs.
        rng: Seed of the confrontation.
    """
    again = _Again(pair, rng)
    probes = {ALIGNED: _from_aligned, RANDOM: _from_random}
    return tuple(
        PairDiagnosis(pair=name, findings=tuple(probes[name](pair, again)))
        for name in disagreements
    )


def _from_aligned(pair: GraphPair, again: _Again) -> Iterator[Finding]:
    if largest_rise(pair.aligned.losses) > ROUNDING:
        yield again.finding(STEP, ALIGNED, Change(rate=HALF), "half the learning rate")


def _from_random(pair: GraphPair, again: _Again) -> Iterator[Finding]:
    yield Finding(
        assumption=ALIGNMENT,
        replaced="a start that is aligned with the modes",
        before=pair.metrics[RANDOM].max_abs_over_initial,
        after=pair.metrics[ALIGNED].max_abs_over_initial,
    )
    if largest_rise(pair.gdln.losses) > ROUNDING:
        yield again.finding(STEP, RANDOM, Change(rate=HALF), "half the learning rate")
    scale = again.finding(SCALE, RANDOM, Change(std=HALF), "half the initial scale")
    yield scale
    if not scale.explains:
        change = Change(std=HALF, width=4)
        yield again.finding(WIDTH, RANDOM, change, "four times the units at half the initial scale")


class _Again:
    """Experiments that are predicted and trained once more, each once."""

    def __init__(self, pair: GraphPair, rng: int) -> None:
        self._pair, self._rng = pair, rng
        self._few = pair.gdln.seeds  # graphs are small: as many as before
        self._known: dict[Change, GraphPair | str] = {}

    def finding(self, name: str, pair: str, change: Change, replaced: str) -> Finding:
        """Replace one assumption and measure the distance of a pair again."""
        if change not in self._known:
            self._known[change] = self._measured(change)
        found = self._known[change]
        left = None if isinstance(found, str) else self._left(found, pair)
        return Finding(
            assumption=name,
            replaced=replaced,
            before=self._before(pair),
            after=None if left is None else left.value,
            low=None if left is None else left.low,
            high=None if left is None else left.high,
            why_not=found if isinstance(found, str) else "",
        )

    def _left(self, found: GraphPair, pair: str) -> Interval:
        if pair == ALIGNED or found.theory is None:  # one run: nothing is drawn
            value = found.metrics[pair].max_abs_over_initial
            return Interval(value=value, low=value, high=value)
        return distance(found.theory, found.gdln.losses, self._rng).max_abs_over_initial

    def _before(self, name: str) -> float:
        """Return the distance to the networks that are trained again, as they were."""
        pair = self._pair
        if name == ALIGNED or pair.theory is None:
            return pair.metrics[name].max_abs_over_initial
        curve = pair.gdln.losses[: self._few].mean(axis=0)
        return compare(pair.theory, curve).max_abs_over_initial

    def _measured(self, change: Change) -> GraphPair | str:
        try:
            found = self._confronted(change)
        except (InputError, NotSupportedError) as error:
            return str(error)
        return found or "the changed experiment was not found to get as far"

    def _confronted(self, change: Change) -> GraphPair | None:
        old, start = self._pair.modes, self._pair.start
        spec = changed_spec(old.spec, change)
        if change.width != 1:  # as strong a start, so as many steps
            return confront_modes(ScalarModes.of(spec), self._few, self._rng)
        modes = replace(old, spec=spec)
        if not isinstance(start, str):
            start = start.scaled(float(change.std))
        if change.std != 1:
            steps = self._steps(modes, float(change.std))
            if steps is None:
                return None
            modes = replace(old, spec=changed_spec(old.spec, change, steps))
        return confront_modes(modes, self._few, self._rng, start=start)

    def _steps(self, smaller: ScalarModes, factor: float) -> int | None:
        """Return how many steps a smaller start takes to get as far, or None."""
        pair = self._pair
        assert pair.theory is not None  # the scale is changed for random weights alone
        assert not isinstance(pair.start, str)
        first, last = float(pair.theory[0]), float(pair.theory[-1])
        # Near its end a loss is within rounding of it: one in a thousand of the fall is as far.
        level = last + (first - last) / 1000
        found = step_below(smaller, factor * pair.start.amplitude, level)
        return None if found is None else max(network_of(pair.modes.spec).steps, found + 1)
