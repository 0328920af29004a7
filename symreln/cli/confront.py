"""The commands run and validate: a Python call, and what is printed of a confrontation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from symreln.calls.validate import run, validate
from symreln.cli.answer import training_machine
from symreln.errors import InputError
from symreln.pipeline.certificate import spec_digest
from symreln.pipeline.derive import with_pathways
from symreln.report.results_folder import CERTIFICATE, require_folder
from symreln.report.terminal_validation import show_validation
from symreln.specs.spec import Spec
from symreln.task_library.load import load
from symreln.verifier.reading import read_json


def confront(
    call: str,
    spec: str,
    *,
    overrides: Sequence[str],
    allow_outside: bool,
    out: Path,
    as_json: bool,
    machine: dict[str, Any],
    **asked: Any,
) -> int:
    """Confront a spec with training, write and print how far they are; return the exit code.

    Returns:
        0, or 3 where theory and training do not agree.
    """
    whole = call.endswith(":run")
    require_folder(out)
    with training_machine(**machine), warnings.catch_warnings():
        # What diverges is said with the verdict, below.
        warnings.filterwarnings("ignore", "network.learning_rate", UserWarning)
        given = load(spec, overrides, allow_outside=allow_outside)
        if whole:
            found = run(given, out, **asked)
            files = found.files
        else:
            given = with_pathways(given)
            _require_own(out, given)
            found = validate(given, **asked)
            files = found.save(out)
        derivation = found.derivation if whole else None
        show_validation(found, out, files, as_json=as_json, derivation=derivation)
    return 0 if found.agrees else 3


def _require_own(folder: Path, spec: Spec) -> None:
    """Refuse a folder that holds the derivation of another spec, before networks are trained."""
    path = folder / CERTIFICATE
    if path.is_file() and read_json(path).get("spec") != spec_digest(spec):
        msg = (
            f"--out {folder}: it holds the derivation of another spec, beside which a validation "
            "is not accepted. Name another folder, or use `symreln run`, which writes both"
        )
        raise InputError(msg)
