"""What a result comes to, in ten lines: the reprs of derivations and confrontations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.constants import count_free, printed_constants
from symreln.exact.truth import Truth
from symreln.report.graph_terminal import graph_summary_of

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.experiment.confront import Validation
    from symreln.experiment.graphs import GraphValidation
    from symreln.graphs.derivation import GraphDerivation

#: Modes and pairs of curves that are listed, and characters of a line and of a sentence.
MOST_MODES = 5
MOST_PAIRS = 5
LINE = 98
SENTENCE = 270


def derivation_summary(derivation: Derivation) -> list[str]:
    """Return title, verdict with its first reason, the first modes, and how many checks hold."""
    verdict = derivation.verdict
    return [
        derivation.spec.title,
        f"verdict: {verdict.level.value}",
        *(_short(f"  - {reason}") for reason in verdict.reasons[:1]),
        *_modes(derivation),
        _checks(derivation),
    ]


def _modes(derivation: Derivation) -> list[str]:
    from symreln.document.words import short_number

    symbols, values = derivation.spec.symbols, derivation.spec.values
    found = [(pathway, mode) for pathway in derivation.pathways for mode in pathway.modes]
    learning = [(pathway, mode) for pathway, mode in found if not mode.is_null]
    lines = []
    for pathway, mode in learning[:MOST_MODES]:
        shown = {
            name: short_number(number, symbols, values)
            for name, number in (("s", mode.s), ("d", mode.d), ("d_eff", mode.d_eff))
            if number is not None
        }
        if shown.get("d_eff") == shown.get("d"):
            shown.pop("d_eff", None)
        said = [f"{name} = {text}" for name, text in shown.items()]
        said += [f"{mode.multiplicity} times"] if mode.multiplicity > 1 else []
        lines.append(_short(f"{mode.label} of '{pathway.name}': {', '.join([*said, mode.family])}"))
    left = len(learning) - MOST_MODES
    return lines if left <= 0 else [*lines, f"… {left} more modes: .pathways[i].modes"]


def graph_summary(derivation: GraphDerivation) -> list[str]:
    """Return title, sizes and verdict, the parts that learn, and how many checks hold."""
    said = graph_summary_of(derivation)
    return [*said["head"], *map(_short, said["tail"][:-1][: MOST_MODES + 1]), said["tail"][-1]]


def validation_summary(validation: Validation | GraphValidation) -> list[str]:
    """Return the verdict in words and the distances of the first pairs of curves."""
    rows = [tuple(row) for row in validation.metric_rows()]
    left = len(rows) - MOST_PAIRS
    return [
        f"{validation.derivation.spec.title}: {validation.seeds} seeds",
        _short(validation.sentence(), SENTENCE),
        *(f"{row[0]}: max |ΔL|/L(0) {row[1]}, mean {row[2]}" for row in rows[:MOST_PAIRS]),
        *([f"… {left} more pairs of curves: .metrics"] if left > 0 else []),
    ]


def validation_headline(validation: Validation | GraphValidation) -> str:
    """Return a line, for what holds a confrontation."""
    kind, title = type(validation).__name__, validation.derivation.spec.title
    return f"{kind}({title!r}, {validation.seeds} seeds, {validation.verdict})"


def _checks(derivation: Derivation) -> str:
    proven = sum(step.outcome is Truth.PROVEN for step in derivation.steps)
    return (
        f"checks: {proven} of {len(derivation.steps)} proven; "
        f"free constants: {count_free(derivation.ask(printed_constants))}"
    )


def _short(text: str, room: int = LINE) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"
