"""``--set key=value``: changes to a spec before it is checked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from symreln.errors import InputError, Problem, SpecError, visible
from symreln.specs.files import MAX_KEY_PARTS
from symreln.specs.finding import Finding, cut, nearest, need, quoted, shown

Path = tuple[str | int, ...]

_PART = r"""\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\[\d{1,6}\])*\s*"""
_KEY = re.compile(rf"{_PART}(?:\.{_PART})*")
_PIECES = re.compile(r"""\[(\d+)\]|([A-Za-z0-9_-]+)|"([^"]*)"|'([^']*)'""")
_LONGEST = 10_000
"""Characters of one override: more belongs into a file."""


def parse_override(text: str) -> tuple[Path, Any]:
    """Return the key path and the value of ``key=value``.

    The value is TOML; what is no TOML and opens no quote or bracket is taken as text, so that
    ``network.loss=mean`` and ``pathway[1].gate=context != 1`` need no quotes within quotes.

    Raises:
        Finding: There is no ``=``, or the key or the value is malformed.

    Example:
        >>> parse_override("pathway[1].stage=2")
        (('pathway', 1, 'stage'), 2)
    """
    key, equals, value = text.partition("=")
    need(len(text) <= _LONGEST, f"an override of {len(text)} characters", f"at most {_LONGEST}")
    need(equals, quoted(text), "KEY=VALUE", "For example: --set network.hidden=100")
    return _path(key), _value(value.strip())


def _path(key: str) -> Path:
    expected = "a key such as network.hidden or pathway[1].stage before the ="
    need(_KEY.fullmatch(key), f"the key {quoted(key)}", expected)
    parts = tuple(
        int(index) if index else name or either or other
        for index, name, either, other in _PIECES.findall(key)
    )
    most = f"at most {MAX_KEY_PARTS} parts"
    need(len(parts) <= MAX_KEY_PARTS, f"a key of {len(parts)} parts", most)
    return parts


def _value(text: str) -> Any:
    try:
        table = tomllib.loads(f"v = {text}", parse_float=Decimal)
        # A line break in the value could start a second key.
        if list(table) == ["v"]:
            return table["v"]
    except (ValueError, ArithmeticError, RecursionError):
        if text[:1] not in {"", "[", "{", '"', "'"}:
            return text
    hint = 'Lists and texts are written as in TOML: ["a", "b"].'
    raise Finding(f"the value {quoted(text)}", "a TOML value or a plain word", hint)


def apply_overrides(
    tables: Mapping[str, Any], overrides: Sequence[str] | Mapping[str, Any]
) -> tuple[dict[str, Any], dict[Path, str]]:
    """Return a changed copy of a spec's tables, and what was set where.

    Args:
        tables: The spec as read.
        overrides: ``key=value`` texts, or a mapping from keys to values.

    Raises:
        InputError: They are no texts and no mapping.
        SpecError: One or more of the overrides cannot be applied.
    """
    changed = dict(tables)
    done: dict[Path, str] = {}
    problems: list[Problem] = []
    by_call = isinstance(overrides, Mapping)
    texts = list(overrides) if isinstance(overrides, Iterable) else [overrides]
    wrong = [text for text in texts if not isinstance(text, str)]
    if isinstance(overrides, str | bytes) or (wrong and not by_call):
        found = overrides if isinstance(overrides, str | bytes) else wrong[0]
        msg = (
            f"overrides: found {shown(found)}; give a list of key=value texts, for example "
            '["network.hidden=100"], or a mapping from keys to values'
        )
        raise InputError(msg)
    for key in texts:
        given = overrides[key] if isinstance(overrides, Mapping) else None
        text = visible(cut(f"{key}={given}" if by_call else key, 100))
        try:
            path, value = (_path(str(key)), given) if by_call else parse_override(key)
            changed, resolved = _put(changed, path, value)
            done[resolved] = text
        except Finding as finding:
            problems.append(replace(finding.problems[0], path=f"--set {text}"))
    if problems:
        raise SpecError(problems)
    _give_reason(changed, done, "given as an override" if by_call else "given on the command line")
    return changed, done


def _give_reason(tables: dict[str, Any], done: Mapping[Path, str], reason: str) -> None:
    """Say where a tolerance comes from that was set alone; an old reason was another one's."""
    table = tables.get("validation")
    set_alone = ("validation", "tolerance") in done and ("validation", "reason") not in done
    if set_alone and isinstance(table, dict):
        table["reason"] = reason


def _put(here: Any, path: Path, value: Any) -> tuple[Any, Path]:
    """Return a copy of a table or list with a value set, tables made on the way.

    And the path with names made indices. The caller's own tables and lists stay as they are.
    """
    part, *rest = path
    changed: Any = dict(here) if isinstance(here, Mapping) else here
    changed = list(here) if isinstance(here, list | tuple) else changed
    key: Any = _resolve(changed, part)
    if isinstance(changed, list) and key == len(changed):
        changed.append({})
    resolved: Path = ()
    if rest:
        below = changed[key] if isinstance(changed, list) else changed.get(key)
        made = [] if isinstance(rest[0], int) else {}
        value, resolved = _put(made if below is None else below, tuple(rest), value)
    changed[key] = value
    return changed, (key, *resolved)


def _resolve(here: Any, part: str | int) -> str | int:
    """Return the key of a table, or the index into a list, that a part of a path means."""
    if isinstance(here, dict):
        keys = f"Keys there: {', '.join(list(here)[:12])}." if here else ""
        need(isinstance(part, str), f"the index [{part}] on a table", "a key", keys)
        return part
    below = f"{quoted(str(part))} below {shown(here)}"
    need(isinstance(here, list), below, "a key of a table")
    if isinstance(part, int):
        found, most = f"index {part} of a list of {len(here)}", len(here)
        need(part <= most, found, f"an index from 0 to {most}", "Indices count from 0.")
        return part
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in here]
    hint = nearest(part, [name for name in names if isinstance(name, str)])
    expected = "the name of a pathway, or an index in brackets"
    need(part in names, f"the unknown name {quoted(part)}", expected, hint)
    return names.index(part)
