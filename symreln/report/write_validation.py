"""A confrontation into a folder: validation.json, curves.npz and its figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symreln.base import jsonio
from symreln.base.progress import phase
from symreln.document.document_model import Document
from symreln.experiment.confront import Validation
from symreln.experiment.gates_held import pathway_shares
from symreln.pipeline.certificate import certificate
from symreln.report.formats import DEFAULT, document_formats, require_formats
from symreln.report.latex_style import Style
from symreln.report.results_folder import npz, write_together
from symreln.report.sketch import begin_to_draw
from symreln.report.validation_json import validation_to_json
from symreln.report.validation_plots import validation_sketches
from symreln.report.write import (
    begin_document,
    document_files,
    proven_files,
    saved_document,
)

#: Bytes up to which gates are saved unit by unit, beside their shares.
MOST_BYTES = 20_000_000


@phase("figures")
def write_validation(validation: Validation, directory: str | Path) -> list[Path]:
    """Write validation.json, curves.npz, the figures of losses and gates, and document.json.

    Args:
        validation: What is written.
        directory: Folder, made if it is not there.
    """
    files, coming = _begun(validation)
    files |= saved_document(coming(), validation.derivation.ask(certificate))
    return write_together(Path(directory), files)


@phase("document")
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
    found, wanted = validation.derivation, require_formats(formats or DEFAULT)
    files, coming = _begun(validation)
    files |= proven_files(found, wanted)
    document, proof = coming(), found.ask(certificate)
    files |= document_files(document, document_formats(wanted), proof, style=style, full=full)
    files |= saved_document(document, proof)  # what it shows of training is nowhere else
    return write_together(Path(directory), files)


def _begun(validation: Validation) -> tuple[dict[str, str | bytes], Callable[[], Document]]:
    """Return a confrontation's own files by name, and what returns its document."""
    figures = begin_to_draw(validation_sketches(validation), pdf=True)
    coming = begin_document(validation.derivation, validation, figures)
    drawn = {f"{each.name}.svg": each.svg.encode() for each in figures[1]()}
    files = {"curves.npz": npz(curves_of(validation)), **drawn}
    said = jsonio.dumps(validation_to_json(validation, files))
    return {**files, "validation.json": said}, coming


def curves_of(validation: Validation) -> dict[str, np.ndarray]:
    """Return the arrays of curves.npz by name; docs/commands.md has a table of them.

    ``gdln`` and ``network`` begin the names of what is of the gated deep linear networks and of
    those without given gates. Of S networks of a kind at K steps and M modes, as ``_mode_steps``
    (K,), ``_mode_pathways`` and ``_mode_labels`` (M,), ``_mode_plateaus`` (M,),
    ``_strengths`` (S, M, K) and ``_strengths_predicted`` (M, K). Of ReLU networks with one
    hidden layer of H units on P samples ``gate_steps`` (K,), ``gate_pathways`` (G,) and
    ``gate_shares`` (S, K, G), shares of the weight Σ ‖w‖‖b‖; and where they have at most
    :data:`MOST_BYTES`, ``gate_activity`` (S, K, H, P) and ``gate_weights`` (S, K, H).
    """
    network = validation.network
    own: dict[str, Any] = {**validation.curves, "steps": validation.prediction.times}
    for kind, subject in (("gdln", "gdln"), ("network", "relu")):
        modes = [mode for mode in validation.modes if mode.subject == subject]
        if modes:
            for name in ("pathway", "label", "plateau"):
                own[f"{kind}_mode_{name}s"] = [getattr(mode, name) for mode in modes]
            own[f"{kind}_mode_steps"] = modes[0].steps
            own[f"{kind}_strengths"] = np.stack([mode.measured for mode in modes], axis=1)
            own[f"{kind}_strengths_predicted"] = [mode.predicted for mode in modes]
    shares = pathway_shares(validation.numbers, network)
    if network is not None and shares:
        units = network.snapshots["activity"], network.snapshots["contribution"]
        own |= {"gate_steps": network.snapshot_steps, "gate_pathways": [*shares]}
        own["gate_shares"] = np.stack([*shares.values()], axis=2)
        if sum(array.nbytes for array in units) <= MOST_BYTES:
            own["gate_activity"], own["gate_weights"] = units
    return {name: np.asarray(values) for name, values in own.items()}
