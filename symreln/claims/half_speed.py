"""What is checked where a ReLU network is linear at half speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.claim import Step
from symreln.laws import half_speed

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation


def half_speed_steps(derivation: Derivation) -> list[Step]:
    """Check the reduction to a linear network, where it is made.

    Raises:
        ArithmeticError: The identities do not hold: a bug of symreln, and nothing is printed.
    """
    if not derivation.known.half_speed.holds:
        return []
    if half_speed.reduction_residual() != 0:
        msg = "the derivation's own check failed: a ReLU network at half speed"
        raise ArithmeticError(msg)
    return [
        Step(
            name="half speed",
            statement="Every sample (x, y) has its negative (−x, −y), as often; strengths of pairs "
            "of units obey the linear equations of twice the time constant.",
            check="samples compared as exact columns; substitution of π = ab/2, cancelled to 0",
        )
    ]
