"""Deep ReLU networks and their gated network, as distributions over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.rounding import percent
from symreln.document.model import Document, Figure, Math, Section, Strong, Table, prose
from symreln.experiment.distributions import DRAWS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from symreln.document.model import Block, Drawing
    from symreln.experiment.depth import DepthComparison
    from symreln.experiment.distributions import CrossingComparison, CurveTest
    from symreln.experiment.metrics import Interval

NAME = "depth"
_COMPARED = ("KS distance", "p", "shift of the median", "spread")
HEADER = ("L/L(0) below", "ReLU", "fixed gates", *_COMPARED)
SWITCHING_HEADER = ("L/L(0) below", "ReLU", "switching gates", *_COMPARED)
_KINDS = {"relu": "ReLU networks", "gdln": "gated networks", "shallow": "one hidden layer"}


def depth_rows(crossings: Iterable[CrossingComparison]) -> list[tuple[str, ...]]:
    """Return a row a level that losses fall below, as text."""
    return [
        (
            f"{each.level:g}",
            *(_times(times) for times in each.times),
            f"{each.distance:.2f}",
            f"{each.p:.2g}",
            _interval_text(each.shift, ".0f"),
            _interval_text(each.spread_ratio, ".2g"),
        )
        for each in crossings
    ]


def _times(times: np.ndarray) -> str:
    """Return the quartiles of some steps, and how many curves never got there."""
    low, middle, high = np.quantile(times, (0.25, 0.5, 0.75), method="higher")
    never = int((~np.isfinite(times)).sum())
    shown = " / ".join("–" if not np.isfinite(x) else f"{x:.0f}" for x in (low, middle, high))
    return shown + (f" ({never} never)" if never else "")


def _interval_text(found: Interval | None, form: str) -> str:
    """Return a number and its interval."""
    if found is None or found.value is None or not np.isfinite(found.value):
        return "–"
    ends = ("?" if end is None else format(end, form) for end in (found.low, found.high))
    return f"{format(found.value, form)} [{', '.join(ends)}]"


def scatter_text(found: DepthComparison) -> str:
    """Say how much the time at which half the loss is gone scatters over seeds."""
    parts = [
        f"{_KINDS[name]} " + ("–" if value is None else f"{100 * value:.2g} %")
        for name, value in found.scatter.items()
    ]
    return (
        "interquartile range of the step at which half the loss is gone, over its median: "
        + ", ".join(parts)
    )


def depth_sentences(found: DepthComparison) -> list[str]:
    """Say whether distributions of the curves differ, and what the early phase predicts."""
    sentences = [_sentence(found, found.curves, "their gated network", found.free_constants)]
    if found.switched is not None and found.switching is not None and any(found.switching.units):
        constants, name = found.switching.free_constants, "gated networks whose gates switch"
        sentences.append(_sentence(found, found.switched, name, constants, pairs=True))
        read = [len(each) for each in found.switching.readings]
        first = [each[0] for each in found.switching.readings if each]
        when = f", first at step {np.median(first):.0f} (median)" if first else ""
        open_units = [each for each in found.switching.units if each]
        mean = " and ".join(f"{share:.0%}" for share in np.mean(open_units, axis=0) / found.widths)
        sentences.append(
            f"gates that switch: {mean} of the units of the hidden layers are open at the first "
            f"drop; gates were read {min(read)} to {max(read)} times{when}"
        )
    drop = found.first_drop
    if drop is not None:
        related = "" if drop.correlation is None else f", correlation {drop.correlation:.3f}"
        sentences.append(
            "the first drop of every ReLU network's loss is that of the same initial weights in "
            f"the frozen residual: {drop.gap:+.0f} ± {drop.spread:.0f} steps off{related}"
        )
    return sentences


def _sentence(
    found: DepthComparison, test: CurveTest, gated: str, constants: int, *, pairs: bool = False
) -> str:
    """Say whether distributions differ."""
    depth = len(found.widths)
    within = " within pairs of the same initial weights" if pairs else ""
    told = (
        f"largest difference of distribution functions {test.distance:.2f}, at step {test.step}"
        f"; labels exchanged{within} reach it in {percent(test.p)} of draws"
    )
    head = (
        f"ReLU networks with {depth} hidden layers and {gated} DIFFER"
        if test.differ
        else f"{found.seeds} ReLU networks with {depth} hidden layers and as many of {gated} "
        "cannot be distinguished"
    )
    least = found.least_pairs if pairs else found.least_seeds
    if found.seeds < least:
        head = (
            f"{found.seeds} ReLU networks with {depth} hidden layers and as many of {gated} are "
            "TOO FEW to say whether they differ "
            f"(it takes {least} of each)"
        )
    if found.uninformative:
        steps = found.relu.settings.steps - 1
        head = f"Training made too little progress to test the prediction: in {steps} steps {head}"
    inside = f"{100 * test.inside:.0f} % of the ReLU networks' losses lie in the gated "
    return (
        f"{head} by their loss curves: {told}; {inside}networks' 5 % to 95 % band; "
        f"free constants: {constants}"
    )


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _switching_table(found: DepthComparison) -> list[Table]:
    """Return the table of gated networks whose gates switch."""
    rows = tuple(depth_rows(found.switched_crossings))
    caption = (
        "The same beside gated networks whose gates switch. They follow the early phase of a ReLU "
        "network, in the frozen residual, until its loss first drops. Then its open units are open "
        "on all samples; whenever most of a hidden layer's weight has left its gates, these are "
        "read again off its own pre-activations. They start from the ReLU networks' initial "
        "weights: labels are exchanged, and seeds resampled, in pairs."
    )
    if not rows:
        return []
    return [Table(header=SWITCHING_HEADER, rows=rows, caption=caption, alignment="rllrrll")]


def depth_document(found: DepthComparison, figure: Drawing) -> Document:
    """Return the document of a comparison."""
    sizes = ", ".join(f"{name} {size}" for name, size in found.units.items())
    layers = " and ".join(map(str, found.widths))
    blocks: list[Block] = [
        prose(
            f"{found.seeds} ReLU networks with hidden layers of {layers} units and as many gated "
            "deep linear networks were trained from independent random weights of one law. A "
            "hidden node of the gated network has half of a layer's units, as many as are open "
            f"together in one of ReLU: {sizes}. Free constants: ",
            Strong(str(found.free_constants)),
            ".",
        ),
        *(prose(Strong(_capital(each) + ".")) for each in depth_sentences(found)),
        Table(
            header=HEADER,
            rows=tuple(depth_rows(found.crossings)),
            caption=(
                "First step with a loss below a share of the first: quartiles over seeds (lower, "
                "median, upper); largest difference of the distribution functions, and how often "
                f"at least that comes of {DRAWS} random exchanges of labels; median of the ReLU "
                "networks minus that of the gated ones, and the ratio of their interquartile "
                "ranges, with 95 % intervals from resampled seeds. The sentence above is about "
                "whole curves at once; these rows are parts of it, not further tests.",
            ),
            alignment="rllrrll",
        ),
        *_switching_table(found),
        prose(Strong("What depth adds"), ": ", scatter_text(found), "."),
        Figure(
            name=NAME,
            caption=(
                "Left: median of the losses and 5 % to 95 % of the networks; right: share of the "
                "networks whose loss has fallen below ",
                Math("0.9"),
                ", ",
                Math("0.5"),
                " and ",
                Math("0.25"),
                " of the first, where any has.",
            ),
            alt="Bands of losses over steps, and distribution functions of the steps of drops.",
        ),
    ]
    section = Section(title="Distributions over seeds", blocks=tuple(blocks), label="sec:depth")
    return Document(
        title=found.spec.title,
        subtitle="Deep ReLU networks and their gated network, compared by symreln",
        blocks=(section,),
        figures=(figure,),
    )
