"""The law of gates beside trained networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import percent
from symreln.document.model import Block, Figure, Strong, Table
from symreln.document.typeset import say
from symreln.experiment.metrics import metric_cells
from symreln.report.sentences import gate_law_sentence

if TYPE_CHECKING:
    from symreln.experiment.outcome import Validation

_ORDERS = ("second", "third", "fourth")


def gate_law_blocks(validation: Validation) -> list[Block]:
    """Return what the law of gates comes to beside the networks; nothing where there is no law."""
    law = validation.law
    if law is None:
        return []
    text = gate_law_sentence(law).removeprefix("law of gates: ")
    blocks: list[Block] = [
        say(
            "{name} of [#sec:gatelaw] against the networks: {text}. At second order isolated units "
            "with gates of their own move in the residual that the first stage's pathways leave. "
            "At third order the residual is that of a gated linear network with the second order's "
            "gates, from the same initialisation distribution. No trained network enters, and no "
            "share of units is assumed for later pathways.",
            name=Strong("The law of gates"),
            text=text,
        ),
        Figure(
            name="gate_law",
            caption=(
                "Share of the weight whose gate is one of the first stage's: by the law of "
                "gates (lines) and in the trained networks (dots: mean, bars: range)."
            ),
            alt="Predicted and measured shares of gates against steps.",
        ),
    ]
    if law.distances:
        blocks.append(_losses(validation))
    elif law.why_not:
        blocks.append(say("There is no second order: {why}.", why=law.why_not))
    return blocks


def _losses(validation: Validation) -> Table:
    """Return what gates by the law do to the predicted loss."""
    law, judged = validation.law, validation.metrics.get("theory_vs_relu")
    assert law is not None  # asked before
    rows = [] if judged is None else [("the spec's, which stay", judged)]
    rows += [
        (f"by the law, {order} order", found)
        for order, found in zip(_ORDERS, law.distances, strict=False)
    ]
    names = ("max_abs_over_initial", "mean_abs_over_initial", "drop_time_error_steps")
    return Table(
        header=("gates", "max |ΔL|/L(0)", "mean |ΔL|/L(0)", "drop time"),
        rows=tuple((name, *(metric_cells(found)[n] for n in names)) for name, found in rows),
        caption=(
            f"Loss against the {validation.network_name} by the gates that the theory takes; "
            f"tolerance {percent(validation.tolerance)}."
        ),
        alignment="lrrr",
    )
