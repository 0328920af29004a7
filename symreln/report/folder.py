"""What a results' folder holds, by name: standard library alone."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from symreln.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

CERTIFICATE = "certificate.json"
FAMILY = "certificate-family.json"
DOCUMENTS = ("derivation.html", "derivation.tex")
#: What a derivation writes and a derivation that was cut short would contradict.
DERIVED = (CERTIFICATE, FAMILY, *DOCUMENTS)
#: What else an earlier command may have left beside it.
BESIDE = ("figures", "validation.json", "curves.npz", "loss.svg")


def phase_certificate(step: int) -> str:
    """Return the name of the certificate of the gates that are taken at a step."""
    return f"certificate-step-{step}.json"


def phase_certificates(folder: Path) -> list[Path]:
    """Return the certificates of gates that are taken later, by step."""
    found = folder.glob("certificate-step-*.json")
    return sorted(found, key=lambda path: (len(path.name), path.name))


def remove_foreign_certificates(folder: Path, written: Iterable[Path | str]) -> None:
    """Remove certificates beside the main one that another derivation has left there."""
    kept = {Path(name).name for name in written}
    for path in (folder / FAMILY, *phase_certificates(folder)):
        if path.name not in kept:
            path.unlink(missing_ok=True)


def require_folder(folder: Path) -> None:
    """Refuse a folder for results that cannot be made, before any work is done for it.

    Raises:
        InputError: It cannot be made. Nothing is left behind, whether it can or not.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = (
            f"--out {folder}: the folder cannot be made ({error.strerror}). Name one in a place "
            "where you may write"
        )
        raise InputError(msg) from error
    finally:
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
