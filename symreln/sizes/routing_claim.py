"""The routing network for every number of domains and partners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.base.records import record
from symreln.claims.claim import Claim
from symreln.document.document_model import Block, equation
from symreln.document.mathtext import to_latex
from symreln.document.roots import plain_formula
from symreln.document.typeset import say
from symreln.exact.scalar import Scalar
from symreln.laws.routing_network import DOMAINS, EDGES, PARTNERS, RoutingNetwork
from symreln.pipeline.certificate.texts import Json, Texts

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.networks.gdln import Path


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

    def certificate(self) -> Json:
        """Return what is claimed of a routing network, and for all M and K."""
        ends = [(path.edges[0], path.edges[-1]) for path in self.paths]
        first, last = (list(dict.fromkeys(side)) for side in zip(*ends, strict=True))
        counts, total = self.network.chain.counts, self.network.chain.total
        n1, n2, _ = counts
        letters = (DOMAINS, PARTNERS)
        names = tuple(letter.name for letter in letters)
        texts, symbols = Texts(names), [Scalar.symbol(name, names) for name in names]

        def text(expr: Any) -> str:
            return texts.ratio(Scalar.of(sp.lambdify(letters, sp.cancel(expr))(*symbols), names))

        return {
            "kind": "routing",
            "pairs": [[first.index(a), last.index(b)] for a, b in ends],
            "domains": self.domains,
            "partners": self.partners,
            "uses": [text(n) for n in counts],
            "chain": {"conserved": [text(n / n1) for n in counts[1:]], "radicand": text(total)},
            "equal_weights": {
                "factor_squared": text(total * (n2 - n1) / (n1 * n2)),
                "angle_squared": text(n2 / n1 - 1),
            },
        }

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
            f"${to_latex(self.network.speed_of_equal_weights)}$ (by $K$ for $M = 1$)."
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


def routing_of(derivation: Derivation) -> Routing | None:
    """Return the routing network for every M and K, where edges make one and modes close."""
    if derivation.known.sharing is None or not derivation.closed:
        return None
    edges = derivation.spec.edges
    if edges.routing is None:
        return None
    domains, partners = edges.routing
    return Routing(network=RoutingNetwork(), domains=domains, partners=partners, paths=edges.paths)
