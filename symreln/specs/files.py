"""Files of specs and of data: where they may lie, how large they may be, and their text."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from symreln.base.records import record
from symreln.errors import Problem, SpecError, visible
from symreln.specs.finding import Finding, nearest, need, quoted

MAX_BYTES = 64 << 20
MAX_NUMBERS = 2_000_000
"""Numbers of one file: each becomes an exact fraction, at 3 to 6 microseconds and about 100 bytes
on the way, so that the largest file takes about ten seconds and some hundred megabytes."""
_MAX_SPEC = 1 << 20
MAX_KEY_PARTS = 64
"""``a.a.a…`` with 300 000 parts costs tomllib gigabytes; no spec needs more than five."""
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_KEY_PARTS}}}")
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
#: What mends TOML, by the start of what tomllib says.
_MENDED = (
    ("Cannot", "A key or table is given twice: keep one of them."),
    ("Duplicate inline", "A key is given twice in one inline table: keep one of them."),
    ("Invalid value", 'Texts and formulas need quotes: gate = "context != 1".'),
    ("Unclosed array", "A list that was opened with [ needs its ]."),
    ("Unterminated string", "A text that was opened with a quote needs the closing one."),
    ("Exceeds the limit", "Rescale the data, or write the number with an exponent: 1e300."),
)


@record
class Folder:
    """The folder of a spec.

    Attributes:
        path: The folder.
        allow_outside: Whether data files may lie outside it.
    """

    path: Path = Path()
    allow_outside: bool = False

    def read(self, name: str) -> bytes:
        """Return the contents of a data file, named by its path from the folder.

        Raises:
            Finding: It lies outside (links followed), is no regular file, is missing, unreadable
                or too large.
        """
        expected = "a data file in the spec's folder"
        need(name and "\0" not in name, f"the file name {quoted(name)}", expected)
        what, suffixes = f"the file {quoted(name)}", (".csv", ".npz", ".tsv", ".txt")
        hint = "Copy it next to the spec, or allow it with --allow-outside-data."
        path, found = self.path / name, f"{what}, which lies outside the spec's folder"
        inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.path))
        need(inside or self.allow_outside, found, expected, hint)
        data = read_bytes(path, what, expected, MAX_BYTES, suffixes)
        limit = f"at most {MAX_BYTES >> 20} MiB"
        need(len(data) <= MAX_BYTES, f"{what} of more than that", limit, "Use fewer samples.")
        return data


def read_bytes(path: Path, what: str, expected: str, most: int, suffixes: tuple[str, ...]) -> bytes:
    """Return what is in a regular file, at most one byte more than ``most``.

    Args:
        path: Where it is.
        what: What messages call it.
        expected: What was looked for.
        most: The largest size that is of use.
        suffixes: Of the names that a missing one may have been meant for.

    Raises:
        Finding: It is missing, unreadable or no regular file.
    """
    try:
        if path.is_file() or not path.exists():
            with path.open("rb") as stream:
                return stream.read(most + 1)
    except FileNotFoundError:
        raise Finding(
            f"no {what.removeprefix('the ')}", expected, _nearest(path, suffixes)
        ) from None
    except PermissionError:
        found = f"{what}, which must not be read"
        raise Finding(found, expected, "Change its permissions.") from None
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a loop, Python 3.11
        reason = getattr(error, "strerror", None) or "a loop of links"
        raise Finding(f"{what}, which cannot be read ({reason})", expected) from None
    kind = "folder" if path.is_dir() else "device or pipe"
    raise Finding(f"{what}, which is a {kind}", expected, "Name a regular file.")


def _nearest(path: Path, suffixes: tuple[str, ...]) -> str:
    try:
        files = (entry for entry in path.parent.iterdir() if entry.suffix in suffixes)
        hint = nearest(path.name, sorted(entry.name for entry in files if entry.is_file()))
    except OSError:
        hint = f"There is no folder {visible(str(path.parent))} either."
    listed = " `symreln tasks` lists the ready-made specs." * (".toml" in suffixes)
    return f"{hint}{listed}".strip()


def decoded(data: bytes, expected: str, save: str) -> str:
    """Return the text of a file, without a byte-order mark.

    Args:
        data: Its contents.
        expected: What the text is.
        save: How to save it.

    Raises:
        Finding: It is empty, or no UTF-8.
    """
    need(not data.startswith((b"\xff\xfe", b"\xfe\xff")), "a file in UTF-16", expected, save)
    need(data.strip(), "an empty file", expected)
    named = "An NPZ file is named with data = … in [dataset]."
    need(b"\x00" not in data[:1024], "a binary file", expected, named)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Finding(f"a byte that is not UTF-8 in line {line}", expected, save) from None


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Return the tables of a TOML file, decimals kept as written, and its text.

    Raises:
        SpecError: The file cannot be read, is too large, or is no TOML.
    """
    file, expected = visible(str(path)), "a spec file (TOML)"
    try:
        data = read_bytes(path, "the file", expected, _MAX_SPEC, (".toml",))
    except Finding as finding:
        raise SpecError([replace(finding.problems[0], file=file)]) from None
    return parse_toml(data, file)


def parse_toml(data: bytes, file: str) -> tuple[dict[str, Any], str]:
    """Return the tables of TOML bytes, decimals kept as written, and the text.

    Args:
        data: Contents of a file.
        file: Its name, for messages.

    Raises:
        SpecError: It is too large, or no TOML.
    """
    text = ""
    try:
        hint = "Keep large matrices in a CSV or NPZ file and name it in [dataset]."
        need(len(data) <= _MAX_SPEC, "a spec of more than 1 MiB", "at most 1 MiB", hint)
        hint = "It needs a [dataset] and a [[pathway]]; `symreln tasks` shows examples."
        need(data.strip(), "an empty file", "a spec", hint)
        text = decoded(data, "a spec: TOML in UTF-8", 'Save it as "UTF-8" in your editor.')
        found, hint = f"a key of more than {MAX_KEY_PARTS} parts", "Dots make tables in tables."
        need(not _LONG_KEY.search(text), found, f"at most {MAX_KEY_PARTS} parts", hint)
        return tomllib.loads(text, parse_float=_decimal), text
    except Finding as finding:
        problem = finding.problems[0]
    except RecursionError:
        found, expected = "lists or tables nested too deep", "at most two levels, as in X = [[1]]"
        problem = Problem(path="", found=found, expected=expected, hint="")
    except ValueError as error:  # TOMLDecodeError, and int() of too many digits
        problem = _from_tomllib(str(error), text)
    raise SpecError([replace(problem, file=file)])


def _decimal(text: str) -> Decimal | str:
    """Return a decimal; its text where the exponent is absurd, which is said of its key."""
    try:
        return Decimal(text)
    except ArithmeticError:
        return text


def _from_tomllib(message: str, text: str) -> Problem:
    match = _AT.search(message)
    what = message[: match.start()] if match else message.split(";")[0]
    line = int(match[1]) if match and match[1] else text.rstrip().count("\n") + 1
    hint = next((hint for start, hint in _MENDED if what.startswith(start)), "")
    place = f" (column {match[2]})" if match and match[2] else " (at the end of the file)"
    found = f"TOML that does not parse{place}: {what[0].lower()}{what[1:]}"
    return Problem(path="", line=line, found=found, expected="valid TOML", hint=hint)
