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
:math:`w_l/\sqrt{n_l}`, and |f| is measured in these. Balanced they are one, z, which moves with
:math:`|f| \propto z^{L-1} (s - dz^L) = \pi^{1 - 1/L} (s - d\pi)`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sympy as sp

_S, _D, _Z, _P0 = sp.symbols("_s _d _z _p0", positive=True)


def delay(layers: int, s: Any, d: Any, strength: Any, start: Any) -> sp.Expr:
    """Return n − T of one mode of L balanced layers, from its strength there and at the start."""
    power = 1 - sp.Rational(1, layers)
    speed, first = (p**power * (s - d * p) for p in (strength, start))
    return sp.log(speed / first) / 2


@lru_cache(maxsize=64)
def delay_residual(layers: int) -> sp.Expr:
    """Zero exactly when the delay grows along the flow as a step's excess does.

    With τ dz/dt = f(z) and f = z^(L-1) (s - d z^L), which every layer follows: of a step's time
    the flow needs all but the share f'(z)/(2τ), so the delay grows by f'/2 per unit of time over τ.
    """
    speed = _Z ** (layers - 1) * (_S - _D * _Z**layers)
    moved = delay(layers, _S, _D, _Z**layers, _P0).diff(_Z) * speed
    return sp.simplify(sp.powsimp(moved - speed.diff(_Z) / 2))
