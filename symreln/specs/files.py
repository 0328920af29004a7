"""Data files named in a spec: where they may lie and how large they may be."""

from __future__ import annotations

import hashlib
from pathlib import Path

from symreln.base.records import record
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
        try:
            return self._read(name, expected)
        except FileNotFoundError:
            raise Finding(f"no file {quoted(name)}", expected, self._nearest(name)) from None
        except PermissionError:
            found = f"the file {quoted(name)}, which must not be read"
            raise Finding(found, expected, "Change its permissions.") from None
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, Python 3.11
            reason = getattr(error, "strerror", None) or "a loop of links"
            found = f"the file {quoted(name)}, which cannot be read ({reason})"
            raise Finding(found, expected) from None

    def _read(self, name: str, expected: str) -> bytes:
        root = self.path.resolve()
        path = (root / name).resolve(strict=True)
        if not self.allow_outside and not path.is_relative_to(root):
            found = f"the file {quoted(name)}, which lies outside the spec's folder"
            hint = "Copy it next to the spec, or allow it with --allow-outside-data."
            raise Finding(found, expected, hint)
        if not path.is_file():
            raise Finding(f"{quoted(name)}, which is no regular file", expected)
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            limit = f"at most {MAX_BYTES >> 20} MiB"
            raise Finding(f"the file {quoted(name)} of more than that", limit, "Use fewer samples.")
        return data

    def _nearest(self, name: str) -> str:
        try:
            known = sorted(entry.name for entry in self.path.iterdir() if entry.is_file())
        except OSError:
            return ""
        data = [file for file in known if file.endswith((".csv", ".npz", ".tsv", ".txt"))]
        return nearest(Path(name).name, data)


def fingerprint(name: str, data: bytes) -> str:
    """Return a file's name and SHA-256, for the provenance table."""
    return f"{name} (SHA-256 {hashlib.sha256(data).hexdigest()})"
