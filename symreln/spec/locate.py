"""Finds the line of a key path in TOML text that ``tomllib`` has already accepted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from symreln.spec.finding import key_path

_TOKEN = re.compile(
    r"(?P<skip>[ \t\r]+|#[^\n]*)"
    r"|(?P<mark>[\[\]{},=.\n])"
    r'|(?P<text>"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*')"
    r"""|(?P<word>[^\s\[\]{},=.#"']+)""",
    re.DOTALL,
)

Path = tuple[str | int, ...]


def lines_of(text: str) -> dict[str, int]:
    """Return the line, from 1, of every table, key, array entry and inline table in TOML text.

    Args:
        text: TOML that parses; anything else gives what was found before the first surprise.
    """
    scanner = _Scanner(text)
    # A message without a line is better than an error about an error.
    with suppress(_LostError, RecursionError):
        scanner.scan()
    return scanner.lines


def line_of(path: str, lines: dict[str, int]) -> int | None:
    """Return the line of a key path, or of the nearest table or key around it."""
    while path:
        if path in lines:
            return lines[path]
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return None


class _LostError(Exception):
    """The text is not what the scanner took it for."""


class _Token(NamedTuple):
    """A piece of TOML: a mark, a word or a text in quotes; "" at the end."""

    kind: str
    text: str
    line: int


def _tokens(text: str) -> Iterator[_Token]:
    line, at = 1, 0
    while match := _TOKEN.match(text, at):
        if match.lastgroup != "skip":
            yield _Token(match.lastgroup or "", match.group(), line)
        line += match.group().count("\n")
        at = match.end()
    yield _Token("end", "", line)


class _Scanner:
    """Walks over the statements and notes where every path begins."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.ahead = next(self.tokens)
        self.lines: dict[str, int] = {}
        self.sizes: dict[Path, int] = {}

    def scan(self) -> None:
        table: Path = ()
        while self.skip_lines().kind != "end":
            table = self.header() if self.ahead.text == "[" else self.statement(table)

    def take(self, expected: str = "") -> _Token:
        token = self.ahead
        if token.kind == "end" or (expected and token.text != expected):
            raise _LostError
        self.ahead = next(self.tokens)
        return token

    def skip_lines(self) -> _Token:
        while self.ahead.text == "\n":
            self.take()
        return self.ahead

    def note(self, path: Path, line: int) -> None:
        self.lines.setdefault(key_path(path), line)

    def keys(self) -> tuple[str, ...]:
        """Return a dotted key; escapes in it are so rare that its line may stay unknown."""
        parts: list[str] = []
        while not parts or self.ahead.text == ".":
            if parts:
                self.take(".")
            token = self.take()
            if token.kind == "mark":
                raise _LostError
            parts.append(token.text[1:-1] if token.kind == "text" else token.text)
        return tuple(parts)

    def header(self) -> Path:
        line = self.take("[").line
        repeated = self.ahead.text == "["
        if repeated:
            self.take()
        path: Path = ()
        for key in self.keys():
            # The index of its last table follows every array of tables but the last key.
            path = (*path, self.sizes[path] - 1, key) if path in self.sizes else (*path, key)
        if repeated:
            self.sizes[path] = self.sizes.get(path, 0) + 1
            path = (*path, self.sizes[path] - 1)
        for count in range(1, len(path) + 1):
            self.note(path[:count], line)
        for _ in range(1 + repeated):
            self.take("]")
        return path

    def statement(self, table: Path) -> Path:
        """Pass ``key = value`` and return the table that it stands in."""
        line = self.ahead.line
        keys = self.keys()
        for count in range(1, len(keys) + 1):
            self.note((*table, *keys[:count]), line)
        self.take("=")
        self.value((*table, *keys))
        return table

    def value(self, path: Path) -> None:
        first = self.take()
        if first.text not in ("[", "{"):
            if first.kind == "mark":
                raise _LostError
            while self.ahead.text not in (",", "]", "}", "\n", ""):
                self.take()
            return
        closing = "]" if first.text == "[" else "}"
        place = 0
        while self.skip_lines().text != closing:
            if closing == "]":
                self.note((*path, place), self.ahead.line)
                self.value((*path, place))
                place += 1
            else:
                self.statement(path)
            if self.skip_lines().text == ",":
                self.take()
        self.take(closing)
