"""Which assumption fails where theory and training disagree, each named on evidence.

One approximation between the judged curve and training is replaced at a time, everything else
kept, and the distance is measured again. An assumption is named where more than half of the
distance goes with it: where the whole 95 % interval over seeds of what is left is below half of
what was there. Where it is on both sides of the half that is said to be undecided. Where none is
named, the distance is unexplained, and that is said.

| assumption | replaced by |
|---|---|
| head starts | earlier stages followed as they learn (of closed forms) |
| start of stage 1 | the start that the networks' first fall shows |
| start of a later stage | the start that fits best: one number, for the diagnosis alone |
| gates | the gates that the network's units show, at once; of a linear network no gates |
| small steps | the network's finite steps (of closed forms) |
| full batches | them, trained, of networks that are trained by mini-batches |
| step size | half the rate, predicted and trained |
| initial scale | a smaller one, predicted and trained, for as far as the loss got |
| alignment | a start that is aligned (of more than two layers: two need none) |
| width | four times the units at half the initial scale: the same strengths, half the scatter |
| many networks | more networks |

The last one comes first: a distance that more networks take away says nothing of the others. Starts
and gates of a ReLU network are replaced only where the GDLN, which has the spec's, is where its
reduction is: elsewhere the theory fails with them in place. Half the rate only where finite steps
can be seen: in a loss that rises, which the flow's never does. More units only where nothing else
was found, and where the theory takes many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from symreln.base.records import record
from symreln.base.rounding import positional
from symreln.claims.integration import network_of
from symreln.claims.probes import learning_modes
from symreln.claims.regime import regime_of
from symreln.claims.solve import derive_unchecked
from symreln.claims.widths import own_curves
from symreln.errors import InputError, NotSupportedError
from symreln.experiment.again import (
    HALF,
    RELU,
    Again,
    Experiment,
    Instead,
    Trials,
    check_replaced,
)
from symreln.experiment.changed import predicted_again
from symreln.experiment.comparing import is_aligned
from symreln.experiment.findings import (
    ALIGNMENT,
    BATCHES,
    FLOW,
    GATES,
    NETWORKS,
    SCALE,
    STAGES,
    STEP,
    WIDTH,
    Finding,
    PairDiagnosis,
    start_of,
)
from symreln.experiment.metrics import distance
from symreln.experiment.starts import fitted_start, measured_start
from symreln.experiment.training import SAME, Variation

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.experiment.outcome import Validation

Case = TypeVar("Case", bound="Validation")

#: Rise of a loss over the first one, in one step, above which it is no rounding.
ROUNDING = 1e-12
#: Halvings of the scale, or of the rate, while each takes away a quarter of the distance or more
#: and leaves more than the tolerance: from the lazy regime the first ones take little. Of a
#: deviation of order 2 these leave one part in 65 536.
HALVINGS, WORTH = 8, 0.25
#: Share of half its plateau that a mode may start from to be called small.
SMALL = Fraction(1, 100)


@record
class Candidate:
    """An assumption that may fail.

    Attributes:
        name: Its name.
        made: What is done in its place, and in words.
        fitted: Numbers that are fitted for it.
        measured: A quantity that says the same, in words, or "".
    """

    name: str
    made: Callable[[], tuple[Experiment, str]]
    fitted: int = 0
    measured: str = ""


@record
class Assumptions:
    """What a kind of confrontation takes for granted.

    Attributes:
        trials: Makes the experiments of a confrontation.
        given: What is known of a pair already: that more networks alone remove its distance, and
            what was confronted with it anyway.
        candidates: What may fail, in order.
        many: Whether the theory takes many units.
        settled: Whether alignment may settle it. Else width is asked beside alignment, because more
            random weights may be aligned enough.
    """

    trials: Callable[[Any], Trials]
    given: Callable[[Any, str], Iterator[Finding]]
    candidates: Callable[[Any, str], Iterator[Candidate]]
    many: Callable[[Any], bool]
    settled: bool = True


def diagnosed(case: Case, assumptions: Assumptions | None = None) -> Case:
    """Return a confrontation with what fails where the judged curve and training disagree.

    A GDLN that starts aligned has the theory's own start, gates and units: what may fail is that
    steps so large amplify even rounding.

    Args:
        case: What was predicted and trained.
        assumptions: That it makes; by default those of pathways.
    """
    aligned = [
        pair
        for pair, found in case.metrics.items()
        if is_aligned(pair)
        and not pair.startswith("closed")
        and found.max_abs_over_initial > case.tolerance
    ]
    far = tuple(dict.fromkeys([*case.disagreements, *aligned]))
    return replace(case, diagnosis=diagnose(case, far, assumptions or PATHWAYS))


def diagnose(
    case: Validation, pairs: tuple[str, ...], assumptions: Assumptions
) -> tuple[PairDiagnosis, ...]:
    """Say of every pair which assumption fails.

    Args:
        case: What was predicted and trained.
        pairs: Those that disagree.
        assumptions: That it makes.
    """
    trials = assumptions.trials(case)
    return tuple(
        PairDiagnosis(pair=pair, findings=tuple(_findings(trials, pair, assumptions)))
        for pair in pairs
    )


def _findings(trials: Trials, pair: str, assumptions: Assumptions) -> Iterator[Finding]:
    given = [*assumptions.given(trials, pair)]
    yield from given
    if any(one.assumption == NETWORKS for one in given):
        return
    found = given if assumptions.settled else []
    for one in assumptions.candidates(trials, pair):
        # Where the network's finite steps explain it, half the rate would say the same once more.
        if one.name != STEP or not any(f.explains and f.assumption == FLOW for f in found):
            found.append(_tried(trials, pair, one))
            yield found[-1]
    explained = is_aligned(pair) or any(each.explains for each in found)
    if assumptions.many(trials) and not explained:  # few units are drawn, not taken as many
        yield _tried(trials, pair, _WIDER)


def _tried(again: Trials, pair: str, one: Candidate) -> Finding:
    """Replace an assumption and measure what is left."""
    made, words, why = Experiment(), one.name, ""
    try:
        made, words = one.made()
        left = again.distance(pair, made)
    except (InputError, NotSupportedError) as error:
        why, left = str(error), None
    return Finding(
        assumption=one.name,
        replaced=words,
        before=again.before(pair, made),
        after=None if left is None else left.value,
        low=None if left is None else left.low,
        high=None if left is None else left.high,
        why_not=why,
        measured=one.measured,
        fitted=one.fitted,
    )


# -- what may fail ---------------------------------------------------------------------------------


def _given(again: Again, pair: str) -> Iterator[Finding]:
    """Yield whether more networks suffice, and what something confronted already replaces."""
    case = again.case
    found = _more_networks(again, pair)
    yield from [found] if found else filter(None, [_alignment(case, pair), _no_gates(again, pair)])


def _candidates(again: Again, pair: str) -> Iterator[Candidate]:
    case = again.case
    network = network_of(case.numbers.spec)
    if network.batch_size is not None:
        made = Experiment(change=Variation(full_batch=True))
        yield Candidate(name=BATCHES, made=lambda: (made, "steps on all samples"))
    if not is_aligned(pair):
        if case.judged == "closed":
            yield from _closed_forms(case)
        if network.activation == "relu":
            yield from _starts(again, pair)
            if pair == RELU:
                yield Candidate(name=GATES, made=lambda: _shown_gates(case))
    yield from halved_rate(again, case.tolerance, pair)
    if not is_aligned(pair):
        yield _scale(again, pair)


def halved_rate(again: Trials, tolerance: float, pair: str) -> Iterator[Candidate]:
    """Yield the step size, where a loss rises."""
    if _largest_rise(again.losses(pair, SAME)) > ROUNDING:
        what = "the learning rate"
        yield Candidate(
            name=STEP, made=lambda: halving(again, tolerance, pair, what, _at_rate, HALF)
        )


def _at_rate(factor: Fraction) -> Experiment:
    return Experiment(change=Variation(rate=factor))


def _at_scale(factor: Fraction) -> Experiment:
    return Experiment(change=Variation(std=factor))


def _closed_forms(case: Validation) -> Iterator[Candidate]:
    """What closed forms take for granted beside the reduction that they are of."""
    if len(case.numbers.stages) > 1:
        what = "earlier stages followed as they learn"
        yield Candidate(name=STAGES, made=lambda: (instead(followed=True), what))
    yield finite_steps()


def finite_steps() -> Candidate:
    """Return the small steps that closed forms take for granted."""
    what = "the network's finite steps"
    return Candidate(name=FLOW, made=lambda: (instead(stepwise=True), what))


def instead(**replaced: Any) -> Experiment:
    """Return the experiment with one thing replaced of what the theory takes for granted."""
    return Experiment(instead=Instead(**replaced))


def _starts(again: Again, pair: str) -> Iterator[Candidate]:
    """Stages whose pathways may start stronger or weaker; the GDLN starts as the theory does."""
    case = again.case
    first, *later = sorted({p.effective.pathway.stage for p in case.numbers.pathways})
    if pair != RELU:
        return
    yield Candidate(name=start_of(first), made=lambda: _first_start(again, pair, first))
    for stage in later:
        yield Candidate(
            name=start_of(stage),
            made=lambda stage=stage: _later_start(again, pair, stage),
            fitted=1,
        )


def _check_gdln(case: Validation) -> None:
    """Refuse where the theory fails with its own gates and starts in place."""
    if not case.gdln_bears_out:
        msg = "the GDLN, whose gates and starts are the theory's, disagrees too"
        raise NotSupportedError(msg)


def _first_start(again: Again, pair: str, stage: int) -> tuple[Experiment, str]:
    _check_gdln(again.case)
    trained = again.losses(pair, SAME).mean(axis=0)
    # By the network's own steps: what these cost of closed forms is no matter of the start.
    stepwise = again.theory(pair, instead(stepwise=True)).mean(axis=0)
    factor = measured_start(stepwise, trained)
    text = f"{positional(factor, 3)} of its strength, as the networks' first fall shows"
    return instead(starts=((stage, factor),)), text


def _later_start(again: Again, pair: str, stage: int) -> tuple[Experiment, str]:
    _check_gdln(again.case)
    trained = again.losses(pair, SAME).mean(axis=0)

    def started(factor: float) -> Experiment:
        return instead(starts=((stage, factor),))

    def left(factor: float) -> float:
        theory = again.theory(pair, started(factor)).mean(axis=0)
        return float(np.abs(theory - trained).max() / trained[0])

    factor = fitted_start(left)
    return (
        started(factor),
        f"an initial strength multiplied by the best-fitting factor, {positional(factor, 3)}",
    )


def _shown_gates(case: Validation) -> tuple[Experiment, str]:
    _check_gdln(case)
    check_replaced(case.numbers, "gates")
    if any(p.effective.pathway.boundary for p in case.numbers.pathways):
        msg = "gates are replaced where no pathway's inputs are made orthogonal to samples"
        raise NotSupportedError(msg)
    what = "the gates that the network's units show when the stage is learned"
    return Experiment(gates=True), what


def _scale(again: Again, pair: str) -> Candidate:
    numbers = again.case.numbers
    regime = numbers.ask(regime_of)
    return Candidate(
        name=SCALE,
        made=halved_scale(again, again.case.tolerance, pair, _small_scale(numbers)),
        measured=f"training is {regime.called}: {regime.reason}"
        if regime is not None and regime.is_lazy
        else "",
    )


def halved_scale(
    again: Trials, tolerance: float, pair: str, first: Fraction = HALF
) -> Callable[[], tuple[Experiment, str]]:
    """Return how the initial scale is made smaller."""
    return lambda: halving(again, tolerance, pair, "the initial scale", _at_scale, first)


def halving(
    again: Trials,
    tolerance: float,
    pair: str,
    what: str,
    change: Callable[[Fraction], Experiment],
    first: Fraction,
) -> tuple[Experiment, str]:
    """Halve a number again and again, while that takes away enough."""
    factor = first
    left = again.distance(pair, change(factor)).value or 0.0
    before = again.before(pair, change(factor))
    for _ in range(1, HALVINGS):
        if not tolerance < left <= (1 - WORTH) * before:
            break
        try:
            less = again.distance(pair, change(factor / 2)).value or 0.0
        except (InputError, NotSupportedError):
            break
        if less > (1 - WORTH) * left:
            break
        factor, left, before = factor / 2, less, left
    return change(factor), f"{'half' if factor == HALF else f'{factor} of'} {what}"


_WIDER = Candidate(
    name=WIDTH,
    # As strong a start.
    made=lambda: (
        Experiment(change=Variation(std=HALF, width=4)),
        "four times the units at half the initial scale",
    ),
)


# -- what is replaced by something that was confronted already -------------------------------------


def _more_networks(again: Again, pair: str) -> Finding | None:
    """Return that more networks alone take the distance away, where few were trained."""
    case, before = again.case, again.case.distance(pair)
    count = len(again.losses(pair, SAME))
    if before is None or count <= len(case.run(pair).losses):
        return None
    left = again.distance(pair, Experiment())
    found = Finding(
        assumption=NETWORKS,
        replaced=f"{count} networks",
        before=before,
        after=left.value,
        low=left.low,
        high=left.high,
    )
    return found if found.explains else None


def _alignment(case: Validation, pair: str) -> Finding | None:
    # Where a start is derived the reduction holds from any, aligned or not.
    aligned, spec = case.distance("descent_vs_aligned"), case.numbers.spec
    if aligned is None or is_aligned(pair) or case.numbers.strength0 is not None:
        return None
    if pair == RELU and not spec.is_one_map:
        return None  # what starts aligned has the spec's gates, and says nothing of one without
    before = case.distance(pair)
    assert before is not None
    what = "a start that is aligned with the modes"
    return Finding(assumption=ALIGNMENT, replaced=what, before=before, after=aligned)


def _no_gates(again: Again, pair: str) -> Finding | None:
    """Return what is left without gates, for a linear network of a spec with some."""
    case, spec = again.case, again.case.numbers.spec
    if pair != RELU or network_of(spec).activation != "linear" or spec.is_one_map:
        return None
    before, what = case.distance(pair), "one pathway, always open, as in a linear network"
    assert before is not None
    # Deep layers that start at random may fail by that alone.
    aligned = case.distance("descent_vs_aligned")
    if not case.gdln_bears_out and not (aligned is not None and aligned <= case.tolerance):
        why = "the GDLN, whose gates are the spec's, disagrees too"
        return Finding(assumption=GATES, replaced=what, before=before, after=None, why_not=why)
    loss = _ungated(case.numbers)
    if loss is None:
        return None
    left = distance(loss, case.run(pair).losses, case.rng).max_abs_over_initial
    return Finding(
        assumption=GATES,
        replaced=what,
        before=before,
        after=left.value,
        low=left.low,
        high=left.high,
    )


def _ungated(numbers: Derivation) -> np.ndarray | None:
    """Return the theory's loss without gates; None where other depths are not predicted so."""
    spec = numbers.spec
    data, first = spec.dataset, spec.pathways[0]
    whole = replace(
        first,
        gate=(1,) * data.samples,
        inputs=tuple(range(data.n_x)),
        outputs=tuple(range(data.n_y)),
        then=(),
    )
    try:
        return predicted_again(derive_unchecked(replace(spec, pathways=(whole,))), {}).loss
    except NotSupportedError:
        return None


# -- quantities beside it --------------------------------------------------------------------------


def _small_scale(numbers: Derivation) -> Fraction:
    """Return the largest power of a half by which every mode starts small; at most a half."""
    start, factor = float(numbers.strength0 or 0), HALF
    largest = max(
        (
            start * mode.d_eff.to_float() / mode.s.to_float()
            for _, mode in learning_modes(numbers)
            if mode.d_eff is not None
        ),
        default=0.0,
    )
    while largest * factor * factor > SMALL / 2:
        factor /= 2
    return factor


def _largest_rise(losses: np.ndarray) -> float:
    """Return the largest rise of a loss from one step to the next, over its first.

    The loss of a flow never rises, nor that of descent with small steps.

    Args:
        losses: Shape (seeds, steps).
    """
    if losses.shape[1] < 2:
        return 0.0
    return float((np.diff(losses, axis=1).max(axis=1) / losses[:, 0]).max())


PATHWAYS = Assumptions(
    trials=Again,
    given=_given,
    candidates=_candidates,
    many=lambda again: again.case.prediction.drawn is None and own_curves(again.case.numbers).holds,
)
