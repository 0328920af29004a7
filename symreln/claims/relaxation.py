r"""How fast a closed mode relaxes to its plateau, and whether gradient descent can follow.

Near its plateau h the flow of a mode is :math:`\tau \dot\pi = -r (\pi - h)`, and a step of
gradient descent multiplies the distance by 1 − r/τ: it settles only where r < 2τ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import rounded
from symreln.dynamics.switchboard import expected_start
from symreln.exact.enclosure import ball, in_float64, rounded_text

if TYPE_CHECKING:
    from flint import arb

    from symreln.claims.derivation import Derivation
    from symreln.spec.model import NetworkSpec

BITS = 64


def diverging_lines(derivation: Derivation) -> list[str]:
    """Warn of a learning rate at which closed modes cannot settle, at the declared values."""
    tau, values = derivation.tau, derivation.spec.values
    network = derivation.effective_network
    if network is None or tau is None or not derivation.closed:
        return []
    if len(values) < len(derivation.spec.parameters):
        return []
    rates = []
    for pathway in derivation.pathways:
        for mode in pathway.modes:
            if mode.is_null or mode.d_eff is None:
                continue
            s, d = mode.s.ball(values, BITS), mode.d_eff.ball(values, BITS)
            if s > 0 and d > 0:
                rate = relaxation(network, s, d) / ball(tau)
                rates.append((rate, f"mode {mode.number} of '{pathway.name}'"))
    found = [(rate, mode) for rate, mode in rates if rate > 2]
    if not found:
        return []
    rate, mode = max(found, key=lambda pair: pair[0].mid())
    shown = rounded(float(rate), 3, 2) if in_float64(rate) else rounded_text(rate, 3)
    return [
        f"warning: network.learning_rate: gradient descent diverges ({mode} relaxes by "
        f"{shown} a step, 2 is the limit)"
    ]


def relaxation(network: NetworkSpec, s: arb, d: arb) -> arb:
    r"""Return r, in units of 1/τ.

    - one layer: :math:`\dot\pi = s - d\pi` gives d;
    - L balanced layers: :math:`\dot\pi = L \pi^{2 - 2/L} (s - d\pi)` gives
      :math:`L h^{2 - 2/L} d`, which is 2s for two;
    - two layers that start apart: :math:`\sqrt{4\pi^2 + c^2}` in the place of 2π;
    - weight decay λ: the balanced plateau is (s − λ)/d, and r = 2(s − λ); a mode with s ≤ λ dies
      out, and its amplitudes shrink by (λ − s)/τ a step.

    Args:
        network: Whose mode it is; its weight decay is that of the modes.
        s: Singular value, positive.
        d: Input eigenvalue, positive.
    """
    if network.layers == 1:
        return d
    if network.weight_decay:
        growth = s - ball(network.weight_decay)
        return 2 * growth if growth > 0 else -growth
    height = s / d
    if network.layers > 2:
        return network.layers * height ** (2 - ball(2) / network.layers) * d
    if network.init_std_out is None:
        return 2 * s
    apart = ball(expected_start(network).imbalance)
    return (4 * height * height + apart * apart).sqrt() * d
