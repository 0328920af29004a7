r"""One mode along a chain of shared edges: every edge used by its own number of pathways.

Edges at place l of every pathway have strength :math:`w_l` and are used by :math:`n_l` pathways,
all alike:

.. math:: \tau\dot w_l = n_l \prod_{m\ne l} w_m\,(s - d\pi),\qquad \pi = \prod_m w_m

An edge that more pathways use collects more terms: the bias to reuse. Balanced, the strength
follows :math:`\tau\dot\pi = L N^{1/L} \pi^{2-2/L}(s - d\pi)` with :math:`N = \prod_l n_l`: the
equation of one pathway of L layers, with :math:`\tau/N^{1/L}` for τ, so that the laws of single
modes solve it. Source: [Saxe2022].
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import sympy as sp

from symreln.base.records import record
from symreln.document.mathtext import to_latex
from symreln.laws.choice import solve
from symreln.laws.flow_letters import place_proofs
from symreln.laws.law import STRENGTH, TIME_CONSTANT, Law, Regime
from symreln.laws.line import CANCELS, Line, along, moves, vanish

if TYPE_CHECKING:
    from collections.abc import Iterator

    from symreln.networks.shared_edges import Sharing

S, D = sp.symbols("s d", positive=True)


@record
class SharedChain:
    """The reduced equations of one mode, and their solution.

    Attributes:
        counts: n_l, numbers or symbols, how many pathways use the edge, from the input on.
        strengths: Symbols w_l, one an edge.
    """

    counts: tuple[sp.Expr, ...]
    strengths: tuple[sp.Symbol, ...] = ()

    def __post_init__(self) -> None:
        if not self.strengths:
            names = (f"w_{place}" for place in range(1, self.layers + 1))
            letters = tuple(sp.Symbol(name, positive=True) for name in names)
            object.__setattr__(self, "strengths", letters)

    @classmethod
    def of(cls, sharing: Sharing) -> SharedChain:
        """Return the equations of edges that pathways share."""
        return cls(counts=tuple(map(sp.Integer, sharing.uses)))

    @property
    def layers(self) -> int:
        """L, the number of edges of a pathway."""
        return len(self.counts)

    @property
    def total(self) -> sp.Expr:
        """N, the product of the counts."""
        return sp.Mul(*self.counts)

    @property
    def gain(self) -> sp.Expr:
        """N^(1/L): the speed of a balanced start against the same strength on unshared edges."""
        return sp.root(self.total, self.layers)

    @cached_property
    def velocities(self) -> tuple[sp.Expr, ...]:
        """τ dw_l/dt of every edge."""
        error = S - D * sp.Mul(*self.strengths)
        return tuple(
            n * sp.Mul(*(v for v in self.strengths if v != w)) * error
            for n, w in zip(self.counts, self.strengths, strict=True)
        )

    @cached_property
    def conserved(self) -> tuple[sp.Expr, ...]:
        """w_l² - (n_l/n_1) w_1² for every later edge: L - 1 independent ones."""
        first, count = self.strengths[0], self.counts[0]
        pairs = zip(self.strengths[1:], self.counts[1:], strict=True)
        return tuple(w**2 - sp.cancel(n / count) * first**2 for w, n in pairs)

    @cached_property
    def rate(self) -> sp.Expr:
        r"""τ dπ/dt of a balanced start, L gain π^(2 - 2/L) (s - dπ), in the symbol π.

        Balanced is w_l² = n_l u for all l: all conserved numbers vanish.
        """
        power = STRENGTH ** (2 - sp.Rational(2, self.layers))
        return self.layers * self.gain * power * (S - D * STRENGTH)

    def balanced_residuals(self) -> tuple[sp.Expr, ...]:
        """Return what must vanish for the balanced form; all are 0 where it is proven.

        With w_l = √n_l z: every edge gives the same dz/dt (L - 1 differences), and π = √N z^L
        then moves as :attr:`rate` says (one more).
        """
        z = sp.Symbol("z", positive=True)
        roots = [sp.sqrt(n) for n in self.counts]
        values: dict[sp.Basic, sp.Basic] = {
            w: r * z for w, r in zip(self.strengths, roots, strict=True)
        }
        rates = [v.xreplace(values) / r for v, r in zip(self.velocities, roots, strict=True)]
        strength = sp.Mul(*self.strengths).xreplace(values)
        found = [sp.cancel(sp.powsimp(rate - rates[0])) for rate in rates[1:]]
        moved = sp.diff(strength, z) * rates[0]
        claimed = self.rate.xreplace({STRENGTH: strength})
        found.append(sp.cancel(sp.powsimp(sp.expand(moved) - sp.expand(claimed))))
        return tuple(found)

    @cached_property
    def mode(self) -> Law:
        """The trajectory of a mode from a balanced start, in symbols."""
        return solve(Regime(layers=self.layers), S, D, tau=TIME_CONSTANT / self.gain)

    def lines(self) -> Iterator[Line]:
        """Yield the lines from the strengths of the edges to the equation of one pathway."""
        used = ", ".join(map(to_latex, self.counts))
        slopes = dict(zip(self.strengths, self.velocities, strict=True))
        yield Line(
            says=rf"Edges at the {self.layers} places are used by ${used}$ pathways. Started equal "
            r"at each place they stay equal, and of a mode, $\pi$ being the product of its "
            "strengths, every term is counted as often as its edge is used:",
            equation=tuple(moves(to_latex(w), rate) for w, rate in slopes.items()),
            because="one pathway's term stands in the bases of its edge alone, so that it is the "
            "same for all pathways of the edge",
            check="the term of every place in letters, shortened by orthonormality",
            holds=all(place_proofs(self.layers)),
        )
        yield Line(
            says="Differences of squares are conserved:",
            equation=tuple(rf"{to_latex(c)} &= \mathrm{{const}}" for c in self.conserved),
            because="product rule",
            check=f"derivatives along the flow; {CANCELS}",
            holds=vanish(*(along(each, slopes) for each in self.conserved)),
        )
        yield Line(
            says="From a balanced start, where these are 0, one closed equation is left:",
            equation=(moves(r"\pi", self.rate) + r", \qquad \pi(0) = \pi_0",),
            because=r"$w_l = \sqrt{n_l}\, z$ for all edges, and the product rule",
            check=f"every edge gives the same rate of $z$; {CANCELS}",
            holds=all(part == 0 for part in self.balanced_residuals()),
            main=True,
        )
        yield Line(
            says="It is that of one pathway with edges of its own, of the law "
            f"“{self.mode.name}”, with another time constant, which is meant below:",
            equation=(rf"\tau \to {to_latex(self.mode.tau)}",),
            because="both sides divided by the gain",
            check="the quotient of both right-hand sides is that of the time constants; the "
            "solution is substituted into the equation",
            holds=self.is_solved,
            main=True,
        )

    @property
    def is_solved(self) -> bool:
        """Whether the mode solves its family's equation, which over its time constant is ours."""
        faster = self.mode.rate * TIME_CONSTANT / self.mode.tau
        return sp.simplify(sp.powsimp(faster / self.rate)) == 1 and self.mode.residual() == 0
