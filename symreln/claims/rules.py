"""Every rule that is asked of a derivation, and where what it claims is shown.

A rule is a function of a derivation that returns a claim, several, or None
(:mod:`symreln.claims.claim`). A new one is a file and a line here: document, derivation.json,
terminal and checks walk this table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symreln.claims.claim import (
    Asked,
    Place,
    Shown,
    Step,
    claims_of,
    lines_of,
    said_of,
)
from symreln.claims.couplings import coupling_entries
from symreln.claims.edges import edges_of
from symreln.claims.equilibria import equilibria_of
from symreln.claims.every_size import every_size
from symreln.claims.exceptional import exceptional_sets
from symreln.claims.gate_law import gate_law_of, gate_lines_of
from symreln.claims.later_stages import head_starts_of
from symreln.claims.lines import derivation_lines
from symreln.claims.loss import loss_of
from symreln.claims.narrow import width_of
from symreln.claims.pathways import pathways_of, verdict_of
from symreln.claims.phases import phases_of
from symreln.claims.regime import regime_of
from symreln.claims.relaxation import diverging
from symreln.claims.routing_claim import routing_of
from symreln.claims.unsupported import unsupported_of
from symreln.document.document_model import Block

RULES = (
    Shown(rule=verdict_of, key="verdict"),
    Shown(rule=pathways_of, key="pathways"),
    Shown(rule=coupling_entries, key="couplings"),
    Shown(rule=loss_of, key="loss"),
    Shown(rule=derivation_lines, key="lines", printed=True, checked=True),
    Shown(rule=gate_lines_of, key="gate_lines", always=False, printed=True),
    Shown(rule=edges_of, place="chapter", key="graph", always=False),
    Shown(rule=routing_of, key="routing", always=False, printed=True),
    Shown(rule=every_size, place="chapter", key="family"),
    Shown(rule=exceptional_sets, place="chapter", key="exceptional", printed=True),
    Shown(rule=phases_of, place="chapter", key="phases", always=False),
    Shown(rule=equilibria_of, place="reduction", key="equilibria", always=False, checked=True),
    Shown(rule=width_of, place="end", key="width", always=False),
    Shown(rule=head_starts_of, place="start", key="head_starts", always=False, printed=True),
    Shown(rule=gate_law_of, place="chapter", key="gate_law", always=False, printed=True),
    Shown(rule=regime_of, place="start", key="regime", printed=True, warns=True),
    Shown(rule=unsupported_of, place="start", key="unsupported", printed=True, warns=True),
    Shown(rule=diverging, place="start", printed=True, warns=True),
)


def said_at(derivation: Asked, place: Place) -> list[Block]:
    """Return what the document says at a place."""
    return said_of(derivation, *(s.rule for s in RULES if s.place == place))


def printed_of(derivation: Asked) -> list[str]:
    """Return what the terminal says."""
    return lines_of(derivation, *(s.rule for s in RULES if s.printed))


def warnings_of(derivation: Asked) -> list[str]:
    """Return what no short view of a derivation leaves out."""
    return lines_of(derivation, *(s.rule for s in RULES if s.warns))


def checks_of(derivation: Asked) -> list[Step]:
    """Return the checks of what is claimed."""
    rules = (s.rule for s in RULES if s.checked)
    return [step for claim in claims_of(derivation, *rules) for step in claim.steps()]


def values_of(derivation: Asked) -> Iterator[tuple[str, Any]]:
    """Yield (key, what derivation.json says) of every rule that has a key."""
    for shown in RULES:
        found = derivation.ask(shown.rule) if shown.key else None
        if shown.key and (found or shown.always):
            yield shown.key, found
