"""What ``symreln derive`` does for a spec that describes its network by nodes and edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.exact.truth import Truth
from symreln.graphs.derivation import derive_graph

if TYPE_CHECKING:
    from symreln.cli.commands import Session
    from symreln.graphs.derivation import GraphDerivation
    from symreln.spec.model import Spec

#: Rows of the table of edges on a terminal.
MOST = 24


def derive_for_user(session: Session, spec: Spec) -> int:
    """Derive a graph, write the derivation and print what it says; return the exit code.

    Args:
        session: The command under way.
        spec: Its checked spec, with a graph.
    """
    from symreln.base.progress import Progress
    from symreln.report import terminal as console
    from symreln.report.graph_write import write_graph, write_proven
    from symreln.report.jsonio import dumps

    request, steps = session.request, session.steps
    progress = None if steps is None else steps.progress
    with Progress(quiet=request.quiet)("deriving"):
        derivation = derive_graph(spec, progress=progress)
        if steps is not None:
            # Before the documents, which take longer: a limit may end this process meanwhile.
            kept = write_proven(derivation, request.folder, request.formats)
            steps.say("proven", {"files": [path.name for path in kept]})
        written = write_graph(derivation, request.folder, request.formats)
        if steps is not None:
            steps.say("written", {"files": [path.name for path in written]})
    console.note_earlier_run(request.folder)
    text = dumps(derivation.to_json()) if request.as_json else ""
    summary = summary_of(derivation)
    console.show_derivation(text, summary, request.folder, written, as_json=request.as_json)
    return 0


def summary_of(derivation: GraphDerivation) -> dict[str, Any]:
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
    left = len(rows) - MOST
    return rows if left <= 0 else [*rows[:MOST], [f"… {left} more", "", "", ""]]


def _conserved_lines(derivation: GraphDerivation) -> list[str]:
    names = [edge.name for edge in derivation.graph.edges]
    lines = [
        f"conserved at '{balance.node}': W'W of {', '.join(names[e] for e in balance.outgoing)} "
        f"minus WW' of {', '.join(names[e] for e in balance.incoming)}"
        for balance in derivation.balances
    ]
    left = len(lines) - MOST
    return lines if left <= 0 else [*lines[:MOST], f"… and {left} more"]


def _component_lines(derivation: GraphDerivation) -> list[str]:
    lines = []
    for component in derivation.components[:MOST]:
        lines.append(f"{derivation.part_text(component)}: {component.level.value}: {component.why}")
        form = component.form
        if form is not None:
            used = ", ".join(map(str, component.counts))
            lines.append(
                f"  edges used {used} times; tau dpi/dt = {form.rate}: {form.family}"
                if form.chain is not None
                else "  single edges: tau dpi/dt = s - d pi"
            )
    left = len(derivation.components) - MOST
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
