"""A confrontation into a folder: validation.json, curves.npz and its figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symreln.base import jsonio
from symreln.base.progress import phase
from symreln.experiment.confront import Validation
from symreln.experiment.gates_held import pathway_shares
from symreln.pipeline.certificate import certificate
from symreln.report.latex_style import Style
from symreln.report.results_folder import npz, together, write_files
from symreln.report.validation_json import validation_to_json
from symreln.report.validation_plots import validation_drawings
from symreln.report.write import begin_document, saved_document, write_derivation

#: Bytes up to which gates are saved unit by unit, beside their shares.
MOST_BYTES = 20_000_000


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
