"""What a table of a race leaves open, or shows against the order of speeds, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.gates.confronted import RacePoint


def explained(name: str, points: Sequence[RacePoint]) -> list[str]:
    """Return what – and a fastest class without most of the weight mean, where they occur."""
    lines = []
    if any(point.predicted is None for point in points):
        lines.append(
            "\n–: nothing is predicted. Shares are where some class grows, weights do not decay, "
            "and each class by itself learns a multiple of the targets, so that the residual keeps "
            "its shape."
        )
    late = [point for point in points if point.order and not point.fastest_taken]
    for kind, why in (
        (True, "shares were predicted for this width and init_std, and are compared in the last "
         "column; speeds decide alone only as init_std goes to 0"),
        (False, "these are shares at the end of training, when slower classes have learned too "
         "what the fastest does not; how much there is to learn counts as well as speed"),
    ):  # fmt: skip
        here = [str(point.value) for point in late if (point.predicted is not None) is kind]
        if here:
            lines.append(
                f"\nThe fastest class does not have most of the weight at {name} = "
                f"{', '.join(here)}: {why}."
            )
    return lines
