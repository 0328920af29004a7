"""Files of specs and of data: where they may lie, how large they may be, and their text."""

from __future__ import annotations

import hashlib
from pathlib import Path

from symreln.base.records import record
from symreln.errors import visible
from symreln.specs.finding import Finding, nearest, quoted

MAX_BYTES = 64 << 20
MAX_NUMBERS = 2_000_000
"""Numbers of one file: each becomes an exact fraction, at 3 to 6 microseconds and about 100 bytes
on the way, so that the largest file takes about ten seconds and some hundred megabytes."""


@record
class Folder:
    """The folder of a spec.

    Attributes:
        path: The folder.
        allow_outside: Whether files may lie outside it.
    """

    path: Path = Path()
    allow_outside: bool = False

    def read(self, name: str) -> bytes:
        """Return the contents of a data file.

        Args:
            name: Its path, from the folder.

        Raises:
            Finding: It lies outside (links followed), is no regular file, is missing, unreadable
                or too large.
        """
        expected = "a data file in the spec's folder"
        if not name or "\0" in name:
            raise Finding(f"the file name {quoted(name)}", expected)
        what = f"the file {quoted(name)}"
        suffixes = (".csv", ".npz", ".tsv", ".txt")
        data = read_bytes(self._inside(name, what, expected), what, expected, MAX_BYTES, suffixes)
        if len(data) > MAX_BYTES:
            limit = f"at most {MAX_BYTES >> 20} MiB"
            raise Finding(f"{what} of more than that", limit, "Use fewer samples.")
        return data

    def _inside(self, name: str, what: str, expected: str) -> Path:
        path = self.path / name
        try:
            inside = path.resolve().is_relative_to(self.path.resolve())
        except (OSError, RuntimeError):  # a loop of links, which is what reading it says
            return path
        if not self.allow_outside and not inside:
            found = f"{what}, which lies outside the spec's folder"
            hint = "Copy it next to the spec, or allow it with --allow-outside-data."
            raise Finding(found, expected, hint)
        return path


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
        names = sorted(
            entry.name
            for entry in path.parent.iterdir()
            if entry.suffix in suffixes and entry.is_file()
        )
    except OSError:
        return f"There is no folder {visible(str(path.parent))} either."
    return nearest(path.name, names)


def decoded(data: bytes, expected: str, empty: Finding, save: str, binary: str) -> str:
    """Return the text of a file, without a byte-order mark.

    Args:
        data: Its contents.
        expected: What the text is.
        empty: What an empty file is told.
        save: How to save it.
        binary: What to do about a file that is no text.

    Raises:
        Finding: It is no UTF-8.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Finding("a file in UTF-16", expected, save)
    if not data.strip():
        raise empty
    if b"\x00" in data[:1024]:
        raise Finding("a binary file", expected, binary)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Finding(f"a byte that is not UTF-8 in line {line}", expected, save) from None


def fingerprint(name: str, data: bytes) -> str:
    """Return a file's name and SHA-256, for the provenance table."""
    return f"{name} (SHA-256 {hashlib.sha256(data).hexdigest()})"
