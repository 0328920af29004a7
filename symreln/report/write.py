"""Results into a folder: every file whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from symreln.base.progress import phase
from symreln.claims.derivation import Derivation, Derived
from symreln.claims.network.derivation import NetworkDerivation
from symreln.claims.prediction import closed_forms, predict
from symreln.claims.solve import at_values
from symreln.errors import InputError, NotSupportedError
from symreln.laws.integrate import DRAWN
from symreln.pipeline.certificate import certificate
from symreln.report import jsonio
from symreln.report.content import derivation_chapters, whole_document
from symreln.report.derivation_json import derivation_to_json
from symreln.report.drawing import draw_all
from symreln.report.folder import CERTIFICATE, together, write_files
from symreln.report.formats import FORMATS, NAMES
from symreln.report.network_plots import network_sketches
from symreln.report.plots import derivation_sketches, drawn_times
from symreln.verify.folder import sealed_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.curves import Prediction
    from symreln.document.model import Drawing
    from symreln.experiment.outcome import Confrontation
    from symreln.report.formats import Format


@phase("document")
def write_derivation(
    derivation: Derived,
    directory: str | Path,
    *,
    validation: Confrontation | None = None,
    formats: Sequence[str] | None = None,
) -> list[Path]:
    """Write derivation.json, certificate.json, and the documents with their figures.

    Args:
        derivation: What is written.
        directory: Folder, made if it is not there.
        validation: The confrontation that the documents are to contain.
        formats: Some of :data:`symreln.report.formats.NAMES`; all by default. The certificate is
            always written: a formula without it is not proven to its reader.

    Returns:
        The files written.
    """
    wanted = set(formats or NAMES)
    with together(Path(directory)) as draft:
        written = _write_proven(derivation, draft.folder, wanted)
        documents = [each for each in FORMATS if each.name in wanted]
        if documents:
            written += _write_documents(derivation, validation, draft.folder, documents)
        return draft.moved(written)


def write_proven(
    derivation: Derived, directory: str | Path, formats: Sequence[str] | None = None
) -> list[Path]:
    """Write the certificate, and derivation.json where it is wanted: no document, no figure."""
    with together(Path(directory)) as draft:
        return draft.moved(_write_proven(derivation, draft.folder, set(formats or NAMES)))


@phase("certificate")
def _write_proven(derivation: Derived, folder: Path, wanted: set[str]) -> list[Path]:
    found = {CERTIFICATE: derivation.ask(certificate)}
    if "json" in wanted:
        found["derivation.json"] = derivation.ask(derivation_to_json)
    return write_files(folder, {name: jsonio.dumps(each) for name, each in found.items()})


def _write_documents(
    derivation: Derived,
    validation: Confrontation | None,
    folder: Path,
    wanted: Sequence[Format],
) -> list[Path]:
    """Write those documents that are wanted, each with its provenance."""
    pdf = any(each.figures for each in wanted)
    figures = _figures(derivation, validation, pdf=pdf)
    chapters = derivation_chapters(derivation, validation, [each.name for each in figures])
    document = whole_document(derivation, chapters, figures)
    files: dict[str, str | bytes] = {}
    for each in wanted:
        text = each.render(document)
        files[each.file] = sealed_text(text, derivation.ask(certificate), each.comment)
        if each.figures:
            files |= {f"figures/{drawn.name}.pdf": drawn.pdf for drawn in figures if drawn.pdf}
    return write_files(folder, files)


def _figures(
    derivation: Derived, validation: Confrontation | None, *, pdf: bool
) -> tuple[Drawing, ...]:
    """Draw a derivation, and its confrontation where there is one."""
    if isinstance(derivation, NetworkDerivation):
        sketches = network_sketches(derivation)
        if validation is not None:  # its losses stand in the place of the prediction alone
            sketches = [each for each in sketches if each.name != "loss"]
    else:
        assert isinstance(derivation, Derivation)
        sketches = derivation_sketches(derivation, _prediction(derivation, validation))
    if validation is None:
        return draw_all(sketches, pdf=pdf)
    # Here, because it brings everything that trains networks.
    from symreln.report.validation_plots import validation_sketches

    drawn = draw_all((*sketches, *validation_sketches(validation)), pdf=pdf)
    return (*drawn, *representations(validation, pdf=pdf))


def _prediction(derivation: Derivation, validation: Confrontation | None) -> Prediction | None:
    """Return the curves to draw, or None where there are none.

    A derivation by itself shows the closed forms that it prints; beside a confrontation it shows
    the prediction that was confronted. A value or the network may be missing, or training may be
    bound to diverge: then validation says so, and the derivation, which is exact all the same,
    has no figure of curves.
    """
    if validation is not None:
        return validation.prediction
    network = derivation.spec.network
    no_start = derivation.strength0 is None  # no network, or no initial strength is derived
    if network is None or no_start or any(p.value is None for p in derivation.spec.parameters):
        return None
    times = drawn_times(network.steps)
    try:
        return closed_forms(derivation.ask(at_values), times) or predict(
            derivation.ask(at_values), times, accuracy=DRAWN
        )
    except (InputError, NotSupportedError):
        return None


def representations(validation: Confrontation, *, pdf: bool) -> tuple[Drawing, ...]:
    """Draw what hidden layers hold, where that was compared."""
    from symreln.experiment.outcome import Validation

    if not isinstance(validation, Validation) or validation.representations is None:
        return ()
    from symreln.report.representation_figure import representation_drawing

    return (representation_drawing(validation.representations, validation.network_name, pdf=pdf),)
