r"""Numbers of the λ-balanced matrices: float64 that is stable for any time, and certified balls.

In the eigenbasis O of F, with eigenvalues Λ and A = OᵀQ₀,
:math:`QQ^T = O C (I + B^TB)^{-1} C^T O^T`, :math:`C = e^{Λt}A`, :math:`B = \sqrt{β G} A`.
Rows of B differ by factors of exp(Λt), which overflow; their logarithms do not. Rows are
eliminated by orthogonal transformations from the right, at each step the one that is largest at
that time, so that B = L D with D diagonal and L unit lower triangular with entries of at most 1:
nothing overflows, and the competition of modes for few hidden units is resolved by exact ratios
of their growth.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat

from symreln.base.records import record
from symreln.errors import LimitReachedError
from symreln.exact.enclosure import ball, precision, real_roots
from symreln.exact.matrix import ExactMatrix
from symreln.laws.ops import phi

#: A row that is smaller than this, relative to what it was computed from, is rounding.
_ROUNDING = 1e-14
#: Bits of the balls from which it is decided what is learned, the precision that is spent on it
#: (weights of exp(−1000) have grown by then), and times that are looked at.
_BITS = 40
_FEW_BITS = 1 << 12
_DOUBLINGS = 60


class Blocks(NamedTuple):
    """The blocks of QQᵀ at one time, or at several along a first axis.

    Attributes:
        input_gram: W₁ᵀW₁, n_x × n_x.
        product: The network W₂W₁, n_y × n_x.
        output_gram: W₂W₂ᵀ, n_y × n_y.
    """

    input_gram: Any
    product: Any
    output_gram: Any


@record
class MatrixFlow:
    r"""Two weight matrices that are lambda-balanced, and what drives them: white inputs.

    Attributes:
        sigma_yx: Σ^{yx}, n_y × n_x, exact and without parameters.
        w1: W₁ at t = 0, H × n_x, exact.
        w2: W₂ at t = 0, n_y × H, exact.
        beta: β, the scale of white inputs.
        balance: λ.
        tau: Time constant in steps.
    """

    sigma_yx: ExactMatrix
    w1: ExactMatrix
    w2: ExactMatrix
    beta: Fraction
    balance: Fraction
    tau: Fraction = Fraction(1)


def gram_float(flow: MatrixFlow, times: np.ndarray) -> np.ndarray:
    """Return QQᵀ in float64 at any times, shape (times, n_x + n_y, n_x + n_y).

    Directions in which Q(0) is below 1e-14 of its size count as empty: in floats they cannot be
    told from it. Errors are relative to the largest entry.

    Args:
        flow: The matrices.
        times: Times in steps, >= 0, of any order.
    """
    beta = float(flow.beta)
    basis, eigenvalues = _eigenbasis(flow.sigma_yx.to_numpy(), beta * float(flow.balance))
    start = np.vstack([flow.w1.to_numpy().T, flow.w2.to_numpy()])
    rows = basis.T @ start
    rows[np.linalg.norm(rows, axis=1) < _ROUNDING * np.linalg.norm(start)] = 0
    found = np.empty((len(times), len(start), len(start)))
    for index, time in enumerate(np.asarray(times, dtype=float) / float(flow.tau)):
        factor = start if time == 0 else basis @ _factor(rows, eigenvalues, beta, float(time))
        found[index] = factor @ factor.T
    return found


def _eigenbasis(sigma_yx: np.ndarray, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the orthonormal eigenvectors of F in columns, and its eigenvalues.

    Every singular triple (u, s, v) of Σ gives the eigenvalues ±sqrt(s² + shift²/4), in the plane
    of (v, 0) and (0, u); what is left of the larger side has ∓shift/2.
    """
    u, s, vt = np.linalg.svd(sigma_yx)
    n_y, n_x = sigma_yx.shape
    kappa = np.hypot(s, shift / 2)
    large = kappa + abs(shift) / 2
    ratio = np.where(large > 0, s / np.where(large > 0, large, 1.0), 0.0)
    norm = np.sqrt(1 + ratio**2)
    x, y = (ratio / norm, 1 / norm) if shift >= 0 else (1 / norm, ratio / norm)
    r = len(s)
    v = vt.T
    plus = np.vstack([v[:, :r] * x, u[:, :r] * y])
    minus = np.vstack([-v[:, :r] * y, u[:, :r] * x])
    left = np.vstack([v[:, r:], np.zeros((n_y, n_x - r))])
    right = np.vstack([np.zeros((n_x, n_y - r)), u[:, r:]])
    rest = [np.full(n_x - r, -shift / 2), np.full(n_y - r, shift / 2)]
    return np.hstack([plus, minus, left, right]), np.concatenate([kappa, -kappa, *rest])


def _factor(rows: np.ndarray, eigenvalues: np.ndarray, beta: float, time: float) -> np.ndarray:
    """Return Y with QQᵀ = Y Yᵀ in the eigenbasis, at a time > 0 in units of tau."""
    span = time * phi(2 * np.abs(eigenvalues) * time)
    half = np.log(beta * span) / 2
    size = np.maximum(eigenvalues, 0) * time + half
    lower, scales = _pivoted(rows, size)
    # B = L D: I + BᵀB in the scale min(D, 1) of its columns has entries of order 1.
    small = np.minimum(scales, 0)
    scaled = lower * np.exp(small)
    gram = np.diag(np.exp(2 * (small - scales))) + scaled.T @ scaled
    solved = np.linalg.solve(np.linalg.cholesky(gram), scaled.T).T
    return np.exp(np.minimum(eigenvalues, 0) * time - half)[:, None] * solved


def _pivoted(rows: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factor diag(exp(size)) rows = L diag(exp(scales)) Vᵀ, V orthonormal, |L| <= 1.

    Returns:
        L, shape (rows, rank), and the logarithms of D, shape (rank,).
    """
    left = rows.copy()
    norms = np.linalg.norm(rows, axis=1)
    columns, scales = [], []
    with np.errstate(divide="ignore"):
        for _ in range(min(rows.shape)):
            length = np.linalg.norm(left, axis=1)
            left[length <= _ROUNDING * norms] = 0
            weight = size + np.log(np.where(length > _ROUNDING * norms, length, 0.0))
            pivot = int(np.argmax(weight))
            if not np.isfinite(weight[pivot]):
                break
            direction = left[pivot] / length[pivot]
            share = left @ direction
            left -= np.outer(share, direction)
            left -= np.outer(left @ direction, direction)  # twice is enough
            left[pivot] = 0
            exponent = size + np.log(np.abs(share)) - weight[pivot]
            columns.append(np.sign(share) * np.exp(exponent))
            scales.append(weight[pivot])
    lower = np.stack(columns, axis=1) if columns else np.zeros((len(rows), 0))
    return lower, np.array(scales)


def blocks_ball(flow: MatrixFlow, time: Fraction, bits: int, most: int = 1 << 17) -> Blocks:
    """Return certified balls of the blocks of QQᵀ at an exact time in steps.

    The working precision is raised until every entry has ``bits`` correct bits relative to the
    largest entry of its block.

    Raises:
        LimitReachedError: That would take more than ``most`` bits: the modes have grown too far
            apart.
    """
    working = 2 * bits
    while working <= most:
        with precision(working):
            found = _gram(flow, time)
            if found is not None and all(_narrow(block, bits) for block in found):
                return found
        working *= 2
    msg = f"lambda-balanced matrices: t = {time} needs more than {most} bits"
    raise LimitReachedError(msg)


def _narrow(block: arb_mat, bits: int) -> bool:
    """Whether every entry has so many correct bits, relative to the largest one."""
    largest = max((abs(entry).upper() for entry in block.entries()), default=arb(0))
    return all(entry.rad() <= largest * arb(2) ** -bits for entry in block.entries())


def learned_by(flow: MatrixFlow) -> Fraction | None:
    """Return a time in steps from which everything is proven to be learned in the end.

    None where none was found: times are doubled until the modes have grown too far apart for
    :func:`blocks_ball`, or nothing moves any more.
    """
    least = _least_square(flow.sigma_yx)
    if least is None:
        return Fraction(0)
    goal = flow.sigma_yx.scale(1 / flow.beta).to_fractions()
    time = flow.tau
    for _ in range(_DOUBLINGS):
        try:
            found = blocks_ball(flow, time, _BITS, _FEW_BITS).product
        except LimitReachedError:
            return None
        with precision(2 * _BITS):
            left = _distance(goal, found)
            if left * flow.beta.numerator**2 < least * flow.beta.denominator**2:
                return time
        time *= 2
    return None


def _distance(goal: list[list[Fraction]], found: arb_mat) -> arb:
    """Return the sum of all squared differences."""
    total = arb(0)
    for i, row in enumerate(goal):
        for j, value in enumerate(row):
            total += (ball(value) - found[i, j]) ** 2
    return total


def _least_square(sigma_yx: ExactMatrix) -> arb | None:
    """Return a ball of the least s² of Σ^{yx} that is not 0, or None for a zero matrix."""
    rows = (sigma_yx @ sigma_yx.T).to_fractions()
    gram = fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in rows])
    coefficients = [Fraction(int(c.p), int(c.q)) for c in gram.charpoly()]
    nulls = next(k for k, c in enumerate(coefficients) if c)
    roots = real_roots(tuple(coefficients[nulls:]), 2 * _BITS)
    return roots[0] if roots else None


def _gram(flow: MatrixFlow, time: Fraction) -> Blocks | None:
    """Return the blocks of QQᵀ at the working precision, or None where balls are too wide."""
    sigma, w1, w2 = (m.to_fractions() for m in (flow.sigma_yx, flow.w1, flow.w2))
    n_y, n_x, hidden = len(sigma), len(sigma[0]), len(w1)
    n, shift = n_x + n_y, flow.beta * flow.balance / 2
    f = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        f[i][i] = -shift if i < n_x else shift
    for k in range(n_y):
        for i in range(n_x):
            f[n_x + k][i] = f[i][n_x + k] = sigma[k][i]
    t = time / flow.tau
    # exp of [[2F, I], [0, 0]] t holds exp(2Ft) and its integral.
    big = [[2 * t * x for x in row] + [t * (i == j) for j in range(n)] for i, row in enumerate(f)]
    big += [[Fraction(0)] * (2 * n) for _ in range(n)]
    whole = arb_mat([[ball(x) for x in row] for row in big]).exp()
    integral = arb_mat([[whole[i, n + j] for j in range(n)] for i in range(n)])
    grown = arb_mat([[ball(t * x) for x in row] for row in f]).exp()
    q = arb_mat(
        [[ball(w1[h][i]) for h in range(hidden)] for i in range(n_x)]
        + [[ball(x) for x in row] for row in w2]
    )
    one = arb_mat([[int(i == j) for j in range(hidden)] for i in range(hidden)])
    middle = one + ball(flow.beta) * (q.transpose() * integral * q)
    right = q.transpose() * grown
    try:
        whole = right.transpose() * middle.solve(right)
    except ZeroDivisionError:
        return None
    above, below = range(n_x), range(n_x, n)
    return Blocks(
        *(
            arb_mat([[whole[i, j] for j in columns] for i in rows])
            for rows, columns in ((above, above), (below, above), (below, below))
        )
    )
