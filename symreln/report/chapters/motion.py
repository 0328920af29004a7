"""Gates that move: what the theory of single units predicts, beside the spec's fixed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.report.document import Block, Figure, Math, Strong, Table, prose
from symreln.report.plots import MOST_GATES, letter
from symreln.validation.words import percent

if TYPE_CHECKING:
    from symreln.dynamics.moving_gates import MovingGates
    from symreln.validation.confront import Validation


def motion_blocks(validation: Validation, *, figures: bool) -> list[Block]:
    """Return what is said of gates that move, or why nothing is predicted of them."""
    found = validation.moving
    if found is None:
        if validation.network is None or validation.drift is None:
            return []
        return [prose(Strong("Gates that move"), f" are not predicted: {validation.not_moving}.")]
    blocks: list[Block] = [
        prose(
            Strong("Gates that move"),
            " are predicted without any network: single units, drawn from the law of the initial "
            "weights, follow ",
            Math(r"\tau \dot{w} = \sum_\mu 1[w \cdot x_\mu > 0] (b \cdot e_\mu) x_\mu / P"),
            " and ",
            Math(r"\tau \dot{b} = \sum_\mu (w \cdot x_\mu)_+ e_\mu / P"),
            " in the residual ",
            Math("e"),
            " that all of them leave. A unit's gate is constant between the steps at which it "
            "switches. Nothing is set by hand: the data, ",
            Math(r"H \sigma^2"),
            " and the learning rate say everything. What the draw of units leaves open is "
            f"{percent(found.error)} of ",
            Math("L(0)"),
            ".",
        )
    ]
    if figures:
        blocks.append(
            Figure(
                name="motion",
                caption=(
                    "Predicted gates, the heaviest of each class, and the share of all units' "
                    "weight that each class carries over time; grey is the rest."
                ),
                alt="Gate patterns, and their shares against steps.",
            )
        )
    blocks.append(_table(found))
    return blocks


def _table(found: MovingGates) -> Table:
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
        header=("gate", "alike", "open samples", "largest share", "steps with half of it"),
        rows=tuple(rows),
        caption=(
            "Classes of predicted gates; those of one class are mapped onto each other by "
            "symmetries of the data, as far as the program can tell them apart."
            + (f" {left_out} more carry at least 1 % at some time." if left_out else "")
        ),
        alignment="lrrrr",
    )
