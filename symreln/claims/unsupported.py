"""Pathways whose gates no hidden unit of a ReLU network keeps."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from symreln.base.records import record
from symreln.base.summaries import few
from symreln.claims.claim import Claim
from symreln.claims.derivation import Derivation
from symreln.claims.early import unsupported_pathways
from symreln.exact.enclosure import ball, rounded_text

#: Pathways that are named.
_MOST_NAMED = 12


@record
class _Unsupported(Claim):
    """The pathways that are unsupported.

    Attributes:
        reasons: Why, by a pathway's name.
        where: The values of the parameters for which that is decided, as text.
    """

    reasons: Mapping[str, str]
    where: str

    @property
    def sentence(self) -> str:
        """Which pathways are unsupported, and why; "" where all are supported."""
        if not self.reasons:
            return ""
        named = few([f"'{name}' ({why})" for name, why in self.reasons.items()], _MOST_NAMED)
        return (
            f"unsupported pathways{f' at {self.where}' if self.where else ''}: no hidden unit of "
            f"a ReLU network keeps the gate of {named}. "
            "Their initial strength is not derived: half of the units is assumed."
        )

    def values(self) -> Mapping[str, str]:
        """Return the reasons."""
        return self.reasons


def unsupported_of(derivation: Derivation) -> _Unsupported:
    """Return what is decided exactly."""
    values = (
        f"{parameter.name} = {_short(parameter.value)}"
        for parameter in derivation.spec.parameters
        if parameter.value is not None and not parameter.integer
    )
    return _Unsupported(reasons=derivation.ask(unsupported_pathways), where=", ".join(values))


def _short(value: Fraction) -> str:
    """Return the value as a decimal where a short one is exact, else as a fraction."""
    decimal = rounded_text(ball(value), 6)
    return decimal if Fraction(decimal) == value else str(value)
