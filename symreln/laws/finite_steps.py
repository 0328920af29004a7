r"""At which step gradient descent is where its flow is: to leading order, along any curve.

A step of gradient descent adds f/τ to the weights w, f = −∇L. In one step's time their flow gets to
:math:`w + f/\tau + f'f/(2\tau^2) + \ldots`, further by the share :math:`\kappa/(2\tau)`, where
:math:`\kappa = f \cdot f'f/|f|^2` is the part along the curve. So in a step the flow's time T moves
by :math:`1 - \kappa/(2\tau)`. Along the flow :math:`d \ln|f|/dT = \kappa/\tau`, and so gradient
descent is at w(T) after

.. math:: n = T + \tfrac{1}{2} \ln\frac{|f(T)|}{|f(0)|}

steps, up to terms of the order of 1/τ. Where the flow runs along a line, as that of balanced
strengths does, nothing else is left out; else the part of f'f across the curve is.

The edges of a chain that n_l pathways use follow a gradient in the coordinates
:math:`w_l/\sqrt{n_l}`, and |f| is measured in these.
"""

from __future__ import annotations

import numpy as np

#: Speeds below this share of the first one are rounding.
_LEAST = 1e-12


def delays(speeds: np.ndarray) -> np.ndarray:
    """Return n − T at every time, shape (times, …), from |f| there; 0 for what stands still."""
    first = np.where(speeds[0] > 0, speeds[0], 1.0)
    ratios = np.where(speeds[0] > 0, speeds / first, 1.0)
    return np.log(np.maximum(ratios, _LEAST)) / 2


def at_steps(
    times: np.ndarray, values: np.ndarray, slopes: np.ndarray, after: np.ndarray
) -> np.ndarray:
    """Return the values of one curve of the flow at the steps ``times`` of gradient descent.

    Args:
        times: Ascending times of the flow, the first of them 0, no more than a step apart.
        values: At these.
        slopes: Their derivatives by time.
        after: n − T there.
    """
    steps = np.maximum.accumulate(times + after)
    place = np.clip(np.searchsorted(steps, times, side="right") - 1, 0, len(times) - 2)
    span, width = steps[place + 1] - steps[place], times[place + 1] - times[place]
    share = np.divide(times - steps[place], span, out=np.ones_like(span), where=span > 0)
    x = np.minimum(share, 1.0)
    # Cubic, by values and slopes at both ends.
    ends = (1 - x) ** 2 * ((1 + 2 * x) * values[place] + x * width * slopes[place])
    return ends + x**2 * ((3 - 2 * x) * values[place + 1] - (1 - x) * width * slopes[place + 1])
