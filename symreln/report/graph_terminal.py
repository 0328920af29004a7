"""What the command line prints of a network given by nodes and edges."""

from __future__ import annotations

from typing import Any

from symreln.exact.truth import Truth
from symreln.graphs.derivation import GraphDerivation

#: Rows of the table of edges on a terminal.
_MOST = 24


def graph_summary_of(derivation: GraphDerivation) -> dict[str, Any]:
    """Return what is printed, as :func:`symreln.report.terminal.show_summary` takes it."""
    graph, data = derivation.graph, derivation.data
    proven = sum(step.outcome is Truth.PROVEN for step in derivation.steps)
    return {
        "head": [
            derivation.spec.title,
            f"graph: {len(graph.nodes)} nodes, {len(graph.edges)} edges, {len(data.paths)} "
            f"pathways, depth {graph.depth}",
            f"verdict: {derivation.level.value}",
        ],
        "table": ("edges", ["edge", "from", "to", "pathways"], _edge_rows(derivation)),
        "tail": [
            *_conserved_lines(derivation),
            *_component_lines(derivation),
            *_routing_lines(derivation),
            *_curve_lines(derivation),
            f"checks: {proven} of {len(derivation.steps)} proven; free constants: 0",
        ],
    }


def _edge_rows(derivation: GraphDerivation) -> list[list[str]]:
    rows = [
        [
            edge.name,
            edge.source,
            edge.target,
            str(sum(place in path.edges for path in derivation.data.paths)),
        ]
        for place, edge in enumerate(derivation.graph.edges)
    ]
    left = len(rows) - _MOST
    return rows if left <= 0 else [*rows[:_MOST], [f"… {left} more", "", "", ""]]


def _conserved_lines(derivation: GraphDerivation) -> list[str]:
    names = [edge.name for edge in derivation.graph.edges]
    lines = [
        f"conserved at '{balance.node}': W'W of {', '.join(names[e] for e in balance.outgoing)} "
        f"minus WW' of {', '.join(names[e] for e in balance.incoming)}"
        for balance in derivation.balances
    ]
    left = len(lines) - _MOST
    return lines if left <= 0 else [*lines[:_MOST], f"… and {left} more"]


def _component_lines(derivation: GraphDerivation) -> list[str]:
    lines = []
    for component in derivation.components[:_MOST]:
        lines.append(f"{derivation.part_text(component)}: {component.level.value}: {component.why}")
        form = component.form
        if form is not None:
            used = ", ".join(map(str, component.counts))
            lines.append(
                f"  edges used {used} times; tau dpi/dt = {form.rate}: {form.family}"
                if form.chain is not None
                else "  single edges: tau dpi/dt = s - d pi"
            )
    left = len(derivation.components) - _MOST
    return lines if left <= 0 else [*lines, f"… and {left} more parts"]


def _curve_lines(derivation: GraphDerivation) -> list[str]:
    found = derivation.curves
    if isinstance(found, str):
        return [f"no curves: {found}"]
    if found.difference is None:
        return []
    return [f"full flow against reduction: losses within {found.difference:.1e} of L(0)"]


def _routing_lines(derivation: GraphDerivation) -> list[str]:
    network, found = derivation.network, derivation.recognised
    if network is None:
        return [f"no routing network: {derivation.no_routing}"]
    a, b, c = network.chain.strengths
    lines = [
        f"routing network of M = {found.domains} domains, K = {found.partners} partners; for all "
        "M and K, pi = a b c:",
        *(
            f"  tau d{w}/dt = {rate}"
            for w, rate in zip((a, b, c), network.chain.velocities, strict=True)
        ),
        f"  conserved: {', '.join(str(item.expr) for item in network.chain.conserved)}",
        f"  balanced: tau dpi/dt = {network.chain.balanced_rate}",
        f"  speed against unshared pathways: {network.speed} (balanced), "
        f"{network.speed_of_equal_weights} (equal small weights)",
    ]
    return lines
