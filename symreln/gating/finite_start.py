r"""What a race says of networks whose weights do not start at zero: shares of the gates at the end.

While outputs are small every unit grows in the fixed residual, so a class k of n_k gates alike
holds the strength :math:`n_k\pi_k e^{2 s_k t/\tau}`, :math:`\pi_k = \kappa_k H\sigma^2/2` being the
start that :mod:`symreln.laws.early_phase` derives from the data alone. Later the residual
shrinks. Where it keeps its shape (:func:`_keeps_shape`; elsewhere nothing is said) that is a change
of time: the same formula holds in stretched time, which ends when the outputs have reached their
targets,

.. math:: \sum_k \pi_k e^{2 s_k t/\tau}\,d_k/s_k = 1,

one term a class: gates that are alike learn different samples. The shares then are what networks
of this width and initial scale take in the mean; the gate of the largest speed takes all of it
only as σ → 0, and a crossing of two speeds is seen at the parameter where two shares are equal,
which is off by about :math:`\tau\ln(n_1\kappa_1/n_2\kappa_2)/2t`. Nothing is fitted, and no trained
network is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from symreln.gating.consistent import SelfConsistentGate
from symreln.laws.early_phase import EarlyMode, EarlyPhase
from symreln.laws.law import Regime
from symreln.networks.orbits import SampleGroup, moved_gates
from symreln.specs.model import Dataset, NetworkSpec

#: A stream of its own: no network is trained with it.
SEED = 31_337
#: Relative distance below which a float singular value is the exact one.
SAME = 1e-9
#: Units that are followed: κ is then known to about 2 %, a share to about 0.01.
UNITS = 16_000


@dataclass(frozen=True, kw_only=True)
class _ClassStart:
    """A class of gates and what it starts from.

    Attributes:
        pattern: One of the gates.
        size: How many are alike.
        s: Growth rate.
        d: vᵀ Σ^x(g) v, mean over its directions: outputs reach the targets at strength s/d.
        kappa: κ of one of the gates: its start is κHσ²/2.
        error: Standard error of κ.
        settled: Whether κ has stopped changing in the early phase, within its error.
    """

    pattern: str
    size: int
    s: float
    d: float
    kappa: float
    error: float
    settled: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class FiniteStart:
    """The end of training as predicted for a network.

    Attributes:
        classes: The classes, the fastest first.
        time: Stretched time at which outputs reach their targets, in units of τ.
        half_time: Time at which outputs are half of their targets, in units of τ: the loss is then
            a quarter of what it was.
        shares: Share of the weight that each class has at the end.
        errors: What the standard errors of κ leave open of it.
    """

    classes: tuple[_ClassStart, ...]
    time: float
    half_time: float
    shares: tuple[float, ...]
    errors: tuple[float, ...]

    def share_of(self, pattern: str) -> tuple[float, float]:
        """Return the share of a gate's class and its error; 0 for one that does not grow."""
        known = [k for k, each in enumerate(self.classes) if each.pattern == pattern]
        error = self.errors[known[-1]] if known else 0.0
        return sum((self.shares[k] for k in known), start=0.0), error


def finite_start(
    dataset: Dataset,
    candidates: Sequence[SelfConsistentGate],
    group: SampleGroup,
    network: NetworkSpec,
) -> FiniteStart | None:
    """Return the predicted shares, or None where nothing grows or no class gets units.

    Args:
        dataset: Without parameters.
        candidates: Self-consistent gates, one of each kind, the fastest first.
        group: Symmetries that make gates alike.
        network: Width and initial scales. None with weight decay, which shrinks every class.

    None also where some class alone would not reach the targets: the residual then changes shape.
    """
    partial = any(each.kind == "partial" for each in candidates)
    if partial or Regime.of_network(network).lowers_plateaus:
        # A partial gate's class puts out nothing on samples that push its units back.
        return None
    inputs, targets = dataset.arrays
    gates = [np.array(moved_gates(each.gate, group)) for each in candidates]
    modes: list[list[EarlyMode]] = []
    for each, alike in zip(candidates, gates, strict=True):
        before = sum(map(len, modes))
        modes.append([_mode(inputs, targets, g, each, before + k) for k, g in enumerate(alike)])
    if not all(_keeps_shape(inputs, targets, *each) for each in zip(gates, modes, strict=True)):
        return None
    first, second = map(float, network.stds)
    variance = (first**2 + second**2) / 2
    scales = first / variance**0.5, second / variance**0.5
    starts = _class_starts(inputs, targets, candidates, gates, modes, scales)
    if not any(start.kappa > 0 for start in starts):
        return None
    scale = network.hidden * variance / 2
    # In logarithms: strengths start many powers of ten below their end.
    size = np.array([np.log(max(c.kappa, 1e-300) * scale) for c in starts])
    rates = np.array([c.s for c in starts])
    ends = np.log([c.s / c.d for c in starts])

    def reached(time: float) -> float:
        return float(np.logaddexp.reduce(size + 2 * rates * time - ends))

    time, half = _when(reached, 0.0), _when(reached, np.log(0.5))
    # Time runs slower by the share of the residual that is left.
    real = quad(lambda t: 1 / -np.expm1(reached(t)), 0.0, half)[0] if half else 0.0
    logs = size + 2 * rates * time + np.log([c.size for c in starts])
    shares = np.exp(logs - np.logaddexp.reduce(logs))
    apart = np.array([c.error / c.kappa if c.kappa > 0 else 0.0 for c in starts])
    # d share_k / d ln κ_j = share_k (δ_kj − share_j); errors of different κ taken as independent.
    slopes = shares[:, None] * (np.eye(len(shares)) - shares)
    return FiniteStart(
        classes=starts,
        time=time,
        half_time=float(real),
        shares=tuple(shares.tolist()),
        errors=tuple(np.sqrt(((slopes * apart) ** 2).sum(axis=1)).tolist()),
    )


def _when(logarithm: Callable[[float], float], level: float) -> float:
    """Return the first time from 0 on at which a rising function reaches a level."""
    if logarithm(0.0) >= level:
        return 0.0
    high = 1.0
    while logarithm(high) < level:
        high *= 2
    found: Any = brentq(lambda time: logarithm(time) - level, 0.0, high)
    return float(found)


def _keeps_shape(
    inputs: np.ndarray, targets: np.ndarray, gates: np.ndarray, modes: Sequence[EarlyMode]
) -> bool:
    """Return whether a class, its gates alike equally strong, puts out a multiple of Y.

    Where all do, so do all together, and the residual stays one as well.
    """
    output = np.zeros_like(targets, dtype=float)
    for gate, mode in zip(gates, modes, strict=True):
        output += mode.u @ mode.v.T @ inputs * gate
    factor = np.vdot(output, targets) / np.vdot(targets, targets)
    return bool(np.abs(output - factor * targets).max() <= SAME * np.abs(output).max())


def _class_starts(
    inputs: np.ndarray,
    targets: np.ndarray,
    candidates: Sequence[SelfConsistentGate],
    gates: Sequence[np.ndarray],
    modes: Sequence[Sequence[EarlyMode]],
    scales: tuple[float, float],
) -> tuple[_ClassStart, ...]:
    """Return κ, s and d of every class of gates, the fastest first.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        candidates: One gate of each class.
        gates: All of each class, shape (alike, P).
        modes: Theirs.
        scales: Standard deviations of w and b at the start, their squares of mean one.
    """
    kinds = [place for place, alike in enumerate(modes) for _ in alike]
    asked = [mode for alike in modes for mode in alike]
    if not asked:
        return ()
    # A step of the flow far below its fastest growth time; what is asked for is the flow's.
    step = 0.02 / max(mode.s for mode in asked)
    random = np.random.default_rng(SEED)
    every = np.concatenate(gates).astype(float)
    phase = EarlyPhase(inputs, targets, every, step, random, UNITS, scales)
    strengths = phase.strengths(asked, kinds)
    found = []
    for place, (each, alike) in enumerate(zip(candidates, gates, strict=True)):
        own = [strength for kind, strength in zip(kinds, strengths, strict=True) if kind == place]
        mode = modes[place][0]
        seen = mode.v.T @ inputs * alike[0]
        found.append(
            _ClassStart(
                pattern=each.pattern,
                size=len(alike),
                s=mode.s,
                d=float((seen**2).sum() / inputs.shape[1] / mode.v.shape[1]),
                kappa=float(np.mean([strength.kappa for strength in own])),
                error=float(np.mean([strength.error for strength in own])),
                settled=all(strength.settled for strength in own),
            )
        )
    return tuple(found)


def _mode(
    inputs: np.ndarray,
    targets: np.ndarray,
    gate: np.ndarray,
    candidate: SelfConsistentGate,
    pathway: int,
) -> EarlyMode:
    """Return the directions of a gate with the candidate's growth rate, in floats."""
    sigma = targets * gate @ inputs.T / inputs.shape[1]
    u, s, vt = np.linalg.svd(sigma)
    rate = float(candidate.s)
    chosen = np.flatnonzero(np.abs(s - rate) <= SAME * s[0])
    return EarlyMode(
        pathway=pathway,
        inputs=tuple(range(len(inputs))),
        s=rate,
        u=u[:, chosen],
        v=vt[chosen].T,
    )
