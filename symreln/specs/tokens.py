"""Cuts formula text into tokens, and points at the place where something is wrong.

Formulas have parsers of our own, not Python's: Python would normalise identifiers (NFKC), accept
underscores in numbers, refuse label names such as ``class``, and bind ``&`` tighter than ``==``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from symreln.specs.finding import Finding, problem_of_character, quoted

_MAX_CHARACTERS = 2000
MAX_DEPTH = 50
"""Nesting of parentheses, signs and powers: far above any formula, far below Python's stack."""
_EXCERPT = 30
"""Characters shown on either side of the caret."""

_HINTS: Mapping[str, str] = {
    "^": "Write ** for a power.",
    "×": "Write * for a product.",
    "·": "Write * for a product.",
    "÷": "Write / for a quotient.",
    "−": "Write the ASCII minus sign -.",
    "–": "Write the ASCII minus sign -.",
    "√": "Write sqrt(…).",
    ",": "Write a decimal point, not a comma.",
    "≠": "Write != for unequal.",
    "≤": "Write <= .",
    "≥": "Write >= .",
    "=": "Write == for equal.",
    "!": "Write not, or != for unequal.",
    "~": "Write not.",
    "∧": "Write and.",
    "∨": "Write or.",
    "¬": "Write not.",
}


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of a formula.

    Attributes:
        kind: Name of the group that matched, or "end".
        text: Its characters.
        start: Position of the first one, from 0.
    """

    kind: str
    text: str
    start: int


class Tokens:
    """The tokens of one formula, read from left to right.

    Attributes:
        source: The formula.
        expected: What a formula is made of, for messages.
    """

    def __init__(self, source: str, pattern: re.Pattern[str], expected: str) -> None:
        self.source = source
        self.expected = expected
        if len(source) > _MAX_CHARACTERS:
            found = f"a formula of {len(source)} characters"
            raise Finding(found, f"at most {_MAX_CHARACTERS}", "Split it into entries or labels.")
        self._tokens = list(self._cut(pattern))
        self._next = 0
        self._depth = 0

    def _cut(self, pattern: re.Pattern[str]) -> Iterator[Token]:
        position = 0
        while position < len(self.source):
            character = self.source[position]
            if character in " \t":
                position += 1
                continue
            match = pattern.match(self.source, position)
            if match is None:
                found = problem_of_character(character) or (
                    "a quotation mark"
                    if character in "\"'"
                    else f"the character {quoted(character)}"
                )
                here = Token("", character, position)
                raise self.wrong(here, found, self.expected, _HINTS.get(character, ""))
            yield Token(match.lastgroup or "", match.group(), position)
            position = match.end()
        yield Token("end", "", position)

    @property
    def ahead(self) -> Token:
        """The next token, left in place."""
        return self._tokens[self._next]

    def take(self) -> Token:
        """Return the next token and move past it (never past the end)."""
        token = self.ahead
        if token.kind != "end":
            self._next += 1
        return token

    def take_if(self, *texts: str) -> Token | None:
        """Return the next token and move past it if its text is one of these."""
        return self.take() if self.ahead.kind != "end" and self.ahead.text in texts else None

    def need(self, text: str, opened: Token) -> None:
        """Move past a closing ``text``.

        Raises:
            Finding: Something else stands there.
        """
        if self.take_if(text) is None:
            what = f'"{text}" for the "{opened.text}" at character {opened.start + 1}'
            raise self.unexpected(what)

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Go one level deeper for as long as the context lasts.

        Raises:
            Finding: Deeper than MAX_DEPTH.
        """
        self._depth += 1
        if self._depth > MAX_DEPTH:
            found = f"more than {MAX_DEPTH} levels of nesting"
            raise self.wrong(self.ahead, found, f"at most {MAX_DEPTH}", "Simplify it.")
        yield
        self._depth -= 1

    def unexpected(self, expected: str, hint: str = "") -> Finding:
        """Return the finding that the next token is not what is needed there."""
        token = self.ahead
        found = "the end of the formula" if token.kind == "end" else quoted(token.text)
        return self.wrong(token, found, expected, hint or _HINTS.get(token.text, ""))

    def wrong(self, token: Token, found: str, expected: str, hint: str = "") -> Finding:
        """Return a finding with the place of a token marked by a caret under the formula."""
        first = max(0, token.start - _EXCERPT)
        piece = self.source[first : token.start + _EXCERPT]
        visible = "".join(c if problem_of_character(c) is None else "�" for c in piece)
        excerpt = f"\n        {visible}\n        {' ' * (token.start - first)}^"
        return Finding(f"{found} at character {token.start + 1}", expected, hint + excerpt)
