"""How far networks are predicted to scatter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import percent
from symreln.document.model import Block, Math, Strong, prose
from symreln.document.typeset import typeset
from symreln.experiment.band import QUANTILES

if TYPE_CHECKING:
    from symreln.experiment.confront import Validation


def band_blocks(validation: Validation) -> list[Block]:
    """Return what is predicted of the scatter of networks, or why nothing is."""
    found = validation.predicted
    if found is None:
        why = typeset(validation.not_predicted)
        return [prose(Strong("Scatter of networks"), " is not predicted: ", *why, ".")]
    judged = validation.gdln if validation.network is None else validation.network
    inside = percent(float(found.covered(judged.losses).mean()))
    share = QUANTILES[-1] - QUANTILES[0]
    return [
        prose(
            Strong("Scatter of networks"),
            " is predicted from the law of their initial weights alone: "
            f"{found.draws} were drawn and descended as the theory says. The band holds "
            f"{percent(share)} of them at every step and is up to {percent(found.width())} of ",
            Math("L(0)"),
            " wide. Counting every step by the width of the band there, the curves of the "
            f"{validation.seeds} trained {validation.judged_by}s are inside {inside} of the time. "
            "Whatever moves all of their curves, as gates that the theory does not have, lowers "
            "that share, and so does what makes them differ besides their initial strengths. The "
            f"mean of {validation.seeds} networks is up to "
            f"{percent(found.by_chance(validation.seeds))} of ",
            Math("L(0)"),
            " off the mean of all by chance alone, in 95 % of cases.",
        )
    ]
