"""Results of this room: what they give to JSON, each declared where the result is."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite
from operator import attrgetter
from typing import Any, ClassVar

from symreln.claims.claim import DIGITS, Claim
from symreln.exact.algebraic import AlgebraicNumber
from symreln.specs.spec import Spec

#: Format of gates.json.
GATES = "symreln-gates/3"
#: Characters of an exact number above which its decimals are shown; files have it exactly.
_LONGEST = 32


class Result(Claim):
    """A claim whose values are attributes of its own.

    Attributes:
        JSON: Which, in this order: * for all fields; an attribute, or ``key=attribute`` where JSON
            has another word. With a ? behind it what is None, or an empty text or tuple, is left
            out.
        file: Of a command's result, the file that holds it.
    """

    JSON: ClassVar[tuple[str, ...]] = ("*",)
    file: ClassVar[str]

    def values(self) -> dict[str, Any]:
        """Return the attributes by key."""
        found: dict[str, Any] = {}
        for entry in self.JSON:
            if entry == "*":
                found |= super().values()
                continue
            key, _, attribute = entry.rstrip("?").partition("=")
            found[key] = value = attrgetter(attribute or key)(self)
            nothing = value is None or (isinstance(value, str | tuple | dict) and not value)
            if nothing and entry.endswith("?"):
                del found[key]
        return found


def number_text(number: AlgebraicNumber, spec: Spec | None = None) -> str:
    """Return an exact number as text, or six decimals where the text is long and has them.

    Args:
        number: The number.
        spec: Where its parameters are declared.
    """
    values, symbols = ({}, {}) if spec is None else (spec.values, spec.symbols)
    told = number.to_json(values, symbols, DIGITS)
    if len(told["expr"]) <= _LONGEST or told.get("decimal") is None:
        return told["expr"]
    exact = Decimal(told["decimal"])
    near = float(exact)
    fits = isfinite(near) and bool(near) == bool(exact)
    return f"{near if fits else exact:.6g}"
