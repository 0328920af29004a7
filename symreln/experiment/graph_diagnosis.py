"""Which assumption fails where a graph's scalar modes and trained networks disagree.

As :mod:`symreln.experiment.diagnosis` does it: one assumption is replaced at a time, and named
where the whole interval of what is left is below half of the distance. Gates are the graph's own
and cannot fail.

| assumption | replaced by |
|---|---|
| alignment | a start that is aligned with the modes |
| infinitely small steps | the network's finite steps (of closed forms) |
| closed forms | the scalar modes step by step, every one from its own start |
| step size | half the learning rate, where a loss rises, as the flow's never does |
| initial scale | half of it, for as far as the loss got |
| width | four times the units at half the initial scale: about the same strengths, less scatter |

From an aligned start only steps can fail. Where smaller random weights, or more of them, are
aligned enough, their scale or number is the cause and not alignment.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from symreln.claims.integration import network_of
from symreln.errors import InputError, NotSupportedError
from symreln.experiment.again import HALF
from symreln.experiment.changed import Change, changed_spec
from symreln.experiment.diagnosis import ROUNDING, largest_rise
from symreln.experiment.findings import (
    ALIGNMENT,
    AND,
    FLOW,
    SCALE,
    STEP,
    WIDTH,
    Finding,
    PairDiagnosis,
)
from symreln.experiment.graph_pair import ALIGNED, RANDOM, GraphPair, confront_modes
from symreln.experiment.graph_untested import step_below
from symreln.experiment.intervals import Interval, distance
from symreln.experiment.metrics import compare
from symreln.experiment.scalar_modes import ScalarModes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

#: What closed forms take for granted: the flow, and one start of all modes, their mean.
FORMS = "closed forms"
OWN_STARTS = "scalar modes step by step, every one from its own start"


def diagnose_graph(
    pair: GraphPair,
    disagreements: tuple[str, ...],
    rng: int,
    judged: Callable[[GraphPair], np.ndarray | None],
) -> tuple[PairDiagnosis, ...]:
    """Say of every pair of curves that disagrees which assumption fails.

    Args:
        pair: What was predicted and trained.
        disagreements: Names of the pairs.
        rng: Seed of the confrontation.
        judged: Return the judged loss from random weights, None where nothing is predicted.
    """
    again = _Again(pair, rng, judged)
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
        before=again.before(RANDOM),
        after=pair.metrics[ALIGNED].max_abs_over_initial,
    )
    forms = again.closed_forms()
    yield from forms
    tried, found = [], [*forms]
    if not any(each.explains for each in forms) and largest_rise(pair.gdln.losses) > ROUNDING:
        tried.append((STEP, Change(rate=HALF), "half the learning rate"))
        found.append(again.finding(STEP, RANDOM, *tried[-1][1:]))
        yield found[-1]
    tried.append((SCALE, Change(std=HALF), "half the initial scale"))
    found.append(again.finding(SCALE, RANDOM, *tried[-1][1:]))
    yield found[-1]
    if not found[-1].explains:
        what = "four times the units at half the initial scale"
        tried.append((WIDTH, Change(std=HALF, width=4), what))
        found.append(again.finding(WIDTH, RANDOM, *tried[-1][1:]))
        yield found[-1]
    if forms and not any(each.explains for each in found):
        for name, change, what in tried:
            yield again.finding(f"{name}{AND}{FORMS}", RANDOM, change, f"{what}{AND}{OWN_STARTS}")


class _Again:
    """Experiments that are predicted and trained once more, each once."""

    def __init__(
        self, pair: GraphPair, rng: int, judged: Callable[[GraphPair], np.ndarray | None]
    ) -> None:
        self._pair, self._rng, self._judged = pair, rng, judged
        self._curve = judged(pair)
        self._few = pair.gdln.seeds  # graphs are small: as many as before
        self._known: dict[Change, GraphPair | str] = {}

    def finding(self, name: str, pair: str, change: Change, replaced: str) -> Finding:
        """Replace one assumption and measure the distance of a pair again."""
        if change not in self._known:
            self._known[change] = self._measured(change)
        found = self._known[change]
        own = FORMS in name.split(AND)
        left = None if isinstance(found, str) else self._left(found, pair, own=own)
        return Finding(
            assumption=name,
            replaced=replaced,
            before=self.before(pair),
            after=None if left is None else left.value,
            low=None if left is None else left.low,
            high=None if left is None else left.high,
            why_not=found if isinstance(found, str) else "",
        )

    def closed_forms(self) -> list[Finding]:
        """Replace what closed forms, where they are judged, take for granted beside the modes."""
        pair = self._pair
        if isinstance(pair.start, str) or pair.theory is None or self._curve is pair.theory:
            return []
        steps = pair.modes.descend(pair.start.amplitude).loss
        found = [self._of_curve(FLOW, steps, "the network's finite steps")]
        if not found[0].explains:
            found.append(self._of_curve(FORMS, pair.theory, OWN_STARTS))
        return found

    def _of_curve(self, name: str, curve: np.ndarray, replaced: str) -> Finding:
        left = distance(curve, self._pair.gdln.losses, self._rng).max_abs_over_initial
        return Finding(
            assumption=name,
            replaced=replaced,
            before=self.before(RANDOM),
            after=left.value,
            low=left.low,
            high=left.high,
        )

    def _left(self, found: GraphPair, pair: str, *, own: bool) -> Interval:
        curve = found.theory if own else self._judged(found)
        theory = None if pair == ALIGNED else curve
        if theory is None:  # one run: nothing is drawn
            value = found.metrics[pair].max_abs_over_initial
            return Interval(value=value, low=value, high=value)
        return distance(theory, found.gdln.losses, self._rng).max_abs_over_initial

    def before(self, name: str) -> float:
        """Return the distance to the networks that are trained again, as they were."""
        pair = self._pair
        theory = None if name == ALIGNED else self._curve
        if theory is None:
            return pair.metrics[name].max_abs_over_initial
        curve = pair.gdln.losses[: self._few].mean(axis=0)
        return compare(theory, curve).max_abs_over_initial

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
