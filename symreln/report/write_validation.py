"""A confrontation into a folder: validation.json, curves.npz and its figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from symreln.base import jsonio
from symreln.base.progress import phase
from symreln.experiment.confront import Validation
from symreln.experiment.saved_curves import curves_of
from symreln.pipeline.certificate import certificate
from symreln.report.latex_style import Style
from symreln.report.results_folder import npz, together, write_files
from symreln.report.validation_json import validation_to_json
from symreln.report.validation_plots import validation_drawings
from symreln.report.write import begin_document, saved_document, write_derivation


@phase("figures")
def write_validation(
    validation: Validation, directory: str | Path, *, document: bool = True
) -> list[Path]:
    """Write validation.json, curves.npz, the figures of losses and gates, and document.json.

    Args:
        validation: What is written.
        directory: Folder, made if it is not there.
        document: Whether to write the last, from which documents are rendered.
    """
    figures = validation_drawings(validation, pdf=False)
    with together(Path(directory)) as draft:
        files = {
            "curves.npz": npz(curves_of(validation)),
            **{f"{each.name}.svg": each.svg.encode() for each in figures},
        }
        said = jsonio.dumps(validation_to_json(validation, files)).encode()
        own: dict[str, str | bytes] = {**files, "validation.json": said}
        if document:
            made = begin_document(validation.derivation, validation)()
            own |= saved_document(made, validation.derivation.ask(certificate))
        return draft.moved(write_files(draft.folder, own))


def write_run(
    validation: Validation,
    directory: str | Path,
    formats: Sequence[str] = (),
    *,
    style: Style | None = None,
    full: bool = False,
) -> list[Path]:
    """Write a confrontation and the derivation with it, all together, into a folder.

    Args:
        validation: What is written.
        directory: Folder, made if it is not there.
        formats: As of :func:`symreln.report.write.write_derivation`.
        style: Likewise.
        full: Likewise.
    """
    found = validation.derivation
    with together(Path(directory)) as draft:
        written = write_validation(validation, draft.folder, document=False)
        written += write_derivation(
            found, draft.folder, validation=validation, formats=formats, style=style, full=full
        )
        return draft.moved(written)
