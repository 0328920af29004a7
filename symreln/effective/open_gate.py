r"""The state at the horizon in closed form, where one gate is open on all samples and is fastest.

A unit whose gate stays open moves linearly, by F = [[0, Σᵀ], [Σ, 0]] with Σ = YXᵀ/P, whose
eigenpairs are (±s_k, (v_k, ±u_k)/√2). Those of the growing sign of the leading mode open and keep
all samples, the others close and stay as they are. So the second moment of all units is known at
every step of the early phase, and the horizon is where its leading term makes ε of the targets.
No unit is followed for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.laws.line import CANCELS, Line, vanish

if TYPE_CHECKING:
    from symreln.effective.descent import Descent

#: Cosine between the leading direction and a sample above which that is clearly open, and part of
#: the leading rate by which the next one is clearly slower.
_CLEAR = 1e-6
_S, _X, _SIGMA = sp.symbols("s x sigma", positive=True)


@record(eq=False)
class OpenGate:
    """Units of a gate that is open on all samples.

    Attributes:
        step: h, of the horizon.
        moment: M at the horizon, shape (n_x + rank, n_x + rank).
        direction: Its leading eigenvector, that opens all samples.
    """

    step: int
    moment: np.ndarray
    direction: np.ndarray


def open_gate(x: np.ndarray, y: np.ndarray, descent: Descent, epsilon: float) -> OpenGate | None:
    """Return the state at the horizon; None where no single direction leads, or it closes a sample.

    Args:
        x: X, shape (n_x, P).
        y: Y in its span, shape (rank, P).
        descent: How the network is trained.
        epsilon: Outputs over targets at the horizon.
    """
    sigma = y @ x.T / x.shape[1]
    size = len(x) + len(y)
    field = np.zeros((size, size))
    field[len(x) :, : len(x)], field[: len(x), len(x) :] = sigma, sigma.T
    values, vectors = np.linalg.eigh(field)
    leading = vectors[:, -1]
    seen = leading[: len(x)] @ x
    seen, leading = (seen, leading) if seen.sum() > 0 else (-seen, -leading)
    lengths = np.linalg.norm(x, axis=0) * np.linalg.norm(leading[: len(x)])
    # Of equal leading modes every direction leads, and none has half of the units.
    if not values[-2] < (1 - _CLEAR) * values[-1] or not (seen > _CLEAR * lengths).all():
        return None
    first, second = descent.init_std
    start = descent.hidden * (first**2 + second**2) / 4
    output = np.linalg.norm(leading[len(x) :]) * np.linalg.norm(seen)
    grown = np.log(epsilon * np.linalg.norm(y) / (start * output))
    step = max(0, round(float(grown / (2 * np.log1p(descent.step * values[-1])))))
    if step >= descent.steps:
        return None
    factors = np.abs(1 + descent.step * values) ** (2 * step)
    moment = start * (vectors * factors) @ vectors.T
    return OpenGate(step=step, moment=moment, direction=leading)


def state_lines() -> Iterator[Line]:
    """Yield how the second moment of all units follows, from their equations on."""
    flow = sp.Matrix([[0, _S], [_S, 0]])  # on (v·w, u·b) of a mode
    pairs = [(sign * _S, sp.Matrix([1, sign]) / sp.sqrt(2)) for sign in (1, -1)]
    yield Line(
        says="While outputs are small a hidden unit $q = (w, b)$ whose gate is open on all samples "
        "moves linearly, each step by the factor",
        equation=(
            r"I + \frac{F}{\tau}, \qquad F = \begin{pmatrix} 0 & \Sigma^{\top} \\ \Sigma & 0 "
            r"\end{pmatrix}, \quad \Sigma = \tfrac{1}{P}\, Y X^{\top}, \qquad F e_k = \pm s_k e_k, "
            r"\quad e_k = \tfrac{1}{\sqrt{2}} (v_k, \pm u_k),",
        ),
        because=r"$\tau \dot{w} = \Sigma^{\top} b$ and $\tau \dot{b} = \Sigma w$, and the singular "
        r"pairs of $\Sigma$",
        check=f"both vectors of a mode put in; {CANCELS}",
        holds=vanish(*(each for rate, e in pairs for each in flow * e - rate * e)),
        main=True,
    )
    density = sp.exp(-(_X**2) / (2 * _SIGMA**2)) / (_SIGMA * sp.sqrt(2 * sp.pi))
    half = sp.integrate(density, (_X, 0, sp.oo))
    square = sp.integrate(_X**2 * density, (_X, 0, sp.oo))
    yield Line(
        says="Half of the units begin with the growing sign of the leading mode, "
        "$e_1 \\cdot q(0) > 0$; the others close. Of these the second moment after $h$ steps is",
        equation=(
            r"M = \frac{H \sigma^2}{2} \sum_k \left(1 + \frac{s_k}{\tau}\right)^{2h} "
            r"e_k e_k^{\top}, \qquad \sigma^2 = \tfrac{1}{2} (\sigma_1^2 + \sigma_2^2),",
        ),
        because="initial weights are Gaussian and independent in every orthonormal basis, so that "
        "the sign of one coordinate halves the square of each; that they keep their gate from the "
        "start is what units that turn early on do not, and is measured",
        check="both halves integrated: of the square of a coordinate, and of the density",
        holds=vanish(half - sp.Rational(1, 2), square - _SIGMA**2 / 2),
        main=True,
    )
    yield Line(
        says="and the horizon is the step at which its leading term makes $\\epsilon$ of the "
        "targets:",
        equation=(
            r"\frac{H \sigma^2}{4} \left(1 + \frac{s_1}{\tau}\right)^{2h} \left\| v_1^{\top} X "
            r"\right\| = \epsilon \left\| Y \right\|",
        ),
        because=r"the block of $e_1 e_1^{\top}$ that maps inputs to outputs is "
        r"$\tfrac{1}{2} u_1 v_1^{\top}$",
        check=f"the product of both halves of $e_1$; {CANCELS}",
        holds=vanish(pairs[0][1][0] * pairs[0][1][1] - sp.Rational(1, 2)),
        main=True,
    )
