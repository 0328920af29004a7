"""The work of ``symreln run`` and ``validate``: derive, train, compare, write, print."""

from __future__ import annotations

from pathlib import Path

from symreln.base.progress import Progress
from symreln.claims.derivation import Derivation, Derived
from symreln.claims.divergence import check_before_deriving
from symreln.cli.derive import loaded, written
from symreln.cli.hardware import training_machine
from symreln.cli.request import Request
from symreln.errors import InputError, NotSupportedError
from symreln.experiment import confront
from symreln.experiment.outcome import Validation
from symreln.experiment.representation import check_representations
from symreln.experiment.training import ProgressCallback
from symreln.pipeline.certificate import spec_digest
from symreln.pipeline.derive import derive
from symreln.report.latex_style import Style
from symreln.report.terminal_validation import show_validation
from symreln.report.write_validation import write_run, write_validation
from symreln.specs.model import Spec
from symreln.verifier.folder import CERTIFICATE
from symreln.verifier.reading import read_json


def validate(request: Request) -> int:
    """Derive, train, write and print how far theory is from training; return the exit code.

    Returns:
        0, or 3 where theory and training do not agree.
    """
    whole = request.command == "run"
    progress = Progress(quiet=request.quiet)
    with training_machine(request.backend, request.device, float32=request.float32):
        spec = loaded(request)
        check_before_deriving(spec)
        if not whole:
            _require_own(request.folder, spec)
        with progress("deriving"):
            derivation = derive(spec)
            if whole:  # before training starts: a run that is interrupted keeps its derivation
                written(request, derivation)
        if request.representations:
            check_representations(derivation)
        with progress("validating") as report:
            validation = _confronted(request, derivation, report)
        with progress("writing the report"):
            files = _written(request, validation)
        shown = derivation if whole else None
        show_validation(
            validation, request.folder, files, as_json=request.as_json, derivation=shown
        )
        return 0 if validation.agrees else 3


def _written(request: Request, validation: Validation) -> list[Path]:
    if request.command != "run":
        return write_validation(validation, request.folder)
    style = Style.of(request.latex)
    return write_run(validation, request.folder, request.formats, style=style, full=request.full)


def _require_own(folder: Path, spec: Spec) -> None:
    """Refuse a folder that holds the derivation of another spec, before networks are trained."""
    path = folder / CERTIFICATE
    if path.is_file() and read_json(path).get("spec") != spec_digest(spec):
        msg = (
            f"--out {folder}: it holds the derivation of another spec, beside which a validation "
            "is not accepted. Name another folder, or use `symreln run`, which writes both"
        )
        raise InputError(msg)


def _confronted(request: Request, derivation: Derived, report: ProgressCallback) -> Validation:
    seeds, rng = request.seeds, request.rng
    if isinstance(derivation, Derivation):
        found = confront.validate(derivation, seeds, rng, report)
        return confront.with_representations(found) if request.representations else found
    try:
        return confront.validate(derivation, seeds, rng, report)
    except NotSupportedError as error:
        msg = (
            f"{error}. `symreln depth` trains graphs of several hidden layers whatever their "
            "data, beside ReLU networks"
        )
        raise NotSupportedError(msg) from error
