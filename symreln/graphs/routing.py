r"""The routing network for every number of domains: derived and proven with M and K as symbols.

M input domains and M output domains; K partners for each, every pair routed through one hidden
edge that all share. A pathway is: input edge of its input domain, hidden edge, output edge of its
output domain. Samples of different pairs are different samples, so pathways do not couple, and
every pair's data are the same up to the bases of its domains:

.. math:: \Sigma^{yx}(i,j) = U_j S V_i^T,\qquad \Sigma^x(i,j) = V_i D V_i^T,\qquad
          W_i = R B_1 V_i^T,\quad W = R' B_2 R^T,\quad W_j = U_j B_3 R'^T.

Source: [Saxe2022].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from symreln.claims.claim import Step
from symreln.exact.truth import Truth
from symreln.graphs.chain import Chain
from symreln.graphs.counting import EdgeFamily, Index, regular_uses, uses
from symreln.graphs.three_edges import ThreeEdges, balanced_residual, balanced_time
from symreln.graphs.words import Letter, Rules, Words

DOMAINS, PARTNERS = sp.symbols("M K", integer=True, positive=True)
EDGES = ("input", "hidden", "output")
STRENGTHS = sp.symbols("a b c", positive=True)
S, D = sp.symbols("s d", positive=True)
#: Signs of the difference b(0)²/(KM) - a(0)²/K, in words.
SIGNS = {-1: "negative", 0: "zero", 1: "positive"}
START = sp.Symbol("w_0", positive=True)

# Letters: edge l maps from basis l to basis l + 1. The outer bases have the pathway's index.
_BASES = ("V", "R", "Q", "U")
_INDEXED = frozenset({"V", "U"})


def _own(name: str) -> Letter:
    return name, False


#: Orthonormal columns: VᵀV, RᵀR, QᵀQ and UᵀU are the identity.
RULES: Rules = {((name, True), (name, False)): () for name in _BASES}


@dataclass(frozen=True, kw_only=True)
class EdgeProof:
    """Why one edge's matrix follows the reduced flow.

    Attributes:
        edge: "input", "hidden" or "output".
        uses: How many pathways use an edge of this kind.
        summand: Every pathway's term of dB/dt, in letters without bases.
        closes: Whether every term lies in the edge's own bases and is free of the pathway.
    """

    edge: str
    uses: sp.Expr
    summand: Words
    closes: bool


def _step(name: str, statement: str, check: str, residual: sp.Expr) -> Step:
    """Return a step that is proven where what had to vanish is 0."""
    outcome = Truth.PROVEN if residual == 0 else Truth.UNDECIDED
    return Step(name=name, statement=statement, check=check, outcome=outcome)


def _factors() -> list[Words]:
    """Return the three matrices W in letters: basis, B, basis."""
    return [
        Words.product((Words.letter(_BASES[e + 1]), Words.letter(f"B{e + 1}")))
        @ Words.letter(_BASES[e]).T
        for e in range(3)
    ]


def edge_proofs() -> tuple[EdgeProof, ...]:
    r"""Prove the reduction of all three kinds of edges.

    One pathway's term :math:`W_{after}^T E W_{before}^T` is written in letters and shortened by
    the orthonormality of the bases. If what is left stands between the two bases of the edge and
    holds no other basis, it does not depend on which of the edge's pathways it came from: the sum
    over them is their number times the term.
    """
    weights = _factors()
    u, v = Words.letter("U"), Words.letter("V")
    whole = weights[2] @ weights[1] @ weights[0]
    sigma_x = v @ Words.letter("D") @ v.T
    error = (u @ Words.letter("S") @ v.T - whole @ sigma_x).under(RULES)
    found = []
    for place, count in enumerate(regular_uses(DOMAINS, PARTNERS)):
        after = Words.product(reversed(weights[place + 1 :]))
        before = Words.product(reversed(weights[:place]))
        term = (after.T @ error @ before.T).under(RULES)
        ends = (_own(_BASES[place + 1]), (_BASES[place], True))
        inner = {word[1:-1]: value for word, value in term.terms.items()}
        closes = all((word[0], word[-1]) == ends for word in term.terms)
        closes = closes and not any(name in _BASES for word in inner for name, _ in word)
        found.append(EdgeProof(edge=EDGES[place], uses=count, summand=Words(inner), closes=closes))
    return tuple(found)


def untrained_pairs_follow() -> bool:
    """Return whether a pair that is never trained gets the same B_3 B_2 B_1 in its own bases."""
    first, hidden, last = _factors()
    whole = (last @ hidden @ first).under(RULES)
    expected = Words.product(Words.letter(name) for name in ("U", "B3", "B2", "B1"))
    return (whole - expected @ Words.letter("V").T).is_zero


def circulant_uses() -> tuple[sp.Expr, ...]:
    """Return the counts of the ready-made pairing: input i with outputs i, …, i + K - 1 mod M."""
    pairs = (Index(name="i", count=DOMAINS), Index(name="k", count=PARTNERS))
    families = (
        EdgeFamily(name="input", coefficients=(("i", 1),), modulus=DOMAINS),
        EdgeFamily(name="hidden"),
        EdgeFamily(name="output", coefficients=(("i", 1), ("k", 1)), modulus=DOMAINS),
    )
    return tuple(uses(family, pairs) for family in families)


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """Which edges pathways share, and what it brings.

    Attributes:
        shared: Names of the shared edges.
        counts: How many pathways use each edge.
        speed: How many times faster than without any sharing, balanced, same initial strength.
    """

    shared: tuple[str, ...]
    counts: tuple[sp.Expr, ...]
    speed: sp.Expr


@dataclass(frozen=True, kw_only=True)
class RoutingNetwork:
    """The routing network of M domains with K partners each; symbols unless numbers are given.

    Attributes:
        domains: M.
        partners: K, at most M.
    """

    domains: sp.Expr = DOMAINS
    partners: sp.Expr = PARTNERS

    @property
    def counts(self) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
        """How many pathways use an input, the hidden and an output edge."""
        return regular_uses(self.domains, self.partners)

    @cached_property
    def chain(self) -> Chain:
        """The reduced equations of one mode: edge strengths a, b, c."""
        return Chain(counts=self.counts, strengths=STRENGTHS, s=S, d=D)

    @cached_property
    def unshared(self) -> Chain:
        """The same pathways with three edges of their own each."""
        return Chain(counts=(sp.S.One,) * 3, strengths=STRENGTHS, s=S, d=D)

    @property
    def total(self) -> sp.Expr:
        """N, the product of the counts."""
        return sp.Mul(*self.counts)

    @cached_property
    def balanced_time(self) -> sp.Expr:
        """t(π) of a balanced start, up to a constant."""
        return balanced_time(self.total, S, D)

    def equal_ends(self, sign: int, delta: sp.Expr | None = None) -> ThreeEdges:
        """Return the closed form where input and output edges start alike.

        Args:
            sign: Sign of b(0)²/(KM) - a(0)²/K.
            delta: That number; a symbol by default.
        """
        size = sp.Symbol("kappa", positive=True)
        value = sign * size**2 if delta is None else delta
        return ThreeEdges(total=self.total, s=S, d=D, sign=sign, delta=value)

    @cached_property
    def speed(self) -> sp.Expr:
        """Speed against unshared pathways, both balanced, from the same initial strength."""
        return self.chain.speed_against(self.unshared)

    @property
    def speed_of_equal_weights(self) -> sp.Expr:
        """Speed against unshared pathways when all edges start at w_0, as w_0 goes to 0.

        For M = 1 its limit, K.
        """
        excess = self.domains - 1
        if excess == 0:
            return self.partners
        return self.partners * sp.sqrt(excess) / sp.atan(sp.sqrt(excess))

    def sharings(self) -> tuple[Sharing, ...]:
        """Return every choice of edges to share, from none to all."""
        found = []
        for choice in range(8):
            taken = [bool(choice >> place & 1) for place in range(3)]
            counts = tuple(n if t else sp.S.One for n, t in zip(self.counts, taken, strict=True))
            chain = Chain(counts=counts, strengths=STRENGTHS, s=S, d=D)
            names = tuple(name for name, t in zip(EDGES, taken, strict=True) if t)
            speed = chain.speed_against(self.unshared)
            found.append(Sharing(shared=names, counts=counts, speed=speed))
        return tuple(found)

    def time_of_equal_weights(self) -> sp.Expr:
        r"""Return lim w_0·(time to leave the start)·s/tau, all edges starting at w_0.

        The start integral of the closed form from x0 to any fixed x, times w_0, as w_0 goes to 0;
        the integral over the falling error stays bounded, so that times w_0 it vanishes.
        """
        counts = self.counts
        x0 = START / sp.sqrt(counts[1])
        delta = START**2 * (1 / counts[1] - 1 / counts[0])
        # kappa = w_0·k and x0/kappa is free of w_0; atan(x/kappa) goes to π/2 for every x > 0.
        kappa = sp.sqrt(sp.factor(-delta / START**2))
        if kappa == 0:
            return sp.simplify(START / (x0 * sp.sqrt(self.total)))
        angle = sp.atan(sp.simplify(kappa / (x0 / START)))
        return sp.simplify(angle / (kappa * sp.sqrt(self.total)))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Everything that was proven."""
        return _steps(self)


def _steps(network: RoutingNetwork) -> tuple[Step, ...]:
    return (*_reduction_steps(), *_balance_steps(network), *_form_steps(network))


def _reduction_steps() -> list[Step]:
    """Return what is proven of the matrices, for every number of domains and partners."""
    open_edges = sum(not proof.closes for proof in edge_proofs())
    general = regular_uses(DOMAINS, PARTNERS)
    counted = sum(
        (sp.Abs(sp.expand(a - b)) for a, b in zip(circulant_uses(), general, strict=True)),
        sp.S.Zero,
    )
    return [
        _step(
            name="reduction",
            statement="the flow of all matrices is that of B_1, B_2, B_3, for every M and K",
            check="each pathway's term stands in its edge's bases alone, and is counted",
            residual=sp.Integer(open_edges),
        ),
        _step(
            name="counts",
            statement="the ready-made pairing is regular for every M and K",
            check="one index runs over all domains once; the other is free",
            residual=counted,
        ),
        _step(
            name="untrained pairs",
            statement="pairs that are never trained have the strength of those that are",
            check="product of the three matrices in letters",
            residual=sp.Integer(0 if untrained_pairs_follow() else 1),
        ),
    ]


def _balance_steps(network: RoutingNetwork) -> list[Step]:
    """Return what is proven of the strengths of the edges."""
    chain = network.chain
    return [
        *(
            _step(
                name="conserved",
                statement=f"{item.expr} does not move",
                check="its derivative along the flow cancels",
                residual=item.residual,
            )
            for item in chain.conserved
        ),
        _step(
            name="balanced equation",
            statement="a balanced start stays balanced, and its strength closes",
            check="all edges move alike, and the product rule",
            residual=sum(map(sp.Abs, chain.balanced_residuals()), sp.S.Zero),
        ),
    ]


def _form_steps(network: RoutingNetwork) -> list[Step]:
    """Return what is proven of the closed forms."""
    return [
        _step(
            name="balanced closed form",
            statement="t(pi) solves it",
            check="dt/dpi · dpi/dt - 1, in rational form",
            residual=balanced_residual(network.total, S, D),
        ),
        *(
            _step(
                name=f"closed form, {words} difference",
                statement="t(x) solves the equation where input and output edges start alike",
                check="dt/dx · dx/dt - 1, sums over roots as traces of the companion matrix",
                residual=network.equal_ends(sign).residual(),
            )
            for sign, words in SIGNS.items()
        ),
        _equal_weights_step(network),
    ]


def _equal_weights_step(network: RoutingNetwork) -> Step:
    alone = RoutingNetwork(domains=sp.S.One, partners=sp.S.One).time_of_equal_weights()
    ratio = alone / network.time_of_equal_weights()
    return _step(
        name="speed from equal weights",
        statement="as w_0 goes to 0 the ratio of times is the expression given",
        check="ratio of the two limits of w_0·t",
        residual=sp.simplify(ratio - network.speed_of_equal_weights),
    )
