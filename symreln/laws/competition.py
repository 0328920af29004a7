r"""The competition of coupled modes: where it comes to rest, exactly.

Coupled modes obey :math:`\tau\dot\pi_a = 2\pi_a(s_a - \sum_b \kappa_{ab}\pi_b)`. With
:math:`\pi_a = s_a \varphi_a` this is :math:`\tau\dot\varphi_a = 2 s_a \varphi_a \delta_a`,

.. math:: \delta_a = 1 - \sum_b F_{ab}\,\varphi_b, \qquad F_{aa} = d_a,
   \quad F_{ab} = \kappa_{ab}\, s_b / s_a,

and F is rational where all s² and d are; of conjugate modes nothing is decided here.

*Equilibria.* Those with support S solve F_SS phi_S = 1. With w_a = m_a s_a² the loss is
:math:`L_0 - w^T\varphi + \frac12 \varphi^T W F \varphi`. Where W F is symmetric,
:math:`\tau \dot L = -2 \sum_a m_a \pi_a (s_a \delta_a)^2 \le 0`; where it is positive definite
too, L is strictly convex and has one minimum phi* over phi >= 0, the equilibrium whose delta_a
are <= 0 outside its support. It attracts every positive start: with V = Σ_a (w_a/s_a)(phi_a −
phi*_a − phi*_a ln phi_a),

.. math:: \tau \dot V = -2 (\varphi-\varphi^*)^T W F (\varphi-\varphi^*)
   + 2 \sum_a w_a \varphi_a \delta_a(\varphi^*) \le 0.

Source: [Saxe2022] for the system; the function V is Goh's, for Lotka-Volterra systems.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property

from flint import fmpz_mat

from symreln.base.records import record
from symreln.exact.linear import inverse
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar


@record(eq=False)
class Competition:
    """Coupled modes, one number a class of equal ones.

    Attributes:
        squares: s² of every class, not zero.
        counts: How many equal modes each has.
        matrix: F.
        declared: The parameters' values.
    """

    squares: tuple[Scalar, ...]
    counts: tuple[int, ...]
    matrix: ExactMatrix
    declared: Mapping[str, Fraction]

    @cached_property
    def weights(self) -> tuple[Scalar, ...]:
        """W, one number a class."""
        pairs = zip(self.squares, self.counts, strict=True)
        return tuple(square * count for square, count in pairs)

    @cached_property
    def form(self) -> ExactMatrix:
        """W F, the quadratic form of the loss."""
        return self.matrix.T.scaled_columns(self.weights).T.reduced()

    @property
    def _is_convex(self) -> bool:
        """Whether W F, which must be symmetric, is positive definite at the declared values."""
        rows = self.form.substitute(self.declared).reduced().integers()[0].tolist()
        leading = (fmpz_mat([row[:k] for row in rows[:k]]) for k in range(1, len(rows) + 1))
        return all(part.det() > 0 for part in leading)

    @property
    def why_open(self) -> str:
        """Why no equilibrium is proven to attract; "" where one is."""
        if self.form != self.form.T:
            return (
                "the couplings are not symmetric, and no function that falls along the flow is "
                "known"
            )
        if not self._is_convex:
            return (
                "the couplings are singular, so that it may depend on the start; it is integrated"
            )
        return ""

    def drives(self, phi: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        """Return delta of every class."""
        column = self.matrix @ ExactMatrix.from_rows([[x] for x in phi], self.matrix.parameters)
        return tuple(1 - column.entry(place, 0) for place in range(len(phi)))

    def _solved(self, support: list[int]) -> tuple[Scalar, ...]:
        """Return the solution of delta = 0 on a support; W F must be definite."""
        phi = [square * 0 for square in self.squares]
        if support:
            right = ExactMatrix.from_rows(
                [[self.weights[place]] for place in support], self.form.parameters
            )
            found = inverse(self.form.select(support, support)) @ right
            for row, place in enumerate(support):
                phi[place] = found.entry(row, 0)
        return tuple(phi)

    def settled(self) -> tuple[Scalar, ...]:
        """Return the equilibrium that attracts all positive starts, by Murty's pivoting.

        W F must be symmetric and positive definite, which makes the search end: the class with
        the least index that is negative, or grows although it is absent, changes sides.
        """
        inside = set(range(len(self.squares)))
        while True:
            phi = self._solved(sorted(inside))
            drives = self.drives(phi)
            wrong = [
                place
                for place in range(len(phi))
                if (self._at(phi[place]) < 0 if place in inside else self._at(drives[place]) > 0)
            ]
            if not wrong:
                # Without classes whose strength is exactly 0.
                return self._solved([p for p, value in enumerate(phi) if self._at(value) > 0])
            inside ^= {wrong[0]}

    def _at(self, value: Scalar) -> Fraction:
        return value.substitute(self.declared).to_fraction()

    def gain(self, phi: tuple[Scalar, ...]) -> Scalar:
        """Return what an equilibrium takes off the loss: half of w·phi, since F phi = 1."""
        pairs = zip(self.weights, phi, strict=True)
        return sum((w * x for w, x in pairs), start=self.squares[0] * 0) / 2

    def check(self, phi: tuple[Scalar, ...]) -> None:
        """Substitute an end into the drives of all modes.

        Raises:
            ArithmeticError: A drive is not what it should be: a bug of symreln.
        """
        for each, drive in zip(phi, self.drives(phi), strict=True):
            if self._at(drive) > 0 if each.is_zero else not (drive.is_zero and self._at(each) > 0):
                msg = "the derivation's own check failed: an equilibrium of coupled modes"
                raise ArithmeticError(msg)
