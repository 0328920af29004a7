"""The mean-field simulation: a wide ReLU network beside the theory, and not in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import percent
from symreln.document.model import Block, Figure, Strong, Table, prose
from symreln.document.typeset import say
from symreln.document.words import letter

if TYPE_CHECKING:
    from symreln.experiment.confront import Validation
    from symreln.laws.mean_field import MeanField


#: Classes of gates that are drawn, each with a colour of its own, and listed.
MOST_GATES = 7


def mean_field_blocks(validation: Validation) -> list[Block]:
    """Return what the mean-field simulation gives, or why there is none."""
    found = validation.mean_field
    if found is None:
        if validation.network is None or validation.drift is None:
            return []
        why = f": none was run; {validation.no_mean_field}."
        return [prose(Strong("Mean-field simulation"), why)]
    return [
        say(
            "**Mean-field simulation** (wide ReLU network, {particles} particles). It is the "
            "limit of infinite width, and not a prediction of the theory: its gates are found "
            r"by training. Particles drawn from the initialisation distribution follow $\tau "
            r"\dot{w} = \sum_\mu 1[w \cdot x_\mu > 0] (b \cdot e_\mu) x_\mu / P$ and $\tau "
            r"\dot{b} = \sum_\mu (w \cdot x_\mu)_+ e_\mu / P$, where $e$ is the residual of all "
            "particles together. Monte Carlo error: {percent} of $L(0)$.",
            particles=str(found.particles),
            percent=percent(found.error),
        ),
        Figure(
            name="mean_field",
            caption=(
                "Gates of the mean-field simulation, the heaviest of each class, and the "
                "share of all particles' weight that each class carries over time, stacked "
                "from the first class up; grey is the rest."
            ),
            alt="Gate patterns, and their shares against steps.",
        ),
        _table(found),
    ]


def _table(found: MeanField) -> Table:
    shown = found.classes[:MOST_GATES]
    rows = []
    for place, each in enumerate(shown):
        first, last = each.carries(found.steps)
        rows.append(
            (
                letter(place),
                str(each.alike),
                f"{sum(each.gate)} of {len(each.gate)}",
                percent(each.largest),
                f"{first} to {last}",
            )
        )
    left_out = len(found.classes) - len(shown)
    return Table(
        header=("gate", "orbit", "open samples", "largest share", "steps with half of it"),
        rows=tuple(rows),
        caption=(
            "Classes of the mean-field simulation's gates; those of one class are mapped onto "
            "each other by symmetries of the data, as far as the program can distinguish them."
            + (f" {left_out} more carry at least 1 % at some time." if left_out else "")
        ),
        alignment="lrrrr",
    )
