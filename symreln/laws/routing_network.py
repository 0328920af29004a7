r"""The routing network for every number of domains: derived and proven with M and K as symbols.

M input domains and M output domains; K partners for each, every pair routed through one hidden
edge that all share. A pathway is: input edge of its input domain, hidden edge, output edge of its
output domain. Samples of different pairs are different samples, so pathways do not couple, and
every pair's data are the same up to the bases of its domains:

.. math:: \Sigma^{yx}(i,j) = U_j S V_i^T,\qquad \Sigma^x(i,j) = V_i D V_i^T,\qquad
          W_i = R B_1 V_i^T,\quad W = R' B_2 R^T,\quad W_j = U_j B_3 R'^T.

A chain of three shared edges (:mod:`symreln.laws.shared_chain`). Source: [Saxe2022].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import sympy as sp

from symreln.base.records import record
from symreln.document.mathtext import to_latex
from symreln.laws.line import Line, vanish
from symreln.laws.shared_chain import D, S, SharedChain

DOMAINS, PARTNERS = sp.symbols("M K", integer=True, positive=True)
EDGES = ("input", "hidden", "output")
STRENGTHS = sp.symbols("a b h", positive=True)
_START = sp.Symbol("w_0", positive=True)


def _uses(
    label: Mapping[str, int], modulus: sp.Expr, indices: Mapping[str, sp.Expr]
) -> sp.Expr | None:
    """Return how many pathways use one edge of a family, the same for all its edges, if proven.

    Some index must run once over all residues of the modulus with coefficient ±1, a bijection of
    them: whatever the other indices are, exactly one of its values gives the edge's label, so that
    the others are free.

    Args:
        label: Coefficients c_i of the label Σ c_i i that tells the edges apart.
        modulus: How many labels there are; the label is taken modulo it.
        indices: Every index of the pathways, which runs over 0, …, count - 1, with its count.

    Example:
        >>> M, K = sp.symbols("M K", integer=True, positive=True)
        >>> _uses({"i": 1, "k": 1}, M, {"i": M, "k": K})
        K
    """
    for name, count in indices.items():
        if abs(label.get(name, 0)) == 1 and sp.expand(count - modulus) == 0:
            return sp.Mul(*(other for index, other in indices.items() if index != name))
    return None


def _circulant_uses() -> tuple[sp.Expr | None, ...]:
    """Return the counts of the ready-made pairing: input i with outputs i, …, i + K - 1 mod M."""
    pairs = {"i": DOMAINS, "k": PARTNERS}
    outer = (_uses(label, DOMAINS, pairs) for label in ({"i": 1}, {"i": 1, "k": 1}))
    first, last = outer
    return first, sp.Mul(*pairs.values()), last


@record
class RoutingNetwork:
    """The routing network of M domains with K partners each; symbols unless numbers are given.

    Attributes:
        domains: M.
        partners: K, at most M.
    """

    domains: sp.Expr = DOMAINS
    partners: sp.Expr = PARTNERS

    @cached_property
    def chain(self) -> SharedChain:
        """The reduced equations of one mode: edge strengths a, b, h.

        Every input domain is in K pairs, which makes KM; the shared hidden edge carries all of
        them, and the output domains, as many as input domains, divide them equally.
        """
        counts = self.partners, self.domains * self.partners, self.partners
        return SharedChain(counts=counts, strengths=STRENGTHS)

    @property
    def speed_of_equal_weights(self) -> sp.Expr:
        """Speed against unshared pathways when all edges start at w_0, as w_0 goes to 0.

        For M = 1 its limit, K.
        """
        excess = self.domains - 1
        if excess == 0:
            return self.partners
        return self.partners * sp.sqrt(excess) / sp.atan(sp.sqrt(excess))

    def lines(self) -> Iterator[Line]:
        """Yield the lines for every M and K: those of the chain, and where equal weights start."""
        counts = _circulant_uses()
        yield Line(
            says="**For every number** $M$ of domains and $K$ of partners each the lines hold with "
            "the strengths $a$ of an input, $b$ of the hidden and $h$ of an output edge, used by",
            equation=(rf"n = ({', '.join(map(to_latex, self.chain.counts))})",),
            because="an input domain is in $K$ pairs, which makes $K M$ that use the hidden edge; "
            "the output domains divide them equally",
            check="the pairing counted: one index runs over all domains once, the other is free",
            holds=counts == self.chain.counts,
            main=True,
        )
        yield from self.chain.lines()
        yield self._start_line()

    def _start_line(self) -> Line:
        """Say from which balanced start a mode goes on whose three edges start alike."""
        root, z = sp.sqrt(self.chain.total), sp.Symbol("z", positive=True)
        # Balanced edges are √n_l z, and leave z_0 after τ/(s √N z_0): both times are equal.
        leaves = 1 / (root * z)
        time = self.time_of_equal_weights()
        (begin,) = sp.solve(leaves - time / _START, z)
        start = sp.simplify(root * begin**3)
        velocity = self.chain.velocities[0].subs(
            {w: sp.sqrt(n) * z for w, n in zip(STRENGTHS, self.chain.counts, strict=True)}
        ) / sp.sqrt(self.chain.counts[0])
        return Line(
            says="Edges that all start with $w_0$ go on as from the **effective start** "
            "($w_0^3$ for $M = 1$)",
            equation=(rf"\pi_0 = {to_latex(start)}",),
            because="a balanced start that leaves at the same time; what is left out vanishes with "
            "$w_0$",
            check="the balanced equation without its plateau, its time differentiated",
            holds=vanish(sp.powsimp(velocity.subs(D, 0) / S * leaves.diff(z), force=True) + 1)
            and not sp.simplify(start / _START**3).has(_START)
            and self.equal_weights_residual() == 0,
            main=True,
        )

    def time_of_equal_weights(self) -> sp.Expr:
        r"""Return lim w_0·(time to leave the start)·s/tau, all edges starting at w_0.

        With :math:`w_l = \sqrt{n_l}\,x_l` all three :math:`x_l^2` differ by constants, so that the
        middle one obeys :math:`\tau\dot x = \sqrt N\,(x^2-\delta)(s - d\pi)`,
        :math:`\delta = x(0)^2 - x_{outer}(0)^2`. While the error is s that integrates to an arc
        tangent from x0 to any fixed x; times w_0, the integral over the falling error vanishes.
        """
        outer, inner, _ = self.chain.counts
        x0, root = _START / sp.sqrt(inner), sp.sqrt(self.chain.total)
        delta = _START**2 * (1 / inner - 1 / outer)
        # kappa = w_0·k and x0/kappa is free of w_0; atan(x/kappa) goes to π/2 for every x > 0.
        kappa = sp.sqrt(sp.factor(-delta / _START**2))
        if kappa == 0:
            return sp.simplify(_START / (x0 * root))
        angle = sp.atan(sp.simplify(kappa / (x0 / _START)))
        return sp.simplify(angle / (kappa * root))

    def equal_weights_residual(self) -> sp.Expr:
        """Return ratio of the two limits of w_0·t less the speed; 0 where it is proven."""
        alone = RoutingNetwork(domains=sp.S.One, partners=sp.S.One).time_of_equal_weights()
        return sp.simplify(alone / self.time_of_equal_weights() - self.speed_of_equal_weights)
