"""The predicted band, as ``predicted_band`` of validation.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.experiment.band import QUANTILES

if TYPE_CHECKING:
    from symreln.experiment.confront import Validation


def band_to_json(validation: Validation) -> dict[str, Any]:
    """Return the band and how many trained networks are in it, or why there is none.

    Its edges at every step are ``theory_low`` and ``theory_high`` of curves.npz.
    """
    found = validation.predicted
    if found is None:
        return {"why_not": validation.not_predicted}
    judged = validation.gdln if validation.network is None else validation.network
    drops = found.drop_times()
    return {
        "of": "gdln" if validation.network is None else "network",
        "quantiles": list(QUANTILES),
        "networks_drawn": found.draws,
        "width_over_initial": found.width(),
        "drop_time_steps": None if drops is None else list(drops),
        "share_inside": float(found.covered(judged.losses).mean()),
        "mean_by_chance_over_initial": found.by_chance(validation.seeds),
    }
