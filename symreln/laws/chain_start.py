r"""Where modes of three or more random layers start, in effect: by following single modes.

While the outputs are small the residual is the target itself, and the amplitudes of one mode
(u, s, v), the first layer's :math:`a = W_1 v`, the last one's :math:`b = W_L^T u` and the layers
between, go up the gradient of s times their product:

.. math:: \tau \dot a = s W_2^T \cdots W_{L-1}^T b, \quad
   \tau \dot b = s W_{L-1} \cdots W_2 a, \quad
   \tau \dot W_l = s\,(W_{l+1}^T \cdots b)(W_{l-1} \cdots a)^T.

With entries N(0, σ²) and H units a layer, weights in units of :math:`\sigma\sqrt H` and time in
units of :math:`\tau / (s (\sigma\sqrt H)^{L-2})` leave nothing of σ, s or the data: what happens
is a property of L and H alone. The product runs to infinity at a time T; so does that of L aligned
layers of amplitude x, :math:`\dot x = x^{L-1}`, at :math:`x^{2-L}/(L-2)`. The amplitude that does
so at the same T is where the mode starts in effect,

.. math:: x_0 = \kappa\,\sigma\sqrt H, \qquad \kappa = ((L-2)\,T)^{-1/(L-2)}, \qquad
   \pi_0 = x_0^L.

(Two layers have :math:`\kappa = 1/\sqrt 2`.) Different modes meet in the same hidden layers, in
directions that are nearly orthogonal: that they do not disturb one another holds for many units.

Float64, seeded, with the standard error of the mean. Nothing is fitted, no network is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.errors import InputError
from symreln.laws.depth import Clock, Depth
from symreln.laws.ops import NUMPY

#: A stream of its own: no network is trained with it.
SEED = 31_415
#: Single modes that are followed: T scatters by about 5 % at 100 units, its mean by a sixth of it.
DRAWS = 32
#: Amplitude, in units of the start's, at which a mode has aligned: what is left of the random
#: part then changes T by less than a thousandth.
ALIGNED = 30.0
#: Step of the classical Runge-Kutta method over the time scale of the fastest amplitude.
STEP = 0.05
#: Logit of a strength over its plateau from which float64 does not tell them apart.
_SETTLED = 38.0
#: Distance of the table's entries in the logit: linear between them is right to its square over 8.
_SPACING = 2e-3


@record(eq=False)
class ChainStart:
    """Effective starts of modes of L random layers.

    Attributes:
        layers: L, at least 3.
        units: H of every hidden layer.
        times: T of every single mode that was followed, in units of τ/(s (σ√H)^{L−2}).
    """

    layers: int
    units: int
    times: np.ndarray

    @property
    def kappa(self) -> float:
        """κ at the mean of T."""
        return float(self.kappas(self.times.mean()))

    @property
    def error(self) -> float:
        """Standard error of κ, from the spread of T."""
        order = self.layers - 2
        relative = self.times.std(ddof=1) / np.sqrt(len(self.times)) / self.times.mean()
        return float(self.kappa * relative / order)

    def kappas(self, times: np.ndarray | float) -> np.ndarray:
        """Return κ at given times."""
        order = self.layers - 2
        return (order * np.asarray(times)) ** (-1.0 / order)

    def strength(self, init_std: float) -> float:
        """Return π₀ = (κ σ √H)^L at the mean of T."""
        return float(self._strengths(self.times.mean(), init_std))

    def strengths(self, init_std: float) -> np.ndarray:
        """Return π₀ of every single mode that was followed."""
        return self._strengths(self.times, init_std)

    def _strengths(self, times: np.ndarray | float, init_std: float) -> np.ndarray:
        return (self.kappas(times) * init_std * np.sqrt(self.units)) ** self.layers


@lru_cache(maxsize=16)
def chain_start(layers: int, units: int, draws: int = DRAWS) -> ChainStart:
    """Follow single modes of random layers until they have aligned.

    Args:
        layers: L, at least 3.
        units: H of every hidden layer.
        draws: How many modes, at least 2.

    Raises:
        InputError: Too few of one of them.
    """
    if layers < 3 or units < 1 or draws < 2:
        msg = f"chain_start: {layers} layers, {units} units, {draws} draws. Give at least 3, 1, 2"
        raise InputError(msg)
    children = np.random.SeedSequence(SEED).spawn(draws)
    times = [blow_up(*_drawn(layers, units, child)) for child in children]
    return ChainStart(layers=layers, units=units, times=np.array(times))


def _drawn(
    layers: int, units: int, child: np.random.SeedSequence
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    generator = np.random.default_rng(child)
    a, b = generator.standard_normal((2, units)) / np.sqrt(units)
    middle = [generator.standard_normal((units, units)) / np.sqrt(units) for _ in range(layers - 2)]
    return a, b, middle


def blow_up(a: np.ndarray, b: np.ndarray, middle: list[np.ndarray]) -> float:
    """Return when the product bᵀ W_{L−1} … W_2 a becomes infinite, with s = τ = 1.

    Args:
        a: First layer's amplitude, shape (H,).
        b: Last layer's, shape (H,).
        middle: W_2 … W_{L−1}, each of shape (H, H).

    Raises:
        InputError: The weights do not move.
    """
    order, time, state = len(middle), 0.0, [a, b, *middle]
    while (size := max(float(np.linalg.norm(part)) for part in state[:2])) < ALIGNED:
        first = _slopes(state)
        if not any(np.any(part) for part in first):
            msg = "blow_up: the weights do not move; give layers that are not zero"
            raise InputError(msg)
        step = STEP / max(size, 2.0) ** order
        state = runge_kutta(_slopes, state, first, step)
        time += step
    forth, _ = _products(state)
    strength = float(state[1] @ forth[-1])
    return time + strength ** (-order / (order + 2)) / order


def runge_kutta(
    slopes: Callable[[list[np.ndarray]], list[np.ndarray]],
    state: list[np.ndarray],
    first: list[np.ndarray],
    step: float,
) -> list[np.ndarray]:
    """Return the state after a step of the classical method; ``first`` are its slopes."""
    second = slopes(_moved(state, first, step / 2))
    third = slopes(_moved(state, second, step / 2))
    last = slopes(_moved(state, third, step))
    parts = zip(first, second, third, last, strict=True)
    return _moved(state, [(p + 2 * q + 2 * r + s) / 6 for p, q, r, s in parts], step)


def _moved(state: list[np.ndarray], slopes: list[np.ndarray], step: float) -> list[np.ndarray]:
    return [part + step * slope for part, slope in zip(state, slopes, strict=True)]


def _products(state: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return W_l … W_2 a for l = 1 … L − 1, and W_lᵀ … W_{L−1}ᵀ b for l = 2 … L."""
    forth, back = [state[0]], [state[1]]
    for matrix in state[2:]:
        forth.append(matrix @ forth[-1])
    for matrix in reversed(state[2:]):
        back.append(matrix.T @ back[-1])
    return forth, back[::-1]


def _slopes(state: list[np.ndarray]) -> list[np.ndarray]:
    forth, back = _products(state)
    middle = [np.outer(back[place + 1], forth[place]) for place in range(len(state) - 2)]
    return [back[0], forth[-1], *middle]


def rising_curves(
    layers: int, s: float, d: float, strength0: np.ndarray, times: np.ndarray, tau: float
) -> np.ndarray:
    """Return one mode's strengths from many starts, shape (starts, times).

    Those of :class:`symreln.laws.depth.Depth` to 1e-6 of the plateau, a hundred times faster: one
    table of the clock serves all starts, linear between its entries.

    Args:
        layers: L, at least 3.
        s: Singular value, positive.
        d: Input eigenvalue, positive.
        strength0: Initial strengths, positive.
        times: Times in steps, >= 0.
        tau: Time constant in steps.
    """
    plateau = s / d
    share = np.asarray(strength0) / plateau
    if np.any(share >= 1):
        numbers = map(np.asarray, (s, d, tau))
        starts = np.asarray(strength0)[:, None]
        given = dict(zip(("s", "d", "tau"), numbers, strict=True))
        law = Depth(layers=sp.Integer(layers), strength0=starts, ops=NUMPY, **given)
        return law.strengths(times)
    clock = Clock(layers=layers, ops=NUMPY)
    begin = clock.logit(share)
    y = np.linspace(begin.min(), _SETTLED, max(2, int((_SETTLED - begin.min()) / _SPACING)))
    growth = layers * s * plateau ** (1 - 2 / layers) * np.asarray(times) / tau
    return plateau * clock.share(np.interp(clock.at(begin)[0][:, None] + growth, clock.at(y)[0], y))
