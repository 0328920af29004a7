"""What is wrong, apart from where: findings, and the words that describe a value that was read."""

from __future__ import annotations

import datetime
import difflib
import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from symreln.errors import INVISIBLE, JOINERS, Problem, SpecError, visible

Entry = TypeVar("Entry")
Value = TypeVar("Value")

MAX_LISTED = 10
"""Wrong entries of one matrix or file that are listed."""

_MOST_KNOWN = 20
"""Names that a message lists: all ready-made specs, all pages of the paper."""

_SHOWN_CHARACTERS = 60
"""Longer values are cut in messages: the place is given, the reader has the file."""


class Finding(SpecError):
    """One thing that is wrong, raised where it is seen; whoever catches it knows the place.

    Attributes:
        found: What was read.
        expected: What is needed.
        hint: How to mend it.
        path: Where, from the place that the catcher knows: "[1][0]", or "" for that place itself.
    """

    def __init__(self, found: str, expected: str, hint: str = "", path: str = "") -> None:
        super().__init__([Problem(path=path, found=found, expected=expected, hint=hint)])
        self.found, self.expected, self.hint, self.path = found, expected, hint, path

    def reworded(self, found: str, hint: str = "") -> Finding:
        """Return the finding with more said about what was read."""
        return Finding(found, self.expected, hint or self.hint, self.path)


def need(fits: object, found: str, expected: str, hint: str = "", path: str = "") -> None:
    """Check that something fits.

    Raises:
        Finding: It does not.
    """
    if not fits:
        raise Finding(found, expected, hint, path)


def read_all(entries: Iterable[tuple[str, Entry]], read: Callable[[Entry], Value]) -> list[Value]:
    """Return what is read from every entry.

    Args:
        entries: A path below the catcher's place, and what stands there.
        read: Reads one entry; raises Finding.

    Raises:
        SpecError: Some are wrong; the first MAX_LISTED of them are listed.
    """
    values: list[Value] = []
    problems: list[Problem] = []
    for path, entry in entries:
        try:
            values.append(read(entry))
        except Finding as finding:
            problems.append(replace(finding.problems[0], path=path + finding.path))
            if len(problems) == MAX_LISTED:
                break
    if problems:
        raise SpecError(problems)
    return values


def key_path(parts: Sequence[str | int]) -> str:
    """Write a key path as ``pathway[1].gate``; keys that need quotes get them."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            bare = part.replace("_", "").replace("-", "")
            name = part if bare.isascii() and bare.isalnum() else quoted(part)
            text += f".{name}" if text else name
    return text


def cut(text: str, length: int = _SHOWN_CHARACTERS) -> str:
    """Shorten a text for a message."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def quoted(text: str) -> str:
    """Quote a text for a message: one line, no control or bidirectional characters, not long."""
    return f'"{visible(cut(text))}"'


def shown(value: object) -> str:
    """Describe a value that was read, in TOML's words."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {quoted(value)}"
        case Mapping():
            keys = ", ".join(quoted(str(key)) for key in list(value)[:3])
            return f"a table with {keys or 'no keys'}{', …' if len(value) > 3 else ''}"
        case [] | ():
            return "an empty list"
        case list() | tuple() if len(value) <= 8 and all(isinstance(x, str | int) for x in value):
            return f"the list {cut(json.dumps(list(value), ensure_ascii=True))}"
        case list() | tuple():
            return f"a list of {counted(len(value), 'entry')}"
        case datetime.date() | datetime.time():
            return f"the date or time {value}"
        case int() if value.bit_length() > 1000:
            return f"a whole number of {value.bit_length()} bits"
        case _:
            return cut(str(value))


def counted(count: int, noun: str) -> str:
    """Write "1 sample" or "2 samples"; "entry" becomes "entries"."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun[:-1]}ies" if noun.endswith("y") else f"{count} {noun}s"


def nearest(word: str, known: Iterable[str]) -> str:
    """Return "Did you mean …?" for the nearest known word, or the list of them."""
    names = list(known)
    lower = {name.lower(): name for name in names}
    # 0.6 is difflib's own default: it finds a transposed or a missing letter in short words.
    close = difflib.get_close_matches(word.lower()[:100], lower, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {quoted(lower[close[0]])}?"
    if not names:
        return ""
    listed = ", ".join(names[:_MOST_KNOWN])
    return f"Known: {listed}{', …' if len(names) > _MOST_KNOWN else ''}."


def problem_of_character(character: str) -> str | None:
    """Say what is wrong with a character in a label or a name, or None.

    Control characters break terminals and TeX, bidirectional ones make a text read as another
    one, and XML, which MathML is, forbids the non-characters.
    """
    category = unicodedata.category(character)
    control = category in {"Cc", "Cs", "Zl", "Zp"}
    invisible = character in INVISIBLE or (category == "Cf" and character not in JOINERS)
    outside = ord(character) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(character) <= 0xFDEF
    if control or invisible or outside:
        return f"the {'invisible' if invisible else 'control'} character U+{ord(character):04X}"
    return None


def check_text(text: object, *, longest: int, empty: bool = False) -> str:
    """Return a text that is safe to show.

    Args:
        text: What was read.
        longest: Largest number of characters.
        empty: Whether an empty text will do.

    Raises:
        Finding: It is no text, too long, blank, or holds a character that must not be shown.
    """
    expected = f"a text of {0 if empty else 1} to {longest} characters"
    if not isinstance(text, str):
        raise Finding(shown(text), expected, 'Put it in quotes: "…".')
    need(len(text) <= longest, f"a text of {len(text)} characters", expected, "Shorten it.")
    blank = all(c.isspace() or unicodedata.category(c) in {"Cf", "Mn"} for c in text)
    need(empty or not blank, "a blank text", expected)
    for position, character in enumerate(text):
        wrong = problem_of_character(character)
        found = f"{wrong} at character {position + 1} of {quoted(text)}" if wrong else ""
        need(not wrong, found, "visible characters and spaces", "Remove it.")
    return text
