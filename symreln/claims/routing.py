"""The routing network for every number of domains and partners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.base.records import record
from symreln.claims.claim import Claim, Step
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Math, Section, equation, prose
from symreln.document.roots import plain_formula
from symreln.document.typeset import say
from symreln.exact.truth import Truth
from symreln.laws.routing import DOMAINS, EDGES, PARTNERS, SIGNS, RoutingNetwork
from symreln.laws.three_edges import DELTA, X

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.networks.model import Path


@record(eq=False)
class Routing(Claim):
    """Pathways whose edges make a routing network, for every M and K.

    Attributes:
        network: The routing network, with M and K as symbols.
        domains: M of the graph.
        partners: K of the graph.
        paths: Its pathways.
    """

    network: RoutingNetwork
    domains: int
    partners: int
    paths: tuple[Path, ...]

    def values(self) -> dict[str, Any]:
        """Return what derivation.json says of it."""
        network, chain = self.network, self.network.chain
        return {
            "domains": self.domains,
            "partners": self.partners,
            "uses": dict(zip(EDGES, chain.counts, strict=True)),
            "equations": chain.velocities,
            "conserved": chain.conserved,
            "balanced_rate": chain.rate,
            "balanced_time": chain.mode.printed.rhs,
            "closed_forms": [
                {"difference": words, "time": network.equal_ends(sign).primitive}
                for sign, words in SIGNS.items()
            ],
            "speed": self._at(chain.gain),
            "speed_from_equal_weights": self._at(network.speed_of_equal_weights),
        }

    def _at(self, expr: sp.Expr) -> dict[str, Any]:
        """Return an expression in M and K with its value; its limit where it is one there."""
        value = expr
        for symbol, number in ((DOMAINS, self.domains), (PARTNERS, self.partners)):
            if symbol in expr.free_symbols:
                value = sp.limit(value, symbol, number)
        return {"expr": expr, "value": value, "decimal": str(sp.N(value, 15))}

    def first_page(self) -> Iterator[Block]:
        """Yield what holds for every M and K, and how much faster sharing makes a mode."""
        chain = self.network.chain
        yield say(
            f"The graph is a routing network of $M = {self.domains}$ domains with "
            f"$K = {self.partners}$ partners each. **For all** $M$ and $K$ a mode with singular "
            "value $s$ and input eigenvalue $d$ obeys, from a balanced start,"
        )
        yield equation(rf"\tau \dot{{\pi}} = {to_latex(chain.rate)}.")
        yield say(
            "It is faster than with unshared edges by the factor "
            f"${to_latex(chain.gain)}$, and from equal small weights by "
            f"${to_latex(self.network.speed_of_equal_weights)}$ ([#sec:routing])."
        )

    def lines(self) -> Iterator[str]:
        """Yield its equations and speed."""
        network, chain = self.network, self.network.chain
        yield (
            f"routing network of M = {self.domains} domains, K = {self.partners} partners; for all "
            "M and K, pi = a b h:"
        )
        for strength, rate in zip(chain.strengths, chain.velocities, strict=True):
            yield f"  tau d{strength}/dt = {plain_formula(rate)}"
        yield f"  conserved: {', '.join(map(plain_formula, chain.conserved))}"
        yield f"  balanced: tau dpi/dt = {plain_formula(chain.rate)}"
        yield (
            f"  speed against unshared pathways: {chain.gain} (balanced), "
            f"{network.speed_of_equal_weights} (equal small weights)"
        )

    def steps(self) -> Iterator[Step]:
        """Say what was proven for every M and K."""
        for sign, words in SIGNS.items():
            holds = self.network.equal_ends(sign).residual() == 0
            yield Step(
                name=f"closed form, {words} difference",
                statement="the time solves the equation where input and output edges start equal",
                check="its slope times the flow's is 1; sums over roots as traces of the companion "
                "matrix",
                outcome=Truth.PROVEN if holds else Truth.UNDECIDED,
            )

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own."""
        blocks = (_setting(), *_equal_ends(self.network), *_speed(self.network))
        yield Section(title="The routing network", label="sec:routing", blocks=blocks)


def routing_of(derivation: Derivation) -> Routing | None:
    """Return the routing network for every M and K, where edges make one and modes close."""
    if derivation.known.sharing is None or not derivation.closed:
        return None
    edges = derivation.spec.edges
    if edges.routing is None:
        return None
    domains, partners = edges.routing
    return Routing(network=RoutingNetwork(), domains=domains, partners=partners, paths=edges.paths)


def _setting() -> Block:
    return say(
        "$M$ input domains and $M$ output domains; every input domain is trained with "
        "$K$ output domains, every output domain with $K$ input domains, and all "
        "pathways share one hidden edge [@Saxe2022]. Samples of different pairs are "
        "different samples, so pathways do not couple; every pair's data are the same "
        "up to the bases of its domains. $s$ and $d$ are the singular value and the "
        "input eigenvalue of a mode of one pathway, over the whole dataset; $a$, $b$ and $h$ are "
        r"the strengths of an input, the hidden and an output edge in it, and $\pi = abh$."
    )


def _equal_ends(network: RoutingNetwork) -> list[Block]:
    total, r = sp.symbols("N r", positive=True)
    form = replace(network.equal_ends(1, DELTA), total=total)
    error = to_latex(form.end_polynomial.xreplace({X: r}))
    term = to_latex(-form.root_term(r))
    blocks: list[Block] = [
        say(
            r"Where input and output edges start equal, with $x = b/\sqrt{KM}$ and $\delta = "
            "b(0)^{2}/(KM) - a(0)^{2}/K$, the strength is {strength} with {total}. The sum "
            "runs over the three roots $r$ of {error}:",
            strength=Math(rf"\pi = {to_latex(form.strength)}"),
            total=Math(rf"N = {to_latex(network.chain.total)}"),
            error=Math(f"q(r) = {error}"),
        ),
        equation(
            r"t(x) = \frac{\tau}{s \sqrt{N}} \Bigl[ F(x) - \sum_{q(r) = 0} "
            rf"{term} \Bigr] + \mathrm{{const}}",
            label="eq:ends",
        ),
    ]
    cases: list[str] = []
    for sign, words in (
        (-1, r"\delta = -\kappa^{2}"),
        (0, r"\delta = 0"),
        (1, r"\delta = \kappa^{2}"),
    ):
        start = network.equal_ends(sign).start_integral
        cases.append(rf"F(x) &= {to_latex(start)} \quad \text{{for }} {words}")
    blocks += [
        equation(*(f"{case}," for case in cases[:-1]), f"{cases[-1]}."),
        prose(
            "Three different starts lead to the square root of a cubic in the integrand, an "
            "elliptic integral; no elementary form is given for them."
        ),
    ]
    return blocks


def _speed(network: RoutingNetwork) -> list[Block]:
    return [
        prose(
            "Balanced, and from the same initial strength, a mode is faster than with three edges "
            "of its own for every pathway by exactly"
        ),
        equation(to_latex(network.chain.gain), label="eq:speed"),
        prose("because the two rates differ by that number."),
        say(
            "When all edges start at one strength $w_0$ instead, the ratio of the times to "
            "any fixed strength below the plateau goes, as $w_0$ goes to 0, to"
        ),
        equation(to_latex(network.speed_of_equal_weights)),
        say("($K$ for $M = 1$): $F$ grows as $1/w_0$, and the sum over roots stays bounded."),
    ]
