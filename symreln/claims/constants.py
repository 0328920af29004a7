"""Every number that enters a prediction and is not in the spec, with where it comes from.

A number is *derived* where the spec and the initialisation distribution give it, *estimated* where
a Monte Carlo estimate does, with its standard error, *assumed* where it is taken without a proof
that it holds for the network, *fitted* where trained networks gave it. Those assumed or fitted are
the free constants. Tolerances of numerical methods are no constants of the theory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, Self

from symreln.base.records import record
from symreln.claims.claim import Claim
from symreln.claims.derivation import Derivation
from symreln.claims.rules import rule_of
from symreln.claims.starts import starts_of
from symreln.document.document_model import Content, Math
from symreln.document.numerals import decimal_latex
from symreln.document.words import NONE
from symreln.exact.enclosure import ball, in_float64, rounded_text
from symreln.laws.choice import law_of
from symreln.laws.law import Regime

Source = Literal["derived", "estimated", "assumed", "fitted"]
#: The share of a ReLU network's hidden units that a pathway is taken to have.
HALF = "share of hidden units in a pathway"
_WHY_HALF = (
    "a random unit is open on half of all inputs; that these units take the pathway's gate, and "
    "keep it, is not derived"
)


@record
class Constant(Claim):
    """One number.

    Attributes:
        name: What it is.
        value: Its value, exact where float64 may have no room for it; None where only its error
            matters.
        error: Standard error; None where it has none.
        source: Where it comes from.
        origin: The same in words, "from" in JSON.
    """

    name: str
    value: float | Fraction | None
    source: Source
    origin: str
    error: float | None = None

    @classmethod
    def estimated(cls, name: str, value: float | None, error: float, what: str) -> Self:
        """Return what Monte Carlo over something estimates, with its standard error."""
        why = f"Monte Carlo over {what}"
        return cls(name=name, value=value, error=error, source="estimated", origin=why)

    @property
    def is_free(self) -> bool:
        """Whether it counts as a free constant."""
        return self.source in ("assumed", "fitted")

    def shown(self, digits: int) -> str:
        """Return the value with some significant digits, or ""."""
        if self.value is None:
            return ""
        return rounded_text(ball(Fraction(self.value)), digits)

    @property
    def cell(self) -> Content:
        """The value with its standard error, for a table."""
        shown = "" if self.value is None else decimal_latex(self.shown(4))
        if self.error is None:
            return Math(shown) if shown else NONE
        return Math(rf"{shown} \pm {decimal_latex(f'{self.error:.2g}')}")

    def values(self) -> dict[str, Any]:
        """Return it in float64; a value beyond that as its decimals."""
        value = self.value
        if isinstance(value, Fraction):
            value = float(value) if in_float64(ball(value)) else self.shown(12)
        return {
            "name": self.name,
            "value": value,
            "error": self.error,
            "source": self.source,
            "from": self.origin,
        }


def count_free(constants: Iterable[Constant]) -> int:
    """Return how many of them were assumed or fitted."""
    return sum(constant.is_free for constant in constants)


def constants_text(constants: Iterable[Constant]) -> str:
    """Return how many free constants there are, and which."""
    free = [constant for constant in constants if constant.is_free]
    names = "; ".join(
        f"{each.name}{'' if each.value is None else f': {each.shown(4)}'}, {each.source}"
        for each in free
    )
    return f"free constants: {len(free)}{f' ({names})' if names else ''}"


def printed_constants(derivation: Derivation) -> tuple[Constant, ...]:
    """Return the constants of what is judged; none without a network, or where one is drawn.

    The printed formulas are judged, or the effective network where gates come from the data.
    """
    network = derivation.spec.network
    if network is None or derivation.by_edges:
        return ()
    if (effective := derivation.ask(rule_of("found"))) is not None:
        return effective.constants
    if derivation.given_start is not None:
        why = "given by the user: strength0"
        given = derivation.given_start
        return (Constant(name="initial strength", value=given, source="assumed", origin=why),)
    known, starts = derivation.known, derivation.ask(starts_of)
    found = [*_start(known, network.hidden)]
    what = "isolated hidden units in the early phase"
    found += [
        Constant.estimated(f"kappa of pathway '{name}'", kappa, starts.errors[name], what)
        for name, kappa in starts.kappas.items()
    ]
    rest = [f"'{p.name}'" for p in derivation.pathways if p.name not in starts.kappas]
    if known.half_speed.holds:
        why = "proven for data closed under x -> -x with odd targets, where units come in pairs"
        found += [
            Constant(name=name, value=0.5, source="derived", origin=why)
            for name in (HALF, "speed of the ReLU network")
        ]
    elif known.gates.holds and rest:
        why = f"pathways {', '.join(rest[:8])}{', …' * (len(rest) > 8)}: {_WHY_HALF}"
        found.append(Constant(name=HALF, value=0.5, source="assumed", origin=why))
    return tuple(found)


def _start(known: Regime, hidden: int) -> Iterator[Constant]:
    """Yield where modes start with all hidden units taking part; it is a symbol where none says."""
    law = law_of(known)
    start = law.start(replace(known, units=Fraction(hidden)))
    if start is None:
        return
    if start.imbalance:
        why = "mean of |a + b||a - b| over the initialisation distribution"
        name = "imbalance with all hidden units"
        yield Constant(name=name, value=start.imbalance, source="derived", origin=why)
    name, value = "initial strength with all hidden units", start.strength0
    yield Constant(name=name, value=value, source="derived", origin=law.start_origin)
