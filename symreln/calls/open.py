"""A folder of results opened again: what its spec derives to, compared with what was saved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from symreln.base.jsonio import dumps
from symreln.calls.derive import Derivation, derive
from symreln.errors import CertificateError, InputError
from symreln.specs.finding import shown
from symreln.specs.written_spec import spec_of_values
from symreln.verifier.folder import CERTIFICATE, JSON_FILES, verify_file
from symreln.verifier.reading import read_json

_DERIVATION = JSON_FILES[0]


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
    folder = folder_of(directory, "open")
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


def folder_of(directory: object, call: str) -> Path:
    """Return a folder of results; refuse what is none.

    Raises:
        InputError: It is no folder.
    """
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
