"""Results into a folder: every file whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from symreln.base import jsonio
from symreln.base.progress import phase
from symreln.claims.derivation import Derivation
from symreln.claims.gate_law import begin_gate_law
from symreln.document.document_model import ComingDrawing, Document, on_paper
from symreln.document.serialise import of_values, values_of
from symreln.errors import InputError
from symreln.pipeline.certificate import certificate
from symreln.report.content import derivation_chapters, whole_document
from symreln.report.derivation_json import derivation_to_json
from symreln.report.formats import DEFAULT, PROGRAM, Format, document_formats, require_formats
from symreln.report.results_folder import CERTIFICATE, write_together
from symreln.verifier.folder import DOCUMENT, EXPLAINED, read_sealed, sealed, sealed_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from symreln.experiment.outcome import Validation
    from symreln.report.latex_style import Style
    from symreln.report.sketch import Figures

_SAVED_FORMAT = "symreln-document/1"
#: Saved documents, by what the files are called that are rendered of them.
SAVED = {"derivation": DOCUMENT, "explanation": EXPLAINED[1]}


@phase("document")
def write_derivation(
    derivation: Derivation,
    directory: str | Path,
    *,
    formats: Sequence[str] | None = None,
    style: Style | None = None,
    full: bool = False,
) -> list[Path]:
    """Write derivation.json, certificate.json, and the documents with their figures.

    Args:
        derivation: What is written.
        directory: Folder, made if it is not there.
        formats: Some of :data:`symreln.report.formats.NAMES`; those of its ``DEFAULT`` where none
            is given. The certificate is always written, where there is one: a formula without it is
            not proven to its reader.
        style: How LaTeX is written.
        full: Whether documents on paper have everything that the page folds.

    Returns:
        The files written.
    """
    wanted = require_formats(formats or DEFAULT)
    documents, coming = document_formats(wanted), None
    if documents:
        coming = begin_document(derivation, pdf=any(each.latex for each in documents))
    files = proven_files(derivation, wanted)
    if coming is not None:
        proof = derivation.ask(certificate)
        files |= document_files(coming(), documents, proof, style=style, full=full)
    return write_together(Path(directory), files)


@phase("certificate")
def proven_files(derivation: Derivation, wanted: set[str]) -> dict[str, str | bytes]:
    """Return the certificate of a derivation and those formats that are no documents, by name."""
    proof = derivation.ask(certificate)
    files: dict[str, str | bytes] = {} if proof is None else {CERTIFICATE: jsonio.dumps(proof)}
    if "json" in wanted:
        files["derivation.json"] = jsonio.dumps(derivation.ask(derivation_to_json))
    if PROGRAM in wanted:
        # Here, because SymPy's printers are needed for nothing else.
        from symreln.report.programs import program

        files[f"derivation.{PROGRAM}"] = sealed(program(derivation).encode(), proof, ("# ", ""))
    return files


def begin_document(
    derivation: Derivation,
    validation: Validation | None = None,
    more: Figures | None = None,
    *,
    pdf: bool = True,
) -> Callable[[], Document]:
    """Have the figures of a derivation's document drawn.

    Args:
        derivation: What was derived.
        validation: The confrontation that it is to contain.
        more: That one's own figures.
        pdf: Whether LaTeX is to include the figures.

    Returns:
        What returns the document; its figures may still be with whoever draws them.
    """
    begin_gate_law(derivation)
    with phase("figures"):
        from symreln.report.drawings import begin_drawings

        names, drawn = begin_drawings(derivation, validation, more, pdf=pdf)

    def document() -> Document:
        chapters = derivation_chapters(derivation, validation, names)
        drawings = tuple(ComingDrawing(name, drawn) for name in names)
        return whole_document(derivation.spec, chapters, drawings)

    return document


def document_files(
    document: Document,
    formats: Sequence[Format],
    proof: dict[str, Any] | None,
    stem: str = "derivation",
    *,
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
    shown = [document if full or each.folds else on_paper(document) for each in formats]
    made = [each.render(one, style) for each, one in zip(formats, shown, strict=True)]
    pdfs = {f"figures/{each.name}.pdf": each.pdf for each in document.figures if each.pdf}
    files: dict[str, str | bytes] = {}
    for each, text in zip(formats, made, strict=True):
        beside = pdfs if each.latex else {}
        name = each.file.replace("derivation", stem)
        files |= {name: sealed(text, proof, each.comment, beside), **beside}
    return files


def saved_document(
    document: Document, proof: dict[str, Any] | None, stem: str = "derivation"
) -> dict[str, str | bytes]:
    """Return the file of which a document is rendered again; arguments as above."""
    content = {"format": _SAVED_FORMAT, "document": values_of(document)}
    sealing = proof or {"spec": None, "digest": None}
    return {SAVED[stem]: jsonio.dumps(sealed_json(content, sealing))}


def read_document(path: Path) -> tuple[Document, dict[str, Any] | None]:
    """Return a saved document, and what it names of its certificate.

    Raises:
        CertificateError: It or a file beside it was changed, or is of another derivation.
        InputError: It is of another version of symreln.
    """
    content, proof = read_sealed(path)
    try:
        read = {_SAVED_FORMAT: of_values}[content["format"]]
        return read(content["document"] | {"is": "Document"}), proof
    except (KeyError, TypeError, ValueError) as error:
        msg = f"{path}: it is no document of this version of symreln. Write the folder again"
        raise InputError(msg) from error
