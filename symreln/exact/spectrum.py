"""The joint spectrum of Sigma^{yx} and Sigma^x, exact over Q and over Q(parameters).

With M = (Sigma^{yx})^T Sigma^{yx}, orthonormal U and V with Sigma^{yx} = U S V^T and
Sigma^x = V D V^T exist if and only if M and Sigma^x commute (theory.md 3). The modes are the joint
eigenspaces; no normalised vector and no root is ever computed for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from flint import fmpz_mat

from symreln.errors import InputError
from symreln.exact.algebraic import AlgebraicNumber, compressed_average, order_key
from symreln.exact.blocks import invariant_blocks
from symreln.exact.eigenvalues import Family, solve_block
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar, polynomial_ring

if TYPE_CHECKING:
    import numpy as np
    from flint import fmpz_mpoly

    from symreln.exact.eigenvalues import Eigenvalues

Coefficients = tuple[Scalar, ...]


@dataclass(frozen=True, kw_only=True)
class Operator:
    """T = weight_m·M + weight_x·Sigma^x, taken at a parameter point where ``at`` has entries.

    Attributes:
        weight_m: Weight of M.
        weight_x: Weight of Sigma^x, often 0.
        at: Parameter values; empty, or one for every parameter.
    """

    weight_m: Scalar
    weight_x: Scalar
    at: tuple[tuple[str, Fraction], ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
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


@dataclass(frozen=True, kw_only=True, eq=False)
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


@dataclass(frozen=True, kw_only=True, eq=False)
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
        point with no meaning other than that it is fixed.
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
        point = ordering_point(self.parameters, self.values)
        return tuple(sorted(modes, key=lambda mode: _order(mode, point)))

    def operator_matrix(self, mode_class: ModeClass) -> ExactMatrix:
        """Return T of a class."""
        operator = mode_class.operator
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


def _order(mode: Mode, point: Mapping[str, Fraction]) -> tuple:
    key = () if mode.d_is_average else (order_key(mode.d, point),)
    return (mode.is_null, order_key(mode.s, point), *key)


def joint_spectrum(
    sigma_yx: ExactMatrix,
    sigma_x: ExactMatrix,
    values: Mapping[str, Fraction] | None = None,
) -> JointSpectrum:
    """Return the joint spectrum of Sigma^{yx} and Sigma^x.

    Args:
        sigma_yx: n_y × n_x, exact.
        sigma_x: n_x × n_x, exact, symmetric.
        values: Parameter values at which the modes are put in order.

    Raises:
        InputError: The shapes do not fit or sigma_x is not symmetric.
    """
    size = sigma_x.shape[0]
    if sigma_x.shape != (size, size) or sigma_yx.shape[1] != size or size == 0:
        msg = (
            f"joint spectrum: sigma_yx has shape {sigma_yx.shape} and sigma_x {sigma_x.shape}; "
            "needed are (n_y, n_x) and (n_x, n_x) with n_x >= 1"
        )
        raise InputError(msg)
    yx, x = sigma_yx.aligned(sigma_x)
    yx, x = yx.reduced(), x.reduced()
    if not (x - x.T).is_zero:
        msg = "joint spectrum: sigma_x is not symmetric; give X X^T / P"
        raise InputError(msg)
    scaled = _Scaled(yx, x)
    commutator = scaled.commutator()
    classes = _classes(scaled, with_x=commutator is None)
    spectrum = JointSpectrum(
        sigma_yx=yx,
        sigma_x=x,
        commutator=commutator,
        classes=classes,
        values=dict(values or {}),
    )
    vars(spectrum)["m"] = scaled.gram  # the cached property's value: it is known already
    return spectrum


class _Scaled:
    """M and Sigma^x as polynomial matrices over Z without a common integer factor.

    M = m·m_content/m_denominator and Sigma^x = x·x_content/x_denominator.
    """

    def __init__(self, sigma_yx: ExactMatrix, sigma_x: ExactMatrix) -> None:
        self.parameters = sigma_x.parameters
        self.size = sigma_x.shape[0]
        self.gram = sigma_yx.gram()
        self.m, self.m_content = _primitive(self.gram)
        self.m_denominator = sigma_yx.denominator**2
        self.x, self.x_content = _primitive(sigma_x)
        self.x_denominator = sigma_x.denominator

    def commutator(self) -> Commutator | None:
        forward = self.m @ self.x
        difference = forward - forward.T  # (M X)^T = X M, both being symmetric
        found = difference.first_nonzero()
        if found is None:
            return None
        row, column, value = found
        scale = Scalar(
            self.parameters,
            polynomial_ring(self.parameters).constant(self.m_content * self.x_content),
            self.m_denominator * self.x_denominator,
        )
        norm = difference.frobenius(difference) / forward.frobenius(forward)
        return Commutator(row=row, column=column, value=value * scale, relative_norm_squared=norm)


def _primitive(matrix: ExactMatrix) -> tuple[ExactMatrix, int]:
    """Return (numerators without a common integer factor, that factor)."""
    common = matrix.content() or 1
    return matrix.divided(common, 1), common


def _classes(scaled: _Scaled, *, with_x: bool) -> tuple[ModeClass, ...]:
    matrices = list(scaled.m.terms.values())
    m_index = {key: place for place, key in enumerate(scaled.m.terms)}
    x_index: dict[tuple[int, ...], int] | None = None
    if with_x:
        x_index = {key: len(matrices) + place for place, key in enumerate(scaled.x.terms)}
        matrices += list(scaled.x.terms.values())
    if not matrices:
        matrices = [fmpz_mat(scaled.size, scaled.size)]
    generic = 0
    if len(matrices) > 1 and (scaled.parameters or not m_index):
        matrices.append(_mixture(matrices))
        generic = len(matrices) - 1
    family = Family(
        parameters=scaled.parameters,
        m=m_index,
        x=x_index,
        zeros=(scaled.m_denominator, scaled.x_denominator),
    )
    found = [
        _mode_class(values, block.basis, scaled)
        for block in invariant_blocks(matrices, generic)
        for values in solve_block(block, family)
    ]
    classes = _merged(found)
    if sum(item.dimension for item in classes) != scaled.size:
        msg = "the multiplicities do not add up to the number of inputs"
        raise ArithmeticError(msg)
    return classes


def _mixture(matrices: list[fmpz_mat]) -> fmpz_mat:
    """Return a fixed integer combination that is unlikely to be special."""
    weight = 1
    total = fmpz_mat(matrices[0].nrows(), matrices[0].ncols())
    for matrix in matrices:
        weight = weight * 48271 % 101 + 1  # a short multiplicative generator; small weights
        total = total + matrix * weight
    return total


def _mode_class(values: Eigenvalues, basis: tuple[fmpz_mat, ...], scaled: _Scaled) -> ModeClass:
    names = scaled.parameters
    ring = polynomial_ring(names)
    lambda_scale = Scalar(names, ring.constant(scaled.m_content), scaled.m_denominator)
    d_scale = Scalar(names, ring.constant(scaled.x_content), scaled.x_denominator)
    eigenvalue = tuple(value * lambda_scale for value in values.eigenvalue)
    d = None if values.d is None else tuple(value * d_scale for value in values.d)
    if len(eigenvalue) == 1:
        operator = Operator(weight_m=Scalar(names, 1), weight_x=Scalar(names, 0))
        minpoly: list[fmpz_mpoly] = [-eigenvalue[0].numerator, eigenvalue[0].denominator]
    else:
        at: tuple[tuple[str, Fraction], ...] = ()
        weight_m, weight_x = 1 / lambda_scale, values.t / d_scale
        if values.at is not None:
            at = tuple((n, Fraction(v)) for n, v in zip(names, values.at, strict=True))
            weight_m = Scalar.of(weight_m.substitute(dict(at)), names)
            weight_x = Scalar.of(weight_x.substitute(dict(at)), names)
        operator = Operator(weight_m=weight_m, weight_x=weight_x, at=at)
        minpoly = list(values.minpoly)
    generators = _generators(values, basis, names)
    return ModeClass(
        minpoly=tuple(Scalar(names, coefficient) for coefficient in minpoly),
        eigenvalue=eigenvalue,
        d=d,
        multiplicity=generators.shape[1],
        generators=generators,
        operator=operator,
    )


def _generators(
    values: Eigenvalues, basis: tuple[fmpz_mat, ...], names: tuple[str, ...]
) -> ExactMatrix:
    height, copies = basis[0].nrows(), basis[0].ncols()
    parts: list[ExactMatrix] = []
    for vector in values.vectors:
        terms: dict[tuple[int, ...], fmpz_mat] = {}
        for word, entry in zip(basis, vector, strict=True):
            for exponents, coefficient in entry.to_dict().items():
                key = tuple(int(e) for e in exponents)
                part = word * coefficient
                terms[key] = terms[key] + part if key in terms else part
        parts.append(ExactMatrix((height, copies), names, terms))
    return parts[0] if len(parts) == 1 else ExactMatrix.beside(parts)


def _merged(classes: list[ModeClass]) -> tuple[ModeClass, ...]:
    """Join classes that hold the same modes in unlike blocks."""
    table: dict[tuple, list[ModeClass]] = {}
    for item in classes:
        at = item.operator.at
        key = (item.minpoly, item.eigenvalue, item.d, item.operator.weight_x, at)
        table.setdefault(key, []).append(item)
    result = []
    for group in table.values():
        first = group[0]
        if len(group) > 1:
            generators = ExactMatrix.beside([item.generators for item in group])
            first = replace(first, generators=generators, multiplicity=generators.shape[1])
        result.append(first)
    return tuple(result)
