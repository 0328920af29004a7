r"""λ-balanced matrices with white inputs: the whole weight matrices, no alignment assumed.

With :math:`\Sigma^x = \beta I` and :math:`W_2^T W_2 - W_1 W_1^T = \lambda I` at t = 0 (conserved),
:math:`Q = [W_1^T; W_2]` obeys :math:`\tau \dot Q = FQ - \tfrac{1}{2} \beta QQ^TQ`,

.. math:: F = \begin{pmatrix} -\tfrac{1}{2}\beta\lambda I & \Sigma^T \\
   \Sigma & \tfrac{1}{2}\beta\lambda I \end{pmatrix}, \qquad
   QQ^T(t) = e^{Ft} Q_0 \Bigl[I + \beta Q_0^T \int_0^t e^{2Fu} du\, Q_0\Bigr]^{-1} Q_0^T e^{Ft}

(t in units of τ), Σ = Σ^{yx}. F need not be invertible: λ = 0, unequal sizes, zero modes and
rank-deficient weights are all covered. The lower left block of QQᵀ is the network W₂W₁, the
diagonal ones are W₁ᵀW₁ and W₂W₂ᵀ.

Numbers are float64, stable for any time. In the eigenbasis O of F, with eigenvalues Λ and A = OᵀQ₀,
:math:`QQ^T = O C (I + B^TB)^{-1} C^T O^T`, :math:`C = e^{Λt}A`, :math:`B = \sqrt{β G} A`.
Rows of B differ by factors of exp(Λt), which overflow; their logarithms do not. Rows are
eliminated by orthogonal transformations from the right, at each step the one that is largest at
that time, so that B = L D with D diagonal and L unit lower triangular with entries of at most 1:
nothing overflows, and the competition of modes for few hidden units is resolved by exact ratios
of their growth.

The proof holds for every size: it is an identity between words in matrices that do not commute.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.document.mathtext import to_latex
from symreln.errors import FloatRangeError, InputError, NoClosedFormError
from symreln.exact.enclosure import ball, rounded_text
from symreln.exact.matrix import ExactMatrix
from symreln.laws.law import Regime
from symreln.laws.ops import NUMPY
from symreln.specs.arguments import float_times

NAME = "lambda-balanced matrices"

#: Relative defects up to which inputs and weights in floats count as white and λ-balanced. What is
#: exact to rounding has about 1e-16 times the size of the matrices.
TOLERANCE = 1e-9

#: A row that is smaller than this, relative to what it was computed from, is rounding.
_ROUNDING = 1e-14

_LAMBDA, _BETA = sp.symbols("lambda beta", real=True)


def _words(names: str) -> list[sp.Symbol]:
    return list(sp.symbols(names, commutative=False))


def _off_identity(matrix: ExactMatrix) -> tuple[Fraction, Fraction]:
    """Return the nearest multiple of the identity, and the square of how far it is.

    Args:
        matrix: Square and without parameters.
    """
    mean = matrix.trace().to_fraction() / matrix.shape[0]
    rest = matrix - ExactMatrix.identity(matrix.shape[0]).scale(mean)
    return mean, rest.frobenius(rest).to_fraction()


def _largest(matrix: ExactMatrix) -> str:
    return _rounded(max(abs(value) for row in matrix.to_fractions() for value in row))


def _rounded(value: Fraction) -> str:
    return rounded_text(ball(value), 4)


def _root(square: Fraction) -> str:
    return rounded_text(ball(square).sqrt(), 3)


@record
class BalancedMatrices:
    r"""The flow of two weight matrices in closed form.

    Solves :math:`\tau \dot W_1 = W_2^T(\Sigma^{yx} - \beta W_2W_1)`,
    :math:`\tau \dot W_2 = (\Sigma^{yx} - \beta W_2W_1)W_1^T`.

    Source: [Fukumizu1998], [Braun2022], [Domine2024]; β by scaling the weights.

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

    @staticmethod
    def unfit(regime: Regime) -> str:
        """Say why no weights of a network may be given, or ""."""
        if regime.layers != 2:
            return f"the solution is of two layers of weights, and network.layers = {regime.layers}"
        if regime.weight_decay:
            return "the solution is without weight decay"
        if regime.half_speed.holds:
            return (
                "the ReLU network of these data is linear at half speed; ask with activation = "
                '"linear" for the linear network that it is, with weights W/√2 and half the '
                "learning rate"
            )
        return ""

    def residual(self) -> sp.Expr:
        """Zero exactly when the solution holds, for matrices of any size; see the module."""
        return sp.Integer(sum(part != 0 for part in _defects()))

    def to_numpy(self, times: Sequence[float] | np.ndarray) -> np.ndarray:
        """Return W₂W₁ in float64, shape (times, n_y, n_x), stable for any t >= 0 in steps.

        Raises:
            InputError: The times are no numbers from 0 on.
        """
        n_x = self.w1.shape[1]
        return self.gram(times)[:, n_x:, :n_x]

    def gram(self, times: Sequence[float] | np.ndarray) -> np.ndarray:
        """Return QQᵀ in float64, times first: W₁ᵀW₁ and W₂W₂ᵀ are its blocks on the diagonal.

        Raises:
            InputError: The times are no numbers from 0 on, or float64 has no room for an entry or
                for what it is computed from.
        """
        whole = self._gram(float_times(times, ascending=False))
        if whole is None:
            msg = (
                f"{NAME}: the squares of the weights w1 and w2 (largest {_largest(self.w1)} and "
                f"{_largest(self.w2)}), or Sigma^yx (largest {_largest(self.sigma_yx)}), are too "
                "large or too small for float64. Scale the weights or the data"
            )
            raise FloatRangeError(msg)
        return whole

    def _gram(self, times: np.ndarray) -> np.ndarray | None:
        """Return QQᵀ at times in steps, None where float64 has no room for it or loses Q."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                found = _gram_float(self, times)
                w1, w2 = self.w1.to_numpy(), self.w2.to_numpy()
                lost = not (np.linalg.norm(w1) or np.linalg.norm(w2))  # its squares are zero
        except (OverflowError, FloatRangeError, np.linalg.LinAlgError):
            return None
        zero = self.w1.is_zero and self.w2.is_zero
        return found if np.isfinite(found).all() and lost == zero else None

    def to_latex(self) -> str:
        """Return the LaTeX of QQᵀ(t), without delimiters."""
        beta = "" if self.beta == 1 else to_latex(sp.Rational(self.beta))
        return (
            r"QQ^{\top}(t) = e^{Ft/\tau} Q_0 \left[I + "
            rf"{beta} Q_0^{{\top}} \int_0^{{t/\tau}} e^{{2Fu}} du\, Q_0\right]^{{-1}} "
            r"Q_0^{\top} e^{Ft/\tau}"
        )

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"


def solve(
    sigma_yx: ExactMatrix,
    sigma_x: ExactMatrix,
    w1: ExactMatrix,
    w2: ExactMatrix,
    tau: Fraction = Fraction(1),
    *,
    rounded: bool = False,
) -> BalancedMatrices:
    """Return the solution from initial weights, given as exact numbers.

    Args:
        sigma_yx: n_y × n_x.
        sigma_x: n_x × n_x.
        w1: H × n_x.
        w2: n_y × H.
        tau: Time constant in steps.
        rounded: Whether numbers are floats, and may be off by :data:`TOLERANCE`; else both
            conditions are decided exactly.

    Raises:
        InputError: The sizes do not fit.
        NoClosedFormError: The inputs are coloured or the weights not λ-balanced.
    """
    n_y, n_x = sigma_yx.shape
    hidden = w1.shape[0]
    if sigma_x.shape != (n_x, n_x) or w1.shape != (hidden, n_x) or w2.shape != (n_y, hidden):
        msg = (
            f"{NAME}: W1 {w1.shape} and W2 {w2.shape} do not fit together with {n_x} inputs and "
            f"{n_y} outputs. Give W1 of shape (H, {n_x}) and W2 of shape ({n_y}, H)"
        )
        raise InputError(msg)
    if rounded:
        tolerance, needed = Fraction(TOLERANCE), f"at most {TOLERANCE:g} of its size is needed"
    else:
        needed = f"0 is needed of exact weights. Weights in floats are taken up to {TOLERANCE:g}"
        tolerance = Fraction(0)
    first, second = w1 @ w1.T, w2.T @ w2
    (beta, coloured), (balance, off) = _off_identity(sigma_x), _off_identity(second - first)
    if beta <= 0 or coloured > tolerance**2 * beta**2 * n_x:
        msg = (
            f"{NAME}: the inputs are coloured: Sigma^x is off {_rounded(beta)} I by "
            f"{_root(coloured)}, {needed}; the Riccati equation does not close otherwise"
        )
        raise NoClosedFormError(msg)
    if off > (tolerance * (first.trace() + second.trace()).to_fraction()) ** 2:
        msg = (
            f"{NAME}: W2^T W2 - W1 W1^T is no multiple of the identity at t = 0: it is off "
            f"{_rounded(balance)} I by {_root(off)}, {needed}"
        )
        raise NoClosedFormError(msg)
    return BalancedMatrices(sigma_yx=sigma_yx, w1=w1, w2=w2, beta=beta, balance=balance, tau=tau)


def _gram_float(flow: BalancedMatrices, times: np.ndarray) -> np.ndarray:
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
    _, span = NUMPY.relaxed(2 * np.abs(eigenvalues), time)
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


@lru_cache(maxsize=1)
def _defects() -> tuple[sp.Expr, ...]:
    """Return what must vanish: the reduction to a Riccati equation, and its solution."""
    return (*_reduction_defects(), *_riccati_defects())


def _reduction_defects() -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return what is conserved, moved, and both rows of the equation of Q less those of layers."""
    a, at, b, bt, s, st = _words("W1 W1t W2 W2t S St")
    error, error_t = s - _BETA * b * a, st - _BETA * at * bt
    rate_a, rate_at = bt * error, error_t * b
    rate_b, rate_bt = error * at, a * error_t
    conserved = rate_bt * b + bt * rate_b - rate_a * at - a * rate_at
    # Both rows of Q' = FQ − ½ β QQᵀQ, up to a multiple of W2ᵀW2 − W1W1ᵀ − λ, which is 0.
    unbalanced = bt * b - a * at - _LAMBDA
    gram = a * at + bt * b
    half = _BETA / 2
    upper = rate_at - (-half * _LAMBDA * at + st * b - half * at * gram)
    lower = rate_b - (s * at + half * _LAMBDA * b - half * b * gram)
    return (
        sp.expand(conserved),
        sp.expand(upper + half * at * unbalanced),
        sp.expand(lower - half * b * unbalanced),
    )


def _solution(e: sp.Expr, q: sp.Expr, m: sp.Expr, qt: sp.Expr) -> sp.Expr:
    return e * q * m * qt * e


def _riccati_defects() -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return the solution put into its equation, its start, and the equation of the product."""
    f, e, q, qt, m = _words("F E Q Qt M")
    # M is the inverse of I + β Qᵀ G Q, G' = E², E' = FE = EF: M' = −β M Qᵀ E² Q M.
    solution = _solution(e, q, m, qt)
    rate_m = -_BETA * m * qt * e * e * q * m
    rate = f * e * q * m * qt * e + e * q * rate_m * qt * e + e * q * m * qt * e * f
    # QQᵀ' from Q' = FQ − ½ β QQᵀQ, F symmetric: FP + PF − β P².
    riccati = f * solution + solution * f - _BETA * solution * solution
    start = solution.subs({e: 1, m: 1}) - q * qt
    half = _BETA / 2
    rate_q, rate_qt = f * q - half * q * qt * q, qt * f - half * qt * q * qt
    product = rate_q * qt + q * rate_qt - (f * q * qt + q * qt * f - _BETA * q * qt * q * qt)
    return sp.expand(rate - riccati), sp.expand(start), sp.expand(product)
