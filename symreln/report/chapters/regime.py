"""The regime of the initial weights, in the document, in derivation.json and on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.exact.enclosure import rounded_text
from symreln.report.document import Block, Citation, Math, Strong, prose
from symreln.report.typeset import typeset

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.claims.regime import Regime

#: What it comes to, by name.
MEANS = {
    "lazy": "Weights change by less than their size, most gates stay as they were drawn, and "
    "formulas of growth from small weights do not describe the network.",
    "mixed": "Formulas of growth from small weights do not describe the network for these modes.",
}


def regime_blocks(derivation: Derivation) -> list[Block]:
    """Return what is said of large initial weights; nothing in the rich regime."""
    found = derivation.regime
    if found is None or not found.is_lazy:
        return []
    return [
        prose(
            Strong(_title(found)),
            ". A mode is lazy where its initial strength is at least half of its plateau, ",
            Math(r"\pi_0 \ge s/(2 d_{\mathrm{eff}})"),
            ": it has no half-time, and the relative scale of ",
            Citation("Chizat2019"),
            ", for a mode ",
            Math(r"s/(4 d_{\mathrm{eff}} \pi_0)"),
            ", is at most one half. Here ",
            *typeset(f"{found.reason}. {MEANS[found.name]}"),
        )
    ]


def regime_lines(derivation: Derivation) -> list[str]:
    """Return what the terminal says of large initial weights."""
    found = derivation.regime
    if found is None or not found.is_lazy:
        return []
    return [f"{_title(found).lower()}: {found.reason}. {MEANS[found.name]}"]


def regime_to_json(derivation: Derivation) -> dict[str, Any]:
    """Return the entry "regime": "name" is rich, mixed or lazy; null where nothing is derived."""
    found = derivation.regime
    if found is None:
        return {"regime": None}
    low, high = found.scales
    return {
        "regime": {
            "name": found.name,
            "lazy_modes": list(found.lazy),
            "modes": found.modes,
            "relative_scale": {
                "smallest": rounded_text(low, 6),
                "largest": rounded_text(high, 6),
            },
            "reason": found.reason,
        }
    }


def _title(found: Regime) -> str:
    return f"{found.called} regime".capitalize()
