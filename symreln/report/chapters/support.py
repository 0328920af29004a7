"""Pathways whose gates no hidden unit keeps, in the document, in JSON and on the terminal."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.document.model import Block, Strong, prose
from symreln.document.typeset import typeset
from symreln.exact.enclosure import ball, rounded_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.early import EarlyStrengths
    from symreln.spec.model import Spec

#: Pathways that are named.
MOST_NAMED = 12


def unsupported_blocks(reasons: Mapping[str, str], spec: Spec) -> list[Block]:
    """Return which pathways are unsupported, and why; nothing where all are supported.

    Args:
        reasons: By name; what is decided exactly, or what the early phase found too.
        spec: Its parameters have the values for which this is decided.
    """
    if not reasons:
        return []
    said = typeset(f"{_at_values(spec)}. {_sentence(reasons)}")
    return [prose(Strong("Unsupported pathways"), *said)]


def unsupported_lines(reasons: Mapping[str, str], spec: Spec) -> list[str]:
    """Return what the terminal says of them."""
    return [f"unsupported pathways{_at_values(spec)}: {_sentence(reasons)}"] if reasons else []


def _at_values(spec: Spec) -> str:
    """Return for which values of the parameters it is decided, "" without parameters."""
    values = [
        f"{parameter.name} = {_short(parameter.value)}"
        for parameter in spec.parameters
        if parameter.value is not None and not parameter.integer
    ]
    return f" at {', '.join(values)}" if values else ""


def _short(value: Fraction) -> str:
    """Return the value as a decimal where a short one is exact, else as a fraction."""
    decimal = rounded_text(ball(value), 6)
    return decimal if Fraction(decimal) == value else str(value)


def counted(early: EarlyStrengths) -> list[str]:
    """Return which of the units that were followed count for no pathway, a sentence."""
    if not early.followed:
        return []
    # Here, because it brings what trains networks, and a derivation alone needs none of it.
    from symreln.experiment.words import percent

    return [
        f"Of {early.followed} isolated hidden units {percent(early.elsewhere)} settle on no "
        f"pathway's gate, and {percent(early.closed)} are closed on all samples: they count for "
        "no pathway."
    ]


def _sentence(reasons: Mapping[str, str]) -> str:
    named = [f"{name} ({reason})" for name, reason in list(reasons.items())[:MOST_NAMED]]
    more = len(reasons) - len(named)
    return (
        "No hidden unit of a ReLU network keeps the gate of "
        f"{'; '.join(named)}{f'; and {more} more' if more > 0 else ''}. "
        "Their initial strength is not derived: half of the units is assumed."
    )
