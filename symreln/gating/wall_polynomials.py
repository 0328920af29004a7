r"""Polynomials in one parameter between whose roots gates and their self-consistency stay the same.

*Which gates there are* depends on the signs of the r-rowed minors of X alone (r the rank): on the
oriented matroid of the samples. Between roots of these minors the list is the same.

*Whether a gate is self-consistent* depends on eigenvalues of :math:`M = \Sigma^T \Sigma`,
:math:`\Sigma = R\,{\rm diag}(g)X^T/P`, staying apart and off 0, and then, for an eigenspace with
basis V(Δ) of dimension m, on the signs of the m-rowed minors of :math:`V^T X`. Where V(Δ) loses
rank all of these vanish, so such points are roots too. Over an irrational eigenvalue the norm of
:math:`v\cdot x_\mu` takes the minor's place: it vanishes if any conjugate does.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

from flint import fmpz_mpoly

from symreln.errors import LimitReachedError, NotSupportedError
from symreln.exact.field import Field
from symreln.exact.matrix import ExactMatrix
from symreln.exact.polynomials import SPECTRAL, characteristic, in_x, independent_rows
from symreln.exact.scalar import polynomial_ring
from symreln.exact.spectrum import JointSpectrum, ModeClass
from symreln.verdict.coincidence import resultant

#: Minors of one matrix above which an answer for all values of a parameter is refused.
_MOST_MINORS = 20_000


def realisability(inputs: ExactMatrix) -> list[fmpz_mpoly]:
    """Return polynomials between whose roots the list of gates is the same.

    Args:
        inputs: X over Q(parameter), shape (n_x, P).

    Raises:
        LimitReachedError: There are more than ``_MOST_MINORS`` minors.
    """
    return [
        inputs.denominator,
        *minors(inputs.select(rows=independent_rows(inputs.T.numerators()))),
    ]


def consistency(inputs: ExactMatrix, spectrum: JointSpectrum) -> list[fmpz_mpoly]:
    """Return polynomials between whose roots a gate stays self-consistent, or stays not so.

    Args:
        inputs: X over Q(parameter).
        spectrum: Of R diag(g) Xᵀ/P, see :func:`symreln.gating.consistent.gate_spectrum`.

    Raises:
        NotSupportedError: An irrational eigenvalue has several directions for all values.
        LimitReachedError: There are more than ``_MOST_MINORS`` minors.
    """
    found = [inputs.denominator, *ordering(spectrum)]
    for one in spectrum.classes:
        if not one.is_null:
            found += _openings(inputs, spectrum, one)
    return found


def ordering(spectrum: JointSpectrum) -> list[fmpz_mpoly]:
    """Return polynomials between whose roots a gate's growth rates keep number and order."""
    found = [spectrum.sigma_yx.denominator]
    for a, one in enumerate(spectrum.classes):
        found += _apart(one)
        found += [resultant(one, two, 0) for two in spectrum.classes[:a]]
    return found


def _apart(one: ModeClass) -> list[fmpz_mpoly]:
    """Return where conjugates of a class meet, or are 0 or infinite."""
    characteristic = Field(one.minpoly).characteristic(one.eigenvalue)
    found = [value.denominator for value in characteristic] + [one.minpoly[-1].numerator]
    if not one.is_null:
        found.append(characteristic[0].numerator)
    if one.degree > 1:
        names = one.minpoly[0].parameters
        ring = polynomial_ring(names)
        for coefficients in (one.minpoly, characteristic):
            discriminant = in_x(coefficients).discriminant(SPECTRAL)
            found.append(discriminant.project_to_context(ring))
    return found


def _openings(inputs: ExactMatrix, spectrum: JointSpectrum, one: ModeClass) -> list[fmpz_mpoly]:
    """Return where a direction of a class's eigenspaces reaches the boundary of a sample."""
    if one.degree == 1:
        seen = (one.generators.T @ inputs).reduced()
        return [seen.denominator, *minors(seen)]
    if one.multiplicity > 1:
        msg = (
            "gates over a parameter: a growth rate of degree "
            f"{one.degree} has {one.multiplicity} directions for all values of the parameter, "
            "which is decided at single values only. Give the parameter a value"
        )
        raise NotSupportedError(msg)
    field = Field(one.minpoly)
    (column,), found = spectrum.spanning(one), []
    table = ExactMatrix.from_rows(column, spectrum.parameters)
    for total in (inputs.promoted(spectrum.parameters).T @ table).rows():
        norm = field.characteristic(tuple(total))[0]
        found += [norm.numerator, *(value.denominator for value in total)]
    return found


def minors(matrix: ExactMatrix) -> list[fmpz_mpoly]:
    """Return the distinct largest minors, not 0, of a matrix no higher than it is wide.

    Raises:
        LimitReachedError: There are more than ``_MOST_MINORS``.
    """
    height, width = matrix.shape
    if comb(width, height) > _MOST_MINORS:
        msg = (
            f"gates over a parameter: {comb(width, height)} minors of {height} × {width}, more "
            f"than {_MOST_MINORS}. Use fewer samples, race gates over the values of a label "
            "(--by), or ask for gates at one value (`symreln gates`)"
        )
        raise LimitReachedError(msg)
    if not height:
        return []
    columns = {tuple(map(str, column)): column for column in matrix.T.numerators()}.values()
    # The constant term of det(x - A) is ± det A.
    names, one = matrix.parameters, polynomial_ring(matrix.parameters).constant(1)
    determinants = (characteristic([*c], one, names)[0] for c in combinations(columns, height))
    found = (each.numerator for each in determinants)
    return [*{str(value): value for value in found if not value.is_zero()}.values()]
