r"""How fast modes relax, and whether gradient descent can follow.

Near its plateau h the flow of a mode is :math:`\tau \dot\pi = -r (\pi - h)`, and a step of
gradient descent multiplies the distance by 1 − r/τ: it settles only where r < 2τ.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.base.rounding import rounded, rounded_down
from symreln.claims.claim import Claim
from symreln.claims.probes import learning_modes
from symreln.errors import InputError
from symreln.exact.enclosure import in_float64, rounded_text
from symreln.laws.choice import law_of, started
from symreln.laws.law import Start
from symreln.laws.ops import ARB

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.specs.spec import NetworkSpec

_BITS = 64
#: Relaxation a step, 2 s/tau, above which full-batch gradient descent diverges near a plateau.
_STABLE_RATE = 2.0
#: Entries of a correlation up to which its singular values are computed all at once.
_DENSE = 40_000


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
    for pathway, mode in learning_modes(derivation):
        if mode.d_eff is None:
            continue
        s, d = mode.s.ball(values, _BITS), mode.d_eff.ball(values, _BITS)
        if s > 0 and d > 0:
            law = started(derivation.known, s, d, tau, ops=ARB, start=start)
            rates.append((law.relaxation / law.tau, f"mode {mode.number} of '{pathway.name}'"))
    found = [(rate, mode) for rate, mode in rates if rate > 2]
    if not found:
        return None
    rate, mode = max(found, key=lambda pair: pair[0].mid())
    shown = rounded(float(rate), 3, 2) if in_float64(rate) else rounded_text(rate, 3)
    return _Diverging(mode=mode, rate=shown)


def check_step_size(network: NetworkSpec, rate: float) -> None:
    """Refuse to predict training that cannot converge.

    Near its plateau the slowest-to-stabilise mode contracts by 1 − rate a step of gradient
    descent, which diverges above a rate of 2; the flow would need as many integration steps as
    the rate is too large, to no purpose.

    Args:
        network: Whose learning rate it is.
        rate: 2 s/tau of the largest s.

    Raises:
        InputError: The rate is too large.
    """
    if not rate < _STABLE_RATE:
        bound = float(network.learning_rate) * _STABLE_RATE / rate if np.isfinite(rate) else 0.0
        advice = f"below {rounded_down(bound, 2)}" if bound > 0 else "or scale the data"
        msg = (
            f"network.learning_rate: {float(network.learning_rate):.4g} makes gradient descent "
            f"diverge on these data (a mode relaxes by {rounded(rate, 3, _STABLE_RATE)} a step, "
            f"2 is the limit). Lower it {advice}"
        )
        raise InputError(msg)


def largest_singular_value(matrix: np.ndarray) -> float:
    """Return the largest singular value, or a lower bound of it where the matrix is large."""
    if 0 < matrix.size <= _DENSE:
        return float(np.linalg.norm(matrix, 2))
    # Each power step can only raise |A v| of the unit vector v; no data are built against this v.
    v = np.random.default_rng(0).normal(size=matrix.shape[1])
    for side in (matrix, matrix.T) * (20 * bool(matrix.any())):
        v = side @ v
        v = v / np.linalg.norm(v)
    return float(np.linalg.norm(matrix @ v))
