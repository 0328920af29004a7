"""Reprs that fit on a screen, whatever a result holds; lists that fit in a sentence.

A dataclass's own repr prints every field of every value within it: a confrontation's is a third of
a million characters. :func:`screen_repr` prints a line a field instead, or the class's summary.
"""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from enum import Enum
from typing import Any, TypeVar

Value = TypeVar("Value")

#: Names in a list, if nobody says how many.
MOST_NAMED = 6

#: Lines of a repr, of a summary's, and characters of a line.
MOST_LINES = 28
_SUMMARY_LINES = 10
LINE = 100
#: Items of a collection and numbers of an array that are printed.
_MOST_ITEMS = 4
#: Characters that an item has at least, where a line is full.
_LEAST_ROOM = 32


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


def screen_repr(self: Any) -> str:
    """Return a repr of a dataclass of at most a screen.

    Where the class has a method ``_summary()``, its first ten lines; else every field, in a line
    each where they do not fit in one. ``_headline()``, where there is one, is what stands for an
    instance within others.
    """
    summary = getattr(self, "_summary", None)
    if summary is not None:
        lines = [line for text in summary() for line in _wrapped(text)]
        return "\n".join(_cut(lines, _SUMMARY_LINES))
    name = type(self).__name__
    fields = [f for f in dataclasses.fields(self) if f.repr]
    short = f"{name}({', '.join(f'{f.name}={brief(getattr(self, f.name))}' for f in fields)})"
    if len(short) <= LINE:
        return short
    lines = [f"  {f.name}={brief(getattr(self, f.name), LINE - len(f.name) - 4)}" for f in fields]
    return "\n".join([f"{name}(", *_cut(lines, MOST_LINES), ")"])


def _wrapped(text: str) -> list[str]:
    together = text.replace(" %", "\xa0%")
    found = textwrap.wrap(together, LINE, subsequent_indent="  ")
    return [line.replace("\xa0", " ") for line in found] or [""]


def _cut(lines: list[str], most: int) -> list[str]:
    left = len(lines) - most
    return lines if left <= 0 else [*lines[: most - 1], f"  … {left + 1} more lines"]


def brief(value: object, room: int = LINE) -> str:
    """Return one line of at most ``room`` characters about a value.

    Example:
        >>> brief(tuple(range(1000)))
        '(1000: 0, 1, 2, 3, …)'
        >>> brief({"steps": [0.5] * 1000}, 41)
        "{'steps': [1000: 0.5, 0.5, 0.5, 0.5, …]}"
    """
    text = " ".join(_brief(value, room).split())
    return text if len(text) <= room else text[: max(room - 1, 1)] + "…"


def _brief(value: Any, room: int) -> str:
    share = max(room // _MOST_ITEMS, _LEAST_ROOM)
    if isinstance(value, str):
        return repr(value if len(value) <= room else value[:room])
    if hasattr(value, "dtype") and hasattr(value, "flat"):
        return _array(value)
    if isinstance(value, Mapping):
        texts = (f"{k!r}: {brief(v, share)}" for k, v in value.items())
        return "{" + _items(texts, value) + "}"
    if isinstance(value, list):
        return f"[{_items((brief(each, share) for each in value), value)}]"
    if isinstance(value, tuple | Set):
        end = "," if len(value) == 1 else ""
        return f"({_items((brief(each, share) for each in value), value)}{end})"
    if isinstance(value, Enum):
        return str(value.value)
    headline = getattr(type(value), "_headline", None)
    if headline is not None:
        return headline(value)
    if type(value).__repr__ is screen_repr:  # of many lines: the first of its plain fields
        held = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        kinds = (str, int, float, Enum)
        plain = [f"{k}={brief(v, _LEAST_ROOM)}" for k, v in held if isinstance(v, kinds)]
        return f"{type(value).__name__}({', '.join([*plain[: room // _LEAST_ROOM], '…'])})"
    return repr(value)


def _items(texts: Iterator[str], of: Any) -> str:
    shown = [text for text, _ in zip(texts, range(_MOST_ITEMS), strict=False)]
    return f"{len(of)}: {', '.join(shown)}, …" if len(of) > _MOST_ITEMS else ", ".join(shown)


def _array(value: Any) -> str:
    size = " × ".join(map(str, value.shape)) or "scalar"
    if not value.size:
        return f"array {size}"
    if value.size <= _MOST_ITEMS:
        return f"array {size}: {', '.join(map(_number, value.flat))}"
    return f"array {size} from {_number(value.flat[0])} to {_number(value.flat[-1])}"


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


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
