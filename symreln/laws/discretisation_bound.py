r"""How far the sigmoid in steps of a balanced two-layer mode is from gradient descent, bounded.

Both amplitudes are w, and a step of full-batch gradient descent takes w to
:math:`w(1 + h(1 - x))`, :math:`h = s/\tau`, where :math:`x = d\pi/s` is the strength
:math:`\pi = w^2` in units of its plateau. So

.. math:: x' = x (1 + h(1 - x))^2, \qquad 1 - x' = (1 - x) m(x), \qquad
          m(x) = 1 - 2hx - h^2 x(1 - x),

and the logit y = ln(x/(1 − x)) moves by :math:`\Delta(x) = 2\ln(1 + h(1 - x)) - \ln m(x)`. The
sigmoid that is printed advances its logit by :math:`r_- = 2\ln(1 + h) = \Delta(0)` a step. For
0 < h < 1/2 and 0 < x < 1

.. math:: \Delta'(x) = \frac{h^2}{m(x)} \left(1 + \frac{2}{1 + h(1 - x)}\right), \qquad
          m'(x) = -h (2 + h(1 - 2x)) < 0,

so both factors of Δ′ are positive and rise with x: Δ rises and is convex, and with
:math:`r_+ = \Delta(1) = -\ln(1 - 2h)`

.. math:: 0 \le \Delta(x) - r_- \le (r_+ - r_-)\, x.

Gradient descent stays below the sigmoid of the rate r₊ from the same start, whose sum over n steps
is less than its integral, :math:`\ln(1 + e^{r_+ n - \ell})/r_+` with
:math:`\ell = \ln(1/x_0 - 1)`. So after n steps its logit is ahead of the printed one by at most

.. math:: \delta_n = \left(1 - \frac{r_-}{r_+}\right) \ln\left(1 + e^{r_+ n - \ell}\right).
"""

from __future__ import annotations

from functools import lru_cache
from math import ulp

import sympy as sp
from flint import arb

from symreln.laws.ops import defect

_H, _X = sp.symbols("_h _x", positive=True)


@lru_cache(maxsize=1)
def residual() -> sp.Expr:
    """Zero exactly when the map is that of the amplitudes, and the logit's identities hold."""
    step = _X * (1 + _H * (1 - _X)) ** 2
    left = 1 - 2 * _H * _X - _H**2 * _X * (1 - _X)
    advance = 2 * sp.log(1 + _H * (1 - _X)) - sp.log(left)
    slope = _H**2 / left * (1 + 2 / (1 + _H * (1 - _X)))
    s, d, tau, w, n, rate, begin = sp.symbols("_s _d _tau _w _n _rate _begin", positive=True)
    descended = (w + w * (s - d * w**2) / tau) ** 2
    values = {_X: d * w**2 / s, _H: s / tau}
    area = sp.log(1 + sp.exp(rate * n - begin)) / rate
    return defect(
        sp.cancel(1 - step - (1 - _X) * left),
        sp.cancel(advance.diff(_X) - slope),
        sp.expand(left.diff(_X) + _H * (2 + _H * (1 - 2 * _X))),
        sp.cancel(descended - step.subs(values, simultaneous=True) * s / d),
        sp.cancel(left.subs(_X, 1) - (1 - 2 * _H)),
        sp.cancel(left.subs(_X, 0) - 1),
        sp.cancel(area.diff(n) - 1 / (1 + sp.exp(begin - rate * n)).rewrite(sp.exp)),
    )


def step_error(s: arb, d: arb, strength0: arb, tau: arb) -> float | None:
    r"""Return a bound, for all n, on how far the printed sigmoid is from gradient descent.

    In x they differ by the integral of x(1 − x) over the logits between, which is at most 1/4, and
    at most 1 − x of the printed one, the slower, so at most exp(ℓ − r₋n): by less than
    :math:`\delta_n \min(1/4, e^{\ell - r_- n})`. Both are δₙ/4 at :math:`r_- n = \ell + \ln 4`.
    Before, δₙ rises; from there on :math:`\delta_n e^{-r_- n}` falls, its logarithmic derivative
    being at most :math:`r_+/\ln 5 - r_-`. So δₙ/4 there bounds all; from n = 0 on where ℓ is less
    than −ln 4.

    Returns:
        As a share of the plateau s/d, rounded up; of order h, whatever the start. None where the
        brackets are not proven to hold: from h = 1/2 on steps overshoot the plateau.
    """
    if not (s > 0 and d > 0 and strength0 > 0 and d * strength0 < s and 2 * s < tau):
        return None
    h, share = s / tau, d * strength0 / s
    # r₊/r₋ − 1, by (1 − 2h)(1 + h)² = 1 − 3h² − 2h³.
    excess = -(-h * h * (3 + 2 * h)).log1p() / (2 * h.log1p())
    if not 1 + excess < arb(5).log():
        return 1.0  # both are between 0 and the plateau
    begin = ((1 - share) / share).log()
    at = (begin + arb(4).log()).max(arb(0))
    ahead = excess / (1 + excess) * (at * (1 + excess) - begin).exp().log1p()
    # A bound that float64 has no room for is rounded up to its smallest number.
    bound = max(float((ahead / 4).upper()) * (1 + 2.0**-50), ulp(0.0))
    return min(bound, 1.0)
