r"""How far the flow of a balanced two-layer mode is from gradient descent's finite steps, bounded.

Both amplitudes are w, and a step of full-batch gradient descent takes w to
:math:`w(1 + h(1 - x))`, :math:`h = s/\tau`, where :math:`x = d\pi/s` is the strength
:math:`\pi = w^2` in units of its plateau. So

.. math:: x' = x (1 + h(1 - x))^2, \qquad 1 - x' = (1 - x)(1 - 2hx - h^2 x(1 - x)),

and the logit y = ln(x/(1 − x)), which the flow advances by exactly 2h a step, moves by
:math:`\Delta(x) = 2\ln(1 + h(1 - x)) - \ln(1 - 2hx - h^2x(1 - x))`. Its derivative has the sign of
:math:`h^2(3 + h(1 - x)) > 0`, so for 0 < h < 1/2 and 0 < x < 1

.. math:: 2\ln(1 + h) \le \Delta(x) \le -\ln(1 - 2h):

after n steps gradient descent lies between two sigmoids of these rates, and so does the flow.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, ulp

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
    slope = _H**2 * (3 + _H * (1 - _X)) / ((1 + _H * (1 - _X)) * left)
    s, d, tau, w = sp.symbols("_s _d _tau _w", positive=True)
    descended = (w + w * (s - d * w**2) / tau) ** 2
    values = {_X: d * w**2 / s, _H: s / tau}
    return defect(
        sp.cancel(1 - step - (1 - _X) * left),
        sp.cancel(advance.diff(_X) - slope),
        sp.cancel(descended - step.subs(values, simultaneous=True) * s / d),
        sp.cancel(left.subs(_X, 1) - (1 - 2 * _H)),
        sp.cancel(left.subs(_X, 0) - 1),
    )


def flow_error(s: arb, d: arb, strength0: arb, tau: arb) -> float | None:
    r"""Return a bound, for all n, on how far the flow is from gradient descent after n steps.

    Both lie between the sigmoids with rates r₋ = 2 ln(1 + h) and r₊ = −ln(1 − 2h). In x they
    differ by less than the integral of x(1 − x) <= 1/4 over the logits between, (r₊ − r₋)n/4; and
    by at most 1 − x of the slower one, which is at most exp(−r₋(n − n½)), n½ its half-time. The
    first grows and the second falls with n: the larger of the two at any one n bounds all. It is
    taken where floats say that the two meet, in certified arithmetic.

    Returns:
        As a share of the plateau s/d, rounded up; of order h ln(s/(d strength0)). None where the
        brackets are not proven to hold: from h = 1/2 on steps overshoot the plateau.
    """
    if not (s > 0 and d > 0 and strength0 > 0 and d * strength0 < s and 2 * s < tau):
        return None
    h, share = s / tau, d * strength0 / s
    slow = 2 * h.log1p()
    gap = -(-h * h * (3 + 2 * h)).log1p()  # (1 − 2h)(1 + h)² = 1 − 3h² − 2h³
    half = ((1 - share) / share).log()
    # In units of 1/r₋, which no float holds where the learning rate is tiny.
    at = _meeting(float(gap / slow), float(half))
    worst = (gap * at / slow / 4).max((half - at).exp())
    # A bound that float64 has no room for is rounded up to its smallest number.
    bound = max(float(worst.upper()) * (1 + 2.0**-50), ulp(0.0))
    return min(bound, 1.0)


def _meeting(gap: float, half: float) -> float:
    """Return about the n at which gap n/4 and exp(half − n) are equal."""
    low, high = max(half, 0.0), max(half, 0.0) + 800
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gap * middle / 4 < exp(half - middle) else (low, middle)
    return high
