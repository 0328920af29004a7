r"""Where coupled modes end: equilibria and their stability, exactly.

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

from functools import cached_property
from typing import TYPE_CHECKING

from symreln.base.records import record
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    Rows = list[list[Scalar]]
    Values = Mapping[str, Fraction]
    Support = tuple[bool, ...]


@record(eq=False)
class Equilibrium:
    """An equilibrium of the modes that compete.

    Attributes:
        support: Whether a class of modes is there, one entry a class.
        phi: pi/s of every class; zero outside the support.
        drives: delta of every class; zero inside the support.
    """

    support: Support
    phi: tuple[Scalar, ...]
    drives: tuple[Scalar, ...]


@record(eq=False)
class Competition:
    """Classes of modes that act on each other, directly or through others.

    Attributes:
        squares: s² of every class, not zero.
        multiplicities: How many equal modes each stands for.
        matrix: F.
    """

    squares: tuple[Scalar, ...]
    multiplicities: tuple[int, ...]
    matrix: Rows

    @cached_property
    def weights(self) -> list[Scalar]:
        """W, one number a class."""
        return [s * m for s, m in zip(self.squares, self.multiplicities, strict=True)]

    @cached_property
    def form(self) -> Rows:
        """W F, the quadratic form of the loss."""
        rows = zip(self.weights, self.matrix, strict=True)
        return [[weight * entry for entry in row] for weight, row in rows]

    @property
    def has_lyapunov(self) -> bool:
        """Whether W F is symmetric, so that the loss falls along the flow of modes."""
        return all(
            self.form[i][j] == self.form[j][i] for i in range(len(self.form)) for j in range(i)
        )

    def is_convex(self, values: Values) -> bool:
        """Whether W F is positive definite at parameter values; it must be symmetric."""
        rows = [[_at(entry, values) for entry in row] for row in self.form]
        for k, pivot_row in enumerate(rows):
            if pivot_row[k] <= 0:
                return False
            for row in rows[k + 1 :]:
                ratio = row[k] / pivot_row[k]
                row[:] = [a - ratio * b for a, b in zip(row, pivot_row, strict=True)]
        return True

    def drives(self, phi: Sequence[Scalar]) -> tuple[Scalar, ...]:
        """Return delta of every class."""
        return tuple(1 - _dot(row, phi) for row in self.matrix)

    def equilibrium(self, support: Support) -> Equilibrium:
        """Return the solution of delta = 0 on a support; W F must be definite.

        Whether its strengths are positive is not asked.
        """
        inside = [place for place, there in enumerate(support) if there]
        # Of W F rather than F: without exchange of rows no pivot is 0.
        found = _solve(
            [[self.form[i][j] for j in inside] for i in inside], [self.weights[i] for i in inside]
        )
        phi = [square * 0 for square in self.squares]
        for i, value in zip(inside, found, strict=True):
            phi[i] = value
        return Equilibrium(support=support, phi=tuple(phi), drives=self.drives(phi))

    def settled(self, values: Values) -> Equilibrium:
        """Return the equilibrium that attracts all positive starts, by Murty's pivoting.

        W F must be symmetric and positive definite, which makes the search end: the class with
        the least index that is negative, or grows although it is absent, changes sides.
        """
        support = (True,) * len(self.squares)
        while True:
            found = self.equilibrium(support)
            wrong = [
                p
                for p, there in enumerate(support)
                if (_at(found.phi[p], values) < 0 if there else _at(found.drives[p], values) > 0)
            ]
            if not wrong:
                # Without classes whose strength is exactly 0.
                return self.equilibrium(tuple(_at(phi, values) > 0 for phi in found.phi))
            support = tuple(there != (p == wrong[0]) for p, there in enumerate(support))

    def gain(self, found: Equilibrium) -> Scalar:
        """Return what an equilibrium takes off the loss: half of w·phi, since F phi = 1."""
        return _dot(self.weights, found.phi) / 2

    def strength(self, p: int, phi: Scalar) -> AlgebraicNumber:
        """Return |s phi| of a class, exactly."""
        return AlgebraicNumber.rational(self.squares[p] * phi * phi, is_sqrt=True)


def _at(value: Scalar, values: Values) -> Fraction:
    return value.substitute(values).to_fraction()


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    total = a[0] * 0
    for x, y in zip(a, b, strict=True):
        if not x.is_zero and not y.is_zero:
            total = total + x * y
    return total


def _solve(rows: Rows, right: Sequence[Scalar]) -> list[Scalar]:
    """Return the x with rows·x = right over Q(parameters); no leading minor is 0."""
    work = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for place, pivot in enumerate(work):
        scale = 1 / pivot[place]
        pivot[:] = [entry * scale for entry in pivot]
        for row in work:
            if row is not pivot and not row[place].is_zero:
                factor = row[place]
                row[:] = [a - factor * b for a, b in zip(row, pivot, strict=True)]
    return [row[-1] for row in work]
