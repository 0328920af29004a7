"""What a results' folder holds, and how files get there: all of them or none."""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from symreln.base.jsonio import draft_name, write_bytes
from symreln.base.watched import undisturbed
from symreln.errors import InputError
from symreln.report.formats import FORMATS
from symreln.verifier.folder import CERTIFICATE, DOCUMENT

_DOCUMENTS = tuple(each.file for each in FORMATS)
#: Folders of files on their way, which a process that is killed leaves.
UNFINISHED = ".symreln.*.tmp"


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files by name into a folder, made if it is not there."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(folder / name, content.encode() if isinstance(content, str) else content)


def write_together(
    folder: Path, files: Mapping[str, str | bytes], *, own: bool = False
) -> list[Path]:
    """Write files by name into a folder, all or none; return them in their order."""
    with together(folder, own=own) as draft:
        write_files(draft, files)
    return [folder / name for name in files]


def npz(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return arrays as an NPZ file; losses are means over samples, 1/(2P) Σ‖y − ŷ‖²."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()


@contextlib.contextmanager
def together(folder: Path, *, own: bool = False) -> Iterator[Path]:
    """Give a place for files that appear in a folder together at the end, or not at all.

    They are written beside their place and renamed one after the other, which takes no time and no
    room on the disk. What an earlier derivation has left and these do not replace is removed where
    a new derivation comes: it would contradict that.

    Args:
        folder: Made if it is not there.
        own: Whether the files are of the derivation that is there already.

    Raises:
        OSError: One cannot be written; ``filename`` is the place that it was to take.
    """
    folder.mkdir(parents=True, exist_ok=True)
    place = draft_name(folder / "symreln")
    place.mkdir()
    try:
        yield place
        files = [path.relative_to(place) for path in place.rglob("*") if path.is_file()]
        with undisturbed():
            # JSON last: a page is there, and a derivation is read, by what that says.
            files.sort(key=lambda path: (path.suffix == ".json", path))
            _replace(folder, place, files, own=own)
    except OSError as error:
        if error.filename is None or not Path(error.filename).is_relative_to(place):
            raise
        name = folder / Path(error.filename).relative_to(place)
        raise OSError(error.errno, error.strerror, str(name)) from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _replace(folder: Path, place: Path, files: Sequence[Path], *, own: bool) -> None:
    """Move files from a place into a folder; those of a derivation replace all of another."""
    derived = {Path(name) for name in (CERTIFICATE, "derivation.json", *_DOCUMENTS)}
    if derived.intersection(files) and not own:
        derived.add(Path(DOCUMENT))
        for path in [*folder.glob("certificate-*.json"), *(folder / name for name in derived)]:
            if path.relative_to(folder) not in files:
                path.unlink(missing_ok=True)
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).replace(folder / name)


@contextlib.contextmanager
def without_empty(folder: Path) -> Iterator[None]:
    """Remove at the end what was made of a folder and its parents and is empty."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        yield
    finally:
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()


def require_folder(folder: Path) -> None:
    """Refuse a folder for results that cannot be made, before any work is done for it.

    Raises:
        InputError: It cannot be made. Nothing is left behind, whether it can or not.
    """
    try:
        with without_empty(folder):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = (
            f"--out {folder}: the folder cannot be made ({error.strerror}). Name one in a place "
            "where you may write"
        )
        raise InputError(msg) from error
