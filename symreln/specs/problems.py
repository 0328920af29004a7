"""Collects the problems of a spec, gives each its place, and raises them all at once."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from functools import cached_property
from typing import Any, TypeVar, get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from symreln.base.records import record
from symreln.errors import Problem, SpecError
from symreln.specs.finding import key_path, nearest, quoted, shown
from symreln.specs.kinds import StrictModel

Model = TypeVar("Model", bound=StrictModel)

_HEADING = re.compile(r"\s*(\[\[?)\s*([A-Za-z][\w.-]*)\s*\]")
_KEY = re.compile(r"\s*([A-Za-z][\w.-]*)\s*=")

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
        """Line, from 1, of every heading and of every key that begins a line, by its key path."""
        lines: dict[str, int] = {}
        table, sizes = "", Counter[str]()
        for place, line in enumerate(self.text.splitlines(), start=1):
            if heading := _HEADING.match(line):
                table = heading[2]
                lines.setdefault(table.partition(".")[0], place)
                if heading[1] == "[[":
                    table, before = f"{table}[{sizes[table]}]", table
                    sizes[before] += 1
                lines.setdefault(table, place)
            elif key := _KEY.match(line):
                lines.setdefault(f"{table}.{key[1]}".lstrip("."), place)
        return lines

    def locate(self, problem: Problem) -> Problem:
        """Return the problem with its file and line, or with the override that caused it.

        A key that is not there has the line of the nearest table or key around it.
        """
        if problem.file:
            return problem
        for path, override in self.overrides.items():
            of_it = problem.path == path or problem.path.startswith((f"{path}.", f"{path}["))
            made = path.startswith(f"{problem.path}.") and problem.path not in self.lines
            if of_it or made:
                return replace(problem, file=f"--set {override}")
        path = problem.path
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return replace(problem, file=self.file, line=self.lines.get(path))


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
        self, model: type[Model], value: object, path: str, *, context: object = None
    ) -> Model | None:
        """Return a checked table, or None after adding what is wrong with it.

        Args:
            model: What the table must look like.
            value: What was read.
            path: Its key path.
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
                self._add_detail(model, detail, path)
            return None

    def _add_detail(self, model: type[StrictModel], detail: Any, path: str) -> None:
        """Add what pydantic found, at its place, with what the field's description expects."""
        loc: tuple[Any, ...] = detail["loc"]
        fields = _fields(model)
        while len(loc) > 1 and (inner := _table_of(fields[loc[0]])):
            listed = isinstance(loc[1], int)
            if len(loc) == 1 + listed:
                break  # what stands in a list of tables is none
            path = f"{path}.{loc[0]}" + f"[{loc[1]}]" * listed
            loc, fields = loc[1 + listed :], _fields(inner)
        key, error, given = str(*loc[:1]), detail.get("ctx", {}).get("error"), detail["input"]
        place = f"{path}.{key_path([key])}"
        if detail["type"] == "extra_forbidden":
            array = path.endswith("]") and "." not in path
            heading = f"[[{path.partition('[')[0]}]]" if array else f"[{path}]"
            hint = nearest(key, ["task"] * (path == "dataset") + list(fields))
            self.add(place, f"the unknown key {quoted(key)}", f"a key of {heading}", hint)
        elif isinstance(error, SpecError):
            with self.at(place):
                raise error
        else:
            missing, expected = detail["type"] == "missing", fields[key].description or ""
            hint = _text_hint(given, expected) if isinstance(given, str) else ""
            hint = f"Add {key} = …" if missing else hint
            self.add(place, "nothing" if missing else shown(given), expected, hint)


def _fields(model: type[StrictModel]) -> dict[str, FieldInfo]:
    """Return the fields of a table by what a spec calls them."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _table_of(field: FieldInfo) -> type[StrictModel] | None:
    """Return the table that a field holds, or a list of; None where it holds none."""
    kinds = (field.annotation, *get_args(field.annotation))
    return next((x for x in kinds if isinstance(x, type) and issubclass(x, StrictModel)), None)


def _text_hint(text: str, description: str) -> str:
    """Suggest the quoted word of a description that is nearest to a text."""
    words = description.split('"')[1::2]
    close = difflib.get_close_matches(text.lower(), words, n=1)
    if close:
        return f'Did you mean "{close[0]}"?'
    number = text.lstrip("+-").isdigit() and "whole number" in description
    truth = text.lower() in {"true", "false"} and "true or false" in description
    return "Write it without quotes." if number or truth else ""
