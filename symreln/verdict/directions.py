r"""Directions in which hidden units grow from small weights, and the gates that these open.

While weights are small the residual R is constant. A unit with gate g keeps its direction, and
grows with rate s, along a singular pair (v, u) of :math:`R\,{\rm diag}(g) X^T/P`; it keeps the gate
where v opens exactly the samples of g. Where s has several directions, any of their span will do:
whether one opens the right samples is a linear programme. (u, v) and (-u, -v) are both asked.

Source: Maennel et al. 2018, Boursier and Flammarion (early alignment).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat

from symreln.base.records import record
from symreln.exact.algebraic import AlgebraicNumber, order_key
from symreln.exact.field import Field
from symreln.exact.linear_programming import Number, direction, dot
from symreln.exact.matrix import ExactMatrix
from symreln.exact.real_algebraic import Real
from symreln.exact.spectrum import JointSpectrum, ModeClass, joint_spectrum

Vector = tuple[Number, ...]


@record(eq=False)
class Pair:
    """A singular value of a gate's correlation with all its right singular vectors.

    Attributes:
        s: The singular value, positive.
        vectors: Independent vectors that span them, not normalised; rational numbers (``fmpq``)
            or elements of one real field.
    """

    s: AlgebraicNumber
    vectors: tuple[Vector, ...]

    def opening(self, samples: Sequence[Vector], gate: Sequence[int]) -> Vector | None:
        """Return a vector of the vectors' span that opens exactly the gate's samples, or None.

        Args:
            samples: The columns of X.
            gate: 0 or 1 a sample.
        """
        strict = [x for x, g in zip(samples, gate, strict=True) if g]
        return self.opened_by(strict, [x for x, g in zip(samples, gate, strict=True) if not g])

    def opened_by(self, strict: Sequence[Vector], weak: Sequence[Vector]) -> Vector | None:
        """Return a vector of the vectors' span with v·x > 0 on strict x and v·x ≤ 0 on weak ones.

        Args:
            strict: Vectors of n_x entries.
            weak: Likewise.
        """
        positive, negative = (
            [[dot(vector, x) for vector in self.vectors] for x in rows] for rows in (strict, weak)
        )
        if len(self.vectors) == 1:
            for sign in (1, -1):
                if all(row[0] * sign > 0 for row in positive) and not any(
                    row[0] * sign > 0 for row in negative
                ):
                    return tuple(value * sign for value in self.vectors[0])
            return None
        answer = direction(positive, negative, len(self.vectors))
        if answer is None:
            return None
        return tuple(
            dot(answer, [vector[i] for vector in self.vectors]) for i in range(len(self.vectors[0]))
        )


def gated_correlation(
    inputs: ExactMatrix, residual: ExactMatrix, gate: Sequence[int]
) -> ExactMatrix:
    """Return R diag(g) Xᵀ/P, shape (n_y, n_x)."""
    places = [i for i, value in enumerate(gate) if value]
    seen = residual.select(columns=places) @ inputs.select(columns=places).T
    return seen.scale(Fraction(1, inputs.shape[1])).reduced()


def gate_spectrum(inputs: ExactMatrix, residual: ExactMatrix, gate: Sequence[int]) -> JointSpectrum:
    """Return the exact singular values of R diag(g) Xᵀ/P with their spaces."""
    sigma = gated_correlation(inputs, residual, gate)
    # Only the singular pairs are asked for: without Sigma^x, spaces are as large as they are.
    return joint_spectrum(sigma, ExactMatrix.zeros(sigma.shape[1], sigma.shape[1]))


def singular_pairs(spectrum: JointSpectrum) -> tuple[Pair, ...]:
    """Return the pairs with s > 0, the largest first, of a spectrum without parameters."""
    pairs = [
        Pair(s=mode.s, vectors=_eigenvectors(spectrum, mode.mode_class, mode.root))
        for mode in spectrum.modes
        if not mode.is_null
    ]
    return tuple(sorted(pairs, key=lambda pair: order_key(pair.s, {})))


def _eigenvectors(spectrum: JointSpectrum, mode_class: ModeClass, root: int) -> tuple[Vector, ...]:
    """Return vectors that span a mode's space, without parameters."""
    if mode_class.degree == 1:
        return tuple(columns(mode_class.generators))
    field = Field(mode_class.minpoly)
    return tuple(
        tuple(Real(field, root, field.pack(entry)) for entry in column)
        for column in spectrum.spanning(mode_class)
    )


def columns(matrix: ExactMatrix) -> list[Vector]:
    """Return the columns of a matrix without parameters as rational numbers.

    Raises:
        InputError: A parameter occurs.
    """
    numerator, denominator = matrix.integers()
    exact = fmpq_mat(numerator.transpose()) * fmpq(1, denominator)
    return [tuple(column) for column in exact.tolist()]
