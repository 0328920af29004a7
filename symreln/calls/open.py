"""A folder of results opened again, and its documents in other formats.

What its spec derives to is compared with what was saved; what training showed is in the documents.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from symreln.base.jsonio import dumps
from symreln.calls.derive import Derivation, derive
from symreln.errors import CertificateError, InputError
from symreln.report.formats import FORMATS, document_formats, require_formats
from symreln.report.latex_style import Style
from symreln.report.results_folder import write_together
from symreln.report.write import SAVED, begin_document, document_files, read_document
from symreln.report.written_spec import spec_of_values
from symreln.specs.finding import shown
from symreln.verifier.folder import CERTIFICATE, JSON_FILES, verify_file
from symreln.verifier.reading import read_json

_DERIVATION, _VALIDATION, DOCUMENT, *_ = JSON_FILES


def open(directory: str | Path) -> Derivation:
    """Open a folder of results: of ``save``, of the command derive, or of run.

    Its spec is derived again, and what was saved has to be that derivation: its certificate, and
    every file that lies beside it.

    Args:
        directory: The folder.

    Raises:
        CertificateError: The certificate is not that of the spec, or a file was changed or is of
            another derivation; the message names it.
        InputError: It is no such folder.

    Example:
        >>> import symreln as sr, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = sr.derive("linear-hierarchy").save(folder, ["json"])
        ...     again = sr.open(folder)
        >>> again.modes[0].s, again.spec == sr.load("linear-hierarchy")
        (sqrt(15)/8, True)
    """
    folder = _folder(directory, "open")
    content, certificate = _found(folder, _DERIVATION), None
    said = content.get("provenance") if isinstance(content, dict) else content
    if said is not None or (folder / CERTIFICATE).exists():  # most graphs have none
        certificate = _found(folder, CERTIFICATE)
        verify_file(folder)
    try:
        spec = spec_of_values(content.get("spec"), certificate or content.get("data"))
    except InputError as error:
        msg = f"open: {folder / _DERIVATION}: {error}"
        raise InputError(msg) from error
    derivation = derive(spec)
    if certificate is None:
        name, again, saved = _DERIVATION, derivation.to_json(), content
    else:
        name, again, saved = CERTIFICATE, derivation.certificate, certificate
    if _compared(again) != _compared(saved):
        msg = (
            f"open: {folder / name}: it is not what the spec in {_DERIVATION} derives to. One was "
            "changed, or is of another version of symreln"
        )
        raise CertificateError(msg)
    return derivation


def report(
    folder: str | Path,
    formats: Sequence[str] = (),
    directory: str | Path | None = None,
    *,
    latex: Sequence[str] = (),
    full: bool = False,
) -> list[Path]:
    """Write documents of a saved run in other formats, without training again.

    What run, validate and explain have saved is rendered as it is; a derivation alone is derived
    again and compared with its certificate. A folder with a changed file is refused.

    Args:
        folder: Folder of run, derive, validate or explain.
        formats: Some of tex, html, fragment (LaTeX to include) and pdf (which needs the extra
            ``symreln[pdf]``); the first two by default.
        directory: Where they are written, made if it is not there; by default into the folder.
        latex: How LaTeX is written, as of derive: prefix=ctx:, level=2, numbering=all, or
            figures=FOLDER.
        full: Whether to put all that the page folds into documents on paper, too.

    Raises:
        CertificateError: A file was changed or is of another derivation.
        InputError: It is no such folder, or is of another version; or there is no such format.
        NotSupportedError: A format needs a package that is not installed.

    Example:
        >>> import symreln as sr, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = sr.derive("xor").save(folder, "json")
        ...     [path.name for path in sr.report(folder, "html")]
        ['derivation.html']
    """
    names = require_formats(formats, [each.name for each in FORMATS])
    style, place = Style.of(latex), _folder(folder, "report")
    wanted = document_formats(names)
    there = {stem: place / name for stem, name in SAVED.items() if (place / name).exists()}
    found = {stem: read_document(path) for stem, path in there.items()} or _derived(place)
    out, files = Path(directory or place), {}
    for stem, (document, proof) in found.items():
        files |= document_files(document, wanted, proof, stem, style=style, full=full)
    return write_together(out, files, own=out.exists() and out.samefile(place))


def _derived(folder: Path) -> dict[str, Any]:
    """Return the document of a folder of a derivation alone, and its certificate."""
    if (folder / _VALIDATION).exists():
        msg = f"report: {folder} has {_VALIDATION} and no {DOCUMENT}. Write it again: `symreln run`"
        raise InputError(msg)
    derivation = open(folder)
    return {"derivation": (begin_document(derivation)(), derivation.certificate)}


def _folder(directory: object, call: str) -> Path:
    """Return a folder of results; refuse what is none."""
    if not isinstance(directory, str | os.PathLike):
        msg = f"{call}: found {shown(directory)}; give the folder that derivation.save(dir) wrote"
        raise InputError(msg)
    folder = Path(directory)
    if not folder.is_dir():
        found = f"a file, {folder}; give its folder" if folder.is_file() else f"no folder {folder}"
        msg = f"{call}: found {found}"
        raise InputError(msg)
    return folder


def _found(folder: Path, name: str) -> Any:
    """Return the values of a JSON file."""
    if not (folder / name).is_file():
        msg = (
            f"open: found no {name} in {folder}. derivation.save({str(folder)!r}) writes it, "
            "and so does `symreln derive` with --format json, which is the default"
        )
        raise InputError(msg)
    found = read_json(folder / name)
    if not isinstance(found, dict):
        msg = f"open: {folder / name}: it holds no object. It was changed: derive again"
        raise InputError(msg)
    return found


def _compared(content: Any) -> str:
    """Return the text of JSON values, but for versions of libraries and floats of integrations.

    These depend on the processor in their last bits.
    """
    return dumps({**content, "versions": None, "curves": None})
