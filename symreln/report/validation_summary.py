"""What a confrontation comes to, in a few lines: its repr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.report.sentences import metric_rows, verdict_clauses
from symreln.report.summary import short

if TYPE_CHECKING:
    from symreln.experiment.outcome import Validation

MOST_PAIRS = 2
#: Characters of a verdict: two lines.
_VERDICT = 190


def validation_summary(validation: Validation) -> list[str]:
    """Return the verdict in words and the distances of the first pairs of curves."""
    rows = [tuple(row) for row in metric_rows(validation)]
    left = len(rows) - MOST_PAIRS
    return [
        f"{validation.derivation.spec.title}: {validation.seeds} seeds",
        *(short(clause, _VERDICT) for clause in verdict_clauses(validation)),
        *(f"{row[0]}: max |ΔL|/L(0) {row[1]}, mean {row[2]}" for row in rows[:MOST_PAIRS]),
        *([f"… {left} more pairs of curves: .metrics"] if left > 0 else []),
    ]


def validation_headline(validation: Validation) -> str:
    """Return a line, for what holds a confrontation."""
    kind, title = type(validation).__name__, validation.derivation.spec.title
    return f"{kind}({title!r}, {validation.seeds} seeds, {validation.verdict})"
