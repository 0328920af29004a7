"""The command explain: recorded weights and a spec."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from symreln.base.beside import helper
from symreln.cli.answer import told
from symreln.cli.derive import DRAWS
from symreln.cli.options import imported
from symreln.report.results_folder import require_folder
from symreln.task_library.load import load


def explain(
    call: str,
    checkpoints: str,
    spec: str,
    *,
    overrides: Sequence[str],
    allow_outside: bool,
    out: Path,
    as_json: bool,
    **asked: Any,
) -> int:
    """Explain a network, write and print it; return the exit code."""
    require_folder(out)
    with helper(*DRAWS):
        given = load(spec, overrides, allow_outside=allow_outside, data_alone=True)
        return told(imported(call)(checkpoints, given, **asked), out, as_json=as_json)
