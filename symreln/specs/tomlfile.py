"""Reads TOML text with bounds on its size, and turns every way it can be wrong into a message."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from symreln.errors import Problem, SpecError, visible
from symreln.specs.files import decoded, read_bytes
from symreln.specs.finding import Finding, need
from symreln.specs.number import DecimalText

MAX_BYTES = 1 << 20
MAX_KEY_PARTS = 64
"""``a.a.a…`` with 300 000 parts costs tomllib gigabytes; no spec needs more than five."""

_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
# Possessive (++) and anchored at a word's start, so that the search is linear in the text.
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_KEY_PARTS}}}")
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")

_HINTS = (
    ("Cannot overwrite", "A key or table is given twice: keep one of them."),
    ("Cannot declare", "A table is given twice: put its keys together under one heading."),
    ("Cannot mutate", "A table is given twice: put its keys together under one heading."),
    ("Duplicate inline", "A key is given twice in one inline table: keep one of them."),
    ("Invalid value", 'Texts and formulas need quotes: gate = "context != 1".'),
    ("Unclosed array", "A list that was opened with [ needs its ]."),
    ("Unterminated string", "A text that was opened with a quote needs the closing one."),
    ("Expected newline", "One key = value a line; texts and formulas need quotes."),
    ("Expected '='", "Write key = value."),
    ("Expected ']'", "A heading is [name], a repeated one [[pathway]]."),
    (
        "Invalid statement",
        "Every line is a heading [name] or key = value; keys start no line with =.",
    ),
    (
        "Invalid initial character",
        "Keys are made of ASCII letters, digits, - and _; other ones need quotes.",
    ),
    ("Found invalid character", "Retype that character; texts on one line use one pair of quotes."),
    ("Exceeds the limit", "Rescale the data, or write the number with an exponent: 1e300."),
)


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Return the tables of a TOML file, decimals kept as written, and its text.

    Raises:
        SpecError: The file cannot be read, is too large, or is no TOML.
    """
    file, expected = visible(str(path)), "a spec file (TOML)"
    try:
        data = read_bytes(path, "the file", expected, MAX_BYTES, (".toml",))
    except Finding as finding:
        hint = finding.hint
        if finding.found.startswith("no "):
            hint = f"{hint} `symreln tasks` lists the ready-made specs.".strip()
        raise SpecError([replace(finding.problems[0], file=file, hint=hint)]) from None
    return parse_toml(data, file)


def parse_toml(data: bytes, file: str) -> tuple[dict[str, Any], str]:
    """Return the tables of TOML bytes, decimals kept as written, and the text.

    Args:
        data: Contents of a file.
        file: Its name, for messages.

    Raises:
        SpecError: It is too large, or no TOML.
    """
    try:
        text = _decoded(data)
        return _parsed(text, file), text
    except Finding as finding:
        raise SpecError([replace(finding.problems[0], file=file)]) from None


def _parsed(text: str, file: str) -> dict[str, Any]:
    _check_keys(text)
    try:
        return tomllib.loads(text, parse_float=DecimalText)
    except RecursionError:
        raise Finding(
            "lists or tables nested too deep",
            "at most two levels of lists, as in X = [[1, 0], [0, 1]]",
        ) from None
    except ValueError as error:  # TOMLDecodeError, and int() of too many digits
        raise SpecError([_from_tomllib(error, text, file)]) from None


def _decoded(data: bytes) -> str:
    hint = "Keep large matrices in a CSV or NPZ file and name it in [dataset]."
    need(len(data) <= MAX_BYTES, "a spec of more than 1 MiB", "at most 1 MiB", hint)
    marked = data.startswith(b"\xef\xbb\xbf")
    hint = 'Save it as "UTF-8" rather than "UTF-8 with BOM" in your editor.'
    need(not marked, "a byte-order mark at the start", "TOML in UTF-8 without one", hint)
    hint = "It needs a [dataset] and at least one [[pathway]]; `symreln tasks` shows examples."
    empty = Finding("an empty file", "a spec", hint)
    save = 'Save it as "UTF-8" in your editor.'
    return decoded(data, "TOML in UTF-8", empty, save, "Name the spec, not the data.")


def _check_keys(text: str) -> None:
    match = _LONG_KEY.search(text)
    line = text.count("\n", 0, match.start()) + 1 if match else 0
    found = f"a key of more than {MAX_KEY_PARTS} parts in line {line}"
    need(not match, found, f"at most {MAX_KEY_PARTS} parts", "Dots make tables in tables.")


def _from_tomllib(error: ValueError, text: str, file: str) -> Problem:
    message = str(error)
    match = _AT.search(message)
    what = message[: match.start()] if match else message.split(";")[0]
    line = int(match[1]) if match and match[1] else text.rstrip().count("\n") + 1
    hint = next((hint for start, hint in _HINTS if what.startswith(start)), "")
    place = f" (column {match[2]})" if match and match[2] else " (at the end of the file)"
    found = f"TOML that does not parse{place}: {what[0].lower()}{what[1:]}"
    return Problem(path="", file=file, line=line, found=found, expected="valid TOML", hint=hint)
