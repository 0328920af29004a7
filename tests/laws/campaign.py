"""Every law against scipy's solve_ivp on the amplitudes that it reduces, extremes included.

The references integrate weights (of two unbalanced layers the smaller amplitude, of L balanced
ones a layer's w), never the strength or a transformed variable, with rtol 1e-11. Parameters span
s/d over 12 decades, strength0 from 1e-30 plateaus, t up to 1e12 tau.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy.integrate import solve_ivp

from symreln.laws.choice import solve
from symreln.laws.law import Law, Regime
from symreln.laws.ops import NUMPY, Ops

RTOL = 1e-11
#: What a declining strength is compared down to; the integrator's absolute tolerance is near.
SMALLEST = 1e-200


@dataclass(frozen=True)
class Family:
    """How a law is drawn, integrated and evaluated.

    Attributes:
        regime: What the law is chosen from.
        names: Of the parameters, the time left out.
        draw: Random generator -> parameters, the time last.
        reference: Parameters -> strength by integration.
        slope: (strength, parameters) -> tau dπ/dt there.
    """

    regime: Regime
    draw: Callable
    reference: Callable
    slope: Callable
    names: tuple[str, ...] = ("s", "d", "strength0")

    def law(self, parameters: tuple, ops: Ops, tau: float = 1.0) -> Law:
        """Return the law with these parameters, the time not among them."""
        given = {name: ops.number(x) for name, x in zip(self.names, parameters, strict=True)}
        found = solve(self.regime, given.pop("s"), given.pop("d"), ops=ops, tau=tau)
        return replace(found, **given)

    def closed(self, *parameters: float) -> float:
        """Return the strength in float64."""
        *numbers, t = parameters
        return float(self.law(tuple(numbers), NUMPY).strengths(np.array([t]))[0])


def error(family: Family, parameters: tuple[float, ...]) -> float:
    """Return the relative error, over 1 + |t π'/π|: what a rounding of t does to the strength.

    For two layers that factor is below 150 here; deeper modes wait up to 1e30 rise times, where
    no float64 time names the rise.
    """
    expected, found = family.reference(*parameters), family.closed(*parameters)
    if abs(expected - found) < SMALLEST:
        return 0.0
    slope = family.slope(expected, *parameters)
    condition = 1 + abs(parameters[-1] * slope / expected)
    return abs(found / expected - 1) / condition


def integrate(rhs: Callable, start: list[float], t: float) -> np.ndarray:
    """Integrate with solve_ivp, LSODA: the plateau is stiff at long times."""
    if t == 0:
        return np.array(start)
    found = solve_ivp(rhs, (0, t), start, method="LSODA", rtol=RTOL, atol=1e-280)
    assert found.success, found.message
    return found.y[:, -1]


def scales(rng: np.random.Generator) -> tuple[float, float, float]:
    """Return s, d over 12 decades of s/d, and a strength0 from 1e-30 to 1e3 plateaus."""
    s, d = 10.0 ** rng.uniform(-3, 3, 2)
    share = 10.0 ** rng.choice([rng.uniform(-30, 0), rng.uniform(-2, 0), rng.uniform(0, 3)])
    return s, d, s / d * share


def time_near(rng: np.random.Generator, rise: float, rate: float) -> float:
    """Return 0, a time near the rise, or one up to 1e12/rate."""
    return float(rng.choice([0.0, rise * rng.uniform(0, 2), 10.0 ** rng.uniform(-6, 12) / rate]))


def draw_two_layer(rng):
    s, d, p0 = scales(rng)
    s = s * (rng.random() > 0.1)
    rise = np.log1p(s / (d * p0)) / (2 * s) if s else 1 / (d * p0)
    return s, d, p0, time_near(rng, rise, s or d)


def balanced_reference(s, d, p0, t):
    (w,) = integrate(lambda _, w: w * (s - d * w * w), [np.sqrt(p0)], t)
    return w * w


def draw_shallow(rng):
    s, d, p0 = scales(rng)
    return s, d, p0, time_near(rng, 1 / d, d)


def draw_unbalanced(rng):
    s, d, p0, t = draw_two_layer(rng)
    c = 10.0 ** rng.uniform(-12, 3) * max(p0, s / d)
    return s, d, c, p0, t if s else min(t, 400 / (c * d))  # no further than floats reach down


def smaller_amplitude(c, p0):
    """Return b of ab = p0, a² − b² = c."""
    return p0 / np.sqrt((np.hypot(c, 2 * p0) + c) / 2)


def unbalanced_reference(s, d, c, p0, t):
    # a² = b² + c is conserved; integrated beside b, a difference of 1e-11 would be lost to rtol.
    def larger(b):
        return np.sqrt(b * b + c)

    (b,) = integrate(
        lambda _, b: larger(b) * (s - d * larger(b) * b), [smaller_amplitude(c, p0)], t
    )
    return larger(b) * b


def draw_decay(rng):
    s, d, p0, _ = draw_two_layer(rng)
    decay = (s or 1.0) * rng.choice([rng.uniform(0.01, 0.99), rng.uniform(1.01, 10)])
    growth = s - decay
    # A declining strength leaves the floats' range beyond.
    most = 1e12 if growth > 0 else 200.0
    rise = abs(np.log(abs(growth) / (d * p0))) / (2 * abs(growth))
    return s, d, decay, p0, min(time_near(rng, rise, abs(growth)), most / abs(growth))


def decay_reference(s, d, decay, p0, t):
    (w,) = integrate(lambda _, w: w * (s - decay - d * w * w), [np.sqrt(p0)], t)
    return w * w


def deep(layers: int) -> Family:
    """Return the family of a depth."""
    e = 1 - 2 / layers

    def draw(rng):
        s, d, p0 = scales(rng)
        share = d * p0 / s
        unit = 1 / (layers * s * (s / d) ** e)
        rise = unit * (share ** (-e) / e + 1) if share < 1 else unit
        return s, d, p0, time_near(rng, rise, 1 / unit)

    def reference(s, d, p0, t):
        power = layers - 1
        start = [p0 ** (1 / layers)]
        (w,) = integrate(lambda _, w: w**power * (s - d * w**layers), start, t)
        return w**layers

    return Family(
        regime=Regime(layers=layers),
        draw=draw,
        reference=reference,
        slope=lambda p, s, d, p0, t: layers * p ** (1 + e) * (s - d * p),
    )


DECAYS = Fraction(1, 9)  # any: the law is chosen by it, and has another in its place
FAMILIES = {
    "one layer": Family(
        regime=Regime(layers=1),
        draw=draw_shallow,
        reference=lambda s, d, p0, t: integrate(lambda _, w: s - d * w, [p0], t)[0],
        slope=lambda p, s, d, p0, t: s - d * p,
    ),
    "two layers": Family(
        regime=Regime(),
        draw=draw_two_layer,
        reference=balanced_reference,
        slope=lambda p, s, d, p0, t: 2 * p * (s - d * p),
    ),
    "apart": Family(
        regime=Regime(apart=True),
        draw=draw_unbalanced,
        reference=unbalanced_reference,
        slope=lambda p, s, d, c, p0, t: np.hypot(c, 2 * p) * (s - d * p),
        names=("s", "d", "imbalance", "strength0"),
    ),
    "decay": Family(
        regime=Regime(weight_decay=DECAYS),
        draw=draw_decay,
        reference=decay_reference,
        slope=lambda p, s, d, decay, p0, t: 2 * p * (s - decay - d * p),
        names=("s", "d", "weight_decay", "strength0"),
    ),
    **{f"depth {layers}": deep(layers) for layers in (3, 4, 5, 8, 30)},
}
