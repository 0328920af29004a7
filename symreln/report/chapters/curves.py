"""The figure of the strengths: what its curves are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.head_formulas import some_driven
from symreln.claims.later_stages import head_starts_of
from symreln.claims.linear_flow import is_linear
from symreln.claims.orbits import mode_orbits, plateaus_latex
from symreln.claims.widths import own_curves
from symreln.document.model import Figure, Math, inlines
from symreln.document.typeset import phrase, typeset

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.document.model import Content, Inline

#: What the method of a prediction from the matrices of all pathways says.
_MATRICES = "coupled matrices"


def modes_figure(derivation: Derivation, *, confronted: bool, method: str) -> Figure:
    """Return the figure of the strengths.

    Args:
        derivation: What is shown.
        confronted: Whether it shows the prediction that was confronted with training, rather than
            the closed forms that are printed.
        method: How that prediction was computed, in words.
    """
    markers = " Markers: measured, where strengths can be attributed to a mode." * confronted
    return Figure(
        name="modes",
        caption=(
            "Predicted strengths: ",
            *inlines(_curves(derivation, confronted, method)),
            *inlines(_plateaus(derivation)),
            f". (2×): two equal modes.{markers}",
        ),
        alt="Strength of every mode against time, one colour a pathway.",
    )


def _plateaus(derivation: Derivation) -> Content:
    groups = mode_orbits(derivation)
    settled = any(mode.d_eff is not None for group in groups for mode in group.learning)
    if derivation.later or is_linear(derivation) or not settled:
        return ()
    height = plateaus_latex(groups, decay=derivation.known.lowers_plateaus)
    return ("; thin lines are the plateaus ", Math(height))


def _curves(derivation: Derivation, confronted: bool, method: str) -> Content:
    """Say whether the curves are the closed forms or the prediction, which may differ."""
    if is_linear(derivation):
        return phrase(r"$u^{\top} W_p(t)\, v$ of the weights")
    if derivation.later:
        return phrase(
            r"$u^{\top} W_p(t)\, v$ of the modes of the gates that hold; where these switch, "
            "curves end, and those of the next modes begin"
        )
    ahead = derivation.ask(head_starts_of)
    closed = derivation.closed and not (ahead is not None and ahead.outrun)
    if closed and (not confronted or own_curves(derivation).holds):
        curves: list[str | Inline] = ["closed forms"]
        if confronted and derivation.strength0 is None:
            curves.append(", from the mean of the starts that were followed")
        if some_driven(derivation):
            curves.append(", later stages from their effective starts")
        return tuple(curves)
    if confronted and not derivation.known.matrices.holds:
        return "single modes, moved by gradient descent"
    if confronted and method and _MATRICES not in method:
        return typeset(method)
    moved = "moved together by gradient descent" if confronted else "integrated together"
    return phrase(rf"$u^{{\top}} W_p(t)\, v$ of the coupled matrices of all pathways, {moved}")
