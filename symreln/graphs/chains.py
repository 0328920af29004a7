r"""The closed form of a regular component: the depth-L family, with time divided by the gain.

Edges at place l of every pathway are used by :math:`n_l` pathways. Balanced, a mode's strength
follows :math:`\tau\dot\pi = L N^{1/L} \pi^{2-2/L}(s - d\pi)` with :math:`N = \prod_l n_l`
(:class:`symreln.graphs.chain.Chain`): the equation of one pathway of L layers, with
:math:`\tau/N^{1/L}` for τ. So the families of :mod:`symreln.laws` solve it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import sympy as sp

from symreln.claims.claim import Step
from symreln.exact.truth import Truth
from symreln.graphs.chain import STRENGTH, Chain
from symreln.graphs.words import Letter, Rules, Words
from symreln.laws.choice import law_of, solve
from symreln.laws.law import TIME_CONSTANT, Regime

if TYPE_CHECKING:
    from symreln.laws.law import Law

S, D = sp.symbols("s d", positive=True)


@dataclass(frozen=True, kw_only=True)
class SharedChain:
    """What is derived of a regular component.

    Attributes:
        counts: n_l, numbers or symbols, from the input on.
    """

    counts: tuple[sp.Expr, ...]

    @property
    def layers(self) -> int:
        """L."""
        return len(self.counts)

    @cached_property
    def chain(self) -> Chain | None:
        """The reduced equations of one mode; None for single edges, which share nothing."""
        if self.layers == 1:
            return None
        names = " ".join(f"w_{place}" for place in range(1, self.layers + 1))
        strengths = sp.symbols(names, positive=True)
        return Chain(counts=self.counts, strengths=strengths, s=S, d=D)

    @property
    def total(self) -> sp.Expr:
        """N, the product of the counts."""
        return sp.Mul(*self.counts)

    @property
    def gain(self) -> sp.Expr:
        """N^(1/L): the speed against pathways that share nothing, from the same strength."""
        return sp.root(self.total, self.layers)

    @property
    def rate(self) -> sp.Expr:
        """Tau times the slope of the strength from a balanced start, in the symbol pi."""
        return S - D * STRENGTH if self.chain is None else self.chain.balanced_rate

    @property
    def family(self) -> str:
        """Name of the family of solutions."""
        return law_of(Regime(layers=self.layers)).name

    @cached_property
    def mode(self) -> Law:
        """The trajectory of a mode from a balanced start, in symbols."""
        return self.solved(S, D)

    def solved(self, s: sp.Expr, d: sp.Expr) -> Law:
        """Return the trajectory of a mode with these numbers."""
        return solve(Regime(layers=self.layers), s, d, tau=TIME_CONSTANT / self.gain)

    def _same_equation(self) -> bool:
        """Whether the family's L π^(2-2/L) (s - dπ) over its time constant is the rate."""
        layers = sp.Integer(self.layers)
        family = layers * STRENGTH ** (2 - 2 / layers) * (S - D * STRENGTH)
        return sp.simplify(sp.powsimp(family * TIME_CONSTANT / self.mode.tau / self.rate)) == 1

    @cached_property
    def checks(self) -> tuple[Step, ...]:
        """Everything that is proven of it."""
        found = [
            Step(
                name="reduction",
                statement="edges that start alike at their place stay alike",
                check="one pathway's term stands in the bases of its edge alone",
                outcome=_truth(all(place_proofs(self.layers))),
            )
        ]
        if self.chain is not None:
            kept = all(item.residual == 0 for item in self.chain.conserved)
            balanced = all(part == 0 for part in self.chain.balanced_residuals())
            found += [
                Step(
                    name="conserved differences",
                    statement="w_l² - (n_l/n_1) w_1² does not move",
                    check="its derivative along the flow cancels",
                    outcome=_truth(kept),
                ),
                Step(
                    name="balanced equation",
                    statement="a balanced start stays balanced, and its strength closes",
                    check="all edges move alike, and the product rule",
                    outcome=_truth(balanced),
                ),
            ]
        found.append(
            Step(
                name="closed form",
                statement="it solves the equation of a balanced start",
                check="put into its family's equation, which with its time constant is this one",
                outcome=_truth(self.mode.residual() == 0 and self._same_equation()),
            )
        )
        return tuple(found)


def _truth(holds: bool) -> Truth:
    return Truth.PROVEN if holds else Truth.UNDECIDED


def place_proofs(depth: int) -> tuple[bool, ...]:
    r"""Prove for every place of a chain of edges that its term stands in its own bases alone.

    With :math:`W_l = R_l B_l R_{l-1}^T`, orthonormal bases, :math:`\Sigma^{yx} = R_L S R_0^T` and
    :math:`\Sigma^x = R_0 D R_0^T`, the term :math:`W_{after}^T E W_{before}^T` of one pathway,
    shortened, begins with R_l, ends with R_{l-1}ᵀ and holds no other basis: it is the same for
    all pathways of an edge, so that the sum over them is n_l times it.
    """
    base = [f"R{place}" for place in range(depth + 1)]
    rules: Rules = {((name, True), (name, False)): () for name in base}
    first, last = Words.letter(base[0]), Words.letter(base[-1])
    weights = [
        Words.letter(base[e + 1]) @ Words.letter(f"B{e + 1}") @ Words.letter(base[e]).T
        for e in range(depth)
    ]
    whole = Words.product(reversed(weights))
    sigma_x = first @ Words.letter("D") @ first.T
    error = (last @ Words.letter("S") @ first.T - whole @ sigma_x).under(rules)
    found = []
    for place in range(depth):
        after = Words.product(reversed(weights[place + 1 :]))
        before = Words.product(reversed(weights[:place]))
        term = (after.T @ error @ before.T).under(rules)
        ends: tuple[Letter, Letter] = ((base[place + 1], False), (base[place], True))
        found.append(
            all(
                (word[0], word[-1]) == ends and not any(name in base for name, _ in word[1:-1])
                for word in term.terms
            )
        )
    return tuple(found)
