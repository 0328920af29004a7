"""Deep ReLU networks and their gated network, as distributions over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.rounding import percent
from symreln.document.model import Document, Figure, Math, Section, Strong, Table, prose
from symreln.experiment.depth import DRAWS

if TYPE_CHECKING:
    from symreln.document.model import Block, Drawing
    from symreln.experiment.depth import DepthComparison
    from symreln.experiment.metrics import Interval

NAME = "depth"
HEADER = ("L/L(0) below", "ReLU", "gated", "KS distance", "p", "shift of the median", "spread")
_KINDS = {"relu": "ReLU networks", "gdln": "gated networks", "shallow": "one hidden layer"}


def depth_rows(found: DepthComparison) -> list[tuple[str, ...]]:
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
        for each in found.crossings
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


def depth_sentence(found: DepthComparison) -> str:
    """Say whether the distributions of the curves differ."""
    test, depth = found.curves, len(found.widths)
    told = (
        f"largest difference of distribution functions {test.distance:.2f}, at step {test.step}"
        f"; exchanged labels reach it in {percent(test.p)} of draws"
    )
    head = (
        f"ReLU networks with {depth} hidden layers and their gated network DIFFER"
        if found.differ
        else f"{found.seeds} ReLU networks with {depth} hidden layers and {found.seeds} gated "
        "networks cannot be distinguished"
    )
    if found.too_few:
        head = (
            f"{found.seeds} ReLU networks with {depth} hidden layers and {found.seeds} gated "
            "networks are TOO FEW to say whether they differ "
            f"(it takes {found.least_seeds} of each)"
        )
    if found.uninformative:
        steps = found.relu.settings.steps - 1
        head = f"Training made too little progress to test the prediction: in {steps} steps {head}"
    inside = f"{100 * test.inside:.0f} % of the ReLU networks' losses lie in the gated "
    return (
        f"{head} by their loss curves: {told}; {inside}networks' 5 % to 95 % band; "
        f"free constants: {found.free_constants}"
    )


def depth_document(found: DepthComparison, figure: Drawing) -> Document:
    """Return the document of a comparison."""
    sizes = ", ".join(f"{name} {size}" for name, size in found.units.items())
    layers = " and ".join(map(str, found.widths))
    share = (
        "half of a layer's units, as many as are open together in one of ReLU"
        if found.share is None
        else f"{found.share:g} of a layer's units, a share that was set by hand"
    )
    blocks: list[Block] = [
        prose(
            f"{found.seeds} ReLU networks with hidden layers of {layers} units and as many gated "
            "deep linear networks were trained from independent random weights of one law. A "
            f"hidden node of the gated network has {share}: {sizes}. Free constants: ",
            Strong(str(found.free_constants)),
            ".",
        ),
        prose(Strong(depth_sentence(found) + ".")),
        Table(
            header=HEADER,
            rows=tuple(depth_rows(found)),
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
