"""Inverses, pseudo-inverses, ranks and projectors over Q(parameters).

With parameters, a symmetric matrix is first cut into constant invariant blocks
(:mod:`symreln.exact.blocks`); only the small blocks are inverted over Q(parameters).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import fmpz, fmpz_mat

from symreln.errors import InputError
from symreln.exact import integers, polynomials
from symreln.exact.blocks import invariant_blocks
from symreln.exact.field import Field, quotient_coefficients
from symreln.exact.integer_matrix import IntegerMatrix
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar, polynomial_ring
from symreln.exact.spectrum import Mode, ModeClass

if TYPE_CHECKING:
    from flint import fmpq_mat, fmpz_mpoly

    from symreln.exact.blocks import Block
    from symreln.exact.spectrum import JointSpectrum

Exponents = tuple[int, ...]


def inverse(matrix: ExactMatrix) -> ExactMatrix:
    """Return the inverse of a square matrix over Q(parameters).

    Raises:
        ZeroDivisionError: The matrix is singular.
    """
    _square(matrix, "inverse")
    if not matrix.shape[0]:
        return matrix
    if matrix.is_constant:
        return _constant_inverse(matrix)
    if (matrix - matrix.T).is_zero:
        result, nullity = _by_blocks(matrix)
        if nullity:
            msg = "the matrix is singular"
            raise ZeroDivisionError(msg)
        return result
    return _by_adjugate(matrix)


def pseudo_inverse(matrix: ExactMatrix) -> ExactMatrix:
    """Return the Moore-Penrose inverse of a symmetric matrix over Q(parameters).

    It is the inverse on the image and zero on the kernel; for a constant matrix it is
    (A + N)^{-1} - N with N the projector on the kernel.

    Raises:
        InputError: The matrix is not symmetric.
    """
    _square(matrix, "pseudo_inverse")
    if not (matrix - matrix.T).is_zero:
        msg = "pseudo_inverse: the matrix is not symmetric; for A use (AᵀA)⁺ Aᵀ"
        raise InputError(msg)
    if matrix.is_zero:
        return matrix
    if not matrix.is_constant:
        return _by_blocks(matrix)[0]
    numerator, _ = matrix.integers()
    null = integers.kernel(numerator)
    if not null.ncols():
        return _constant_inverse(matrix)
    projector = subspace_projector(ExactMatrix.from_integers(null, 1, matrix.parameters))
    return (_constant_inverse(matrix + projector) - projector).reduced()


def rank(matrix: ExactMatrix) -> int:
    """Return the rank over Q(parameters), exactly."""
    if matrix.is_zero:
        return 0
    if matrix.is_constant:
        return int(matrix.integers()[0].rank())
    table = matrix.numerators()
    full = min(matrix.shape)
    if len(polynomials.rows_at_point(list(zip(*table, strict=True)))) == full:
        return full  # full rank at one point modulo a prime proves it
    gram = matrix.T @ matrix if matrix.shape[1] <= matrix.shape[0] else matrix @ matrix.T
    return gram.shape[0] - _by_blocks(gram)[1]


def subspace_projector(basis: ExactMatrix) -> ExactMatrix:
    """Return the orthogonal projector W (WᵀW)^{-1} Wᵀ on the columns of ``basis``.

    Raises:
        ZeroDivisionError: The columns are dependent.
    """
    if not basis.shape[1]:
        return ExactMatrix.zeros(basis.shape[0], basis.shape[0], basis.parameters)
    return (basis @ inverse(basis.T @ basis) @ basis.T).reduced()


def complement_projector(columns: ExactMatrix) -> ExactMatrix:
    """Return the orthogonal projector on what is orthogonal to all columns, dependent or not."""
    chosen: list[int] = []
    for place in range(columns.shape[1]):
        if rank(columns.select(columns=[*chosen, place])) > len(chosen):
            chosen.append(place)
    whole = ExactMatrix.identity(columns.shape[0], columns.parameters)
    return (whole - subspace_projector(columns.select(columns=chosen))).reduced()


def spectral_projector(mode: Mode | ModeClass) -> ExactMatrix:
    """Return the projector on the space of a mode whose eigenvalue is rational.

    Raises:
        InputError: The mode's class has degree > 1: its projector is not over Q(parameters).
    """
    mode_class = mode.mode_class if isinstance(mode, Mode) else mode
    if mode_class.degree > 1:
        msg = (
            f"spectral_projector: the mode is one of {mode_class.degree} conjugate ones, so its "
            "projector is irrational; use conjugate_projectors or numpy_modes"
        )
        raise InputError(msg)
    return subspace_projector(mode_class.generators)


def conjugate_projectors(spectrum: JointSpectrum, mode_class: ModeClass) -> tuple[ExactMatrix, ...]:
    r"""Return P_0, …, P_{k-1} with the projector on the mode at theta being Σ_i theta^i P_i.

    For every root theta of the class's polynomial f of degree k

    .. math:: P_\theta = \sum_j \frac{c_j(\theta)}{f'(\theta)}\, T^j E_f,
       \qquad \frac{f(x)}{x - \theta} = \sum_j c_j(\theta)\, x^j,

    with E_f the projector on the space of all conjugate modes. The polynomial in T is 1 at theta
    and 0 at the other roots, which are simple, and T is symmetric and satisfies f on that space.

    Args:
        spectrum: The spectrum that the class belongs to.
        mode_class: One of its classes.
    """
    operator = spectrum.operator_matrix(mode_class)
    words = [mode_class.generators]
    while len(words) < mode_class.degree:
        words.append((operator @ words[-1]).reduced())
    power = subspace_projector(ExactMatrix.beside(words))
    field = Field(mode_class.minpoly)
    slope = [c * j for j, c in enumerate(mode_class.minpoly)][1:]
    inverse_slope = field.inverse(field.reduce(slope))
    names = spectrum.parameters
    total = [ExactMatrix.zeros(*power.shape, names) for _ in range(field.degree)]
    for quotient in quotient_coefficients(mode_class.minpoly):
        weight = field.multiply(field.reduce(quotient), inverse_slope)
        total = [part + power.scale(w) for part, w in zip(total, weight, strict=True)]
        power = (operator @ power).reduced()
    return tuple(part.reduced() for part in total)


def _square(matrix: ExactMatrix, name: str) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        msg = f"{name}: the matrix has shape {matrix.shape}; it must be square"
        raise InputError(msg)


def _constant_inverse(matrix: ExactMatrix) -> ExactMatrix:
    numerator, denominator = matrix.integers()
    top, bottom = integers.inverse(numerator)
    return ExactMatrix.from_integers(top * denominator, bottom, matrix.parameters).reduced()


def _by_adjugate(matrix: ExactMatrix) -> ExactMatrix:
    names = matrix.parameters
    table = matrix.numerators()
    adjugate, determinant, nullity = _group_inverse(table, names)
    if nullity:
        msg = "the matrix is singular"
        raise ZeroDivisionError(msg)
    entries = [entry for row in adjugate for entry in row]
    found = ExactMatrix.of_polynomials(matrix.shape, names, entries)
    return found.scale(Scalar(names, matrix.denominator, determinant)).reduced()


# -- with parameters ------------------------------------------------------------------------------


def _by_blocks(matrix: ExactMatrix) -> tuple[ExactMatrix, int]:
    """Return (pseudo-inverse, nullity) of a symmetric matrix.

    With A Q = Q b for a constant basis Q and b block-diagonal, A⁺ = Q b# Q^{-1}: a symmetric
    matrix's pseudo-inverse is its group inverse, which respects similarity.
    """
    names = matrix.parameters
    keys = list(matrix.terms)
    family = [matrix.terms[key].flint for key in keys]
    generic = 0
    if len(family) > 1:
        family.append(_mixture(family))
        generic = len(family) - 1
    blocks = invariant_blocks(family, generic)
    size = matrix.shape[0]
    whole = integers.stack_columns([part for block in blocks for part in block.basis], size)
    numerator, denominator = integers.inverse(whole)
    rows = numerator.tolist()
    total = ExactMatrix.zeros(size, size, names)
    nullity = 0
    start = 0
    for block in blocks:
        left = []
        for _ in block.basis:
            left.append(fmpz_mat(rows[start : start + block.copies]))
            start += block.copies
        table, scale = _table(block.actions, keys, names)
        inverted, bottom, lost = _group_inverse(table, names)
        nullity += lost * block.copies
        # The table is scale·b, so its group inverse is b#/scale.
        total = total + _assembled(block, left, inverted, names).scale(
            Scalar(names, polynomial_ring(names).constant(scale), bottom * denominator)
        )
    # A = numerator/q, so A⁺ = q·numerator⁺.
    return total.scale(Scalar(names, matrix.denominator)).reduced(), nullity


def _mixture(family: list[fmpz_mat]) -> fmpz_mat:
    weight = 1
    total = fmpz_mat(family[0].nrows(), family[0].ncols())
    for member in family:
        weight = weight * 48271 % 101 + 1
        total = total + member * weight
    return total


def _table(
    actions: tuple[fmpq_mat, ...], keys: list[Exponents], names: tuple[str, ...]
) -> tuple[polynomials.Table, int]:
    scale = 1
    for action in actions:
        scale = int(fmpz(scale).lcm(action.numer_denom()[1]))
    ring = polynomial_ring(names)
    size = range(actions[0].nrows())
    table = [
        [
            ring.from_dict({key: (actions[k][i, j] * scale).p for k, key in enumerate(keys)})
            for j in size
        ]
        for i in size
    ]
    return table, scale


def _group_inverse(
    table: polynomials.Table, names: tuple[str, ...]
) -> tuple[polynomials.Table, fmpz_mpoly, int]:
    """Return (numerators of b#, their denominator, nullity) of a diagonalisable matrix b.

    With charpoly x^r q(x), q(0) ≠ 0, and u(x) = (q(0) - q(x))/(q(0) x): u(b) inverts b on its
    image, and b# = b u(b)² is zero on its kernel besides.
    """
    one = polynomial_ring(names).constant(1)
    coefficients = polynomials.characteristic(table, names)
    nullity = next(i for i, value in enumerate(coefficients) if not value.is_zero())
    q = coefficients[nullity:]
    size = len(table)
    zero = one - one
    u: polynomials.Table = [[zero] * size for _ in range(size)]
    for coefficient in reversed(q[1:]):
        u = polynomials.product(table, u)
        u = [
            [entry - coefficient if i == j else entry for j, entry in enumerate(row)]
            for i, row in enumerate(u)
        ]
    if not nullity:
        return u, q[0], 0
    return polynomials.product(table, polynomials.product(u, u)), q[0] * q[0], nullity


def _assembled(
    block: Block, left: list[fmpz_mat], table: polynomials.Table, names: tuple[str, ...]
) -> ExactMatrix:
    """Return Σ_ij Q_i·table_ij·left_j."""
    size = block.basis[0].nrows()
    terms: dict[Exponents, fmpz_mat] = {}
    for i, column in enumerate(block.basis):
        for j, row in enumerate(left):
            if table[i][j].is_zero():
                continue
            outer = column * row
            for exponents, coefficient in table[i][j].to_dict().items():
                key = tuple(int(e) for e in exponents)
                part = outer * coefficient
                terms[key] = terms[key] + part if key in terms else part
    held = {key: IntegerMatrix.of_flint(part) for key, part in terms.items()}
    return ExactMatrix((size, size), names, held)
