"""What the verdict on pathways comes to where they share edges, or have unequally many of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from symreln.exact.truth import Truth
from symreln.verdict.diagonal import decide_diagonal
from symreln.verdict.judge import Level, StageVerdict

if TYPE_CHECKING:
    from symreln.networks.shared_edges import EdgeData, Sharing


def judge_edges(verdict: StageVerdict, sharing: Sharing | str, edges: EdgeData) -> StageVerdict:
    """Return the verdict on pathways with the edges that they have.

    Args:
        verdict: That on the same pathways with edges of their own, equally many each.
        sharing: How they share edges, or why no list says it.
        edges: The edges, and what drives them.
    """
    if isinstance(sharing, str):
        decision = decide_diagonal(edges)
        proven = decision.outcome is Truth.PROVEN
        level = Level.COUPLED_MODES if proven else Level.COUPLED_MATRICES
        reasons = (decision.reason, sharing)
        return replace(verdict, level=level, reasons=reasons, d_eff={}, diagonal=decision)
    if not sharing.is_shared or verdict.level is Level.COUPLED_MATRICES:
        return verdict
    equal = (
        f"an edge is used by {', '.join(map(str, sharing.uses))} pathways at the places from the "
        "input on, of equal data, so that edges of a place stay equal once they start equal"
    )
    return replace(verdict, level=Level.CLOSED_BY_SYMMETRY, reasons=(*verdict.reasons, equal))
