"""Results as JSON and as tables, each declared once where the result is.

A dataclass or named tuple is an object of its fields, or of what its ``JSON`` names in that order:
an attribute, ``key=attribute`` where JSON has another word, ``key?`` where nothing, a text or tuple
without entries too, is left out.
A table is its columns: a header, and what a row says under it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

from symreln.exact.algebraic import AlgebraicNumber

Row = TypeVar("Row")

#: Characters of an exact number above which its decimals are shown; files have it exactly.
LONGEST = 32


@dataclasses.dataclass(frozen=True)
class Declared:
    """What exact numbers with parameters are written with.

    Attributes:
        values: Declared values of parameters, at which numbers have decimals.
        symbols: The parameters' symbols with their assumptions.
    """

    values: Mapping[str, Fraction] = dataclasses.field(default_factory=dict)
    symbols: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def to_json(value: Any, declared: Declared | None = None) -> Any:
    """Return a result as what JSON can say.

    Args:
        value: A dataclass, number, text, array, or a collection of them. A float that is not
            finite is null; an expression is its text.
        declared: For numbers with parameters.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if isinstance(value, np.ndarray | np.generic):
        return to_json(value.tolist(), declared)
    if isinstance(value, AlgebraicNumber):
        known = declared or Declared()
        return value.to_json(known.values, known.symbols)
    if isinstance(value, Mapping):
        return {str(key): to_json(each, declared) for key, each in value.items()}
    if dataclasses.is_dataclass(value) or hasattr(value, "_fields"):
        return {name: to_json(each, declared) for name, each in _attributes(value)}
    if isinstance(value, list | tuple):
        return [to_json(each, declared) for each in value]
    return str(value)


def _attributes(value: Any) -> Iterable[tuple[str, Any]]:
    named = getattr(type(value), "_fields", None)
    for entry in getattr(type(value), "JSON", named or value.__dataclass_fields__):
        key, _, attribute = entry.rstrip("?").partition("=")
        each = attrgetter(attribute or key)(value)
        if not entry.endswith("?") or (
            each is not None and not (isinstance(each, str | tuple) and not each)
        ):
            yield key, each


def table(rows: Iterable[Row], columns: Sequence[tuple[str, Callable[[Row], object]]]) -> list[str]:
    """Return a table as lines of Markdown.

    Args:
        rows: What it is of.
        columns: Headers, and what stands under each in a row.
    """
    cells = [[str(cell(row)) for _, cell in columns] for row in rows]
    head = [f"| {' | '.join(header for header, _ in columns)} |", "|" + "---|" * len(columns)]
    return [*head, *(f"| {' | '.join(line)} |" for line in cells)]


def number_text(number: AlgebraicNumber, declared: Declared | None = None) -> str:
    """Return an exact number as text, or six decimals where the text is long and has them."""
    told = to_json(number, declared)
    if len(told["expr"]) <= LONGEST or told.get("decimal") is None:
        return told["expr"]
    exact = Decimal(told["decimal"])
    near = float(exact)
    fits = isfinite(near) and bool(near) == bool(exact)
    return f"{near if fits else exact:.6g}"


def counted(count: int, thing: str) -> str:
    """Return how many there are of a thing."""
    return f"{count} {thing}{'' if count == 1 else 's'}"
