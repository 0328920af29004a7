"""A folder of results opened again: what its spec derives to, compared with what was saved."""

from __future__ import annotations

import os
from pathlib import Path

from symreln.api import Derivation, NetworkDerivation, derive
from symreln.errors import CertificateError, InputError
from symreln.specs.finding import shown
from symreln.specs.values import spec_of_values
from symreln.verifier.folder import CERTIFICATE, JSON_FILES, verify_file
from symreln.verifier.reading import read_json

_DERIVATION = JSON_FILES[0]


def open(directory: str | Path) -> Derivation | NetworkDerivation:
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
    if not isinstance(directory, str | os.PathLike):
        msg = f"open: found {shown(directory)}; give the folder that derivation.save(dir) wrote"
        raise InputError(msg)
    folder = Path(directory)
    if not folder.is_dir():
        found = f"a file, {folder}; give its folder" if folder.is_file() else f"no folder {folder}"
        msg = f"open: found {found}"
        raise InputError(msg)
    for name in (CERTIFICATE, _DERIVATION):
        if not (folder / name).is_file():
            msg = (
                f"open: found no {name} in {folder}. derivation.save({str(folder)!r}) writes it, "
                "and so does `symreln derive` with --format json, which is the default"
            )
            raise InputError(msg)
    verify_file(folder)
    certificate = read_json(folder / CERTIFICATE)
    try:
        spec = spec_of_values(read_json(folder / _DERIVATION).get("spec"), certificate)
    except InputError as error:
        msg = f"open: {folder / _DERIVATION}: {error}"
        raise InputError(msg) from error
    derivation = derive(spec)
    if derivation.certificate["digest"] != certificate["digest"]:
        msg = (
            f"open: {folder / CERTIFICATE}: it is not the certificate of the spec that "
            f"{_DERIVATION} holds. One was changed, or is of another version of symreln"
        )
        raise CertificateError(msg)
    return derivation
