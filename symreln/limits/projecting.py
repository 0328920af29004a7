r"""What a converged stage leaves, exactly where that is quick and else within a proven distance.

Let F hold independent features that span the row space of all features that write to some output
rows, and S = Y Fᵀ/P, A = F Fᵀ/P. A converged stage gives these rows out as the projection
:math:`Y \Pi = S A^{-1} F`. For any G with :math:`\Delta = G A - 1`,

.. math:: S G F - Y \Pi = S \Delta A^{-1} F, \qquad
   \|S G F - Y \Pi\|_F \le \|S\|_F \|\Delta\|_F \sqrt{P \|A^{-1}\|}, \qquad
   \|A^{-1}\| \le \frac{\|G\|_F}{1 - \|\Delta\|_F},

because A⁻¹F Fᵀ A⁻¹ = P A⁻¹ and A⁻¹ = (1 + Δ)⁻¹ G. With G = A⁻¹ nothing is lost. Data without
structure have an inverse with thousands of digits in every entry; there G is the inverse that
floats give, after a few steps of Newton's method, and Δ is computed from it in integers. Where Y
itself is off by some matrix, the residual is off by that matrix times 1 − Π, which is no larger.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np
from flint import fmpz_mat

from symreln.exact import integers
from symreln.exact.certified import FLOAT_BITS, fixed, root_bound, square_sum
from symreln.exact.matrix import ExactMatrix
from symreln.exact.projection import independent_rows
from symreln.exact.sparse import SparseMatrix
from symreln.network.targets import Targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flint import fmpq_mat

    from symreln.network.effective import EffectiveDataset

#: Bits of all entries of an inverse up to which it is computed exactly: a fraction of a second.
QUICK_BITS = 4_000_000
#: Features up to which they are eliminated as a dense matrix modulo a prime.
MOST_DENSE = 700
#: Steps of Newton's method for an inverse, the bits that each may add, and ‖GA - 1‖ to reach.
MOST_STEPS = 4
STEP_BITS = 64
NEAR_ENOUGH = Fraction(1, 10**20)


@dataclass(frozen=True, kw_only=True, eq=False)
class Projection:
    """S G F on some output rows, as :class:`symreln.network.targets.Targets` subtracts it.

    Attributes:
        left: S, shape (n_y, rows of F); zero in the other output rows.
        right: G.
        features: F.
    """

    left: SparseMatrix
    right: SparseMatrix
    features: SparseMatrix


def leftover(goal: Targets, stage: Sequence[EffectiveDataset]) -> tuple[Targets, Fraction]:
    """Return what a converged stage leaves, and how far off that is at most (Frobenius norm).

    Args:
        goal: What the stage learns, without parameters.
        stage: All its pathways.

    Raises:
        ArithmeticError: The data's entries are beyond the range of floats.
    """
    learned: list[Projection] = []
    error = Fraction(0)
    for members, rows in _writers(goal, stage).items():
        spanning = _spanning([stage[i].features for i in members])
        if not spanning.shape[0]:
            continue
        inner = (spanning @ spanning.T).scale(Fraction(1, goal.shape[1])).reduced()
        outer = goal.correlated(spanning).masked(rows=rows).reduced()
        right, off, norm = _inverse(inner)
        learned.append(Projection(left=outer, right=right, features=spanning))
        if off:
            size = outer.frobenius(outer).to_fraction()
            error += root_bound(size * off * off * goal.shape[1] * norm, up=True)
    return Targets(start=goal.start, learned=(*goal.learned, *learned)), error


def squared(effective: EffectiveDataset) -> ExactMatrix:
    """Return M = (Sigma^{yx})ᵀ Sigma^{yx}, without the n_y × n_x matrix, which may be large.

    With targets Y - Σ_j S_j G_j F_j it is [A S_1 …] N, where A = Y Fᵀ/P and the S_j are sparse;
    N stacks 1 and -G_j F_j Fᵀ/P. So M = Nᵀ ([A S_1 …]ᵀ [A S_1 …]) N.
    """
    features, goal = effective.features, effective.goal
    outer = [Targets(start=goal.start).correlated(features)]
    inner = [SparseMatrix.from_exact(ExactMatrix.identity(features.shape[0]))]
    for part in goal.learned:
        seen = (part.right @ (part.features @ features.T)).scale(Fraction(-1, goal.shape[1]))
        if not seen.is_zero:
            outer.append(part.left)
            inner.append(seen.reduced().T)
    beside = effective.masked(SparseMatrix.beside(outer)).reduced()
    below = SparseMatrix.beside(inner).T.reduced().exact  # dense from here on
    return (below.T @ ((beside.T @ beside).reduced().exact @ below)).reduced()


def _writers(goal: Targets, stage: Sequence[EffectiveDataset]) -> dict[tuple[int, ...], list[int]]:
    """Return the output rows that every set of pathways (by place) writes to."""
    writers: dict[tuple[int, ...], list[int]] = {}
    own_rows = [set(effective.pathway.outputs) for effective in stage]
    for row in range(goal.shape[0]):
        members = tuple(i for i, rows in enumerate(own_rows) if row in rows)
        if members:
            writers.setdefault(members, []).append(row)
    return writers


def _spanning(features: Sequence[SparseMatrix]) -> SparseMatrix:
    """Return rows of the features that are independent and span all of them, proven."""
    stacked = SparseMatrix.beside([part.T for part in features]).T
    gram = (stacked @ stacked.T).reduced()
    # Rows with a Gram matrix that is regular modulo a prime are independent.
    small = stacked.shape[0] <= MOST_DENSE
    chosen = (
        integers.pivot_columns(gram.exact.integers()[0]) if small else independent_rows(stacked)
    )
    basis = stacked.select(rows=chosen)
    filled = {row for part in stacked.terms.values() for row in part.rows.tolist()}
    left = sorted(filled - set(chosen))
    if left and len(chosen) < stacked.shape[1]:
        inner = gram.select(rows=chosen, columns=chosen).exact.integers()[0]
        outer = gram.select(rows=chosen, columns=left).exact.integers()[0]
        # Both over the Gram matrix's denominator, which cancels.
        weights = ExactMatrix.from_integers(*_solved(inner, outer))
        if SparseMatrix.from_exact(weights).T @ basis != stacked.select(rows=left):
            msg = "rows are dependent modulo 2^61 - 1 but not over Q"
            raise ArithmeticError(msg)
    return basis


def _solved(matrix: fmpz_mat, right: fmpz_mat) -> tuple[fmpz_mat, int]:
    """Return (numerators, denominator) of the solution of a regular system."""
    top, bottom = cast("fmpq_mat", matrix.solve(right)).numer_denom()
    return top, int(bottom)


def _inverse(matrix: SparseMatrix) -> tuple[SparseMatrix, Fraction, Fraction]:
    """Return (G, bound of ‖GA - 1‖_F, bound of ‖A⁻¹‖) for a positive definite A.

    The bounds are 0 where G is A⁻¹.
    """
    whole, denominator = matrix.exact.integers()
    if not _has_short_inverse(whole):
        near = _near_inverse(matrix, whole, denominator)
        if near is not None:
            return near
    top, bottom = integers.inverse(whole)
    exact = ExactMatrix.from_integers(top * denominator, bottom).reduced()
    return SparseMatrix.from_exact(exact), Fraction(0), Fraction(0)


def _has_short_inverse(whole: fmpz_mat) -> bool:
    """Guess from one solution, which has the inverse's denominator, whether it is quick to get."""
    size = whole.nrows()
    chance = random.Random(size)
    right = fmpz_mat(size, 1, [chance.randint(-99, 99) for _ in range(size)])
    return _solved(whole, right)[1].bit_length() * size * size <= QUICK_BITS


def _near_inverse(
    matrix: SparseMatrix, whole: fmpz_mat, denominator: int
) -> tuple[SparseMatrix, Fraction, Fraction] | None:
    """Return what :func:`_inverse` returns, near A⁻¹; None where floats are no start."""
    floats = matrix.to_numpy()
    if not np.isfinite(floats).all():
        msg = "enclosures of a later stage: the data's entries are beyond the range of float64"
        raise ArithmeticError(msg)
    try:
        first = np.linalg.inv(floats)
    except np.linalg.LinAlgError:
        return None
    largest = float(np.abs(first).max())
    if not np.isfinite(largest):
        return None
    bits = max(FLOAT_BITS + STEP_BITS - int(np.frexp(largest)[1]), 0)
    start, unit = fixed(first, bits), 1 << bits
    size = whole.nrows()
    one = integers.identity(size)
    for _ in range(MOST_STEPS):
        # 2G - G A G, over the denominator unit²·denominator.
        top = start * (2 * unit * denominator) - start * (whole * start)
        bottom = unit * unit * denominator
        defect = top * whole - one * (bottom * denominator)
        off = root_bound(Fraction(square_sum(defect), (bottom * denominator) ** 2), up=True)
        if off <= NEAR_ENOUGH:
            norm = root_bound(Fraction(square_sum(top), bottom * bottom), up=True) / (1 - off)
            return SparseMatrix.from_exact(ExactMatrix.from_integers(top, bottom)), off, norm
        unit <<= STEP_BITS
        start = fmpz_mat(size, size, [entry * unit // bottom for entry in top.entries()])
    return None
