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
            f" is predicted from the initialisation distribution: {found.draws} initial weights "
            "were drawn, and the theory was integrated from each. The band contains "
            f"{percent(share)} of these curves at every step; it is up to {percent(found.width())} "
            "of ",
            Math("L(0)"),
            f" wide. The curves of the {validation.seeds} trained {validation.judged_by}s are "
            f"inside it {inside} of the time, every step weighted by the width of the band. Gates "
            "that differ from the theory's lower this share, and so does scatter from anything "
            "but the initial strengths. By chance alone, the mean of "
            f"{validation.seeds} networks is within {percent(found.by_chance(validation.seeds))} "
            "of ",
            Math("L(0)"),
            " of the mean of all in 95 % of cases.",
        )
    ]
