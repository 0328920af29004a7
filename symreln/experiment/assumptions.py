"""What each assumption costs: predictions that make it beside those that do not.

All of them are at hand after every confrontation; nothing is trained for it. What fails where the
prediction itself disagrees is said by :mod:`symreln.experiment.diagnosis`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.experiment.metrics import CurveComparison


@dataclass(frozen=True, kw_only=True)
class AssumptionCost:
    """One assumption, made and not made.

    Attributes:
        assumption: In words.
        pair: Curves with it, as in ``metrics``.
        instead: Curves without it.
        before: max |ΔL|/L(0) with it.
        after: The same without it.
        tolerance: Largest allowed distance.
    """

    assumption: str
    pair: str
    instead: str
    before: float
    after: float
    tolerance: float

    @property
    def fails(self) -> bool:
        """Whether it alone takes the prediction beyond the tolerance, by more than half of it."""
        return self.before > self.tolerance and self.after < self.before / 2


def assumption_costs(
    numbers: Derivation,
    metrics: Mapping[str, CurveComparison],
    tolerance: float,
    *,
    early: bool = False,
) -> tuple[AssumptionCost, ...]:
    """Return what every assumption costs of which there is a prediction with and one without.

    Args:
        numbers: The derivation, without free parameters.
        metrics: Distances by pair.
        tolerance: Largest allowed one.
        early: Whether the theory starts from the units that each pathway gets in the early phase,
            which flows and closed forms take as half of all.
    """
    return tuple(
        AssumptionCost(
            assumption=name,
            pair=pair,
            instead=instead,
            before=metrics[pair].max_abs_over_initial,
            after=metrics[instead].max_abs_over_initial,
            tolerance=tolerance,
        )
        for name, pair, instead in _links(numbers, metrics, early)
        if pair in metrics and instead in metrics
    )


def _links(
    numbers: Derivation, metrics: Mapping[str, CurveComparison], early: bool
) -> Iterator[tuple[str, str, str]]:
    judge = "relu" if "theory_vs_relu" in metrics else "gdln"
    theory, flow = f"theory_vs_{judge}", f"flow_vs_{judge}"
    # The GDLN has the spec's gates: what directions cost is not mixed with what gates do.
    yield "directions that stay (Assumption 2.1.1)", "modes_vs_gdln", "theory_vs_gdln"
    closed = f"closed_vs_{judge}"
    units = "half of the units in every pathway, " if early else ""
    if len(numbers.stages) > 1:
        yield "earlier stages that have converged, from an aligned start", closed, flow
    elif not numbers.closed:
        yield "an aligned start, from which modes that lose die out", closed, flow
    else:
        yield f"{units}an aligned start, infinitely small steps", closed, theory
    yield f"{units}infinitely small steps", flow, theory
