"""``--over KEY=v1,v2``: which values of which keys a sweep goes through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from symreln.base.records import record
from symreln.errors import InputError, visible
from symreln.specs.finding import Finding, cut
from symreln.specs.overrides import parse_override

_EXAMPLE = "For example: --over network.hidden=50,100,200"


@record
class Axis:
    """One key and its values.

    Attributes:
        key: As in ``--set``.
        values: As written, one or more.
    """

    key: str
    values: tuple[str, ...]


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
        msg = f"sweep: no --over is given, so there is nothing to sweep over. {_EXAMPLE}"
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
        msg = f"--over {_shown(text)}: expected KEY=VALUE,VALUE,…. {_EXAMPLE}"
        raise InputError(msg)
    listed = listed.strip()
    values = list(_divided(listed))
    if len(values) == 1 and listed.startswith("[") and listed.endswith("]"):
        values = list(_divided(listed[1:-1].strip().removesuffix(",")))
    if not all(values):
        msg = f"--over {_shown(text)}: found no value where one is needed. {_EXAMPLE}"
        raise InputError(msg)
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        msg = f"--over {_shown(text)}: {twice} stands there twice. Give every value once."
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
        elif letter == "," and not depth:
            yield text[begin:place].strip()
            begin = place + 1
        else:
            depth += (letter in "([{") - (letter in ")]}")
    yield text[begin:].strip()


def _path(text: str, option: str) -> tuple[str | int, ...]:
    try:
        return parse_override(text)[0]
    except Finding as finding:
        problem = replace(finding.problems[0], path=f"{option} {_shown(text)}")
        raise InputError(str(problem)) from finding


def _shown(text: str) -> str:
    return visible(cut(text, 100))
