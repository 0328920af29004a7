"""A graph's derivation into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from symreln.base.progress import phase
from symreln.report import html, jsonio, latex
from symreln.report.chapters.graph import graph_document
from symreln.report.drawing import draw_all
from symreln.report.folder import CERTIFICATE, together
from symreln.report.graph_plots import graph_sketches
from symreln.verify.folder import sealed_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.experiment.graphs import GraphValidation
    from symreln.graphs.derivation import GraphDerivation

FORMATS = ("json", "tex", "html")


@phase("document")
def write_graph(
    derivation: GraphDerivation,
    directory: str | Path,
    formats: Sequence[str] = (),
    validation: GraphValidation | None = None,
) -> list[Path]:
    """Write certificate.json, derivation.json, .tex with figures, and .html; return the files.

    Args:
        derivation: What is written.
        directory: Folder, made if it is not there.
        formats: Some of FORMATS; all where empty. The certificate is always written.
        validation: The confrontation that the documents are to contain.
    """
    with together(Path(directory)) as draft:
        return draft.moved(_write(derivation, draft.folder, formats, validation))


def _write(
    derivation: GraphDerivation,
    folder: Path,
    formats: Sequence[str],
    validation: GraphValidation | None,
) -> list[Path]:
    wanted, certificate = set(formats or FORMATS), derivation.certificate
    written = _write_proven(derivation, folder, formats)
    if not wanted & {"tex", "html"}:
        return written
    sketches, agreement = graph_sketches(derivation), None
    if validation is not None:
        from symreln.report.chapters import graph_agreement
        from symreln.report.graph_validation import confronted_losses

        sketches = [sketch for sketch in sketches if sketch.name != "loss"]
        sketches.append(confronted_losses(validation))
        agreement = graph_agreement.chapter(validation)
    document = graph_document(derivation, draw_all(sketches, pdf="tex" in wanted), agreement)
    if "tex" in wanted:
        written.append(folder / "derivation.tex")
        latex.save(document, written[-1], lambda name, text: sealed_text(name, text, certificate))
        written += [folder / "figures" / f"{sketch.name}.pdf" for sketch in sketches]
    if "html" in wanted:
        written.append(folder / "derivation.html")
        text = sealed_text(written[-1].name, html.render(document), certificate)
        jsonio.write_text(written[-1], text)
    return written


def write_proven(
    derivation: GraphDerivation, folder: Path, formats: Sequence[str] = ()
) -> list[Path]:
    """Write the certificate and, where it is wanted, derivation.json; return the files."""
    with together(folder) as draft:
        return draft.moved(_write_proven(derivation, draft.folder, formats))


def _write_proven(derivation: GraphDerivation, folder: Path, formats: Sequence[str]) -> list[Path]:
    written = [folder / CERTIFICATE]
    jsonio.write_json(written[-1], derivation.certificate)
    if "json" in set(formats or FORMATS):
        written.append(folder / "derivation.json")
        jsonio.write_json(written[-1], derivation.to_json())
    return written
