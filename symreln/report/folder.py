"""What a results' folder holds, by name: standard library alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

CERTIFICATE = "certificate.json"
FAMILY = "certificate-family.json"
#: What a derivation writes and a derivation that was cut short would contradict.
DERIVED = (CERTIFICATE, FAMILY, "derivation.html", "derivation.tex")
#: What else an earlier command may have left beside it.
BESIDE = ("figures", "validation.json", "curves.npz", "loss.svg")


def remove_foreign_family(folder: Path, written: Iterable[Path | str]) -> None:
    """Remove the certificate of another derivation's family, which this one does not write."""
    if FAMILY not in (Path(name).name for name in written):
        (folder / FAMILY).unlink(missing_ok=True)
