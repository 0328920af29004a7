"""The routing network for every number of domains and partners."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import sympy as sp

from symreln.document.mathtext import to_latex
from symreln.document.model import (
    Block,
    Citation,
    Items,
    Math,
    Reference,
    Section,
    Table,
    Theorem,
    equation,
    prose,
)
from symreln.document.numerals import scientific_latex
from symreln.graphs.routing import EDGES, STRENGTHS
from symreln.graphs.three_edges import DELTA, X, balanced_bracket

if TYPE_CHECKING:
    from symreln.document.inlines import Content
    from symreln.graphs.derivation import GraphDerivation
    from symreln.graphs.routing import RoutingNetwork


_ZM = sp.symbols("z m", positive=True)


def chapter(derivation: GraphDerivation, network: RoutingNetwork) -> Section:
    """Return the chapter on a graph that is a routing network."""
    blocks: list[Block] = [
        _setting(),
        _theorem(network),
        *_equations(network),
        *_conserved(network),
        *_balanced(network),
        *_equal_ends(network),
        *_speed(network),
        *_start(derivation),
    ]
    return Section(title="The routing network", label="sec:routing", blocks=tuple(blocks))


def _setting() -> Block:
    return prose(
        Math("M"),
        " input domains and ",
        Math("M"),
        " output domains; every input domain is trained with ",
        Math("K"),
        " output domains, every output domain with ",
        Math("K"),
        " input domains, and all pathways share one hidden edge ",
        Citation("Saxe2022"),
        ". Samples of different pairs are different samples, so pathways do not couple; every "
        "pair's data are the same up to the bases of its domains. ",
        Math("s"),
        " and ",
        Math("d"),
        " are the singular value and the input eigenvalue of a mode of one pathway, over the "
        "whole dataset.",
    )


def _theorem(network: RoutingNetwork) -> Block:
    uses = ", ".join(f"{name}: {count}" for name, count in zip(EDGES, network.counts, strict=True))
    return Theorem(
        kind="Proposition",
        title="Reduction for every M and K",
        label="thm:routing",
        blocks=(
            prose(
                "Started alike and aligned, all input edges keep one common matrix in their "
                "bases, and so do all output edges. The three matrices follow the flow of one "
                "pathway, each term multiplied by the number of pathways that use the edge (",
                *uses,
                "). Pairs that are never trained have the same strength as those that are.",
            ),
            prose(
                "Proof: the term of one pathway, shortened by the orthonormality of the bases, "
                "stands between the two bases of its edge and holds no other, so that it is the "
                "same for every pathway of the edge. An input edge is in K pairs; summed over "
                "the M input domains that is KM, all of which use the hidden edge; the M output "
                "domains divide them equally."
            ),
        ),
    )


def _equations(network: RoutingNetwork) -> list[Block]:
    chain = network.chain
    lines = [
        rf"\tau \dot{{{w.name}}} &= {to_latex(rate)}"
        for w, rate in zip(STRENGTHS, chain.velocities, strict=True)
    ]
    return [
        prose(
            "With the strengths ",
            Math("a"),
            " of an input edge, ",
            Math("b"),
            " of the hidden edge and ",
            Math("c"),
            " of an output edge in a mode, and ",
            Math(r"\pi = abc"),
            ":",
        ),
        equation(*lines, label="eq:routing"),
    ]


def _conserved(network: RoutingNetwork) -> list[Block]:
    lines = [rf"{to_latex(item.expr)} = \mathrm{{const}}" for item in network.chain.conserved]
    return [
        prose("Conserved differences between edge strengths; their derivatives cancel:"),
        *(equation(line) for line in lines),
    ]


def _balanced(network: RoutingNetwork) -> list[Block]:
    return [
        prose("From a balanced start, where both are 0, the strength of a pathway closes:"),
        equation(
            rf"\tau \dot{{\pi}} = {to_latex(network.chain.balanced_rate)}", label="eq:balanced"
        ),
        prose(
            "and its time is elementary: with ",
            Math(r"z = \pi^{1/3}"),
            " and ",
            Math("m = (s/d)^{1/3}"),
            ", its value at the plateau,",
        ),
        equation(
            rf"t(\pi) = \frac{{\tau}}{{s \, {to_latex(network.chain.gain)}}} \Bigl[ "
            rf"{to_latex(balanced_bracket(*_ZM))} \Bigr] + \mathrm{{const}}"
        ),
    ]


def _equal_ends(network: RoutingNetwork) -> list[Block]:
    total, r = sp.symbols("N r", positive=True)
    form = replace(network.equal_ends(1, DELTA), total=total)
    error = to_latex(form.end_polynomial.xreplace({X: r}))
    term = to_latex(form.root_term(r))
    blocks: list[Block] = [
        prose(
            "Where input and output edges start alike, with ",
            Math(r"x = b/\sqrt{KM}"),
            " and ",
            Math(r"\delta = b(0)^{2}/(KM) - a(0)^{2}/K"),
            ", the strength is ",
            Math(rf"\pi = {to_latex(form.strength)}"),
            " with ",
            Math(rf"N = {to_latex(network.total)}"),
            ". The sum runs over the three roots r of ",
            Math(f"q(r) = {error}"),
            ":",
        ),
        equation(
            r"t(x) = \frac{\tau}{s \sqrt{N}} \Bigl[ F(x) + \sum_{q(r) = 0} "
            rf"\Bigl( {term} \Bigr) \Bigr] + \mathrm{{const}}",
            label="eq:ends",
        ),
    ]
    cases: list[Content] = []
    for sign, words in (
        (-1, r"\delta = -\kappa^{2}"),
        (0, r"\delta = 0"),
        (1, r"\delta = \kappa^{2}"),
    ):
        start = network.equal_ends(sign).start_integral
        cases.append((Math(words), ": ", Math(f"F(x) = {to_latex(start)}"), "."))
    blocks += [
        Items(tuple(cases)),
        prose(
            "Three different starts lead to the square root of a cubic in the integrand, an "
            "elliptic integral; no elementary form is given for them."
        ),
    ]
    return blocks


def _speed(network: RoutingNetwork) -> list[Block]:
    rows = tuple(
        (
            ", ".join(item.shared) or "none",
            Math(r",\; ".join(to_latex(count) for count in item.counts)),
            Math(to_latex(item.speed)),
        )
        for item in network.sharings()
    )
    return [
        prose(
            "Balanced, and from the same initial strength, a mode is faster than with three edges "
            "of its own for every pathway by exactly"
        ),
        equation(to_latex(network.speed), label="eq:speed"),
        prose(
            "because the two rates ",
            Reference("eq:balanced"),
            " differ by that number. For every choice of edges to share:",
        ),
        Table(
            header=("shared edges", "pathways of an input, hidden, output edge", "speed"),
            rows=rows,
            alignment="lll",
            caption="Speed against unshared pathways.",
        ),
        prose(
            "When all edges start at one strength ",
            Math("w_0"),
            " instead, the ratio of the times to any fixed strength below the plateau goes, as ",
            Math("w_0"),
            " goes to 0, to",
        ),
        equation(to_latex(network.speed_of_equal_weights)),
        prose(
            "(",
            Math("K"),
            " for ",
            Math("M = 1"),
            "): ",
            Math("F"),
            " grows as ",
            Math("1/w_0"),
            ", and the sum over roots stays bounded.",
        ),
    ]


def _start(derivation: GraphDerivation) -> list[Block]:
    found = derivation.curves
    if isinstance(found, str) or found.speed is None:
        return []
    return [
        prose(
            "From the declared start, aligned weights of strength ",
            Math(scientific_latex(found.start)),
            ", the strongest mode comes to half its plateau "
            f"{found.speed:.6g} times as fast as with unshared pathways, by the closed forms.",
        )
    ]
