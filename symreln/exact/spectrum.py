"""The joint spectrum of Sigma^{yx} and Sigma^x, exact over Q and over Q(parameters).

With M = (Sigma^{yx})^T Sigma^{yx}, orthonormal U and V with Sigma^{yx} = U S V^T and
Sigma^x = V D V^T exist if and only if M and Sigma^x commute (theory.md 3). The modes are the joint
eigenspaces; no normalised vector and no root is ever computed for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import fmpz_mat

from symreln.errors import InputError, LimitReachedError
from symreln.exact.blocks import invariant_blocks
from symreln.exact.eigenclasses import Family
from symreln.exact.eigenvalues import solve_block
from symreln.exact.integer_matrix import IntegerMatrix
from symreln.exact.matrix import ExactMatrix
from symreln.exact.modes import (
    Commutator,
    JointSpectrum,
    Mode,
    ModeClass,
    Operator,
    ordering_point,
)
from symreln.exact.scalar import Scalar, polynomial_ring

if TYPE_CHECKING:
    from flint import fmpz_mpoly

    from symreln.exact.eigenclasses import Eigenvalues

__all__ = [
    "Commutator",
    "JointSpectrum",
    "Mode",
    "ModeClass",
    "Operator",
    "joint_spectrum",
    "ordering_point",
]

#: Terms of an entry of M Sigma^x up to which its norm and the commutator's are certified: they have
#: ten times as many, and the certificate is checked in Python.
MOST_TERMS = 1000


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
        if len(forward.terms) > MOST_TERMS:
            msg = (
                f"Sigma^yx^T Sigma^yx Sigma^x has entries of up to {len(forward.terms)} terms in "
                f"{len(self.parameters)} parameters and is not symmetric, and {MOST_TERMS} are the "
                "most of which the commutator is certified. Give some of the parameters as "
                "numbers, or take data and gains of a lower degree"
            )
            raise LimitReachedError(msg)
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
    matrices = [part.flint for part in scaled.m.terms.values()]
    m_index = {key: place for place, key in enumerate(scaled.m.terms)}
    x_index: dict[tuple[int, ...], int] | None = None
    if with_x:
        x_index = {key: len(matrices) + place for place, key in enumerate(scaled.x.terms)}
        matrices += [part.flint for part in scaled.x.terms.values()]
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
        held = {key: IntegerMatrix.of_flint(part) for key, part in terms.items()}
        parts.append(ExactMatrix((height, copies), names, held))
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
