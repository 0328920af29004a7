r"""What a stage learns, in factored form: :math:`Y - \sum_p A_p H_p F_p`.

Y is sparse; A_p H_p (n_y × inputs of p) is the map that a converged pathway p has learned and F_p
its gated inputs (:mod:`symreln.verdict.residual`). The n_y × P matrix itself is made only where
something asks for it; correlations and products with few vectors never do.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Protocol

from symreln.base.records import record
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar


class _Learned(Protocol):
    """What one converged pathway gives out: left (right features); made when asked for."""

    @property
    def left(self) -> ExactMatrix:
        """Sigma^{yx}(p), shape (n_y, inputs of the pathway)."""
        ...

    @property
    def right(self) -> ExactMatrix:
        """H_p, square."""
        ...

    @property
    def features(self) -> ExactMatrix:
        """F_p, shape (inputs of the pathway, P)."""
        ...


@record(eq=False)
class Targets:
    """Targets of a stage, shape (n_y, P).

    Attributes:
        start: The sparse part.
        learned: What is subtracted from it.
        power: ‖Y‖²/(2P) where it is known already.
    """

    start: ExactMatrix
    learned: tuple[_Learned, ...] = ()
    power: Scalar | None = None

    @classmethod
    def of(cls, matrix: ExactMatrix) -> Targets:
        """Return targets that are a matrix."""
        return cls(start=matrix)

    @property
    def shape(self) -> tuple[int, int]:
        """(n_y, P)."""
        return self.start.shape

    def times(self, samples: ExactMatrix) -> ExactMatrix:
        """Return Y·samples for a matrix with P rows."""
        total = self.start @ samples
        for part in self.learned:
            # Cancelled among the inputs first: what is left has few monomials, or is zero.
            inner = (part.right @ (part.features @ samples)).reduced()
            if not inner.is_zero:
                total = total - part.left @ inner
        return total

    def correlated(self, features: ExactMatrix) -> ExactMatrix:
        """Return Y featuresᵀ/P, shape (n_y, rows of the features)."""
        return self.times(features.T).scale(Fraction(1, self.shape[1]))

    @cached_property
    def matrix(self) -> ExactMatrix:
        """The whole matrix."""
        total = self.start
        for part in self.learned:
            total = total - part.left @ (part.right @ part.features)
        return total.reduced()

    @property
    def square(self) -> Scalar:
        """‖Y‖², multiplied out: what is learned stays in its factors."""
        total = self.start.frobenius(self.start)
        for part in self.learned:
            left, features = part.left.T, part.features.T
            total = total - part.right.frobenius(left @ (self.start @ features)) * 2
            for other in self.learned:
                inner = (left @ other.left) @ (other.right @ (other.features @ features))
                total = total + part.right.frobenius(inner)
        return total

    @cached_property
    def half_power(self) -> Scalar:
        """‖Y‖²/(2P), the loss of a stage that has learned nothing."""
        if self.power is not None:
            return self.power
        return self.matrix.frobenius(self.matrix) / (2 * self.shape[1])
