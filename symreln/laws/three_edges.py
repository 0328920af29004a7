r"""Closed form of a chain of three edges of which two start equally strong, scaled by their use.

With :math:`w_l = \sqrt{n_l}\,x_l` all three :math:`x_l^2` differ by constants. Where two of them
agree, with x that of the third and :math:`\delta = x(0)^2 - x_{pair}(0)^2`,

.. math:: \tau\dot x = \sqrt N\,(x^2-\delta)\,(s - d\pi),\qquad \pi = \sqrt N\,x\,(x^2-\delta),
          \qquad N = n_1 n_2 n_3,

whose integrand is rational: t(x) is elementary. Three different starts lead to elliptic integrals
(a square root of a cubic), and no elementary form is given. Source: [Saxe2022] for the equations.
"""

from __future__ import annotations

from functools import cached_property

import sympy as sp

from symreln.base.records import record
from symreln.laws.law import TIME_CONSTANT

X = sp.Symbol("x", positive=True)
DELTA = sp.Symbol("delta", real=True)


@record
class ThreeEdges:
    r"""Time t(x) at which the single edge has reached x, from x0; in the unit of tau.

    Attributes:
        total: N, product of the three counts.
        s: Singular value, positive.
        d: Input eigenvalue, positive.
        sign: Sign of delta: -1, 0 or 1; each has its form.
        delta: x0² minus the square of the pair, ignored where the sign is 0.
    """

    total: sp.Expr
    s: sp.Expr
    d: sp.Expr
    sign: int
    delta: sp.Expr = DELTA

    @property
    def shift(self) -> sp.Expr:
        """Delta, 0 where the sign says so."""
        return self.delta if self.sign else sp.S.Zero

    @property
    def velocity(self) -> sp.Expr:
        """τ dx/dt in x."""
        return sp.sqrt(self.total) * (X**2 - self.shift) * (self.s - self.d * self.strength)

    @property
    def strength(self) -> sp.Expr:
        """π in x."""
        return sp.sqrt(self.total) * X * (X**2 - self.shift)

    @cached_property
    def start_integral(self) -> sp.Expr:
        """∫ dx/(x² - delta): what passes while the error is still s."""
        if self.sign == 0:
            return -1 / X
        root = sp.sqrt(self.sign * self.delta)
        if self.sign < 0:
            return sp.atan(X / root) / root
        return sp.log((X - root) / (X + root)) / (2 * root)

    @cached_property
    def end_polynomial(self) -> sp.Expr:
        """q(x) = s - d√N x(x² - delta), the error; its positive root is the plateau."""
        return self.s - self.d * self.strength

    def weight(self, root: sp.Expr) -> sp.Expr:
        """Return the factor of log(x - root) in the sum over the roots of q."""
        return -root / (3 * root**2 - self.shift)

    def root_term(self, root: sp.Expr) -> sp.Expr:
        """Return one term of the sum over the roots of q."""
        return self.weight(root) * sp.log(X - root)

    @cached_property
    def end_sum(self) -> sp.RootSum:
        """∫ d√N x/q dx as a sum over the roots r of q: what the falling error adds."""
        r = sp.Dummy("r")
        term = sp.Lambda(r, self.root_term(r))
        polynomial = sp.Poly(self.end_polynomial.xreplace({X: r}), r)
        return sp.RootSum(polynomial, term, auto=False)

    @property
    def primitive(self) -> sp.Expr:
        """The time that it takes to x, up to a constant: differences of it are times."""
        return TIME_CONSTANT / (sp.sqrt(self.total) * self.s) * (self.start_integral + self.end_sum)

    def residual(self) -> sp.Expr:
        r"""Return dt/dx · dx/dt - 1; 0 exactly where the form is proven.

        The derivative of the sum over roots has rational terms, a symmetric function of the
        roots: it is a trace of the same function of the companion matrix of q.
        """
        r = sp.Dummy("r")
        start = sp.diff(self.start_integral, X)
        term = sp.diff(self.root_term(r), X)
        end = _sum_over_roots(term, r, sp.Poly(self.end_polynomial.xreplace({X: r}), r))
        slope = (start + end) / (sp.sqrt(self.total) * self.s)
        return sp.cancel(sp.together(slope * self.velocity - 1))


def _sum_over_roots(term: sp.Expr, root: sp.Symbol, cubic: sp.Poly) -> sp.Expr:
    """Return Σ term(r) over the roots of a cubic, exact and without its roots.

    A rational function of r is evaluated at the companion matrix, whose eigenvalues are the roots.
    """
    monic = [sp.cancel(c / cubic.LC()) for c in cubic.all_coeffs()]
    companion = sp.Matrix([[0, 0, -monic[3]], [1, 0, -monic[2]], [0, 1, -monic[1]]])

    def at(polynomial: sp.Expr) -> sp.Matrix:
        total = sp.zeros(3)
        for coefficient in sp.Poly(polynomial, root).all_coeffs():  # Horner's rule
            total = total * companion + coefficient * sp.eye(3)
        return total

    top, bottom = sp.fraction(sp.together(term))
    below = at(bottom)
    return sp.cancel((at(top) * below.adjugate()).trace() / below.det())
