"""A claim: a finding with exact values, said once; document, JSON and terminal are folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sympy as sp
from flint import arb

from symreln.document.blocks import Block
from symreln.exact.enclosure import decimal_of

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation

    #: What is asked of a derivation: a claim, several, or None.
    Rule = Callable[[Derivation], "Claim | Iterable[Claim] | None"]

#: Digits of decimals.
DIGITS = 21


class Claim:
    """What a rule finds: a frozen dataclass of the rule's own, with its exact values as fields.

    None of its methods knows of LaTeX, HTML, JSON or a terminal: values go out as they are, and
    whoever folds them decides how many digits are printed (:mod:`symreln.report.encode`).
    """

    def values(self) -> Mapping[str, Any]:
        """Return what JSON and Python give out: exact values, claims, lists and dicts of them."""
        return {}

    def says(self) -> Iterable[Block]:
        """Yield what the document says, in its order."""
        return ()

    def lines(self) -> Iterable[str]:
        """Yield what the terminal says, in plain characters."""
        return ()


@dataclass(frozen=True, kw_only=True)
class Formula(Claim):
    """A formula with its value.

    Attributes:
        expr: In the declared parameters.
        ball: Its value where they have values, else None.
    """

    expr: sp.Expr
    ball: arb | None = field(compare=False)

    def values(self) -> dict[str, Any]:
        """Return "expr", and "decimal" and "radius" where there is a value."""
        return {"expr": self.expr} | ({} if self.ball is None else decimals(self.ball))


def decimals(ball: arb) -> dict[str, str]:
    """Return a ball as "decimal" and "radius", text."""
    return dict(zip(("decimal", "radius"), decimal_of(ball, DIGITS), strict=True))


def claims_of(derivation: Derivation, rule: Rule) -> tuple[Claim, ...]:
    """Return what a rule claims of a derivation: none, one or several claims."""
    found = derivation.ask(rule)
    if found is None:
        return ()
    return (found,) if isinstance(found, Claim) else tuple(found)


def said_of(derivation: Derivation, *rules: Rule) -> list[Block]:
    """Return what the document says by some rules, in their order."""
    return [b for rule in rules for claim in claims_of(derivation, rule) for b in claim.says()]


def lines_of(derivation: Derivation, *rules: Rule) -> list[str]:
    """Return what the terminal says by some rules, in their order."""
    return [x for rule in rules for claim in claims_of(derivation, rule) for x in claim.lines()]
