"""What a result comes to, in ten lines: the reprs of derivations and confrontations."""

from __future__ import annotations

from symreln.claims.constants import count_free, printed_constants
from symreln.claims.derivation import Derivation, Derived, of_pathways
from symreln.claims.network.derivation import NetworkDerivation
from symreln.claims.rules import printed_of
from symreln.document.words import Notation, short_number
from symreln.exact.truth import Truth

#: Modes that are listed, and characters of a line.
MOST_MODES = 5
LINE = 98


def derivation_summary(derivation: Derived) -> list[str]:
    """Return title and verdict, the first modes or parts that learn, and how many checks hold."""
    if isinstance(derivation, NetworkDerivation):
        found = [*map(short, network_lines(derivation)[: MOST_MODES + 1])]
        return [*network_head(derivation), *found, checks_line(derivation)]
    derivation = of_pathways(derivation)
    verdict = derivation.verdict
    return [
        derivation.spec.title,
        f"verdict: {verdict.level.value}",
        *(short(f"  - {reason}") for reason in verdict.reasons[:1]),
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
        *printed_of(derivation),
        *([f"no routing network: {why}"] if isinstance(why, str) else []),
    ]


def _modes(derivation: Derivation) -> list[str]:
    notation = Notation.of(derivation.spec)
    found = [(pathway, mode) for pathway in derivation.pathways for mode in pathway.modes]
    learning = [(pathway, mode) for pathway, mode in found if not mode.is_null]
    lines = []
    for pathway, mode in learning[:MOST_MODES]:
        shown = {
            name: short_number(number, notation)
            for name, number in (("s", mode.s), ("d", mode.d), ("d_eff", mode.d_eff))
            if number is not None
        }
        if shown.get("d_eff") == shown.get("d"):
            shown.pop("d_eff", None)
        said = [f"{name} = {text}" for name, text in shown.items()]
        said += [f"{mode.multiplicity} times"] if mode.multiplicity > 1 else []
        lines.append(short(f"{mode.label} of '{pathway.name}': {', '.join([*said, mode.family])}"))
    left = len(learning) - MOST_MODES
    return lines if left <= 0 else [*lines, f"… {left} more modes: .pathways[i].modes"]


def checks_line(derivation: Derived) -> str:
    """Return how many checks hold, and which constants are free."""
    constants = derivation.ask(printed_constants)
    return f"{checks_text(derivation)}; free constants: {count_free(constants)}"


def checks_text(derivation: Derived) -> str:
    """Return how many checks are proven, disproved and undecided.

    A disproved one is no failure: it is the proof that a property does not hold.
    """
    outcomes = [step.outcome for step in derivation.steps]
    others = {Truth.REFUTED: "disproved", Truth.UNDECIDED: "undecided"}
    rest = [f"{outcomes.count(x)} {word}" for x, word in others.items() if x in outcomes]
    counted = f"{outcomes.count(Truth.PROVEN)} of {len(outcomes)} proven"
    return f"checks: {', '.join([counted, *rest])}"


def short(text: str, room: int = LINE) -> str:
    """Return a text, cut where it is longer than its room."""
    return text if len(text) <= room else text[: room - 1] + "…"
