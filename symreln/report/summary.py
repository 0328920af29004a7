"""What a result comes to, in ten lines: the reprs of derivations and confrontations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.claim import lines_of
from symreln.claims.constants import count_free, printed_constants
from symreln.claims.derivation import Derivation, Derived
from symreln.claims.network.derivation import NetworkDerivation
from symreln.claims.network.in_numbers import in_numbers
from symreln.claims.network.kept import conserved_of
from symreln.claims.network.parts import parts_of
from symreln.claims.network.routing import routing_of
from symreln.exact.truth import Truth

if TYPE_CHECKING:
    from symreln.experiment.confront import Validation
    from symreln.experiment.graphs import GraphValidation

#: Modes and pairs of curves that are listed, and characters of a line and of a sentence.
MOST_MODES = 5
MOST_PAIRS = 5
LINE = 98
SENTENCE = 270


def derivation_summary(derivation: Derived) -> list[str]:
    """Return title and verdict, the first modes or parts that learn, and how many checks hold."""
    if isinstance(derivation, NetworkDerivation):
        found = [*map(_short, network_lines(derivation)[: MOST_MODES + 1])]
        return [*network_head(derivation), *found, checks_line(derivation)]
    assert isinstance(derivation, Derivation)
    verdict = derivation.verdict
    return [
        derivation.spec.title,
        f"verdict: {verdict.level.value}",
        *(_short(f"  - {reason}") for reason in verdict.reasons[:1]),
        *_modes(derivation),
        checks_line(derivation),
    ]


def network_head(derivation: NetworkDerivation) -> list[str]:
    """Return title, sizes and verdict of nodes and edges."""
    graph, paths = derivation.graph, derivation.data.paths
    return [
        derivation.spec.title,
        f"graph: {len(graph.nodes)} nodes, {len(graph.edges)} edges, {len(paths)} pathways, "
        f"depth {graph.depth}",
        f"verdict: {derivation.level.value}",
    ]


def network_lines(derivation: NetworkDerivation) -> list[str]:
    """Return what the findings of nodes and edges say."""
    why = derivation.routing_sizes
    return [
        *lines_of(derivation, conserved_of, parts_of, routing_of),
        *([f"no routing network: {why}"] if isinstance(why, str) else []),
        *lines_of(derivation, in_numbers),
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


def checks_line(derivation: Derived) -> str:
    """Return how many checks hold, and which constants are free."""
    proven = sum(step.outcome is Truth.PROVEN for step in derivation.steps)
    return (
        f"checks: {proven} of {len(derivation.steps)} proven; "
        f"free constants: {count_free(derivation.ask(printed_constants))}"
    )


def _short(text: str, room: int = LINE) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"
