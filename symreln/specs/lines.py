"""Finds the line of a key path in TOML text that ``tomllib`` has already accepted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from symreln.specs.finding import key_path

_TEXT = r'''"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}|'{3}(?:[^']|'{1,2}(?!'))*'{3,5}''' + (
    r"""|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'"""
)
_TOKEN = re.compile(
    rf"""(?:[ \t\r]+|\#[^\n]*)|(?P<token>{_TEXT}|[\[\]{{}},=.\n]|[^\s\[\]{{}},=.#"']+)""", re.DOTALL
)

Path = tuple[str | int, ...]


def lines_of(text: str) -> dict[str, int]:
    """Return the line, from 1, of every table, key, array entry and inline table in TOML text.

    Args:
        text: TOML that parses; anything else gives what was found before the first surprise.
    """
    lines: dict[str, int] = {}
    # A message without a line is better than an error about an error.
    with suppress(IndexError, RecursionError):
        for path, line in _Scanner(text).paths():
            for count in range(1, len(path) + 1):
                lines.setdefault(key_path(path[:count]), line)
    return lines


def line_of(path: str, lines: dict[str, int]) -> int | None:
    """Return the line of a key path, or of the nearest table or key around it."""
    while path:
        if path in lines:
            return lines[path]
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return None


class _Scanner:
    """Walks over the statements and yields every path with its line; IndexError is the end."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, int]] = []
        line = 1
        for match in _TOKEN.finditer(text):
            if match["token"]:
                self.tokens.append((match["token"], line))
            line += match[0].count("\n")
        self.tokens.reverse()

    def ahead(self, *passed: str) -> str:
        """Return the next token, left in place, after passing some."""
        while self.tokens[-1][0] in passed:
            self.tokens.pop()
        return self.tokens[-1][0]

    def paths(self) -> Iterator[tuple[Path, int]]:
        table: Path = ()
        sizes: dict[Path, int] = {}
        while True:
            if self.ahead("\n") != "[":
                yield from self.statement(table)
                continue
            _, line = self.tokens.pop()
            repeated = self.ahead() == "["
            table = ()
            for key in self.keys(*"[" * repeated):
                # The index of its last table follows every array of tables but the last key.
                table = (*table, sizes[table] - 1, key) if table in sizes else (*table, key)
            if repeated:
                sizes[table] = sizes.get(table, 0) + 1
                table = (*table, sizes[table] - 1)
            yield table, line
            self.ahead("]")

    def keys(self, *passed: str) -> Path:
        """Pass a dotted key; escapes in it are so rare that its line may stay unknown."""
        self.ahead(*passed)
        parts = [self.tokens.pop()[0]]
        while self.ahead() == ".":
            self.tokens.pop()
            parts.append(self.tokens.pop()[0])
        return tuple(part[1:-1] if part[0] in "\"'" else part for part in parts)

    def statement(self, table: Path) -> Iterator[tuple[Path, int]]:
        """Pass ``key = value``."""
        _, line = self.tokens[-1]
        path = (*table, *self.keys())
        yield path, line
        self.tokens.pop()
        yield from self.value(path)

    def value(self, path: Path) -> Iterator[tuple[Path, int]]:
        opened, place = self.tokens.pop()[0], 0
        if opened not in ("[", "{"):
            while self.ahead() not in ",]}\n":
                self.tokens.pop()
            return
        while self.ahead("\n", ",") not in ("]", "}"):
            if opened == "[":
                yield (*path, place), self.tokens[-1][1]
                yield from self.value((*path, place))
                place += 1
            else:
                yield from self.statement(path)
        self.tokens.pop()
