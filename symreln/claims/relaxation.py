r"""How fast a closed mode relaxes to its plateau, and whether gradient descent can follow.

Near its plateau h the flow of a mode is :math:`\tau \dot\pi = -r (\pi - h)`, and a step of
gradient descent multiplies the distance by 1 − r/τ: it settles only where r < 2τ.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.base.rounding import rounded
from symreln.exact.enclosure import in_float64, rounded_text
from symreln.laws.choice import law_of, started
from symreln.laws.law import Start
from symreln.laws.ops import ARB

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation

BITS = 64


def diverging_lines(derivation: Derivation) -> list[str]:
    """Warn of a learning rate at which closed modes cannot settle, at the declared values."""
    tau, values = derivation.tau, derivation.spec.values
    if tau is None or not derivation.closed:
        return []
    if len(values) < len(derivation.spec.parameters):
        return []
    # Depth L relaxes alike wherever it starts.
    start = law_of(derivation.known).start(derivation.known) or Start(strength0=Fraction(1))
    rates = []
    for pathway in derivation.pathways:
        for mode in pathway.modes:
            if mode.is_null or mode.d_eff is None:
                continue
            s, d = mode.s.ball(values, BITS), mode.d_eff.ball(values, BITS)
            if s > 0 and d > 0:
                law = started(derivation.known, s, d, tau, ops=ARB, start=start)
                rate = law.relaxation / law.tau
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
