"""Results of this room: what they give to JSON, and tables; each declared where the result is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from operator import attrgetter
from typing import Any, ClassVar

from symreln.claims.claim import DIGITS, Claim
from symreln.exact.algebraic import AlgebraicNumber
from symreln.spec.model import Spec

Columns = Sequence[tuple[str, Callable[[Any], object]]]

#: Characters of an exact number above which its decimals are shown; files have it exactly.
LONGEST = 32


class Result(Claim):
    """A claim whose values are attributes of its own.

    Attributes:
        JSON: Which, in this order: an attribute, ``key=attribute`` where JSON has another word,
            * for all fields (a later entry wins). With a ? behind it what is None, or an empty text
            or tuple, is left out.
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
            found.pop(attribute or key, None)
            value = attrgetter(attribute or key)(self)
            nothing = value is None or (isinstance(value, str | tuple) and not value)
            if not (nothing and entry.endswith("?")):
                found[key] = value
        return found

    @property
    def tables(self) -> Mapping[str, str]:
        """Markdown that a command writes beside its JSON, by file; the terminal shows it too."""
        return {}


def table(rows: Iterable[Any], columns: Columns) -> list[str]:
    """Return a table as lines of Markdown.

    Args:
        rows: What it is of.
        columns: Headers, and what stands under each in a row.
    """
    cells = [[str(cell(row)) for _, cell in columns] for row in rows]
    head = [f"| {' | '.join(header for header, _ in columns)} |", "|" + "---|" * len(columns)]
    return [*head, *(f"| {' | '.join(line)} |" for line in cells)]


def number_text(number: AlgebraicNumber, spec: Spec | None = None) -> str:
    """Return an exact number as text, or six decimals where the text is long and has them.

    Args:
        number: The number.
        spec: Where its parameters are declared.
    """
    values, symbols = ({}, {}) if spec is None else (spec.values, spec.symbols)
    told = number.to_json(values, symbols, DIGITS)
    if len(told["expr"]) <= LONGEST or told.get("decimal") is None:
        return told["expr"]
    exact = Decimal(told["decimal"])
    near = float(exact)
    fits = isfinite(near) and bool(near) == bool(exact)
    return f"{near if fits else exact:.6g}"


def counted(count: int, thing: str) -> str:
    """Return how many there are of a thing."""
    return f"{count} {thing}{'' if count == 1 else 's'}"
