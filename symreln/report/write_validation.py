"""A confrontation into a folder: validation.json, curves.npz and its figures."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from symreln.base.progress import phase
from symreln.claims.network.derivation import NetworkDerivation
from symreln.document.model import Drawing
from symreln.experiment.graphs import GraphValidation
from symreln.experiment.outcome import Validation
from symreln.report import jsonio
from symreln.report.drawing import draw_all
from symreln.report.folder import together, write_files
from symreln.report.graph_validation import confronted_losses, graph_curves
from symreln.report.loss_unit import loss_unit
from symreln.report.plots import validation_sketches
from symreln.report.validation_json import validation_to_json
from symreln.report.write import representations


@phase("figures")
def write_validation(validation: Validation | GraphValidation, directory: str | Path) -> list[Path]:
    """Write validation.json, curves.npz and the figures of losses and of the mean-field simulation.

    Args:
        validation: What is written.
        directory: Folder, made if it is not there.
    """
    with together(Path(directory)) as draft:
        figures, curves = _figures_and_curves(validation)
        files = {
            "curves.npz": curves,
            **{f"{each.name}.svg": each.svg for each in figures},
            "validation.json": jsonio.dumps(validation_to_json(validation)),
        }
        return draft.moved(write_files(draft.folder, files))


def _figures_and_curves(
    validation: Validation | GraphValidation,
) -> tuple[tuple[Drawing, ...], bytes]:
    if isinstance(validation.derivation, NetworkDerivation):
        confronted = cast("GraphValidation", validation)
        return (confronted_losses(confronted).draw(pdf=False),), graph_curves(confronted)
    found = cast("Validation", validation)
    drawn = draw_all(validation_sketches(found), pdf=False)
    return (*drawn, *representations(found, pdf=False)), _curves(found)


def _curves(validation: Validation) -> bytes:
    prediction, unit = validation.prediction, loss_unit(validation.derivation.spec)
    arrays = {
        "theory": prediction.theory,
        "reduced": prediction.loss,
        "gdln": validation.gdln.losses,
    }
    if validation.network is not None:
        arrays["network"] = validation.network.losses
    if validation.aligned is not None:
        arrays["gdln_aligned"] = validation.aligned.losses
    if validation.mean_field is not None:
        arrays["mean_field"] = validation.mean_field.losses
    if prediction.closed_loss is not None:
        arrays["closed_forms"] = prediction.closed_loss
    if validation.predicted is not None:
        low, middle, high = validation.predicted.band.values
        arrays |= {"theory_low": low, "theory_median": middle, "theory_high": high}
    return unit.npz(arrays, prediction.times)
