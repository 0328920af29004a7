"""Which assumption fails where theory and training disagree, each named on evidence.

What is proven comes first: where no hidden unit of a ReLU network keeps a pathway's gate, the
theory takes units for granted that are not there. Then one approximation between the judged curve
and training is replaced at a time, everything else kept, and the distance is measured again
(:mod:`symreln.experiment.rows` says when one is named). Where none is named, the distance is
unexplained, and that is said.

| assumption | replaced by |
|---|---|
| gates | nothing, where it is proven that no unit keeps them |
| many networks | more networks |
| alignment | a start that is aligned (of more than two layers: two need none) |
| full batches | them, trained, of networks that are trained by mini-batches |
| closed forms | the integrated reduction: earlier stages as they learn, and finite steps |
| gates | those of the data alone, the effective network; of a linear network no gates |
| step size | half the rate, predicted and trained |
| initial scale | a smaller one, predicted and trained, for as far as the loss got |
| width | four times the units at half the initial scale: the same strengths, half the scatter |

A distance that more networks take away says nothing of the others. Gates of a ReLU network are
replaced only where the GDLN, which has the spec's, is where its reduction is: elsewhere
the theory fails with them in place. Half the rate only where finite steps can be seen: in a loss
that rises, which the flow's never does. More units only where nothing else was found, and where the
theory takes many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.progress import phase
from symreln.claims.early import EarlyStrengths
from symreln.claims.integration import network_of
from symreln.claims.narrow import own_curves
from symreln.claims.probes import learning_modes
from symreln.claims.regime import regime_of
from symreln.claims.solve import derive_unchecked
from symreln.errors import InputError, NotSupportedError
from symreln.experiment.comparing import JUDGED, is_aligned
from symreln.experiment.rows import (
    ALIGNMENT,
    BATCHES,
    FORMS,
    GATES,
    NETWORKS,
    SCALE,
    STEP,
    WIDTH,
    Row,
)
from symreln.experiment.variations import SAME, Trials, Variation, predicted_again

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.experiment.outcome import Validation

#: What is put in the place of an assumption: a changed experiment or another curve, and words.
Replacement = tuple[Variation | np.ndarray, str]

_, RELU = JUDGED
#: Rise of a loss over the first one, in one step, above which it is no rounding.
ROUNDING = 1e-12
HALF = Fraction(1, 2)
#: Halvings of the scale, or of the rate, while each takes away a quarter of the distance or more
#: and leaves more than the tolerance: from the lazy regime the first ones take little. Of a
#: deviation of order 2 these leave one part in 65 536.
HALVINGS, WORTH = 8, 0.25
#: Share of half its plateau that a mode may start from to be called small.
SMALL = Fraction(1, 100)


@phase("diagnosis")
def failing_rows(case: Validation) -> list[Row]:
    """Return what fails where the judged curve and training of a confrontation disagree.

    A GDLN that starts aligned has the theory's own start, gates and units: what may fail is that
    steps so large amplify even rounding.

    Args:
        case: What was predicted and trained.
    """
    aligned, far = "descent_vs_aligned", [*case.disagreements]
    if case.aligned is not None and (case.distance(aligned) or 0.0) > case.tolerance:
        far.append(aligned)
    again = Trials(case)
    return [row for pair in far for row in _rows(again, pair)]


def _rows(again: Trials, pair: str) -> Iterator[Row]:
    """Yield every assumption that may fail for a pair, and what replacing it left."""
    case, found = again.case, []
    if more := _more_networks(again, pair):
        yield more
        return
    for row in _tried(again, pair):
        found.append(row)
        yield row
    # Few units are predicted as they are.
    many = case.judged_curves.drawn is None and own_curves(case.numbers).holds
    if many and not is_aligned(pair) and not any(row.explains for row in found):
        what = "four times the units at half the initial scale"
        yield _replaced(again, pair, WIDTH, lambda: (Variation(std=HALF, width=4), what))


def _tried(again: Trials, pair: str) -> Iterator[Row]:
    case, spec = again.case, again.case.numbers.spec
    network = network_of(spec)
    relu = pair == RELU and network.activation == "relu"
    if relu:
        yield from _proven(again, pair)
    if not is_aligned(pair):
        yield from _alignment(case, pair)
        if pair == RELU and network.activation == "linear" and not spec.is_one_map:
            yield _replaced(again, pair, GATES, lambda: _no_gates(case))
    if network.batch_size is not None:
        yield _replaced(
            again, pair, BATCHES, lambda: (Variation(full_batch=True), "steps on all samples")
        )
    if case.judged == "closed" and not is_aligned(pair):
        what = "the integrated reduction, step by step"
        yield _replaced(again, pair, FORMS, lambda: (case.prediction.reduced, what))
    if relu and case.judged != "effective":
        yield _replaced(again, pair, GATES, lambda: _gates_of_data(case))
    yield from _halved_rate(again, pair)
    if not is_aligned(pair):
        regime = case.numbers.ask(regime_of)
        lazy = regime is not None and bool(regime.lazy)
        words = f"training is {regime.called}: {regime.reason}" if regime and lazy else ""
        first = _small_scale(case.numbers)
        yield _replaced(again, pair, SCALE, lambda: _halving(again, pair, "std", first), words)


def _replaced(
    again: Trials, pair: str, name: str, made: Callable[[], Replacement], measured: str = ""
) -> Row:
    """Replace an assumption and measure what is left.

    Args:
        again: The confrontation.
        pair: The curves that disagree.
        name: The assumption.
        made: Returns what is put in its place, or says by an error why nothing can be.
        measured: A quantity that says the same, in words, or "".
    """
    change, words, why, left = SAME, name, "", None
    try:
        instead, words = made()
        if isinstance(instead, Variation):
            change, left = instead, again.distance(pair, instead)
        else:
            left = again.distance_of(pair, instead)
    except (InputError, NotSupportedError) as error:
        why = str(error)
    return Row(
        pair=pair,
        assumption=name,
        replaced=words,
        before=again.before(pair, change),
        distance=left,
        why_not=why,
        measured=measured,
    )


# -- what is known without another training --------------------------------------------------------


def _proven(again: Trials, pair: str) -> Iterator[Row]:
    """Yield the gates of pathways that no hidden unit keeps."""
    unsupported = again.case.numbers.ask(EarlyStrengths.of).unsupported
    if unsupported:
        names = ", ".join(f"'{name}'" for name in unsupported)
        yield Row(
            pair=pair,
            assumption=GATES,
            before=again.before(pair),
            proven=f"no hidden unit of a ReLU network keeps the gate of {names}",
        )


def _more_networks(again: Trials, pair: str) -> Row | None:
    """Return that more networks alone take the distance away, where few were trained."""
    case, count = again.case, len(again.losses(pair))
    if count <= len(case.run(pair).losses):
        return None
    row = Row(
        pair=pair,
        assumption=NETWORKS,
        replaced=f"{count} networks",
        before=case.distance(pair),
        distance=again.distance(pair),
    )
    return row if row.explains else None


def _alignment(case: Validation, pair: str) -> Iterator[Row]:
    # Where a start is derived the reduction holds from any, aligned or not; and what starts aligned
    # has the spec's gates, and says nothing of a network without.
    own = pair != RELU or case.numbers.spec.is_one_map
    if "descent_vs_aligned" in case.pairs and case.numbers.strength0 is None and own:
        yield Row(
            pair=pair,
            assumption=ALIGNMENT,
            replaced="a start that is aligned with the modes",
            before=case.distance(pair),
            distance=case.intervals["descent_vs_aligned"],
        )


def _no_gates(case: Validation) -> Replacement:
    """Return the theory's loss without gates, for a linear network of a spec with some."""
    # Deep layers that start at random may fail by that alone.
    aligned = case.distance("descent_vs_aligned")
    if aligned is None or aligned > case.tolerance:
        _check_gdln(case)
    spec = case.numbers.spec
    data, first = spec.dataset, spec.pathways[0]
    whole = replace(
        first,
        gate=(1,) * data.samples,
        inputs=tuple(range(data.n_x)),
        outputs=tuple(range(data.n_y)),
        then=(),
    )
    loss = predicted_again(derive_unchecked(replace(spec, pathways=(whole,))), {}).loss
    return loss, "one pathway, always open, as in a linear network"


def _gates_of_data(case: Validation) -> Replacement:
    _check_gdln(case)
    found = case.effective
    if found is None:
        raise NotSupportedError(case.no_effective)
    return found.losses, f"gates of the data alone: an effective network of {found.count} units"


def _check_gdln(case: Validation) -> None:
    """Refuse where the theory fails with its own gates and starts in place."""
    if not case.gdln_bears_out:
        msg = "the GDLN, whose gates and starts are the theory's, disagrees too"
        raise NotSupportedError(msg)


# -- experiments that are trained again ------------------------------------------------------------


def _halved_rate(again: Trials, pair: str) -> Iterator[Row]:
    """Yield the step size, where a loss rises: that of a flow, or with small steps, never does."""
    losses = again.losses(pair)
    rise = np.diff(losses, axis=1).max(axis=1, initial=0.0) / losses[:, 0]
    if rise.max() > ROUNDING:
        yield _replaced(again, pair, STEP, lambda: _halving(again, pair, "rate", HALF))
    elif is_aligned(pair):  # nothing else is tried
        before, why = again.before(pair), "the loss never rises"
        yield Row(pair=pair, assumption=STEP, replaced="", before=before, why_not=why)


#: Numbers that are halved, in words.
_HALVED = {"std": "the initial scale", "rate": "the learning rate"}


def _halving(again: Trials, pair: str, number: str, factor: Fraction) -> Replacement:
    """Halve a number again and again from a first factor on, while that takes away enough."""

    def change(factor: Fraction) -> Variation:
        return replace(SAME, **{number: factor})

    def left_by(factor: Fraction) -> float:
        return again.distance(pair, change(factor)).max_abs_over_initial.value or 0.0

    left, before = left_by(factor), again.before(pair, change(factor))
    for _ in range(1, HALVINGS):
        if not again.case.tolerance < left <= (1 - WORTH) * before:
            break
        try:
            less = left_by(factor / 2)
        except (InputError, NotSupportedError):
            break
        if less > (1 - WORTH) * left:
            break
        factor, left, before = factor / 2, less, left
    return change(factor), f"{'half' if factor == HALF else f'{factor} of'} {_HALVED[number]}"


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
