"""A derivation that a limit cut short, into a folder and on the terminal."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from symreln.base.jsonio import dumps
from symreln.report.folder import DERIVED, write_files
from symreln.report.formats import DEFAULT, FORMATS


def partial_lines(partial: dict[str, Any]) -> list[str]:
    """Return what the terminal shows of it."""
    limits = partial["limits"]
    return [
        partial["title"] or "derivation cut short",
        f"verdict: {partial['verdict']['level']}",
        *(f"  - {line}" for line in (*limits["proven"], *limits["undecided"])),
    ]


def write_partial(partial: dict[str, Any], folder: Path, formats: Collection[str]) -> list[str]:
    """Write what is known, the quickest first; return the names of the files.

    Files of an earlier derivation, which this one would contradict, are removed.

    Args:
        partial: The values of derivation.json.
        folder: Where, made if it is not there.
        formats: Some of :data:`symreln.report.formats.NAMES`; the usual ones where empty. The
            JSON is always written.
    """
    for name in DERIVED:
        (folder / name).unlink(missing_ok=True)
    written = write_files(folder, {"derivation.json": dumps(partial)})
    # Here, because fonts and formulas take time to import: the JSON is on disk before.
    from symreln.report.chapters.limits import limited_document

    document = limited_document(partial)
    for each in FORMATS:
        if each.name in (formats or DEFAULT):
            written += write_files(folder, {each.file: each.render(document)})
    return [path.name for path in written]
