r"""Modes that start aligned, through gradient descent's own finite steps.

A step of gradient descent with rate η = 1/τ and weight decay λ moves the amplitudes (a, b) of a
mode of two layers by

.. math:: a' = k a + e b, \qquad b' = k b + e a, \qquad e = \eta (s - d \pi), \quad
   k = 1 - \eta \lambda, \quad \pi = a \cdot b,

whatever the units that they are vectors over. So the sum and the difference stay apart:

.. math:: \pi = p - m, \qquad p' = (k + e)^2 p, \qquad m' = (k - e)^2 m,

with :math:`p = |a + b|^2/4` and :math:`m = |a - b|^2/4`: two numbers a mode are the whole
dynamics, for balanced layers (m = 0), for layers that start apart (p = m) and for weights that
start as their law expects, :math:`p = m = H (\sigma_1^2 + \sigma_2^2)/4`. L layers that start with
one amplitude x keep it, :math:`x' = x + \eta x^{L-1} (s - d x^L)`; a single one has
:math:`\pi' = \pi + \eta (s - d \pi)`.

No time is continuous here, so nothing is lost to finite steps: trained from aligned weights, a
gated deep linear network does this to rounding. Float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator


def pair_steps(
    s: np.ndarray,
    d: np.ndarray,
    growing: np.ndarray,
    shrinking: np.ndarray,
    rate: float,
    weight_decay: float = 0.0,
) -> Iterator[np.ndarray]:
    """Yield the strengths of modes of two layers at steps 0, 1, …, without end.

    Args:
        s: Singular values, of a shape that the others broadcast with.
        d: Input eigenvalues.
        growing: |a + b|²/4 at the start.
        shrinking: |a − b|²/4 at the start.
        rate: 1/τ with τ in steps.
        weight_decay: λ, in units of the mean loss.
    """
    keep = 1 - rate * weight_decay
    sums, differences = np.broadcast_arrays(growing + 0.0 * s, shrinking + 0.0 * s)
    while True:
        strength = sums - differences
        yield strength
        pull = rate * (s - d * strength)
        sums = (keep + pull) ** 2 * sums
        differences = (keep - pull) ** 2 * differences


def chain_steps(
    layers: int, s: np.ndarray, d: np.ndarray, strength0: np.ndarray, rate: float
) -> Iterator[np.ndarray]:
    """Yield the strengths of modes whose layers all start with one amplitude.

    Args:
        layers: L, at least 1.
        s: Singular values, of a shape that the others broadcast with.
        d: Input eigenvalues.
        strength0: Initial strengths, positive for more than one layer.
        rate: 1/τ with τ in steps.
    """
    amplitude = (strength0 + 0.0 * s) ** (1 / layers)
    while True:
        strength = amplitude**layers
        yield strength
        amplitude = amplitude + rate * amplitude ** (layers - 1) * (s - d * strength)


def followed(strengths: Iterator[np.ndarray], steps: int) -> np.ndarray:
    """Return the strengths at the first steps, the steps last in the shape."""
    # Modes may diverge with too large a rate; whoever compares then finds no finite loss.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.stack([next(strengths) for _ in range(steps)], axis=-1)
