"""Finds the line of a key path in TOML text that ``tomllib`` has already accepted."""

from __future__ import annotations

import re
from contextlib import suppress

from symreln.specs.finding import key_path

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
    with suppress(IndexError, RecursionError):
        scanner.scan()
    return scanner.lines


def line_of(path: str, lines: dict[str, int]) -> int | None:
    """Return the line of a key path, or of the nearest table or key around it."""
    while path:
        if path in lines:
            return lines[path]
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return None


class _Scanner:
    """Walks over the statements and notes where every path begins; IndexError is the end."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, int]] = []
        self.next = 0
        self.lines: dict[str, int] = {}
        self.sizes: dict[Path, int] = {}
        line = 1
        for match in _TOKEN.finditer(text):
            if match.lastgroup != "skip":
                self.tokens.append((match[0], line))
            line += match[0].count("\n")

    def scan(self) -> None:
        table: Path = ()
        while True:
            if self.after_lines() == "[":
                table = self.header()
            else:
                self.statement(table)

    def take(self) -> str:
        self.next += 1
        return self.tokens[self.next - 1][0]

    def after_lines(self) -> str:
        """Pass line breaks and return the token behind them, left in place."""
        while self.tokens[self.next][0] == "\n":
            self.next += 1
        return self.tokens[self.next][0]

    def note(self, path: Path, least: int, at: int) -> None:
        """Note the line of a token for a path and what is around it, down to ``least`` parts."""
        line = self.tokens[at][1]
        for count in range(least, len(path) + 1):
            self.lines.setdefault(key_path(path[:count]), line)

    def keys(self) -> Path:
        """Pass a dotted key; escapes in it are so rare that its line may stay unknown."""
        parts = [self.take()]
        while self.tokens[self.next][0] == ".":
            self.next += 1
            parts.append(self.take())
        return tuple(part[1:-1] if part[0] in "\"'" else part for part in parts)

    def header(self) -> Path:
        self.next += 1
        repeated = self.tokens[self.next][0] == "["
        self.next += repeated
        path: Path = ()
        for key in self.keys():
            # The index of its last table follows every array of tables but the last key.
            path = (*path, self.sizes[path] - 1, key) if path in self.sizes else (*path, key)
        if repeated:
            self.sizes[path] = self.sizes.get(path, 0) + 1
            path = (*path, self.sizes[path] - 1)
        self.note(path, 1, self.next)
        self.next += 1 + repeated
        return path

    def statement(self, table: Path) -> None:
        """Pass ``key = value``."""
        here = self.next
        path = (*table, *self.keys())
        self.note(path, len(table) + 1, here)
        self.next += 1
        self.value(path)

    def value(self, path: Path) -> None:
        opened, place = self.take(), 0
        if opened not in ("[", "{"):
            while self.next < len(self.tokens) and self.tokens[self.next][0] not in ",]}\n":
                self.next += 1
            return
        while self.after_lines() not in ("]", "}"):
            if opened == "[":
                self.note((*path, place), len(path) + 1, self.next)
                self.value((*path, place))
                place += 1
            else:
                self.statement(path)
            self.next += self.after_lines() == ","
        self.next += 1
