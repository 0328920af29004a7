"""Lists that fit in a sentence, and what was found by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

Value = TypeVar("Value")

#: Names in a list, if nobody says how many.
MOST_NAMED = 6


def few(names: Iterable[str], most: int = MOST_NAMED) -> str:
    """Return names in a sentence: the first ones, and how many more there are.

    Example:
        >>> few("abcd", 2)
        'a, b and 2 more'
    """
    known = list(names)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more


class ByName(Mapping[str, Value]):
    """A mapping of what was found by name, in the field ``found``."""

    found: Mapping[str, Value]

    def __getitem__(self, name: str) -> Value:
        """Return what has a name."""
        return self.found[name]

    def __iter__(self) -> Iterator[str]:
        """Return the names."""
        return iter(self.found)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.found)


def short_list(names: Sequence[str], what: str = "pathways") -> str:
    """Return names for a legend: all of up to three, else which there are and how many.

    Example:
        >>> short_list(["off_1", "off_2", "off_3", "off_4"])
        'off_1 … off_4 (4 pathways)'
        >>> short_list([f"hierarchy_of_context_{n}" for n in range(4)])
        'hierar…ext_0 … hierar…ext_3 (4 pathways)'
        >>> short_list(["gate_1", "gate_2", "gate_4", "gate_5"])  # no range
        'gate_1, gate_2 and 2 more pathways'
    """
    if len(names) <= 3:
        return ", ".join(names)
    first, second, last = (
        n if len(n) <= 12 else f"{n[:6]}…{n[-5:]}" for n in (*names[:2], names[-1])
    )
    stem = names[0].rstrip("0123456789")
    start = int(names[0].removeprefix(stem) or 0)
    if list(names) == [f"{stem}{start + place}" for place in range(len(names))]:
        return f"{first} … {last} ({len(names)} {what})"
    return f"{first}, {second} and {len(names) - 2} more {what}"
