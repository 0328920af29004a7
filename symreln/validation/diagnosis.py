"""Which assumption fails where theory and training disagree, each named on evidence.

One approximation is replaced at a time by what it stands for, and the distance is measured again.
An assumption is named where that takes away more than half of the distance: what is left is then
less than what it cost. Where several do, all are named, but for gates and alignment where a smaller
start alone mends it; gates only where a GDLN, which has them, bears the theory out, one that starts
aligned where there is one. Where none does, the distance is unexplained, and that is said.

| assumption | replaced by |
|---|---|
| alignment | a start that is aligned (of more than two layers: two need none) |
| gates | the mean-field simulation (wide ReLU network); of a linear network no gates |
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

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from symreln.errors import NotSupportedError
from symreln.integration import network_of
from symreln.prediction import learning_modes
from symreln.validation.again import ALIGNED, HALF, Again, Confronted
from symreln.validation.changed import Change, predicted_again
from symreln.validation.findings import (
    ALIGNMENT,
    GATES,
    NETWORKS,
    SCALE,
    STEP,
    WIDTH,
    Finding,
    PairDiagnosis,
)
from symreln.validation.metrics import compare
from symreln.validation.trained import is_one_map
from symreln.validation.words import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from symreln.derivation import Derivation

#: Rise of a loss over the first one, in one step, above which it is no rounding.
ROUNDING = 1e-12


def diagnose(case: Confronted, pairs: tuple[str, ...]) -> tuple[PairDiagnosis, ...]:
    """Say of every pair which assumption fails.

    A GDLN that starts aligned has the theory's own start, gates and units: what may fail is that
    steps so large amplify even rounding.

    Args:
        case: What was predicted and trained.
        pairs: Those that disagree.
    """
    again = Again(case)
    return tuple(
        PairDiagnosis(pair=pair, findings=tuple(_findings(case, pair, again))) for pair in pairs
    )


def _findings(case: Confronted, pair: str, again: Again) -> Iterator[Finding]:
    if pair == ALIGNED:
        found = _step_size(case, pair, again)
        if found is not None:
            yield found
        return
    probes: tuple[Callable[[Confronted, str, Again], Finding | None], ...] = (
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
        after=None,
        by_chance=True,
        measured=(
            f"by chance alone the mean of {count} is up to {percent(chance)} off that of all, "
            "in 95 of 100 cases"
        ),
    )


def _alignment(case: Confronted, pair: str, again: Again) -> Finding | None:
    # Of two layers the reduction holds from any start, aligned or not.
    aligned, spec = case.distance(ALIGNED), case.numbers.spec
    if aligned is None or network_of(spec).layers <= 2:
        return None
    if pair == "theory_vs_relu" and not is_one_map(spec):
        return None  # what starts aligned has the spec's gates, and says nothing of one without
    before = case.distance(pair)
    assert before is not None
    what = "a start that is aligned with the modes"
    return Finding(assumption=ALIGNMENT, replaced=what, before=before, after=aligned)


def _gates(case: Confronted, pair: str, again: Again) -> Finding | None:
    if pair != "theory_vs_relu":
        return None
    instead, gdln = case.distance("mean_field_vs_relu"), case.distance("theory_vs_gdln")
    what = "the mean-field simulation (wide ReLU network)"
    if instead is None:
        what, instead = "one pathway, always open, as in a linear network", _ungated(case)
    if instead is None or gdln is None:
        return None
    before = case.distance(pair)
    assert before is not None
    # Where the random start of deep layers is what the GDLN fails by, an aligned one speaks for it.
    if network_of(case.numbers.spec).layers > 2:
        gdln = min(gdln, case.metrics[ALIGNED].max_abs_over_initial)
    if gdln > case.tolerance:
        # Then the theory fails with its own gates in place: they are not what it fails by.
        why = "the GDLN, whose gates are the spec's, disagrees too"
        return Finding(assumption=GATES, replaced=what, before=before, after=None, why_not=why)
    return Finding(assumption=GATES, replaced=what, before=before, after=instead)


def _ungated(case: Confronted) -> float | None:
    """Return the distance of the theory without gates; None but for a linear network of gates.

    None too where other depths than two are not predicted without the gates.
    """
    spec, network = case.numbers.spec, network_of(case.numbers.spec)
    if network.activation != "linear" or is_one_map(spec):
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
    try:
        loss = predicted_again(derive_unchecked(replace(spec, pathways=(whole,))), {}).loss
    except NotSupportedError:
        return None
    return compare(loss, case.run("theory_vs_relu").mean_loss).max_abs_over_initial


def _step_size(case: Confronted, pair: str, again: Again) -> Finding | None:
    if largest_rise(case.run(pair).losses) <= ROUNDING:
        return None
    return again.halved(STEP, pair, lambda factor: Change(rate=factor), "the learning rate")


def _scale(case: Confronted, pair: str, again: Again) -> Finding | None:
    late = too_late(case.numbers)
    measured = "" if not late else f"{', '.join(late)} would start beyond half of their heights"
    found = again.halved(SCALE, pair, lambda factor: Change(std=factor), "the initial scale")
    return replace(found, measured=measured)


def _width(case: Confronted, pair: str, again: Again) -> Finding:
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
