r"""Where coupled modes end: equilibria and their stability, exactly.

Coupled modes obey :math:`\tau\dot\pi_a = 2\pi_a(s_a - \sum_b \kappa_{ab}\pi_b)`. With
:math:`\pi_a = s_a \varphi_a` this is :math:`\tau\dot\varphi_a = 2 s_a \varphi_a \delta_a`,

.. math:: \delta_a = 1 - \sum_b F_{ab}\,\varphi_b, \qquad F_{aa} = d_a,
   \quad F_{ab} = \kappa_{ab}\, s_b / s_a,

and F is rational where modes have rational s². Conjugate modes are one unknown: phi is a
polynomial in their root, and F acts on its coefficients, so that everything stays rational.

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
from symreln.exact.field import Field
from symreln.exact.scalar import Scalar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from symreln.exact.spectrum import ModeClass

    Coefficients = tuple[Scalar, ...]
    Rows = list[list[Scalar]]
    Values = Mapping[str, Fraction]
    Support = tuple[bool, ...]


@record(eq=False)
class Equilibrium:
    """An equilibrium of the modes that compete.

    Attributes:
        support: Whether a class of modes is there, one entry a class.
        phi: pi/s of every class as a polynomial in its root; zero outside the support.
        drives: delta of every class, in the same form; zero inside the support.
    """

    support: Support
    phi: tuple[Coefficients, ...]
    drives: tuple[Coefficients, ...]


@record(eq=False)
class Competition:
    """Classes of modes that act on each other, directly or through others.

    Attributes:
        classes: Their mode classes, all with s > 0 and with d.
        factors: (target, source) -> for every power of the source's root the polynomial in the
            target's root that it acts by; indices into ``classes``.
    """

    classes: tuple[ModeClass, ...]
    factors: Mapping[tuple[int, int], tuple[Coefficients, ...]]

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The field of every class."""
        return tuple(Field(c.minpoly) for c in self.classes)

    def _zeros(self) -> Rows:
        names = self.classes[0].minpoly[0].parameters
        size = sum(c.degree for c in self.classes)
        return [[Scalar(names, 0)] * size for _ in range(size)]

    @cached_property
    def matrix(self) -> Rows:
        """F on the coefficients of all phi, one class after another."""
        rows = self._zeros()
        for p, (c, field) in enumerate(zip(self.classes, self.fields, strict=True)):
            assert c.d is not None
            self._fill(rows, p, p, field.multiplication(c.d))
        for (p, j), factors in self.factors.items():
            self._fill(rows, p, j, factors)
        return rows

    @cached_property
    def weights(self) -> Rows:
        """W: the form Σ m s² phi psi over all modes, on coefficients."""
        rows = self._zeros()
        for p, (c, field) in enumerate(zip(self.classes, self.fields, strict=True)):
            powers = field.multiplication(c.eigenvalue)
            sums = [
                [field.trace(x) * c.multiplicity for x in field.multiplication(a)] for a in powers
            ]
            self._fill(rows, p, p, [tuple(row) for row in sums])
        return rows

    @cached_property
    def form(self) -> Rows:
        """W F, the quadratic form of the loss."""
        columns = list(zip(*self.matrix, strict=True))
        return [[_dot(row, column) for column in columns] for row in self.weights]

    @property
    def has_lyapunov(self) -> bool:
        """Whether W F is symmetric, so that the loss falls along the flow of modes."""
        return all(
            self.form[i][j] == self.form[j][i] for i in range(len(self.form)) for j in range(i)
        )

    def is_convex(self, values: Values) -> bool:
        """Whether W F is positive definite at parameter values; it must be symmetric."""
        rows = [[entry.substitute(values).to_fraction() for entry in row] for row in self.form]
        for k, pivot_row in enumerate(rows):
            if pivot_row[k] <= 0:
                return False
            for row in rows[k + 1 :]:
                ratio = row[k] / pivot_row[k]
                row[:] = [a - ratio * b for a, b in zip(row, pivot_row, strict=True)]
        return True

    def equilibrium(self, support: Support) -> Equilibrium:
        """Return the solution of delta = 0 on a support; W F must be definite.

        Whether its strengths are positive is not asked; see :meth:`signs`.
        """
        inside = [i for p in range(len(support)) if support[p] for i in self._places(p)]
        one = self._one()
        # Of W F rather than F: without exchange of rows no pivot is 0.
        found = _solve(
            [[self.form[i][j] for j in inside] for i in inside],
            [_dot(self.weights[i], one) for i in inside],
        )
        phi = [entry * 0 for entry in one]
        for i, value in zip(inside, found, strict=True):
            phi[i] = value
        drives = [one[i] - _dot(row, phi) for i, row in enumerate(self.matrix)]
        return Equilibrium(support=support, phi=self._split(phi), drives=self._split(drives))

    def signs(self, p: int, element: Coefficients, values: Values) -> set[int]:
        """Return the signs of an element of a class's field at all its roots; exact."""
        minpoly = self.classes[p].minpoly
        return {
            AlgebraicNumber(minpoly=minpoly, coefficients=element, root=root).sign(values)
            for root in range(len(minpoly) - 1)
        }

    def settled(self, values: Values) -> Equilibrium | None:
        """Return the equilibrium that attracts all positive starts, by Murty's pivoting.

        W F must be symmetric and positive definite, which makes the search end: the class with
        the least index that is negative, or grows although it is absent, changes sides.

        Returns:
            The equilibrium, or None where of conjugate modes some win and others lose.
        """
        support = (True,) * len(self.classes)
        while True:
            found = self.equilibrium(support)
            wrong = None
            for p, there in enumerate(support):
                signs = self.signs(p, (found.phi if there else found.drives)[p], values)
                bad = -1 if there else 1
                if bad in signs:
                    if len(signs) > 1:
                        return None
                    wrong = p
                    break
            if wrong is None:
                return self._trimmed(found, values)
            support = tuple(there != (p == wrong) for p, there in enumerate(support))

    def _trimmed(self, found: Equilibrium, values: Values) -> Equilibrium | None:
        """Take classes whose strength is exactly 0 out of the support."""
        signs = [self.signs(p, phi, values) for p, phi in enumerate(found.phi)]
        if any(len(sign) > 1 for sign in signs):
            return None
        return self.equilibrium(tuple(sign == {1} for sign in signs))

    def gain(self, found: Equilibrium) -> Scalar:
        """Return what an equilibrium takes off the loss: half of w·phi, since F phi = 1."""
        one = self._one()
        phi = [entry for part in found.phi for entry in part]
        return _dot(one, [_dot(row, phi) for row in self.weights]) / 2

    def strength(self, p: int, element: Coefficients, root: int) -> AlgebraicNumber:
        """Return |s g(theta)| of a mode, exactly: the root of s² g²."""
        field, c = self.fields[p], self.classes[p]
        square = field.multiply(c.eigenvalue, field.multiply(element, element))
        return AlgebraicNumber(minpoly=c.minpoly, coefficients=square, root=root, is_sqrt=True)

    # -- coefficients ---------------------------------------------------------------------------

    def _places(self, p: int) -> range:
        start = sum(c.degree for c in self.classes[:p])
        return range(start, start + self.classes[p].degree)

    def _fill(self, rows: Rows, p: int, j: int, columns: Sequence[Sequence[Scalar]]) -> None:
        """Write columns[l][k], the coefficient of theta_p^k in what theta_j^l does."""
        for column, place in zip(columns, self._places(j), strict=True):
            for value, row in zip(column, self._places(p), strict=True):
                rows[row][place] = value

    def _one(self) -> list[Scalar]:
        return [entry for field in self.fields for entry in field.constant(1)]

    def _split(self, entries: Sequence[Scalar]) -> tuple[Coefficients, ...]:
        return tuple(tuple(entries[i] for i in self._places(p)) for p in range(len(self.classes)))


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
