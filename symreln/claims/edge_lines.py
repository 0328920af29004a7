"""Edges that pathways share, line by line: what each of them follows, and where they close.

What is said of every dataset is proven in letters. That the loss of the samples is that of the
correlations is checked on this dataset, from the definition of nodes, edges and gates.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import combinations
from operator import add, matmul
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from symreln.claims.flow_lines import IN_LETTERS
from symreln.claims.integration import network_of
from symreln.document.mathtext import to_latex
from symreln.exact.matrix import ExactMatrix
from symreln.exact.truth import Truth
from symreln.laws.flow_letters import flow_is_gradient, loss_in_correlations, stays_diagonal
from symreln.laws.line import Line
from symreln.laws.shared_chain import place_proofs
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.networks.parts import Edge, Node
    from symreln.networks.shared_edges import EdgeData
    from symreln.verdict.diagonal import Diagonality

#: The largest weight that is drawn.
_LARGEST = 9


def edge_lines(derivation: Derivation) -> Iterator[Line]:
    """Yield the loss, the flow of every edge, and the reduction."""
    edges = derivation.spec.edges
    yield Line(
        says="The loss of the gated network, over $P$ samples and all gated paths $p$ from an "
        "input to an output node, $W_p$ being the product of the weights along one:",
        equation=(
            r"L = \frac{1}{2P} \sum_{\mu=1}^{P} \Bigl\| y_\mu - \sum_p g_p(\mu)\, O_p W_p I_p "
            r"x_\mu \Bigr\|^2, \qquad W_p = \prod_{e \in p} W_e",
        ),
        because="a gate is a number for each sample, which linear maps pass through: nodes and "
        "edges are the sum over their paths",
        check="the loss of the samples, run node by node with all gates, against that of the "
        "paths' correlations, on this dataset, at integer weights drawn once, in exact arithmetic",
        holds=_follows_correlations(edges),
        main=True,
    )
    yield Line(
        says=r"Gradient flow $\tau \dot{W}_e = -\partial L/\partial W_e$ of every edge: the terms "
        "of all paths that use it, whose weights after and before $e$ have the products "
        r"$W_{\mathrm{after}(e,p)}$ and $W_{\mathrm{before}(e,p)}$. Of its **effective dataset** "
        "$X_p$ has the rows of $X$ at the input node and $Y_p$ those of $Y$ at the output node, "
        "each column times the gate; $O_{pj}$ is 1 where an output of path $j$ is one of $p$'s, "
        "and 0 elsewhere [@Saxe2022]:",
        equation=(
            r"\tau \dot{W}_e &= \sum_{p \ni e} W_{\mathrm{after}(e,p)}^{\top} E_p "
            r"W_{\mathrm{before}(e,p)}^{\top},",
            r"E_p &= \Sigma^{yx}(p) - \sum_j O_{pj} W_j \Sigma^{x}(j, p),",
            r"\Sigma^{yx}(p) &= \tfrac{1}{P}\, Y_p X_p^{\top}, \qquad "
            r"\Sigma^{x}(j, p) = \tfrac{1}{P}\, X_j X_p^{\top}",
        ),
        because="product rule: no path holds an edge twice",
        check=f"of each path the derivative along any direction of each matrix, {IN_LETTERS}",
        holds=all(map(flow_is_gradient, {len(path.edges) for path in edges.paths})),
        main=True,
    )
    depths = {len(path.edges) for path in edges.paths}
    yield Line(
        says="**Change of basis** at every node $n$, with an orthonormal $R_n$, and the "
        "correlations in the bases of the input and output nodes of paths, "
        r"$S_p = R_{\mathrm{out}(p)}^{\top} \Sigma^{yx}(p) R_{\mathrm{in}(p)}$, "
        r"$K_{pj} = R_{\mathrm{out}(p)}^{\top} O_{pj} R_{\mathrm{out}(j)}$ and "
        r"$G_{jp} = R_{\mathrm{in}(j)}^{\top} \Sigma^{x}(j, p) R_{\mathrm{in}(p)}$:",
        equation=(
            r"W_e &= R_{\mathrm{to}(e)} B_e R_{\mathrm{from}(e)}^{\top},",
            r"\tau \dot{B}_e &= \sum_{p \ni e} B_{\mathrm{after}(e,p)}^{\top} "
            r"\Bigl[ S_p - \sum_j K_{pj} B_j G_{jp} \Bigr] B_{\mathrm{before}(e,p)}^{\top}",
        ),
        because="the spaces of input and output nodes contain the images of the correlations, and "
        "weights that start between such spaces stay there",
        check="the term of every place in letters, shortened by orthonormality: it stands between "
        "the bases of its edge",
        holds=all(all(place_proofs(depth)) for depth in depths),
        main=True,
    )


def open_lines(derivation: Derivation) -> Iterator[Line]:
    """Yield what becomes of both assumptions where edges do not close, and what is integrated."""
    edges, verdict = derivation.spec.edges, derivation.stages[-1].verdict
    depths = {len(path.edges) for path in edges.paths}
    decision = verdict.diagonal
    if verdict.level is Level.COUPLED_MODES:
        yield Line(
            says="**Assumption 2.1.1** is used here, and proven at all nodes at once, and "
            "**Assumption 2.1.2** (silent alignment): every edge has one strength $w_e$ in each "
            "mode and no other entries. Dropped is what random weights have beside them. Modes "
            "stay coupled along the edges:",
            equation=(
                r"\tau \dot{w}_e = \sum_{p \ni e} \Bigl( \prod_{f \in p,\, f \neq e} w_f \Bigr) "
                r"\Bigl[ s_p - \sum_j k_{pj}\, \pi_j\, g_{jp} \Bigr], \qquad "
                r"\pi_p = \prod_{f \in p} w_f",
            ),
            because=r"one orthonormal basis a node makes every $\Sigma^{yx}(p)$, "
            r"$\Sigma^{x}(j, p)$ and $O_{pj}$ diagonal; the reduction, entry by entry",
            check="every product of one or two correlations that returns to its node is symmetric, "
            "entry by entry, longer ones where the verdict was decided; the flow of diagonal "
            "matrices of two modes, multiplied out: no off-diagonal entry",
            holds=(decision is None or _pairs_return_symmetric(edges))
            and all(map(stays_diagonal, depths)),
            main=True,
        )
    elif decision is not None and decision.outcome is Truth.REFUTED:
        product = _product(decision)
        yield Line(
            says="**Assumption 2.1.1** would be used here, and is disproved: no bases make all "
            "correlations diagonal. So **Assumption 2.1.2** is not used:",
            equation=(rf"{product} \neq \Bigl( {product} \Bigr)^{{\top}}",),
            because="in such bases every product that returns to its node would be symmetric",
            check=f"entry by entry: {decision.reason}",
            holds=_differs(edges, decision),
            main=True,
        )
    yield Line(
        says="**Nothing closes further**: the flow of all edges is integrated as it stands, from "
        "weights that are drawn from the initialisation distribution, and its loss is",
        equation=(
            r"L = \tfrac{1}{2} \operatorname{tr} \Sigma^{y} - \sum_p \operatorname{tr} "
            r"W_p^{\top} \Sigma^{yx}(p) + \tfrac{1}{2} \sum_{p, j} \operatorname{tr} W_p^{\top} "
            r"O_{pj} W_j \Sigma^{x}(j, p)",
        ),
        because="the square multiplied out under the trace",
        check=f"both sides subtracted {IN_LETTERS}",
        holds=all(map(loss_in_correlations, depths)),
        main=True,
    )


def shared_start_line(derivation: Derivation) -> Line:
    """Say where the modes of two shared edges start, in effect."""
    sharing = derivation.known.sharing
    assert sharing is not None
    first, last = map(sp.Integer, sharing.uses)
    paths = sp.Integer(sharing.paths)
    units, sigma = sp.symbols("H sigma", positive=True)
    length = paths / first * first + paths / last * last
    start = sp.sqrt(first * last) * units * sigma**2 / length
    # The early flow maps the combination to itself: a first edge is in n_1 paths.
    grows = (first * sp.sqrt(last) / sp.sqrt(first), last * sp.sqrt(first) / sp.sqrt(last))
    std = sp.Rational(network_of(derivation.spec).init_std)
    own = start.subs({units: sp.Rational(derivation.known.units), sigma: std})
    return Line(
        says=f"Random weights of {to_latex(paths)} paths that learn together grow along one "
        rf"combination of all edges, first ones with $\sqrt{{n_1}}\, z$ and last ones with "
        r"$\sqrt{n_2}\, z$, at the rate $\sqrt{n_1 n_2}\, s$. Its squared length is "
        rf"${to_latex(length)} z^2$, so that modes begin from the **effective start**, in the "
        "mean,",
        equation=(rf"\pi_0 = \sqrt{{n_1 n_2}}\, \mathbb{{E}} z^2 = {to_latex(start)}",),
        because=r"weights are drawn independently from $\mathcal{N}(0, \sigma^2)$, over $H$ units",
        check="the early flow on the combination; the spec's numbers put in give the initial "
        "strength of the derivation",
        holds=all(sp.simplify(rate - sp.sqrt(first * last)) == 0 for rate in grows)
        and abs(float(own) / float(derivation.strength0 or 1) - 1) < 1e-12,
        main=True,
    )


def _follows_correlations(edges: EdgeData) -> bool:
    """Whether nodes and edges, run with all gates, have the loss of the paths' correlations.

    At small integer weights on every edge, drawn once.
    """
    random, graph = np.random.default_rng(0), edges.graph
    weights = [_drawn(graph.shape(edge), random) for edge in range(len(graph.edges))]
    values: dict[str, ExactMatrix] = {}

    def value(node: Node) -> ExactMatrix:
        if node.name not in values:
            given = [
                _gated(weights[e] @ value(graph.node(graph.edges[e].source)), graph.edges[e])
                for e in graph.incoming[node.name]
            ]
            whole = reduce(add, given) if given else edges.dataset.inputs.select(rows=node.inputs)
            values[node.name] = _gated(whole, node)
        return values[node.name]

    left = edges.dataset.targets
    for node in graph.nodes:
        if node.outputs:
            left = left - value(node).placed(node.outputs, range(left.shape[1]), left.shape)
    maps = [reduce(matmul, [weights[e] for e in reversed(path.edges)]) for path in edges.paths]
    targets, samples = edges.dataset.targets, left.shape[1]
    loss = targets.frobenius(targets) / (2 * samples)
    for w, sigma in zip(maps, edges.sigma_yx, strict=True):
        loss = loss - w.frobenius(sigma)
    for (q, p), sigma in edges.sigma_x.items():
        loss = loss + maps[p].frobenius(edges.overlaps[q, p] @ maps[q] @ sigma) / 2
    return left.frobenius(left) / (2 * samples) == loss


def _gated(values: ExactMatrix, part: Node | Edge) -> ExactMatrix:
    return values if part.gate is None else values.scaled_columns(part.gate)


def _drawn(shape: tuple[int, int], random: np.random.Generator) -> ExactMatrix:
    """Return a matrix of small integers."""
    entries = random.integers(-_LARGEST, _LARGEST, size=shape, endpoint=True)
    return ExactMatrix.from_rows(entries.tolist(), columns=shape[1])


def _pairs_return_symmetric(edges: EdgeData) -> bool:
    """Whether Fᵀ G is, for all data maps F and G between two nodes, and F that returns at once."""
    maps: dict[tuple[str, str], list] = {}
    for path, sigma in zip(edges.paths, edges.sigma_yx, strict=True):
        maps.setdefault((path.source, path.target), []).append(sigma)
    for (q, p), sigma in edges.sigma_x.items():
        into, out = edges.paths[p], edges.paths[q]
        maps.setdefault((into.source, out.source), []).append(sigma)
        maps.setdefault((out.target, into.target), []).append(edges.overlaps[q, p])
    products = [f.T @ g for alike in maps.values() for f, g in combinations(alike, 2)]
    products += [f for (source, target), alike in maps.items() if source == target for f in alike]
    return all((product - product.T).is_zero for product in products)


def _product(decision: Diagonality) -> str:
    """Return the LaTeX of the product that is not symmetric."""
    names = {"yx": r"\Sigma^{{yx}}({})", "x": r"\Sigma^{{x}}({}, {})", "o": "O_{{{1} {0}}}"}
    return r"\, ".join(
        names[str(one.of[0])].format(*(int(place) + 1 for place in one.of[1:]))
        + r"^{\top}" * one.is_turned
        for one in decision.word
    )


def _differs(edges: EdgeData, decision: Diagonality) -> bool:
    """Whether the product differs from its transpose at the entry said, from the correlations."""
    assert decision.entry is not None
    maps = []
    for one in decision.word:
        kind, *of = one.of
        if kind == "yx":
            matrix = edges.sigma_yx[int(of[0])]
        else:
            matrix = (edges.sigma_x if kind == "x" else edges.overlaps)[int(of[0]), int(of[1])]
        maps.append(matrix.T if one.is_turned else matrix)
    whole, (row, column) = reduce(matmul, maps), decision.entry
    return whole.entry(row, column) != whole.entry(column, row)
