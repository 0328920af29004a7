"""``--over KEY=v1,v2``: which values of which keys a sweep goes through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from symreln.errors import InputError
from symreln.spec.finding import Finding, cut, visible
from symreln.spec.overrides import parse_override

_OPEN, _CLOSE = "([{", ")]}"
EXAMPLE = "For example: --over network.hidden=50,100,200"


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One key and its values.

    Attributes:
        key: As in ``--set``.
        values: As written, one or more.
    """

    key: str
    values: tuple[str, ...]


Combination = tuple[str, ...]
"""One ``key=value`` text an axis."""


def combinations(axes: Sequence[Axis]) -> list[Combination]:
    """Return every combination of values, the last key's values changing first."""
    texts = [[f"{axis.key}={value}" for value in axis.values] for axis in axes]
    return list(product(*texts))


def read_axes(texts: Sequence[str], overrides: Sequence[str] = ()) -> tuple[Axis, ...]:
    """Return the axes that ``--over`` texts name.

    Args:
        texts: One or more.
        overrides: Of ``--set``; none may speak of a key that is swept.

    Raises:
        InputError: There is none, or one is malformed, empty, given twice, or repeats a value.

    Example:
        >>> read_axes(["network.hidden=[50, 100]"])
        (Axis(key='network.hidden', values=('50', '100')),)
    """
    if not texts:
        msg = f"sweep: no --over is given, so there is nothing to sweep over. {EXAMPLE}"
        raise InputError(msg)
    axes = tuple(_axis(text) for text in texts)
    taken = {_path(text, "--set"): "--set" for text in overrides}
    for axis, text in zip(axes, texts, strict=True):
        path = _path(f"{axis.key}={axis.values[0]}", "--over")
        if path in taken:
            msg = f"--over {_shown(text)}: {taken[path]} gives this key too. Give it once."
            raise InputError(msg)
        taken[path] = "another --over"
    return axes


def _axis(text: str) -> Axis:
    key, equals, listed = text.partition("=")
    if not equals:
        msg = f"--over {_shown(text)}: expected KEY=VALUE,VALUE,…. {EXAMPLE}"
        raise InputError(msg)
    listed = listed.strip()
    values = list(_divided(listed))
    if len(values) == 1 and listed.startswith("[") and listed.endswith("]"):
        values = list(_divided(listed[1:-1].strip().removesuffix(",")))
    if not all(values):
        msg = f"--over {_shown(text)}: found no value where one is needed. {EXAMPLE}"
        raise InputError(msg)
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        msg = f"--over {_shown(text)}: {twice[0]} stands there twice. Give every value once."
        raise InputError(msg)
    for value in values:
        _path(f"{key}={value}", "--over")
    return Axis(key=key.strip(), values=tuple(values))


def _divided(text: str) -> Iterator[str]:
    """Yield what stands between the commas that are in no bracket and no quotes."""
    depth, quote, begin = 0, "", 0
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
        elif letter == "," and not depth:
            yield text[begin:place].strip()
            begin = place + 1
    yield text[begin:].strip()


def _path(text: str, option: str) -> tuple[str | int, ...]:
    try:
        return parse_override(text)[0]
    except Finding as finding:
        problem = replace(finding.problems[0], path=f"{option} {_shown(text)}")
        raise InputError(str(problem)) from finding


def _shown(text: str) -> str:
    return visible(cut(text, 100))
