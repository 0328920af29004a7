"""How far the flow is from gradient descent's finite steps: a proven bound, mode by mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.derivation import Step
from symreln.claims.widths import narrow_pathways
from symreln.dynamics import two_layer
from symreln.truth import Truth

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, ModeDerivation

#: Working precision in bits; the bound itself is no sharper than a factor of two.
BITS = 120


def why_no_bound(derivation: Derivation) -> str:
    """Say why no mode has a bound, or ""."""
    if derivation.tau is None or derivation.strength0 is None:
        return "there is no network whose steps they are, or no initial strength"
    if not derivation.closed:
        return "modes do not close"
    if len(derivation.stages) > 1:
        return "later stages learn what earlier ones leave, step by step"
    if derivation.later:
        return "gates switch"
    if derivation.ask(narrow_pathways):
        return "a pathway has fewer hidden units than modes"
    return ""


def flow_error(derivation: Derivation, mode: ModeDerivation) -> float | None:
    """Return a bound on |flow − gradient descent| of a mode's strength at every step.

    Proven for aligned, balanced weights of two layers
    (:mod:`symreln.dynamics.solutions.descent`), where the strength is below its plateau at the
    start and 2s < tau; modes that are equal by symmetry stay so step by step.

    Returns:
        As a share of the plateau, at the declared values; None where nothing is proven.
    """
    from symreln.dynamics.solutions import descent
    from symreln.exact.enclosure import ball, precision

    # First: what a limit cut short has neither closed forms nor a verdict.
    if not isinstance(mode.strength, two_layer.SigmoidalMode) or mode.d_eff is None:
        return None
    if mode.is_null or why_no_bound(derivation):
        return None
    values = derivation.spec.values
    if any(name not in values for name in (*mode.s.parameters, *mode.d_eff.parameters)):
        return None

    with precision(BITS):
        s, d = mode.s.ball(values, BITS), mode.d_eff.ball(values, BITS)
        start, tau = ball(derivation.strength0 or 0), ball(derivation.tau or 0)
        if descent.unbounded(s, d, start, tau):
            return None
        return descent.flow_error(s, d, start, tau)


def descent_steps(derivation: Derivation) -> list[Step]:
    """Check what the bounds rest on, where there are any.

    Raises:
        ArithmeticError: The identities do not hold: a bug of symreln, and nothing is printed.
    """
    modes = [mode for pathway in derivation.pathways for mode in pathway.modes]
    bounded = [mode for mode in modes if flow_error(derivation, mode) is not None]
    if not bounded:
        return []
    from symreln.dynamics.solutions.descent import DescentMode

    for strength in {mode.strength for mode in bounded if mode.strength is not None}:
        if DescentMode(s=strength.s, d=strength.d).residual() != 0:
            msg = "the derivation's own check failed: steps of gradient descent"
            raise ArithmeticError(msg)
    return [
        Step(
            name="finite steps",
            statement=f"The flow's error against gradient descent is bounded for {len(bounded)} "
            "strengths.",
            check="map of the amplitudes, identities of its logit: cancel to 0; certified numbers",
            outcome=Truth.PROVEN,
        )
    ]
