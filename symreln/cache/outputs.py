"""What a whole `derive` wrote and printed, to be written and printed again.

Keyed by everything that it depends on (:func:`symreln.cache.key.spec_key`). Read without SymPy,
FLINT or Matplotlib, which is where a short command's time goes. The files come back byte for byte.
They are not proven anew, that would take as long as for a certificate from elsewhere: `symreln
verify` does it. An entry's digest shows damage; forging one takes write access to a folder that is
refused unless it is the user's own and closed to others.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symreln.cache.store import Store

KIND = "derivation"
_NAME = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,80}/)?[A-Za-z0-9_][A-Za-z0-9_.-]{0,120}")


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Files and the printed result of one derivation.

    Attributes:
        files: Contents by path in the results' folder, in the order written.
        json: Text of derivation.json, whether or not it is among the files.
        summary: What is printed otherwise, for :func:`symreln.report.terminal.show_summary`.
    """

    files: dict[str, bytes]
    json: str
    summary: dict[str, Any]

    def write(self, folder: Path) -> list[Path]:
        """Write the files; return their paths."""
        from symreln.report.folder import remove_foreign_certificates
        from symreln.report.jsonio import write_bytes

        remove_foreign_certificates(folder, self.files)
        written = []
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, data)
            written.append(path)
        return written


def read_outputs(store: Store, key: str) -> Outputs | None:
    """Return what is kept under a key, or None."""
    content = store.get(KIND, key)
    if content is None:
        return None
    try:
        files = {name: _decoded(data) for name, data in content["files"].items()}
        text, summary = content["json"], content["summary"]
        if not all(_NAME.fullmatch(name) for name in files):
            msg = "a name that no derivation writes"
            raise ValueError(msg)
        shown = files["derivation.json"].decode() if text is None else text
        return Outputs(files=files, json=shown, summary=summary)
    except (KeyError, TypeError, AttributeError, ValueError, binascii.Error) as error:
        store.notes.append(f"cache: a derivation is ignored and made again: {error}")
        return None


def keep_outputs(
    store: Store, key: str, folder: Path, written: Sequence[Path], json: str, summary: dict
) -> None:
    """Keep what was just written to ``folder`` and is printed.

    Args:
        store: The cache.
        key: What it all depends on.
        folder: The results' folder.
        written: The files in it.
        json: Text of derivation.json.
        summary: What is printed.
    """
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in written}
    among = files.get("derivation.json") == json.encode()
    content = {
        "files": {name: _encoded(data) for name, data in files.items()},
        "json": None if among else json,
        "summary": summary,
    }
    store.put(KIND, key, content)


def _encoded(data: bytes) -> str | list[str]:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ["base64", base64.b64encode(data).decode()]


def _decoded(data: str | list[str]) -> bytes:
    if isinstance(data, str):
        return data.encode()
    kind, text = data
    if kind != "base64":
        msg = "an unknown encoding"
        raise ValueError(msg)
    return base64.b64decode(text, validate=True)
