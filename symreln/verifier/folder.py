"""A folder of results, verified as one thing: every file names the certificate that it belongs to.

``derivation.json``, ``validation.json`` and ``document.json`` have the key ``provenance``; the last
line of a document ``derivation.*`` is a comment with the same: the SHA-256 of the spec, of the
certificate (its ``digest``), of the rest of the file, and of the ``files`` that came with it,
figures and curves.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final, NoReturn

from .certificate import verify
from .numbers import CertificateError, refused, visible
from .reading import parsed, read_bytes, read_json

CERTIFICATE: Final = "certificate.json"
#: A document that renders again to every format.
DOCUMENT: Final = "document.json"
EXPLAINED: Final = "explanation.json", "explanation-document.json"
JSON_FILES: Final = ("derivation.json", "validation.json", DOCUMENT, *EXPLAINED)
#: Documents that must say their provenance; of other formats those do that hold it at their end.
_STEMS: Final = ("derivation", "explanation")
_SEALED: Final = tuple(f"{stem}{suffix}" for stem in _STEMS for suffix in (".tex", ".html"))
#: The last line of a document: a comment, whatever signs begin and end one there.
Files = Mapping[str, bytes]
NONE: Final[Files] = {}
#: What begins the line of files that are neither of the certificate nor refused.
NOT_COVERED: Final = "not covered: "
_LAST: Final = re.compile(rb"\W{1,8}provenance (\{.*\})\W{0,8}")


def verify_file(path: str | Path) -> tuple[str, ...]:
    """Read a certificate and check it; in a folder with all that lies beside it.

    Args:
        path: A certificate, "-" for stdin, or a folder of results.

    Raises:
        CertificateError: It is not proven, or the folder holds files of another derivation.

    Returns:
        What it proves, a sentence a check; last, the files of the folder that it says nothing of.
    """
    if path == "-" or not Path(path).is_dir():
        return verify(read_json(path))
    folder = Path(path)
    certificate = read_json(folder / CERTIFICATE)
    try:
        lines = verify(certificate)
    except CertificateError as error:
        msg = f"{folder / CERTIFICATE}: {error}"
        raise refused(msg) from error  # the name of a folder is escaped too
    covered = {CERTIFICATE, *_require_one(folder, certificate)}
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    others = sorted(set(found) - covered)
    more = f" and {len(others) - 9} more" * (len(others) > 9)
    said = visible(f"{NOT_COVERED}{', '.join(others[:9])}{more}")
    return (*lines, said) if others else lines


def _require_one(folder: Path, certificate: dict[str, Any]) -> Iterator[str]:
    """Yield the files beside a verified certificate that belong to it; refuse those that do not.

    Raises:
        CertificateError: One is of another derivation, was changed, or is not whole.
    """
    for name in JSON_FILES:
        if (path := folder / name).exists():
            content = read_json(path)
            said = content.get("provenance") if isinstance(content, dict) else None
            yield from _belongs(path, said, certificate, _json_digest(content) if said else "")
            verdict = content.get("verdict") if name == JSON_FILES[0] else None
            known = certificate.get("level")  # None where it is no certificate
            level = verdict.get("level") if isinstance(verdict, dict) else known
            if known not in (None, level):
                _refuse(path, f"has another verdict, {level!r}")
    for path in sorted(path for stem in _STEMS for path in folder.glob(f"{stem}.*")):
        text, _, last = read_bytes(path).rstrip(b"\n").rpartition(b"\n")
        found = _LAST.fullmatch(last)
        if found or path.name in _SEALED:
            said = parsed(found[1], str(path)) if found else None
            yield from _belongs(path, said, certificate, hashlib.sha256(text + b"\n").hexdigest())


def read_sealed(path: Path) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Read a sealed JSON file, and check it and the folder that it lies in.

    Raises:
        CertificateError: It or a file beside it was changed, or is of another derivation.

    Returns:
        What it holds; and ``spec`` and ``digest`` of the certificate that it names, if any.
    """
    content = read_json(path)
    said = content.get("provenance") if isinstance(content, dict) else None
    known = said if isinstance(said, dict) else {}
    named = {"spec": known.get("spec"), "digest": known.get("certificate")}
    _belongs(path, said, named, _json_digest(content) if known else "")
    if (path.parent / CERTIFICATE).exists():
        verify_file(path.parent)
    elif named["digest"] is not None:
        all(_require_one(path.parent, named))
    return content, None if named["digest"] is None else named


def sealed_json(
    content: dict[str, Any], certificate: dict[str, Any] | None, files: Files = NONE
) -> dict[str, Any]:
    """Return JSON values with their provenance, and that of ``files`` that come with them.

    It is null where there is no certificate.
    """
    if certificate is None:
        return {**content, "provenance": None}
    names = _names(certificate, files)
    found = {**content, "provenance": names}
    return {**content, "provenance": {**names, "digest": _json_digest(found)}}


def sealed(
    document: bytes,
    certificate: dict[str, Any] | None,
    comment: tuple[str, str],
    files: Files = NONE,
) -> bytes:
    """Return a document with a last line that says its provenance, in a comment.

    The document itself where there is no certificate.
    """
    if certificate is None:
        return document
    begin, end = comment
    document = document.rstrip(b"\n") + b"\n"
    said = {**_names(certificate, files), "digest": hashlib.sha256(document).hexdigest()}
    return document + f"{begin}provenance {json.dumps(said)}{end}\n".encode()


def _names(certificate: dict[str, Any], files: Files) -> dict[str, Any]:
    return {
        "spec": certificate["spec"],
        "certificate": certificate["digest"],
        "files": {name: hashlib.sha256(raw).hexdigest() for name, raw in files.items()},
    }


def _json_digest(content: dict[str, Any]) -> str:
    names = {key: value for key, value in content["provenance"].items() if key != "digest"}
    text = json.dumps({**content, "provenance": names}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _belongs(path: Path, said: Any, certificate: dict[str, Any], digest: str) -> list[str]:
    """Return the names of a file that belongs to a certificate, and of those that came with it."""
    keys = {"spec", "certificate", "digest", "files"}
    if not isinstance(said, dict) or said.keys() != keys or type(said["files"]) is not dict:
        _refuse(path, "does not say to which certificate it belongs")
    if said["certificate"] != certificate["digest"] or said["spec"] != certificate["spec"]:
        _refuse(path, "belongs to another derivation")
    if said["digest"] != digest:
        _refuse(path, "was changed after it was written")
    for name, known in said["files"].items():
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            _refuse(path, f"names a file elsewhere, {name!r}")
        if hashlib.sha256(read_bytes(path.parent / name)).hexdigest() != known:
            _refuse(path.parent / name, f"is not the one that came with {path.name}")
    return [path.name, *said["files"]]


def _refuse(path: Path, reason: str) -> NoReturn:
    msg = f"{path}: it {reason}. Write it again, or remove it"
    raise refused(msg)
