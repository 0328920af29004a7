"""Finds the line of a key path in TOML text that ``tomllib`` has already accepted."""

from __future__ import annotations

import re
from contextlib import suppress

from symreln.spec.finding import key_path

_SKIP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}\s#]+(?: \d[^,\]}\s#]*)?")

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


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[str, int] = {}
        self.sizes: dict[Path, int] = {}
        self._line, self._counted = 1, 0

    def scan(self) -> None:
        table: Path = ()
        self.skip()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.statement(table)
            self.skip()

    def skip(self) -> None:
        match = _SKIP.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise _LostError
        self.at = match.end()
        return match.group()

    def note(self, path: Path) -> None:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        self.lines.setdefault(key_path(path), self._line)

    def keys(self) -> tuple[str, ...]:
        parts = []
        while True:
            self.take(_BLANK)
            parts.append(_unquote(self.take(_KEY)))
            self.take(_BLANK)
            if self.text[self.at : self.at + 1] != ".":
                return tuple(parts)
            self.at += 1

    def header(self) -> Path:
        double = self.text.startswith("[[", self.at)
        brackets = 2 if double else 1
        start = self.at
        self.at += brackets
        keys = self.keys()
        end, self.at = self.at + brackets, start
        path = self.resolve(keys)
        if double:
            self.sizes[path] = self.sizes.get(path, 0) + 1
            path = (*path, self.sizes[path] - 1)
        for count in range(1, len(path) + 1):
            self.note(path[:count])
        self.at = end
        return path

    def resolve(self, keys: tuple[str, ...]) -> Path:
        """Put the index of its last table after every array of tables but the last key."""
        path: Path = ()
        for position, key in enumerate(keys):
            path = (*path, key)
            if position < len(keys) - 1 and path in self.sizes:
                path = (*path, self.sizes[path] - 1)
        return path

    def statement(self, table: Path) -> None:
        start = self.at
        keys = self.keys()
        end, self.at = self.at, start
        for count in range(1, len(keys) + 1):
            self.note((*table, *keys[:count]))
        self.at = end
        if self.text[self.at : self.at + 1] != "=":
            raise _LostError
        self.at += 1
        self.take(_BLANK)
        self.value((*table, *keys))

    def value(self, path: Path) -> None:
        character = self.text[self.at : self.at + 1]
        if character == "[":
            self.array(path)
        elif character == "{":
            self.inline_table(path)
        else:
            self.take(_STRING if character in "\"'" else _SCALAR)

    def array(self, path: Path) -> None:
        self.at += 1
        index = 0
        self.skip()
        while self.text[self.at : self.at + 1] != "]":
            self.note((*path, index))
            self.value((*path, index))
            index += 1
            self.skip()
            if self.text[self.at : self.at + 1] == ",":
                self.at += 1
                self.skip()
        self.at += 1

    def inline_table(self, path: Path) -> None:
        self.at += 1
        self.skip()
        while self.text[self.at : self.at + 1] != "}":
            self.statement(path)
            self.skip()
            if self.text[self.at : self.at + 1] == ",":
                self.at += 1
                self.skip()
        self.at += 1


def _unquote(key: str) -> str:
    if key[0] == '"':
        # Escapes in keys are rare enough that the line of such a key may stay unknown.
        return key[1:-1]
    return key[1:-1] if key[0] == "'" else key
