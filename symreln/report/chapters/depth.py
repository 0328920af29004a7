"""Deep ReLU networks and their gated network, as distributions over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.rounding import percent
from symreln.document.model import Document, Figure, Section, Strong, Table, prose
from symreln.document.typeset import say
from symreln.experiment.distributions import DRAWS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from symreln.document.model import Block, Drawing
    from symreln.experiment.depth import DepthComparison
    from symreln.experiment.distributions import CrossingComparison, CurveTest
    from symreln.experiment.metrics import Interval

NAME = "depth"
HEADER = (
    "gates",
    "L/L(0) below",
    "ReLU",
    "gated",
    "KS distance",
    "p",
    "shift of the median",
    "spread",
)


def depth_rows(found: DepthComparison) -> list[tuple[str, ...]]:
    """Return a row a kind of gates and a level that losses fall below, as text."""
    kinds = {"fixed": found.crossings, "switching": found.switched_crossings}
    return [(kind, *row) for kind, crossings in kinds.items() for row in _rows(crossings)]


def _rows(crossings: Iterable[CrossingComparison]) -> Iterable[tuple[str, ...]]:
    for each in crossings:
        yield (
            f"{each.level:g}",
            *(_times(times) for times in each.times),
            f"{each.distance:.2f}",
            f"{each.p:.2g}",
            _interval_text(each.shift, ".0f"),
            _interval_text(each.spread_ratio, ".2g"),
        )


def _times(times: np.ndarray) -> str:
    """Return the quartiles of some steps, and how many curves never got there."""
    quartiles = np.quantile(times, (0.25, 0.5, 0.75), method="higher")
    never = int((~np.isfinite(times)).sum())
    shown = " / ".join("–" if not np.isfinite(x) else f"{x:.0f}" for x in quartiles)
    return shown + (f" ({never} never)" if never else "")


def _interval_text(found: Interval | None, form: str) -> str:
    """Return a number and its interval."""
    if found is None or found.value is None or not np.isfinite(found.value):
        return "–"
    ends = ("?" if end is None else format(end, form) for end in (found.low, found.high))
    return f"{format(found.value, form)} [{', '.join(ends)}]"


def depth_sentences(found: DepthComparison) -> list[str]:
    """Say whether distributions of the curves differ, and what the early phase predicts."""
    sentences = [_sentence(found, found.curves, "their gated network", found.free_constants)]
    switching, drop = found.switching, found.first_drop
    if found.switched is not None and switching is not None and any(switching.units):
        name = "gated networks whose gates switch, from the same initial weights"
        sentences.append(_sentence(found, found.switched, name, switching.free_constants))
        read = [len(each) for each in switching.readings]
        open_units = np.mean([each for each in switching.units if each], axis=0)
        shares = " and ".join(f"{share:.0%}" for share in open_units / found.widths)
        sentences.append(
            f"gates that switch: {shares} of the units of the hidden layers are open at the first "
            f"drop; gates were read {min(read)} to {max(read)} times"
        )
    if drop is not None:
        related = "" if drop.correlation is None else f", correlation {drop.correlation:.3f}"
        sentences.append(
            "the first drop of every ReLU network's loss is that of the same initial weights in "
            f"the frozen residual: {drop.gap:+.0f} ± {drop.spread:.0f} steps off{related}"
        )
    return sentences


def _sentence(found: DepthComparison, test: CurveTest, gated: str, constants: int) -> str:
    """Say whether distributions differ."""
    whose = f"{found.seeds} ReLU networks with {len(found.widths)} hidden layers and as many of"
    outcome = "DIFFER" if test.differ else "cannot be distinguished"
    if found.seeds < test.least:
        outcome = f"are TOO FEW to say whether they differ (it takes {test.least} of each)"
    head = f"{whose} {gated} {outcome}"
    if found.uninformative:
        steps = found.relu.settings.steps - 1
        head = f"Training made too little progress to test the prediction: in {steps} steps {head}"
    return (
        f"{head} by their loss curves: largest difference of distribution functions "
        f"{test.distance:.2f}, at step {test.step}; exchanged labels reach it in "
        f"{percent(test.p)} of draws; {100 * test.inside:.0f} % of the ReLU losses lie in "
        f"the gated networks' 5 % to 95 % band; free constants: {constants}"
    )


def depth_document(found: DepthComparison, figure: Drawing) -> Document:
    """Return the document of a comparison."""
    blocks: list[Block] = [
        say(
            "{seeds} ReLU networks with hidden layers of {layers} units and as many gated deep "
            "linear networks were trained from independent random weights of one law. A hidden "
            "node of the gated network has half of a layer's units, as many as are open together "
            "in one of ReLU: {sizes}. Gates that switch follow the early phase of a ReLU network, "
            "in the frozen residual, until its loss first drops. Then its open units are open on "
            "all samples; whenever most of a hidden layer's weight has left its gates, these are "
            "read again off its own pre-activations.",
            seeds=str(found.seeds),
            layers=" and ".join(map(str, found.widths)),
            sizes=", ".join(f"{name} {size}" for name, size in found.units.items()),
        ),
        *(prose(Strong(f"{x[0].upper()}{x[1:]}.")) for x in depth_sentences(found)),
        Table(
            header=HEADER,
            rows=tuple(depth_rows(found)),
            caption=(
                "First step with a loss below a share of the first: quartiles over seeds (lower, "
                "median, upper); largest difference of the distribution functions, and how often "
                f"at least that comes of {DRAWS} random exchanges of labels, in pairs of equal "
                "initial weights where gates switch; median of the ReLU networks minus that of the "
                "gated ones, and the ratio of their interquartile ranges, with 95 % intervals from "
                "resampled seeds. The sentence above is about whole curves at once; these rows are "
                "parts of it, not further tests."
            ),
            alignment="lrllrrll",
        ),
        Figure(
            name=NAME,
            caption=(
                "Left: median of the losses and 5 % to 95 % of the networks; right: share of the "
                "networks whose loss has fallen below 0.9, 0.5 and 0.25 of the first, where any "
                "has. Networks with one hidden layer show what depth adds."
            ),
            alt="Bands of losses over steps, and distribution functions of the steps of drops.",
        ),
    ]
    return Document(
        title=found.spec.title,
        subtitle="Deep ReLU networks and their gated network, compared by symreln",
        blocks=(
            Section(title="Distributions over seeds", blocks=tuple(blocks), label="sec:depth"),
        ),
        figures=(figure,),
    )
