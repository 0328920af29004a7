r"""One mode along a chain of shared edges: every edge used by its own number of pathways.

Edge number l of a pathway has strength :math:`w_l` and is used by :math:`n_l` pathways, all alike:

.. math:: \tau\dot w_l = n_l \prod_{m\ne l} w_m\,(s - d\pi),\qquad \pi = \prod_m w_m

An edge that more pathways use collects more terms: the bias to reuse. Source: [Saxe2022].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from symreln.errors import InputError

TIME = sp.Symbol("t", nonnegative=True)
TAU = sp.Symbol("tau", positive=True)
STRENGTH = sp.Symbol("pi", positive=True)


@dataclass(frozen=True, kw_only=True)
class Conserved:
    """A number that the flow keeps.

    Attributes:
        expr: In the strengths of the edges.
        residual: Its derivative along the flow after cancelling; 0 where it is proven.
    """

    expr: sp.Expr
    residual: sp.Expr


@dataclass(frozen=True, kw_only=True)
class Chain:
    """The reduced equations of one mode.

    Attributes:
        counts: n_l, how many pathways use the edge, from the input on; two or more.
        strengths: Symbols w_l, one an edge.
        s: Singular value of every pathway's Sigma^{yx}.
        d: Eigenvalue of every pathway's Sigma^x.
    """

    counts: tuple[sp.Expr, ...]
    strengths: tuple[sp.Symbol, ...]
    s: sp.Expr
    d: sp.Expr

    def __post_init__(self) -> None:
        if len(self.counts) < 2 or len(self.counts) != len(self.strengths):
            msg = (
                f"a chain of {len(self.counts)} counts and {len(self.strengths)} strengths; "
                "give one of each for at least two edges"
            )
            raise InputError(msg)

    @property
    def depth(self) -> int:
        """L, the number of edges of a pathway."""
        return len(self.counts)

    @property
    def product(self) -> sp.Expr:
        """The strength of a pathway as the product of its edges."""
        return sp.Mul(*self.strengths)

    @cached_property
    def velocities(self) -> tuple[sp.Expr, ...]:
        """τ dw_l/dt of every edge."""
        error = self.s - self.d * self.product
        return tuple(
            n * sp.Mul(*(v for v in self.strengths if v != w)) * error
            for n, w in zip(self.counts, self.strengths, strict=True)
        )

    def along(self, expr: sp.Expr) -> sp.Expr:
        """Return τ times the time derivative of an expression in the strengths."""
        pairs = zip(self.strengths, self.velocities, strict=True)
        return sp.cancel(sum((sp.diff(expr, w) * v for w, v in pairs), sp.S.Zero))

    @cached_property
    def conserved(self) -> tuple[Conserved, ...]:
        """w_l² - (n_l/n_1) w_1² for every later edge: L - 1 independent ones."""
        first, count = self.strengths[0], self.counts[0]
        found = []
        for w, n in zip(self.strengths[1:], self.counts[1:], strict=True):
            expr = w**2 - sp.cancel(n / count) * first**2
            found.append(Conserved(expr=expr, residual=self.along(expr)))
        return tuple(found)

    @cached_property
    def gain(self) -> sp.Expr:
        """(n_1 ⋯ n_L)^(1/L), by which sharing speeds a balanced chain up."""
        return sp.root(sp.Mul(*self.counts), self.depth)

    @cached_property
    def balanced_rate(self) -> sp.Expr:
        r"""τ dπ/dt of a balanced start, L gain π^(2 - 2/L) (s - dπ), in the symbol π.

        Balanced is w_l² = n_l u for all l: all conserved numbers vanish.
        """
        power = STRENGTH ** (2 - sp.Rational(2, self.depth))
        return self.depth * self.gain * power * (self.s - self.d * STRENGTH)

    def balanced_residuals(self) -> tuple[sp.Expr, ...]:
        """Return what must vanish for the balanced form; all are 0 where it is proven.

        With w_l = √n_l z: every edge gives the same dz/dt (L - 1 differences), and π = √N z^L
        then moves as :attr:`balanced_rate` says (one more).
        """
        z = sp.Symbol("z", positive=True)
        roots = [sp.sqrt(n) for n in self.counts]
        values: dict[sp.Basic, sp.Basic] = {
            w: r * z for w, r in zip(self.strengths, roots, strict=True)
        }
        rates = [v.xreplace(values) / r for v, r in zip(self.velocities, roots, strict=True)]
        strength = self.product.xreplace(values)
        found = [sp.cancel(sp.powsimp(rate - rates[0])) for rate in rates[1:]]
        moved = sp.diff(strength, z) * rates[0]
        claimed = self.balanced_rate.xreplace({STRENGTH: strength})
        found.append(sp.cancel(sp.powsimp(sp.expand(moved) - sp.expand(claimed))))
        return tuple(found)

    def speed_against(self, other: Chain) -> sp.Expr:
        """Return by which factor this chain is faster than another of the same depth.

        Both balanced, with the same s, d and initial strength: π here at time t is π there at
        time factor·t, because the two rates of π differ by a number.

        Raises:
            InputError: The rates differ by more than a number.
        """
        ratio = sp.powsimp(sp.cancel(self.balanced_rate / other.balanced_rate))
        if ratio.has(STRENGTH):
            msg = "the two chains differ in more than their counts; give the same depth, s and d"
            raise InputError(msg)
        return sp.simplify(self.gain / other.gain)
