"""Errors that tell a user what was found, what is needed and how to mend it.

Two kinds of "no" are two classes: :class:`NoClosedFormError`, the mathematics forbids it;
:class:`NotSupportedError`, it is not written yet.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

#: Joiners and soft hyphens belong to ordinary writing; other characters of format are invisible.
JOINERS = frozenset("\N{SOFT HYPHEN}\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}")
#: Letters and signs that print as nothing: what Unicode calls fillers, and the blank of Braille.
INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_ODD, _ODD_IN_LINES = re.compile(r"[^ -~]"), re.compile(r"[^\n\t -~]")


def visible(text: str, *, lines: bool = False) -> str:
    """Return text with what would steer a terminal, or hide, as escapes that JSON reads as well.

    Whatever is printed and every message goes through here: names of files are never checked.

    Args:
        text: Any text.
        lines: Whether it may have several lines.
    """
    return (_ODD_IN_LINES if lines else _ODD).sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    shows = character.isprintable() and character not in INVISIBLE
    if shows or character in JOINERS or unicodedata.category(character) == "Zs":
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


class SymrelnError(Exception):
    """Base of every error that symreln raises on purpose.

    ``exit_code`` is what the command line ends with (see docs/commands.md).
    """

    exit_code = 2

    def __str__(self) -> str:
        return visible(super().__str__(), lines=True)


class InputError(SymrelnError, ValueError):
    """Something handed in by the user is wrong; the message says how to mend it."""


class InputTypeError(InputError, TypeError):
    """What was handed in is of another type than needed."""


class FloatRangeError(InputError, ArithmeticError):
    """A number is needed in float64, which has no room for it."""

    @classmethod
    def of_size(cls, size: str) -> FloatRangeError:
        """Return the error of a number of some size."""
        return cls(
            f"a number of size {size} is needed in float64, which has no room for it. Scale the "
            "data, or give the parameters other values"
        )


class NoClosedFormError(SymrelnError, ValueError):
    """The mathematics forbids what was asked for."""


class NotSupportedError(SymrelnError, NotImplementedError):
    """Possible in principle, not written yet."""


class CertificateError(InputError):
    """A certificate is malformed or one of its identities does not hold."""


class LimitReachedError(SymrelnError):
    """A limit of time, memory or size ended the computation."""

    exit_code = 4


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing that is wrong in a spec.

    Attributes:
        path: Where in the spec, as a key path (``pathway[1].gate``).
        found: What was read there.
        expected: What is needed there.
        hint: How to mend it; the nearest valid key for a misspelt one.
        file: File that was read, where there is one.
        line: Line in that file, from 1, where it is known.
    """

    path: str
    found: str
    expected: str
    hint: str = ""
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        where = self.file + (f":{self.line}" if self.line is not None else "")
        place = ": ".join(part for part in (where, self.path) if part)
        text = f"{place}: found {self.found}; expected {self.expected}."
        if not self.hint:
            return text
        # A hint that starts with an excerpt starts on its own line.
        return f"{text}{self.hint}" if self.hint[0] == "\n" else f"{text} {self.hint}"


class SpecError(InputError):
    """A spec with one or more problems; all of them are listed at once."""

    def __init__(self, problems: list[Problem] | tuple[Problem, ...]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        head = f"the spec has {count} problem{'s' if count != 1 else ''}:"
        super().__init__("\n".join([head, *(f"  - {problem}" for problem in self.problems)]))
