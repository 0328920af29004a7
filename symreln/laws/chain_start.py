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

Pathways that share edges run likewise up the sum of all their products, N^(1/L) times as fast from
balanced edges (:mod:`symreln.laws.shared_chain`), in time in units of that.

(Two layers have :math:`\kappa = 1/\sqrt 2`.) Different modes meet in the same hidden layers, in
directions that are nearly orthogonal: that they do not disturb one another holds for many units.

Float64, seeded, with the standard error of the mean. Nothing is fitted, no network is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod

import numpy as np

from symreln.base.linked import linked
from symreln.base.records import record
from symreln.errors import InputError
from symreln.laws.network_flow import NetworkFlow
from symreln.networks.shared_edges import EdgeData, Sharing

#: A stream of its own: no network is trained with it.
SEED = 31_415
#: Single modes that are followed: T scatters by about 5 % at 100 units, its mean by a sixth of it.
DRAWS = 32
#: Amplitude, in units of the start's, at which a mode has aligned: what is left of the random
#: part then changes T by less than a thousandth.
_ALIGNED = 30.0
#: Step of the classical Runge-Kutta method over the time scale of the fastest amplitude.
STEP = 0.05
#: By how many times steps are longer where edges are shared: T changes by less than 1e-4.
_LONGER = 4


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
    shapes = zip((*(units,) * (layers - 1), 1), (1, *(units,) * (layers - 1)), strict=True)
    flow = _early_flow(tuple(shapes), (tuple(range(layers)),))
    return _followed(flow, (1,) * layers, units, draws)


def shared_start(edges: EdgeData, sharing: Sharing) -> ChainStart:
    """Follow single modes of random edges that pathways share; times are in units of τ/N^(1/L).

    Args:
        edges: The edges.
        sharing: How pathways share them, with three places at least.
    """
    used = [edges.paths[place].edges for place in range(len(edges.paths))]
    first = [used[place] for place in linked(used)[0]]
    chosen = sorted({edge for path in first for edge in path})
    at = {edge: place for place, edge in enumerate(chosen)}
    sizes = {n.name: n.size if n.is_hidden else 1 for n in edges.graph.nodes}
    ends = [(edges.graph.edges[e].target, edges.graph.edges[e].source) for e in chosen]
    flow = _early_flow(
        tuple((sizes[target], sizes[source]) for target, source in ends),
        tuple(tuple(at[edge] for edge in path) for path in first),
    )
    assert sharing.widths  # else no start is derived
    return _followed(flow, sharing.uses, sharing.widths[0], DRAWS)


def _early_flow(
    shapes: tuple[tuple[int, int], ...], paths: tuple[tuple[int, ...], ...]
) -> NetworkFlow:
    """Return the early flow of one mode, with s = τ = 1: nothing saturates.

    Args:
        shapes: Of the weights of every edge; outer nodes have one unit, the mode's.
        paths: Edges of every pathway.
    """
    return NetworkFlow(
        shapes=shapes,
        paths=paths,
        sigma_yx=(np.ones((1, 1)),) * len(paths),
        sigma_x={},
        overlaps={},
        half_power=0.0,
    )


def _followed(flow: NetworkFlow, uses: tuple[int, ...], units: int, draws: int) -> ChainStart:
    children = np.random.SeedSequence(SEED).spawn(draws)
    times = [_blow_up(flow, _drawn(flow, units, child), uses) for child in children]
    gain = prod(uses) ** (1 / len(uses))
    return ChainStart(layers=len(uses), units=units, times=gain * np.array(times))


def _outer(flow: NetworkFlow) -> list[int]:
    """Return the first and the last edges of pathways."""
    return list(dict.fromkeys(path[place] for place in (0, -1) for path in flow.paths))


def _drawn(flow: NetworkFlow, units: int, child: np.random.SeedSequence) -> list[np.ndarray]:
    generator, outer = np.random.default_rng(child), _outer(flow)
    inner = [edge for edge in range(len(flow.shapes)) if edge not in outer]
    order = [*outer, *inner]
    drawn = [generator.standard_normal(flow.shapes[edge]) / np.sqrt(units) for edge in order]
    return [drawn[order.index(edge)] for edge in range(len(order))]


def _blow_up(flow: NetworkFlow, weights: Sequence[np.ndarray], uses: Sequence[int]) -> float:
    """Return when the weights of an early flow become infinite.

    Args:
        flow: From :func:`_early_flow`.
        weights: At the start.
        uses: How many pathways use the edges at each place, three places at least.

    Raises:
        InputError: The weights do not move.
    """
    layers, gain, time, state = len(uses), prod(uses) ** (1 / len(uses)), 0.0, list(weights)
    order, outer = layers - 2, _outer(flow)
    # Shared edges are several: a step of the same size is followed by a larger network.
    unit = STEP if gain == 1 else _LONGER * STEP / gain
    while (size := max(float(np.linalg.norm(state[edge])) for edge in outer)) < _ALIGNED:
        first = flow.velocity(state)
        if not any(np.any(part) for part in first):
            msg = "chain_start: the weights do not move; give layers that are not zero"
            raise InputError(msg)
        step = unit / max(size, 2.0) ** order
        state = _runge_kutta(flow.velocity, state, first, step)
        time += step
    # Aligned weights go up as balanced ones do.
    strength = float(np.mean(flow.maps(state)))
    return time + strength ** (-order / layers) / order / gain


def _runge_kutta(
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
