"""Modes: joint eigenspaces of M = (Sigma^{yx})^T Sigma^{yx} and Sigma^x, in classes of conjugates.

No normalised vector and no root is held, only spaces, polynomials and indices of roots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from symreln.exact import text
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.averages import compressed_average
from symreln.exact.matrix import ExactMatrix
from symreln.exact.order import order_key
from symreln.exact.scalar import Scalar

if TYPE_CHECKING:
    import numpy as np

Coefficients = tuple[Scalar, ...]


@dataclass(frozen=True, kw_only=True)
class Operator:
    """T = weight_m·M + weight_x·Sigma^x, taken at a parameter point where ``at`` has entries.

    Where neither M nor Sigma^x tells modes apart, T is a matrix of its own.

    Attributes:
        weight_m: Weight of M.
        weight_x: Weight of Sigma^x, often 0.
        at: Parameter values; empty, or one for every parameter.
        matrix: T itself where it is no such sum; the weights are not used then.
    """

    weight_m: Scalar
    weight_x: Scalar
    at: tuple[tuple[str, Fraction], ...] = ()
    matrix: ExactMatrix | None = None

    @property
    def is_sum(self) -> bool:
        """Whether T is a sum of M and Sigma^x for all parameters."""
        return not self.at and self.matrix is None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ModeClass:
    """Modes that are conjugate: one for every root theta of an irreducible polynomial.

    Attributes:
        minpoly: f, irreducible over Q(parameters), coefficients low to high: polynomials over Z,
            primitive, positive leading coefficient. Degree k.
        eigenvalue: lambda(theta) = s^2 as coefficients of 1, theta, …, theta^{k-1}.
        d: d(theta) in the same form, where Sigma^x is scalar on the mode; None where it is not.
        multiplicity: m, the dimension of each mode's space.
        generators: n_x × m. With T, the columns w_i span the class as {T^j w_i : j < k}.
        operator: T.
    """

    minpoly: Coefficients
    eigenvalue: Coefficients
    d: Coefficients | None
    multiplicity: int
    generators: ExactMatrix
    operator: Operator

    @property
    def degree(self) -> int:
        """k, the number of conjugate modes."""
        return len(self.minpoly) - 1

    @property
    def dimension(self) -> int:
        """Dimension of the invariant space, k·m."""
        return self.degree * self.multiplicity

    @property
    def is_null(self) -> bool:
        """Whether s = 0."""
        return all(coefficient.is_zero for coefficient in self.eigenvalue)

    def __repr__(self) -> str:
        polynomial = text.univariate([value.numerator for value in self.minpoly], "theta")
        return f"ModeClass({polynomial} = 0, multiplicity {self.multiplicity})"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Mode:
    """One mode: a root of a class.

    Attributes:
        mode_class: The class.
        root: Index of the root theta among the real roots of f, ascending, from 0.
        s: Singular value of Sigma^{yx}, not negative.
        multiplicity: m.
        d_is_average: True where Sigma^x is not scalar on the mode's space: ``d`` is then the mean
            tr(P Sigma^x)/m and no constant of any equation.
    """

    mode_class: ModeClass
    root: int
    s: AlgebraicNumber
    multiplicity: int
    d_is_average: bool
    _spectrum: JointSpectrum

    @property
    def is_null(self) -> bool:
        """Whether s = 0."""
        return self.mode_class.is_null

    def __repr__(self) -> str:
        return f"Mode(s = {self.s.to_sympy()}, multiplicity {self.multiplicity})"

    @cached_property
    def d(self) -> AlgebraicNumber:
        """The matching eigenvalue of Sigma^x (or its mean, see ``d_is_average``)."""
        mode_class = self.mode_class
        coefficients = mode_class.d
        if coefficients is None:
            coefficients = compressed_average(
                self._spectrum.operator_matrix(mode_class),
                mode_class.minpoly,
                mode_class.generators,
                self._spectrum.sigma_x,
            )
        return AlgebraicNumber(
            minpoly=mode_class.minpoly, coefficients=coefficients, root=self.root
        )


@dataclass(frozen=True, kw_only=True)
class Commutator:
    """Why M and Sigma^x do not commute.

    Attributes:
        row: Row of the first non-zero entry of M Sigma^x - Sigma^x M, in reading order, from 0.
        column: Its column.
        value: The entry.
        relative_norm_squared: ‖[M, Sigma^x]‖_F² / ‖M Sigma^x‖_F².
    """

    row: int
    column: int
    value: Scalar
    relative_norm_squared: Scalar


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JointSpectrum:
    """Joint eigenspaces of M and Sigma^x, or eigenspaces of M where they do not commute.

    Attributes:
        sigma_yx: n_y × n_x.
        sigma_x: n_x × n_x.
        commutator: None where M and Sigma^x commute, the witness where they do not.
        classes: The conjugacy classes of modes.
        values: Parameter values at which the modes are ordered.
    """

    sigma_yx: ExactMatrix
    sigma_x: ExactMatrix
    commutator: Commutator | None
    classes: tuple[ModeClass, ...]
    values: Mapping[str, Fraction]

    @property
    def commutes(self) -> bool:
        """Whether Sigma^{yx} and Sigma^x share right singular vectors."""
        return self.commutator is None

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return self.sigma_x.parameters

    @property
    def n_x(self) -> int:
        """The number of inputs."""
        return self.sigma_x.shape[0]

    @cached_property
    def m(self) -> ExactMatrix:
        """M = (Sigma^{yx})^T Sigma^{yx}."""
        return self.sigma_yx.gram()

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """All modes, s descending, then d descending, null modes last.

        The order is that at ``values``; a parameter without a value takes 1 + 1/(2 + index), a
        point with no meaning other than that it is fixed. There all do where s or d is infinite at
        ``values``.
        """
        modes = [
            Mode(
                mode_class=mode_class,
                root=root,
                s=AlgebraicNumber(
                    minpoly=mode_class.minpoly,
                    coefficients=mode_class.eigenvalue,
                    root=root,
                    is_sqrt=True,
                ),
                multiplicity=mode_class.multiplicity,
                d_is_average=mode_class.d is None,
                _spectrum=self,
            )
            for mode_class in self.classes
            for root in range(mode_class.degree)
        ]
        try:
            return _ordered(modes, ordering_point(self.parameters, self.values))
        except ZeroDivisionError:
            return _ordered(modes, ordering_point(self.parameters, {}))

    def operator_matrix(self, mode_class: ModeClass) -> ExactMatrix:
        """Return T of a class."""
        operator = mode_class.operator
        if operator.matrix is not None:
            return operator.matrix
        if operator.at:
            at = dict(operator.at)
            total = self.m.substitute(at).scale(operator.weight_m.substitute(at))
            if not operator.weight_x.is_zero:
                total = total + self.sigma_x.substitute(at).scale(operator.weight_x.substitute(at))
            return total.promoted(self.parameters)
        total = self.m.scale(operator.weight_m)
        if not operator.weight_x.is_zero:
            total = total + self.sigma_x.scale(operator.weight_x)
        return total.reduced()

    def __repr__(self) -> str:
        found = "commutes" if self.commutes else "does not commute"
        n_y, n_x = self.sigma_yx.shape
        names = f"({', '.join(self.parameters)})" if self.parameters else ""
        modes = sum(mode_class.degree for mode_class in self.classes)
        return f"JointSpectrum(sigma_yx {n_y}×{n_x} over Q{names}, {found}, {modes} modes)"

    def numpy_modes(
        self, values: Mapping[str, Fraction] | None = None
    ) -> tuple[tuple[float, float, np.ndarray], ...]:
        """Return (s, d, V) in float64 for every mode, in the order of ``modes``.

        V has shape (n_x, m) and orthonormal columns; U = Sigma^{yx} V / s. See
        :func:`symreln.exact.numeric.numpy_modes` for the accuracy.
        """
        from symreln.exact.numeric import numpy_modes

        return numpy_modes(self, dict(self.values) if values is None else values)


def ordering_point(
    parameters: tuple[str, ...], values: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    """Return the parameter values that order the modes."""
    return {
        name: Fraction(values.get(name, 1 + Fraction(1, 2 + index)))
        for index, name in enumerate(parameters)
    }


def _ordered(modes: list[Mode], point: Mapping[str, Fraction]) -> tuple[Mode, ...]:
    return tuple(sorted(modes, key=lambda mode: _order(mode, point)))


def _order(mode: Mode, point: Mapping[str, Fraction]) -> tuple:
    key = () if mode.d_is_average else (order_key(mode.d, point),)
    return (mode.is_null, order_key(mode.s, point), *key)
