"""Results into a folder: every file whole or not at all."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from symreln.dynamics.integrate import DRAWING_TOLERANCE
from symreln.errors import InputError
from symreln.prediction import closed_forms, predict
from symreln.report import html, jsonio, latex
from symreln.report.content import derivation_document
from symreln.report.folder import CERTIFICATE, FAMILY, remove_foreign_family
from symreln.report.plots import derivation_figures, drawn_times, loss_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.derivation import Derivation
    from symreln.prediction import Prediction
    from symreln.validation.confront import Validation

FORMATS = ("json", "tex", "html")


def write_derivation(
    derivation: Derivation,
    directory: str | Path,
    *,
    validation: Validation | None = None,
    formats: Sequence[str] | None = None,
) -> list[Path]:
    """Write derivation.json, certificate.json, derivation.tex with figures, and derivation.html.

    Args:
        derivation: What is written.
        directory: Folder, made if it is not there.
        validation: The confrontation that the documents are to contain.
        formats: Some of "json", "tex" and "html"; all by default. The certificate is always
            written: a formula without it is not proven to its reader.

    Returns:
        The files written.
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = set(formats or FORMATS)
    written = [folder / CERTIFICATE]
    family = derivation.family
    if family is not None and family.template is not None:
        written.append(folder / FAMILY)
    remove_foreign_family(folder, written)
    jsonio.write_json(written[0], derivation.certificate)
    if family is not None and family.template is not None:
        jsonio.write_json(written[-1], family.certificate)
    if "json" in wanted:
        written.append(folder / "derivation.json")
        jsonio.write_json(written[-1], derivation.to_json())
    if wanted & {"tex", "html"}:
        pdf = "tex" in wanted
        figures = derivation_figures(derivation, _prediction(derivation, validation), pdf=pdf)
        if validation is not None:
            figures += (loss_figure(validation, pdf=pdf),)
        document = derivation_document(derivation, validation, figures)
        if "tex" in wanted:
            written.append(folder / "derivation.tex")
            latex.save(document, written[-1])
            written += [folder / "figures" / f"{figure.name}.pdf" for figure in figures]
        if "html" in wanted:
            written.append(folder / "derivation.html")
            html.save(document, written[-1])
    return written


def _prediction(derivation: Derivation, validation: Validation | None) -> Prediction | None:
    """Return the curves to draw, or None where there are none.

    A derivation by itself shows the closed forms that it prints; beside a confrontation it shows
    the prediction that was confronted. A value or the network may be missing, or training may be
    bound to diverge: then validation says so, and the derivation, which is exact all the same,
    has no figure of curves.
    """
    if validation is not None:
        return validation.prediction
    network = derivation.spec.network
    if network is None or any(p.value is None for p in derivation.spec.parameters):
        return None
    times = drawn_times(network.steps)
    try:
        return closed_forms(derivation.at_values, times) or predict(
            derivation.at_values, times, relative_tolerance=DRAWING_TOLERANCE
        )
    except InputError:
        return None


def write_validation(validation: Validation, directory: str | Path) -> list[Path]:
    """Write validation.json, curves.npz and the figure of the losses."""
    # Here, because it brings everything that trains networks.
    from symreln.report.validation_json import validation_to_json

    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    curves = folder / "curves.npz"
    jsonio.write_bytes(curves, _curves(validation))
    figure = folder / "loss.svg"
    jsonio.write_text(figure, loss_figure(validation, pdf=False).svg)
    result = folder / "validation.json"
    # Last: a folder with validation.json has everything that it speaks of.
    jsonio.write_json(result, validation_to_json(validation))
    return [curves, figure, result]


def _curves(validation: Validation) -> bytes:
    prediction = validation.prediction
    arrays = {
        "steps": prediction.times,
        "theory": prediction.loss,
        "gdln": validation.gdln.losses,
    }
    if validation.network is not None:
        arrays["network"] = validation.network.losses
    if prediction.closed_loss is not None:
        arrays["closed_forms"] = prediction.closed_loss
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()
