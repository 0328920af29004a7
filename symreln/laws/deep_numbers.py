r"""Numbers of the depth-L family: t(π) inverted, in float64 and in certified balls.

With e = 1 − 2/L and x = dπ/s the *logit* y = ln(x/(1 − x)) of a rising mode obeys
:math:`E'(y)\,\dot y = L s (s/d)^e/\tau` with :math:`E'(y) = (1 + e^{-y})^e`, that of a falling one
(y = ln(x/(x − 1)) > 0) the same with :math:`E'(y) = (1 - e^{-y})^e`. So E grows linearly in time,
and neither y nor E overflows, however long the time or near the plateau. E is concave for a
rising and convex for a falling mode: Newton's iteration converges from one side.

Since :math:`G'/2 \le E' \le G'` for :math:`G = y - e^{-ey}/e`, whose inverse is Wright's omega
function, the inversion starts from a certified bracket.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from symreln.errors import LimitReachedError, NoClosedFormError
from symreln.laws.common import as_floats

#: Terms of a series in exp(-1): 40 leave less than 1e-17; those in 1 - exp(-1) need twice as many.
_TERMS = 40
_MORE_TERMS = 90
_STEPS = 100
#: The iteration ends where y moves by less than this, relative to 1 + |y|: a few roundings.
_SETTLED = 4e-16


def strength_float(
    layers: int | None,
    s: np.ndarray,
    d: np.ndarray,
    strength0: np.ndarray,
    t: np.ndarray,
    tau: float,
) -> np.ndarray:
    """Evaluate the family in float64, for s, d >= 0 and strength0 > 0, every case at once.

    t(π) is inverted until y moves by rounding only; the result is as exact as t and s are: for
    L > 2 a mode that starts small waits long, and a relative change of t by 1e-16 then changes
    the strength by 1e-16 times the waiting time in units of the rise.

    Args:
        layers: L, from 3; None for the rescaled limit of infinitely many.
        s: Singular values, broadcastable with ``t``.
        d: Input eigenvalues.
        strength0: Initial strengths, positive.
        t: Times in steps, >= 0 (times L in the limit).
        tau: Time constant in steps.

    Raises:
        NoClosedFormError: d = 0, and a time is not before the one at which the strength becomes
            infinite.
        LimitReachedError: The iteration did not settle.
    """
    e, pace = (1.0, 1.0) if layers is None else (1 - 2 / layers, float(layers))
    s, d, strength0, t = np.broadcast_arrays(*as_floats(s, d, strength0, t))
    time = pace * (t / tau)
    found = np.array(strength0, dtype=float)
    decays, grows = (s == 0) & (d > 0), (s > 0) & (d == 0)
    if decays.any():
        spread = 1 + d * (1 + e) * strength0 ** (1 + e) * time
        found = np.where(decays, strength0 * spread ** (-1 / (1 + e)), found)
    if grows.any():
        left = 1 - s * e * strength0**e * time
        if np.any(grows & (left <= 0)):
            msg = f"depth {layers}: without inputs (d = 0) the strength is infinite before that t"
            raise NoClosedFormError(msg)
        found = np.where(grows, strength0 * np.where(grows, left, 1.0) ** (-1 / e), found)
    learns = (s > 0) & (d > 0)
    if learns.any():
        learned = _learning(e, *(part[learns] for part in (s, d, strength0, time)))
        found[learns] = learned
    return found


def _learning(
    e: float, s: np.ndarray, d: np.ndarray, strength0: np.ndarray, time: np.ndarray
) -> np.ndarray:
    share, plateau = strength0 * (d / s), s / d
    result = np.array(strength0)
    growth = s * plateau**e * time
    rising, falling = share < 1, share > 1
    if rising.any():
        x = share[rising]
        y = rising_inverse(e, np.log(x) - np.log1p(-x), growth[rising])
        low = y < 0  # both forms are good to rounding on their side
        small = np.exp(-np.abs(y))
        result[rising] = plateau[rising] * np.where(low, small, 1.0) / (1 + small)
    if falling.any():
        y = falling_inverse(e, -np.log1p(-1 / share[falling]), growth[falling])
        result[falling] = plateau[falling] / -np.expm1(-y)
    still = growth == 0
    result[still] = strength0[still]
    return result


def rising_inverse(e: float, start: np.ndarray, growth: np.ndarray) -> np.ndarray:
    """Return the y at which the rising clock has moved by ``growth`` since y = start."""
    from scipy.special import wrightomega

    goal = rising_clock(e, start) + growth
    # Where G has moved by `growth`, E has moved by less: y is beyond.
    with np.errstate(over="ignore"):
        level = start - np.exp(-e * start) / e + growth
    omega = wrightomega(-e * level)
    y = np.where(level > 0, level + omega / e, -np.log(np.maximum(omega, 1e-300)) / e)
    y = np.maximum(y, start)
    for _ in range(_STEPS):
        step = (goal - rising_clock(e, y)) / _rising_rate(e, y)
        y = np.maximum(y + step, start)
        if np.all(np.abs(step) <= _SETTLED * (1 + np.abs(y)) + _noise(e, y, goal)):
            return y
    msg = "depth L: the inversion of t(strength) did not settle"
    raise LimitReachedError(msg)


def _noise(e: float, y: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Return how far rounding of E moves y: E and goal carry a relative 2^-52 each."""
    size = np.abs(goal) + np.exp(-e * np.minimum(y, 0)) / e + np.maximum(y, 0)
    return 1e-15 * size / _rising_rate(e, y)


def _rising_rate(e: float, y: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(y))
    return np.where(y < 0, np.exp(-e * np.minimum(y, 0)), 1.0) * np.exp(e * np.log1p(small))


def rising_clock(e: float, y: np.ndarray) -> np.ndarray:
    """Return E(y), the integral of (1 + exp(-y))^e from y = 0, in float64."""
    near = np.clip(y, -1.0, 1.0)
    total = _between(e, near)
    low, high = np.minimum(y, -1.0), np.maximum(y, 1.0)
    return total + _below(e, low) + _above(e, high)


def _between(e: float, y: np.ndarray) -> np.ndarray:
    """Integrate over [0, y] by Gauss's rule: the integrand is analytic up to |y| = pi."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    points = np.multiply.outer(y / 2, nodes + 1)
    return y / 2 * (_rising_rate(e, points) @ weights)


def _below(e: float, y: np.ndarray) -> np.ndarray:
    """Integrate from −1 to y <= −1, term by term in exp(y): binom(e, n) exp((n − e) y)."""
    low = y + 1
    total = -np.exp(e) * np.expm1(-e * low) / e
    for n, factor in enumerate(_binomials(e, _TERMS), start=1):
        power = n - e
        part = np.exp(-power) * (np.expm1(power * low) / power if power > 0 else low)
        total = total + factor * part
    return total


def _above(e: float, y: np.ndarray) -> np.ndarray:
    """Integrate from 1 to y >= 1, term by term in exp(−y)."""
    total = y - 1
    for n, factor in enumerate(_binomials(e, _TERMS), start=1):
        total = total - factor * np.exp(-n) * np.expm1(-n * (y - 1)) / n
    return total


@lru_cache(maxsize=64)
def _binomials(e: float, count: int) -> tuple[float, ...]:
    """Return binom(e, n) for n = 1 … count."""
    found, last = [], 1.0
    for n in range(1, count + 1):
        last *= (e - n + 1) / n
        found.append(last)
    return tuple(found)


def falling_inverse(e: float, start: np.ndarray, growth: np.ndarray) -> np.ndarray:
    """Return the y at which the falling clock has moved by ``growth`` since y = start > 0."""
    goal = falling_clock(e, start) + growth
    # E(y) >= y − 1 for all y, and E(y) >= (y/2)^e y/(1 + e) for y <= 1: y lies before both.
    y = goal + 1
    near = ((1 + e) * 2**e * goal) ** (1 / (1 + e))
    y = np.where(near <= 1, np.minimum(near, y), y)
    for _ in range(_STEPS):
        step = (goal - falling_clock(e, y)) / _falling_rate(e, y)
        y = np.maximum(y + step, start)
        if np.all(np.abs(step) <= 4 * _SETTLED * y):
            return y
    msg = "depth L: the inversion of t(strength) did not settle"
    raise LimitReachedError(msg)


def _falling_rate(e: float, y: np.ndarray) -> np.ndarray:
    return (-np.expm1(-y)) ** e


def falling_clock(e: float, y: np.ndarray) -> np.ndarray:
    """Return the integral of (1 − exp(−y))^e from 0 to y >= 0, in float64."""
    u = -np.expm1(-np.minimum(y, 1.0))
    total = np.zeros_like(u)
    for n in range(_MORE_TERMS, -1, -1):
        total = total * u + 1 / (n + 1 + e)
    total = total * u ** (1 + e)
    high = np.maximum(y, 1.0)
    total = total + (high - 1)
    for n, factor in enumerate(_binomials(e, _TERMS), start=1):
        total = total - (-1) ** n * factor * np.exp(-n) * np.expm1(-n * (high - 1)) / n
    return total
