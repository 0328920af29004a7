r"""λ-balanced matrices with white inputs: the whole weight matrices, no alignment assumed.

With :math:`\Sigma^x = \beta I` and :math:`W_2^T W_2 - W_1 W_1^T = \lambda I` at t = 0 (conserved),
:math:`Q = [W_1^T; W_2]` obeys :math:`\tau \dot Q = FQ - \tfrac{1}{2} \beta QQ^TQ`,

.. math:: F = \begin{pmatrix} -\tfrac{1}{2}\beta\lambda I & \Sigma^T \\
   \Sigma & \tfrac{1}{2}\beta\lambda I \end{pmatrix}, \qquad
   QQ^T(t) = e^{Ft} Q_0 \Bigl[I + \beta Q_0^T \int_0^t e^{2Fu} du\, Q_0\Bigr]^{-1} Q_0^T e^{Ft}

(t in units of τ), Σ = Σ^{yx}. F need not be invertible: λ = 0, unequal sizes, zero modes and
rank-deficient weights are all covered. The lower left block of QQᵀ is the network W₂W₁.

The proof holds for every size: it is an identity between words in matrices that do not commute.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import sympy as sp

from symreln.arguments import exact_times, float_times, whole_number
from symreln.errors import InputError, LimitReachedError, NoClosedFormError
from symreln.exact.matrix import ExactMatrix

if TYPE_CHECKING:
    import numpy as np
    from flint import arb_mat

NAME = "lambda-balanced matrices"

#: Time constants of the fastest mode up to which certified balls are asked for.
MOST_GROWTH = 1 << 20

_LAMBDA, _BETA = sp.symbols("lambda beta", real=True)


def _words(names: str) -> list[sp.Symbol]:
    return list(sp.symbols(names, commutative=False))


def matches(sigma_x: ExactMatrix, w1: ExactMatrix, w2: ExactMatrix) -> tuple[bool, str]:
    """Say whether the family solves the flow from these weights, and why or why not.

    Args:
        sigma_x: n_x × n_x, exact.
        w1: H × n_x, exact.
        w2: n_y × H, exact.
    """
    if white_scale(sigma_x) is None:
        return False, (
            "the inputs are coloured: Sigma^x is no positive multiple of the identity, and the "
            "Riccati equation then does not close"
        )
    found = imbalance(w1, w2)
    if found is None:
        return False, "W2^T W2 - W1 W1^T is no multiple of the identity at t = 0"
    return True, f"white inputs, and W2^T W2 - W1 W1^T = {found} I"


def white_scale(sigma_x: ExactMatrix) -> Fraction | None:
    """Return beta > 0 with Sigma^x = beta I, or None."""
    beta = _multiple(sigma_x)
    return beta if beta is not None and beta > 0 else None


def imbalance(w1: ExactMatrix, w2: ExactMatrix) -> Fraction | None:
    """Return lambda with W2ᵀW2 − W1W1ᵀ = lambda I, or None."""
    return _multiple(w2.T @ w2 - w1 @ w1.T)


def _multiple(matrix: ExactMatrix) -> Fraction | None:
    size = matrix.shape[0]
    if matrix.shape != (size, size) or size == 0:
        return None
    first = matrix.entry(0, 0)
    if not first.is_constant or matrix != ExactMatrix.identity(size).scale(first.to_fraction()):
        return None
    return first.to_fraction()


@dataclass(frozen=True, kw_only=True)
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

    def residual(self) -> sp.Expr:
        """Zero exactly when the solution holds, for matrices of any size; see the module."""
        return sum(map(_unproven, _defects()), sp.S.Zero)

    def plateau(self) -> ExactMatrix:
        r"""Return the limit of W₂W₁ for t to infinity, exact.

        Where it is critical, :math:`E = \Sigma^{yx}/\beta - W_2W_1` has :math:`W_2^TE = 0` and
        :math:`EW_1^T = 0`, so that the singular values of E are some of those of Σ^{yx}/β. The
        flow descends the loss and converges (weights stay bounded, and the loss is analytic): once
        :math:`\|E\|` is proven to be below the least of them that is not 0, the limit is E = 0.

        Returns:
            Σ^{yx}/β.

        Raises:
            NoClosedFormError: It is not proven that everything is learned: weights that miss a
                direction, or fewer hidden units than modes, leave something.
        """
        from symreln.dynamics.solutions.lambda_numbers import learned_by

        if learned_by(self) is None:
            msg = (
                f"{NAME}: it is not proven that everything is learned; where weights miss a "
                "direction something is left, and evaluating at a large time says what"
            )
            raise NoClosedFormError(msg)
        return self.sigma_yx.scale(1 / self.beta)

    def to_numpy(self, times: np.ndarray) -> np.ndarray:
        """Return W₂W₁ in float64, shape (times, n_y, n_x), stable for any t >= 0 in steps.

        Raises:
            InputError: The times are no numbers from 0 on.
        """
        from symreln.dynamics.solutions.lambda_numbers import product_float

        return product_float(
            self.sigma_yx.to_numpy(),
            self.w1.to_numpy(),
            self.w2.to_numpy(),
            beta=float(self.beta),
            balance=float(self.balance),
            tau=float(self.tau),
            times=float_times(times, ascending=False),
        )

    def enclose(self, time: Fraction, bits: int = 200) -> arb_mat:
        """Return certified balls of W₂W₁, n_y × n_x, at an exact time in steps.

        Args:
            time: From 0 on.
            bits: Correct bits of every entry, relative to the largest one.

        Raises:
            InputError: The time or the bits are no such numbers.
            LimitReachedError: It takes too many bits.
        """
        from symreln.dynamics.solutions.lambda_numbers import product_ball

        (moment,) = exact_times([time])
        rows = [entry for row in self.sigma_yx.to_fractions() for entry in row]
        fastest = max([abs(self.beta * self.balance), *map(abs, rows)])
        if moment * fastest > MOST_GROWTH * self.tau:
            msg = (
                f"time: found more than {MOST_GROWTH} time constants of the fastest mode, whose "
                "exponentials are not evaluated. Give an earlier time"
            )
            raise LimitReachedError(msg)
        return product_ball(self, moment, whole_number(bits, "bits", 2))

    def to_latex(self) -> str:
        """Return the LaTeX of QQᵀ(t), without delimiters."""
        beta = "" if self.beta == 1 else sp.latex(sp.Rational(self.beta))
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
) -> BalancedMatrices:
    """Return the solution from exact initial weights.

    Raises:
        InputError: The sizes do not fit.
        NoClosedFormError: The inputs are coloured or the weights not λ-balanced.
    """
    n_y, n_x = sigma_yx.shape
    hidden = w1.shape[0]
    if sigma_x.shape != (n_x, n_x) or w1.shape != (hidden, n_x) or w2.shape != (n_y, hidden):
        msg = (
            f"{NAME}: Sigma^yx {sigma_yx.shape}, Sigma^x {sigma_x.shape}, W1 {w1.shape} and "
            f"W2 {w2.shape} do not fit together"
        )
        raise InputError(msg)
    solved, why = matches(sigma_x, w1, w2)
    if not solved:
        msg = f"{NAME}: {why}"
        raise NoClosedFormError(msg)
    beta, balance = white_scale(sigma_x), imbalance(w1, w2)
    assert beta is not None
    assert balance is not None
    return BalancedMatrices(sigma_yx=sigma_yx, w1=w1, w2=w2, beta=beta, balance=balance, tau=tau)


def series(order: int) -> sp.Expr:
    r"""Return QQᵀ for small weights, up to ``order`` factors P0 = Q0Q0ᵀ, as words.

    :math:`\sum_k (-\beta)^k e^{Ft} P_0 (G P_0)^k e^{Ft}`, G the integral of exp(2Fu).
    """
    e, g, p0 = _words("E G P0")
    terms = [(-_BETA) ** k * e * p0 * (g * p0) ** k * e for k in range(order)]
    return sp.Add(*terms)


def _unproven(defect: sp.Expr) -> sp.Expr:
    return sp.S.Zero if defect == 0 else sp.S.One


@lru_cache(maxsize=1)
def _defects() -> tuple[sp.Expr, ...]:
    """Return what must vanish: the reduction to a Riccati equation, and its solution."""
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
        *_riccati_defects(),
    )


def _solution(e: sp.Expr, q: sp.Expr, m: sp.Expr, qt: sp.Expr) -> sp.Expr:
    return e * q * m * qt * e


def _riccati_defects() -> tuple[sp.Expr, ...]:
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
