"""What the command line prints of confrontations: apart, for derivations need none of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from symreln.base.console import put, say
from symreln.base.jsonio import Json, dumps
from symreln.base.tables import plain_table
from symreln.claims.derivation import Derivation
from symreln.claims.regime import regime_of
from symreln.claims.rules import lines_of
from symreln.claims.unsupported import unsupported_of
from symreln.document.symbols import strengths_in_text
from symreln.experiment.metrics import METRICS
from symreln.experiment.outcome import Validation
from symreln.report.derivation_json import derivation_to_json
from symreln.report.sentences import clauses, metric_rows
from symreln.report.terminal import show_summary, show_written, summary_of
from symreln.report.validation_json import validation_to_json


def show_validation(
    validation: Validation,
    folder: Path,
    written: Sequence[Path],
    *,
    as_json: bool,
    derivation: Derivation | None = None,
) -> None:
    """Print the agreement, after the derivation where one is given."""
    if as_json:
        found: Json = validation_to_json(validation)
        if derivation is not None:
            found = {"derivation": derivation.ask(derivation_to_json), "validation": found}
        put(dumps(found))
        return
    said: list[str] = []
    if derivation is not None:
        summary = summary_of(derivation, written)
        said = summary["tail"]
        show_summary(summary)
    rows = [list(row) for row in metric_rows(validation)]
    header = ["curves", *(metric.title for metric in METRICS)]
    put(plain_table(f"agreement, {validation.seeds} seeds", header, rows))
    rests = lines_of(validation.derivation, regime_of, unsupported_of)
    for line in (*rests, *clauses(validation)):
        if line not in said:  # once is enough
            say(strengths_in_text(line))
    show_written(folder, written)
