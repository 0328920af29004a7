r"""How fast a closed mode relaxes to its plateau, and whether gradient descent can follow.

Near its plateau h the flow of a mode is :math:`\tau \dot\pi = -r (\pi - h)`, and a step of
gradient descent multiplies the distance by 1 − r/τ: it settles only where r < 2τ.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.base.records import record
from symreln.base.rounding import rounded
from symreln.claims.claim import Claim
from symreln.exact.enclosure import in_float64, rounded_text
from symreln.laws.choice import law_of, started
from symreln.laws.law import Start
from symreln.laws.ops import ARB

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation

_BITS = 64


@record
class _Diverging(Claim):
    """A learning rate at which a closed mode cannot settle, at the declared values.

    Attributes:
        mode: The mode that relaxes fastest, in words.
        rate: By how much a step, rounded; 2 is the limit.
    """

    mode: str
    rate: str

    @property
    def sentence(self) -> str:
        """The warning."""
        return (
            f"warning: network.learning_rate: gradient descent diverges ({self.mode} relaxes by "
            f"{self.rate} a step, 2 is the limit)"
        )


def diverging(derivation: Derivation) -> _Diverging | None:
    """Return the mode that diverges fastest, None where all settle or that is not known."""
    tau, values = derivation.tau, derivation.spec.values
    if tau is None or not derivation.closed or not derivation.spec.has_values:
        return None
    # Depth L relaxes alike wherever it starts.
    start = law_of(derivation.known).start(derivation.known) or Start(strength0=Fraction(1))
    rates = []
    for pathway in derivation.pathways:
        for mode in pathway.modes:
            if mode.is_null or mode.d_eff is None:
                continue
            s, d = mode.s.ball(values, _BITS), mode.d_eff.ball(values, _BITS)
            if s > 0 and d > 0:
                law = started(derivation.known, s, d, tau, ops=ARB, start=start)
                rate = law.relaxation / law.tau
                rates.append((rate, f"mode {mode.number} of '{pathway.name}'"))
    found = [(rate, mode) for rate, mode in rates if rate > 2]
    if not found:
        return None
    rate, mode = max(found, key=lambda pair: pair[0].mid())
    shown = rounded(float(rate), 3, 2) if in_float64(rate) else rounded_text(rate, 3)
    return _Diverging(mode=mode, rate=shown)
