"""What is checked where a ReLU network is linear at half speed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symreln.claims.claim import Claim, Step
from symreln.laws import half_speed

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation


@dataclass(frozen=True, kw_only=True)
class _HalfSpeed(Claim):
    """The reduction to a linear network."""

    def steps(self) -> Iterator[Step]:
        """Check the reduction.

        Raises:
            ArithmeticError: The identities do not hold: a bug of symreln, and nothing is printed.
        """
        if half_speed.reduction_residual() != 0:
            msg = "the derivation's own check failed: a ReLU network at half speed"
            raise ArithmeticError(msg)
        yield Step(
            name="half speed",
            statement="Every sample (x, y) has its negative (−x, −y), as often; strengths of pairs "
            "of units obey the linear equations of twice the time constant.",
            check="samples compared as exact columns; substitution of π = ab/2, cancelled to 0",
        )


def half_speed_of(derivation: Derivation) -> _HalfSpeed | None:
    """Say that a ReLU network is linear at half speed, where it is."""
    return _HalfSpeed() if derivation.known.half_speed.holds else None
