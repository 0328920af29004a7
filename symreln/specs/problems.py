"""Collects the problems of a spec, gives each its place, and raises them all at once.

Finds the line of a key path in TOML text that ``tomllib`` has already accepted.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from symreln.base.records import record
from symreln.errors import Problem, SpecError
from symreln.specs.finding import key_path, nearest, quoted, shown
from symreln.specs.kinds import StrictModel

Model = TypeVar("Model", bound=StrictModel)

MAX_PROBLEMS = 40
"""More are counted, not listed: a matrix full of text should not scroll the first one away."""


@record
class Origin:
    """Where a spec came from, to point back at it.

    Attributes:
        file: File name, or "" for a spec from Python.
        text: The TOML text, or "".
        overrides: What was set by ``--set``, by key path.
    """

    file: str = ""
    text: str = ""
    overrides: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def lines(self) -> dict[str, int]:
        """Line of every key path."""
        return lines_of(self.text)

    def locate(self, problem: Problem) -> Problem:
        """Return the problem with its file and line, or with the override that caused it."""
        if problem.file:
            return problem
        for path, override in self.overrides.items():
            of_it = problem.path == path or problem.path.startswith((f"{path}.", f"{path}["))
            made = path.startswith(f"{problem.path}.") and problem.path not in self.lines
            if of_it or made:
                return replace(problem, file=f"--set {override}")
        line = line_of(problem.path, self.lines) if self.text else None
        return replace(problem, file=self.file, line=line)


class Problems:
    """The problems found so far.

    Attributes:
        origin: Where the spec came from.
        found: The problems, in the order found.
    """

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.found: list[Problem] = []

    def add(self, path: str, found: str, expected: str, hint: str = "") -> None:
        """Add one problem."""
        self.found.append(Problem(path=path, found=found, expected=expected, hint=hint))

    @contextmanager
    def at(self, path: str) -> Iterator[None]:
        """Collect what is raised inside, placed below ``path``, instead of passing it on."""
        try:
            yield
        except SpecError as error:
            self.found += [replace(each, path=path + each.path) for each in error.problems]

    def raise_if_any(self) -> None:
        """Raise everything found so far, the first MAX_PROBLEMS of it in full.

        Raises:
            SpecError: Something was found.
        """
        if not self.found:
            return
        located = [self.origin.locate(problem) for problem in dict.fromkeys(self.found)]
        located.sort(key=lambda problem: problem.line or 0)
        more = len(located) - MAX_PROBLEMS
        located = located[:MAX_PROBLEMS]
        if more > 0:
            located.append(Problem(path="", found=f"{more} more problems", expected="none of them"))
        raise SpecError(located)

    def table(self, value: object, path: str) -> dict[str, Any]:
        """Return a table, or an empty one and a problem where something else stands."""
        if isinstance(value, Mapping):
            odd = [key for key in value if not isinstance(key, str)]
            for key in odd:
                self.add(path, f"the key {shown(key)}", "keys that are texts")
            return {key: value[key] for key in value if isinstance(key, str)}
        self.add(path, shown(value), f"a table: [{path}]")
        return {}

    def check(
        self,
        model: type[Model],
        value: object,
        path: str,
        *,
        aside: tuple[str, ...] = (),
        context: object = None,
    ) -> Model | None:
        """Return a checked table, or None after adding what is wrong with it.

        Args:
            model: What the table must look like.
            value: What was read.
            path: Its key path.
            aside: Keys that are handled elsewhere and count as known in suggestions.
            context: What the fields refer to: the declared names, for formulas.
        """
        before = len(self.found)
        table = self.table(value, path)
        if len(self.found) > before:
            return None
        try:
            return model.model_validate(table, context=context)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                self._add_detail(model, detail, path, aside)
            return None

    def _add_detail(
        self, model: type[StrictModel], detail: Any, path: str, aside: tuple[str, ...]
    ) -> None:
        model, path, loc = _innermost(model, path, tuple(detail["loc"]))
        key = str(loc[0]) if loc else ""
        place = f"{path}.{key_path([key])}" if path else key_path([key])
        if detail["type"] == "extra_forbidden":
            array = path.endswith("]") and "." not in path
            heading = f"[[{path.partition('[')[0]}]]" if array else f"[{path}]"
            names = (field.alias or name for name, field in model.model_fields.items())
            hint = nearest(key, [*aside, *names])
            self.add(place, f"the unknown key {quoted(key)}", f"a key of {heading}", hint)
            return
        error = detail.get("ctx", {}).get("error")
        if isinstance(error, SpecError):
            with self.at(place):
                raise error
            return
        given, description = detail["input"], _field(model, key).description or "another value"
        if detail["type"] == "missing":
            self.add(place, "nothing", description, f"Add {key} = …")
        else:
            hint = _text_hint(given, description) if isinstance(given, str) else ""
            self.add(place, shown(given), description, hint)


def _innermost(
    model: type[StrictModel], path: str, loc: tuple[Any, ...]
) -> tuple[type[StrictModel], str, tuple[Any, ...]]:
    """Return model, path and location inside it of the innermost table that ``loc`` leads to."""
    while len(loc) > 2 and isinstance(loc[1], int):
        inner = next(iter(get_args(_field(model, str(loc[0])).annotation)), None)
        if not (isinstance(inner, type) and issubclass(inner, StrictModel)):
            break
        model, path, loc = inner, f"{path}.{loc[0]}[{loc[1]}]", loc[2:]
    return model, path, loc


def _field(model: type[StrictModel], key: str) -> FieldInfo:
    """Return the field that a spec calls ``key``."""
    return next(f for name, f in model.model_fields.items() if key in (name, f.alias))


def _text_hint(text: str, description: str) -> str:
    """Suggest the quoted word of a description that is nearest to a text."""
    words = description.split('"')[1::2]
    close = difflib.get_close_matches(text.lower(), words, n=1)
    if close:
        return f'Did you mean "{close[0]}"?'
    if text.lstrip("+-").isdigit() and "whole number" in description:
        return "Write it without quotes."
    if text.lower() in {"true", "false"} and "true or false" in description:
        return "Write it without quotes."
    return ""


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
