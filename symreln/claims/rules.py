"""Every rule that is asked of a derivation, and where what it claims is shown.

A rule is a function of a derivation that returns a claim, several, or None
(:mod:`symreln.claims.claim`). A new one is a file and a line here: document, derivation.json,
terminal, checks and certificate walk this table. Files are named, and imported when they are first
asked: who derives does not import what writes chapters, and outer rooms stay outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from symreln.claims.claim import Asked, Claim, Place, Rule, Shown, Step
from symreln.document.document_model import Block

RULES = (
    Shown("claims.pathways.verdict_of", "", "verdict"),
    Shown("claims.pathways.pathways_of", "", "pathways"),
    Shown("claims.couplings.coupling_entries", "", "couplings"),
    Shown("claims.loss.loss_of", "", "loss"),
    Shown("claims.lines.derivation_lines", "", "lines", printed=True),
    Shown("claims.gate_law.gate_lines_of", "", "gate_lines", always=False, printed=True),
    Shown("claims.edges.edges_of", "chapter", "graph", always=False),
    Shown("sizes.routing_claim.routing_of", "", "routing", always=False, printed=True),
    Shown("sizes.every_size.every_size", "chapter", "family"),
    Shown("effective.asked.found_of", "found", "found", always=False, printed=True, warns=True),
    Shown("effective.asked.timeline_of", "", "timeline", always=False),
    Shown("claims.exceptional.exceptional_sets", "chapter", "exceptional", printed=True),
    Shown("claims.phases.phases_of", "chapter", "phases", always=False),
    Shown("claims.equilibria.equilibria_of", "reduction", "equilibria", always=False, checked=True),
    Shown("claims.narrow.width_of", "end", "width", always=False),
    Shown("claims.later_stages.head_starts_of", "start", "head_starts", always=False, printed=True),
    Shown("claims.gate_law.gate_law_of", "chapter", "gate_law", always=False, printed=True),
    Shown("claims.regime.regime_of", "start", "regime", printed=True, warns=True),
    Shown("claims.unsupported.unsupported_of", "start", "unsupported", printed=True, warns=True),
    Shown("claims.relaxation.diverging", "start", "", printed=True, warns=True),
)


def _claims_of(derivation: Asked, *rules: Rule) -> Iterator[Claim]:
    """Yield what some rules claim of a derivation, in their order: none, one or several each."""
    for rule in rules:
        found = derivation.ask(rule)
        yield from () if found is None else (found,) if isinstance(found, Claim) else found


def lines_of(derivation: Asked, *rules: Rule) -> list[str]:
    """Return what the terminal says by some rules."""
    return [line for claim in _claims_of(derivation, *rules) for line in claim.lines()]


def said_at(derivation: Asked, place: Place) -> list[Block]:
    """Return what the document says at a place."""
    rules = (s.rule for s in RULES if s.place == place)
    return [block for claim in _claims_of(derivation, *rules) for block in claim.says()]


def printed_of(derivation: Asked) -> list[str]:
    """Return what the terminal says."""
    return lines_of(derivation, *(s.rule for s in RULES if s.printed))


def warnings_of(derivation: Asked) -> list[str]:
    """Return what no short view of a derivation leaves out."""
    return lines_of(derivation, *(s.rule for s in RULES if s.warns))


def checks_of(derivation: Asked) -> list[Step]:
    """Return the checks of what is claimed."""
    rules = (s.rule for s in RULES if s.checked)
    return [step for claim in _claims_of(derivation, *rules) for step in claim.steps()]


def rule_of(key: str) -> Callable[[Any], Any]:
    """Return the rule with a key; one that finds nothing where its room was taken away."""
    return next((each.rule for each in RULES if each.key == key), lambda _: None)


def values_of(derivation: Asked) -> Iterator[tuple[str, Any]]:
    """Yield (key, what derivation.json says) of every rule that has a key."""
    for shown in RULES:
        found = derivation.ask(shown.rule) if shown.key else None
        if shown.key and (found is not None or shown.always):
            yield shown.key, found
