"""Documents as files: rendered in every format, and saved so that they can be rendered again.

What a document of a run shows of training is in it, its figures included: rendering a saved one
needs neither networks nor a derivation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.base.jsonio import dumps
from symreln.document.document_model import Document, on_paper
from symreln.document.serialise import of_values, values_of
from symreln.errors import InputError
from symreln.verifier.folder import DOCUMENT, read_sealed, sealed, sealed_json
from symreln.verifier.numbers import require
from symreln.verifier.reading import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from symreln.report.formats import Format
    from symreln.report.latex_style import Style

FORMAT = "symreln-document/1"
#: Saved documents by what their rendered files are called.
SAVED = {"derivation": DOCUMENT, "explanation": "explanation-document.json"}
#: In place of a certificate: what is derived of most graphs has none, and no explanation has.
_NONE = {"spec": None, "digest": None}


def document_files(
    document: Document,
    formats: Sequence[Format],
    proof: Mapping[str, Any] | None,
    *,
    stem: str = "derivation",
    style: Style | None = None,
    full: bool = False,
) -> dict[str, str | bytes]:
    """Return a document in some formats, each with its provenance, by file name.

    Args:
        document: With all that a page folds.
        formats: Those that are wanted.
        proof: The certificate, or its ``spec`` and ``digest``; None where there is none.
        stem: What the files are called.
        style: How LaTeX is written.
        full: Whether documents on paper have everything that the page folds.
    """
    made = [
        each.render(document if full or each.folds else on_paper(document), style)
        for each in formats
    ]
    certificate = None if proof is None else dict(proof)
    pdfs = {f"figures/{each.name}.pdf": each.pdf for each in document.figures if each.pdf}
    files: dict[str, str | bytes] = {}
    for each, text in zip(formats, made, strict=True):
        beside = pdfs if each.latex else {}
        files[each.file.replace("derivation", stem)] = sealed(
            text, certificate, each.comment, beside
        )
        files |= beside
    return files


def saved_document(
    document: Document, proof: Mapping[str, Any] | None, stem: str = "derivation"
) -> dict[str, str | bytes]:
    """Return the file of :data:`SAVED` that a document is read from again; arguments as above."""
    content = {"format": FORMAT, "document": values_of(document)}
    return {SAVED[stem]: dumps(sealed_json(content, dict(proof or _NONE)))}


def read_document(path: Path) -> tuple[Document, dict[str, Any] | None]:
    """Return a saved document, and what it names of its certificate.

    Raises:
        CertificateError: It was changed, or the folder has files of another derivation.
        InputError: It is of another version of symreln.
    """
    content = read_json(path)
    found = content.get("format") if isinstance(content, dict) else None
    if found != FORMAT:
        msg = (
            f"{path}: found the format {found!r}, which is of another version of symreln; this one "
            f"reads {FORMAT!r}. Report with that version, or write the folder again"
        )
        raise InputError(msg)
    proof = read_sealed(path, content)
    try:
        document = of_values(content["document"])
        require(isinstance(document, Document), str(path), "a document")
        return document, proof
    except (KeyError, TypeError, ValueError) as error:
        msg = f"{path}: found no document of this version of symreln. Write the folder again"
        raise InputError(msg) from error
