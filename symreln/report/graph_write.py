"""A graph's derivation into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from symreln.base.progress import phase
from symreln.report import html, jsonio, latex
from symreln.report.chapters.graph import graph_document
from symreln.report.drawer import Drawer
from symreln.report.folder import CERTIFICATE, remove_foreign_certificates
from symreln.report.graph_plots import graph_sketches

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
    drawer: Drawer | None = None,
    validation: GraphValidation | None = None,
) -> list[Path]:
    """Write certificate.json, derivation.json, .tex with figures, and .html; return the files.

    Args:
        derivation: What is written.
        directory: Folder, made if it is not there.
        formats: Some of FORMATS; all where empty. The certificate is always written.
        drawer: Who draws the figures and cuts the font; this process by default.
        validation: The confrontation that the documents are to contain.
    """
    folder = Path(directory)
    wanted = set(formats or FORMATS)
    written = write_proven(derivation, folder, formats)
    if not wanted & {"tex", "html"}:
        return written
    drawer = drawer or Drawer()
    sketches, agreement = graph_sketches(derivation), None
    if validation is not None:
        from symreln.report.chapters import graph_agreement
        from symreln.report.graph_validation import confronted_losses

        sketches = [sketch for sketch in sketches if sketch["name"] != "loss"]
        sketches.append(confronted_losses(validation))
        agreement = graph_agreement.chapter(validation)
    drawn = drawer.draw(sketches, pdf="tex" in wanted)
    document = graph_document(derivation, drawn(), agreement)
    if "tex" in wanted:
        written.append(folder / "derivation.tex")
        latex.save(document, written[-1])
        written += [folder / "figures" / f"{sketch['name']}.pdf" for sketch in sketches]
    if "html" in wanted:
        page = html.Page(document)
        characters = page.characters
        font = drawer.font(characters)() if characters else b""
        written.append(folder / "derivation.html")
        jsonio.write_text(written[-1], page.text(font))
    return written


def write_proven(
    derivation: GraphDerivation, folder: Path, formats: Sequence[str] = ()
) -> list[Path]:
    """Write the certificate and, where it is wanted, derivation.json; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    remove_foreign_certificates(folder, ())
    written = [folder / CERTIFICATE]
    jsonio.write_json(written[-1], derivation.certificate)
    if "json" in set(formats or FORMATS):
        written.append(folder / "derivation.json")
        jsonio.write_json(written[-1], derivation.to_json())
    return written
