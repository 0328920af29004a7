"""The document of a graph: nodes, edges, flow, spaces, conserved quantities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.provenance import library_versions
from symreln.document.model import (
    Block,
    Code,
    Document,
    Drawing,
    Figure,
    Items,
    Math,
    Reference,
    Section,
    Strong,
    Table,
    equation,
    prose,
)
from symreln.document.typeset import say, typeset
from symreln.exact.truth import Truth
from symreln.report.chapters import graph_curves as curves
from symreln.report.chapters import graph_parts as parts
from symreln.report.chapters import routing
from symreln.report.content import BIBLIOGRAPHY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.document.inlines import Content
    from symreln.graphs.conserved import Balance
    from symreln.graphs.derivation import GraphDerivation

#: Rows of a table; more are counted.
MOST = 40


def graph_document(
    derivation: GraphDerivation,
    figures: tuple[Drawing, ...] = (),
    agreement: Section | None = None,
) -> Document:
    """Return the document of a graph's derivation.

    Args:
        derivation: What is derived.
        figures: Drawings of :func:`symreln.report.graph_plots.graph_sketches`, or none.
        agreement: The chapter on its confrontation, with a figure of the losses of its own.
    """
    drawn = [drawing.name for drawing in figures]
    blocks: list[Block] = [
        _summary(derivation),
        _network(derivation, drawn),
        _flow(derivation),
        _reduction(derivation),
        parts.chapter(derivation),
        _conserved(derivation),
    ]
    if derivation.network is not None:
        blocks.append(routing.chapter(derivation, derivation.network))
    own = [name for name in drawn if agreement is None or name != "loss"]
    blocks.append(curves.chapter(derivation, own))
    blocks += [] if agreement is None else [agreement]
    blocks += [_checks(derivation), _provenance(derivation)]
    return Document(
        title=derivation.spec.title,
        subtitle="Learning dynamics of a graph, derived by symreln",
        blocks=tuple(blocks),
        figures=figures,
        bibliography=tuple(s for s in BIBLIOGRAPHY if s.key == "Saxe2022"),
    )


def _summary(derivation: GraphDerivation) -> Section:
    proven = sum(step.outcome is Truth.PROVEN for step in derivation.steps)
    graph, data = derivation.graph, derivation.data
    items: list[Content] = [
        f"{len(graph.nodes)} nodes, {len(graph.edges)} edges, {len(data.paths)} pathways of at "
        f"most {graph.depth} edges.",
        (
            "Verdict: ",
            Strong(derivation.level.value),
            "; the parts that learn apart are in ",
            Reference("sec:parts"),
            ".",
        ),
        (
            f"{proven} of {len(derivation.steps)} checks are exact proofs (",
            Reference("sec:checks"),
            ").",
        ),
    ]
    if derivation.network is not None:
        found = derivation.recognised
        items.insert(
            1,
            (
                "A routing network of ",
                Math(f"M = {found.domains}"),
                " domains with ",
                Math(f"K = {found.partners}"),
                " partners each; ",
                Reference("sec:routing"),
                " holds for every M and K.",
            ),
        )
    return Section(title="Summary", label="sec:summary", blocks=(Items(tuple(items)),))


def _network(derivation: GraphDerivation, drawn: Sequence[str]) -> Section:
    graph, data = derivation.graph, derivation.data
    nodes = [
        (Code(node.name), node.kind, str(node.size), Code(node.gate_text)) for node in graph.nodes
    ]
    edges = [
        (
            Code(edge.name),
            Code(edge.source),
            Code(edge.target),
            Code(edge.gate_text),
            str(sum(place in path.edges for path in data.paths)),
        )
        for place, edge in enumerate(graph.edges)
    ]
    paths = [
        (Code(graph.name(path)), str(sum(value != 0 for value in path.gate))) for path in data.paths
    ]
    return Section(
        title="The network",
        label="sec:network",
        blocks=(
            prose(f"{derivation.spec.dataset.description} "),
            *_picture(drawn),
            *_table(("node", "kind", "units", "gate"), nodes, "llrp", "Nodes"),
            *_table(("edge", "from", "to", "gate", "pathways"), edges, "lllpr", "Edges"),
            *_table(("pathway", "open samples"), paths, "pr", "Pathways: gated paths"),
        ),
    )


def _picture(drawn: Sequence[str]) -> list[Block]:
    if "graph" not in drawn:
        return []
    words = (
        "The graph, from inputs on the left to outputs on the right. Below a gated node is its "
        "gate: a mark for every sample on which it is open. Dashed edges are gated. The width of "
        "an edge grows with the pathways that use it."
    )
    alt = "Nodes as boxes in columns, edges as arrows from left to right."
    return [Figure(name="graph", caption=words, alt=alt, label="fig:graph")]


def _table(
    header: tuple[str, ...], rows: Sequence[tuple[Content, ...]], alignment: str, caption: str
) -> list[Block]:
    """Return a table of the first rows, and a sentence on the others."""
    shown = Table(
        header=header, rows=tuple(rows[:MOST]), alignment=alignment, caption=f"{caption}."
    )
    if len(rows) <= MOST:
        return [shown]
    return [shown, prose(f"{len(rows) - MOST} more are in derivation.json.")]


def _flow(derivation: GraphDerivation) -> Section:
    data = derivation.data
    coupled = sum(c != b for c, b in data.sigma_x)
    words = (
        "No two bundles couple: no two write to a common output on common samples."
        if not coupled
        else f"{coupled} ordered pairs of bundles couple."
    )
    return Section(
        title="The flow",
        label="sec:flow",
        blocks=(
            say(
                "Weights $W_e$ follow the gradient of the mean loss over the dataset "
                "[@Saxe2022]. Pathways p with the same input node, output node and gate see "
                "the same data; they are a bundle b, and $T_b$ is the sum of the products of "
                "weights along them:"
            ),
            equation(
                r"\tau \dot{W}_e &= \sum_{p \ni e} W_{\mathrm{after}(e,p)}^{\top} E_{b(p)} "
                r"W_{\mathrm{before}(e,p)}^{\top}",
                r"E_b &= \Sigma^{yx}(b) - \sum_{c} O_{bc} T_c \Sigma^{x}(c,b)",
                label="eq:flow",
            ),
            prose(
                "Here ",
                Math(r"\tau"),
                " counts steps of gradient descent: 1 over the learning rate for a mean loss, "
                "1 over learning rate and samples for a sum. An edge that more pathways use "
                f"collects more terms. There are {len(data.bundles)} bundles. {words}",
            ),
        ),
    )


def _reduction(derivation: GraphDerivation) -> Section:
    spaces = derivation.spaces
    rows = [
        (Code(node.name), node.kind, str(node.size), str(spaces.dimension(node.name)))
        for node in derivation.graph.nodes
        if not node.is_hidden
    ]
    return Section(
        title="The reduction per edge",
        label="sec:reduction",
        blocks=(
            prose(
                "The weights keep the form ",
                Math(r"W_e = R_t B_e R_s^{\top}"),
                " for all time if they start with it and the spaces of the outer nodes hold all "
                "that the correlations map into them. These are the smallest "
                f"{_serving(derivation)}; a hidden node's may be any that holds its start:",
            ),
            *_table(("node", "kind", "units", "dimension"), rows, "llrr", "Invariant spaces"),
            equation(
                r"\tau \dot{B}_e = \sum_{p \ni e} B_{\mathrm{after}(e,p)}^{\top} "
                r"\Bigl[ S_b - \sum_c K_{bc} B_c D_{cb} \Bigr] B_{\mathrm{before}(e,p)}^{\top}",
                label="eq:reduced",
            ),
        ),
    )


def _serving(derivation: GraphDerivation) -> str:
    """Return what the spaces found are the smallest of."""
    if not derivation.spec.parameters:
        return "such spaces"
    return "that hold what every monomial of the parameters brings, so that they serve all values"


def _conserved(derivation: GraphDerivation) -> Section:
    balances = derivation.balances
    blocks: list[Block] = [
        prose(
            "At a hidden node every pathway uses one edge in and one edge out. For each set of "
            "edges that pathways join there, a matrix does not move; its derivative along ",
            Reference("eq:flow"),
            " cancels term by term:",
        ),
        *(equation(_balance_latex(balance)) for balance in balances[:MOST]),
        *_table(
            ("", "edge"),
            [
                (Math(f"W_{{{number}}}"), Code(edge.name))
                for number, edge in enumerate(derivation.graph.edges, start=1)
            ],
            "ll",
            "Numbers of the edges",
        ),
    ]
    if derivation.norms:
        blocks += [
            prose("Sums of squared norms that are conserved; all of this kind are combinations:"),
            Items(tuple(Code(derivation.norm_text(norm)) for norm in derivation.norms[:MOST])),
        ]
    return Section(title="Conserved quantities", label="sec:conserved", blocks=tuple(blocks))


def _balance_latex(balance: Balance) -> str:
    plus = [rf"W_{{{e + 1}}}^{{\top}} W_{{{e + 1}}}" for e in balance.outgoing]
    minus = [rf"W_{{{e + 1}}} W_{{{e + 1}}}^{{\top}}" for e in balance.incoming]
    return rf"{' + '.join(plus)} - {' - '.join(minus)} = \mathrm{{const}}"


def _checks(derivation: GraphDerivation) -> Section:
    rows = tuple(
        (step.name, typeset(step.statement), typeset(step.check), Strong(step.outcome.value))
        for step in derivation.steps
    )
    return Section(
        title="Checks",
        label="sec:checks",
        blocks=(
            say(
                "Every step below was checked by the program while it wrote this document. "
                "`certificate.json` proves spaces, modes, verdicts, conserved quantities and "
                "closed forms by exact identities that `symreln verify` checks with Python's "
                "standard library alone."
            ),
            Table(header=("step", "claim", "check", "outcome"), rows=rows, alignment="lppl"),
        ),
    )


def _provenance(derivation: GraphDerivation) -> Section:
    spec = derivation.spec
    rows: list[tuple[Content, ...]] = [("spec", spec.source or "built in Python")]
    rows += [(f"dataset: {name}", value) for name, value in spec.dataset.options.items()]
    if spec.network is not None:
        rows += [
            ("strength of every edge at the start", Code(str(spec.network.init_std))),
            ("learning rate", Code(str(spec.network.learning_rate))),
            ("loss", f"{spec.network.loss} over samples, full batch"),
        ]
    rows += [(f"version: {name}", value) for name, value in library_versions().items()]
    return Section(
        title="Provenance",
        label="sec:provenance",
        blocks=(Table(header=("quantity", "value"), rows=tuple(rows), alignment="lp"),),
    )
