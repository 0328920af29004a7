"""A race confronted with trained networks: which gates they take on both sides of each boundary.

Beside their shares stand predicted ones: of the units that are followed for the effective network.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from symreln.base.records import record
from symreln.claims.integration import network_of
from symreln.gating.observed import (
    class_shares,
    nearest_observer,
    observe,
    predicted_shares,
)
from symreln.gating.race_pieces import Race
from symreln.gating.serialise import Result
from symreln.specs.spec import Spec

#: Denominator of the values of the parameter at which networks are trained, at most.
_FINEST = 100
#: Standard errors within which a measured share agrees with the predicted one.
WITHIN = 3.0


@record(kw_only=False)
class ClassShare:
    """What networks have of a class of gates at the end, and what is predicted.

    Attributes:
        pattern: One of the gates.
        predicted: Share of the weight of the units that are followed for the effective network;
            None where there are none.
        predicted_error: Standard error of it.
        measured: Share of the trained networks' weight, mean over seeds.
        spread: Its standard deviation over seeds.
        units: Share of the units, whatever their weight: those that have not grown show where a
            gate stops being self-consistent.
    """

    pattern: str
    predicted: float | None
    predicted_error: float
    measured: float
    spread: float
    units: float

    def agrees(self, seeds: int) -> bool:
        """Whether the measured share lies within the stated error of the predicted one.

        Or within a thousandth: sampled spreads of nearly nothing are no measure of it.
        """
        error = np.hypot(self.predicted_error, self.spread / np.sqrt(seeds))
        return bool(abs(self.measured - (self.predicted or 0.0)) <= max(1e-3, WITHIN * error))


@record(eq=False)
class RacePoint(Result):
    """Networks trained at one value of the parameter.

    Attributes:
        value: The parameter; None where there is none.
        seeds: How many networks.
        order: Gates that run there, the fastest first, equal ones together.
        classes: Shares by class.
        left: Largest loss over seeds at the end, over the initial one.
    """

    JSON = ("value", "order", "taken", "fastest_taken", "agrees", "classes", "loss_left=left")
    value: Fraction | None
    seeds: int
    order: tuple[tuple[str, ...], ...]
    classes: tuple[ClassShare, ...]
    left: float

    @property
    def taken(self) -> tuple[str, ...]:
        """Classes by measured share, the largest first; those without weight are left out."""
        ordered = sorted(self.classes, key=lambda each: -each.measured)
        return tuple(each.pattern for each in ordered if each.measured > 0.0005)

    @property
    def fastest_taken(self) -> bool:
        """Whether a class of the largest speed has the largest measured share."""
        return bool(self.order and self.taken) and self.taken[0] in self.order[0]

    @property
    def predicted(self) -> bool:
        """Whether shares are predicted."""
        return any(each.predicted is not None for each in self.classes)

    @property
    def agrees(self) -> bool | None:
        """Whether all measured shares lie within the stated error of the predicted ones.

        None of one network, which has no spread, and where nothing is predicted.
        """
        known = self.seeds > 1 and self.predicted
        return all(each.agrees(self.seeds) for each in self.classes) if known else None


def confronted_points(race: Race, count: int) -> tuple[Fraction | None, ...]:
    """Return values of the parameter to train at: ``count`` in every interval, and rational cuts.

    An interval without an end is taken as wide as its neighbour, or 1 where there is none.

    Args:
        race: The race.
        count: How many in an interval.
    """
    if not race.parameter:
        return (None,)
    found = set()
    for place, part in enumerate(race.pieces):
        if part.piece.is_root:
            found.add(part.piece.sample)
            continue
        low, high = race.ends(place)
        for k in range(count):
            value = Fraction(low + (high - low) * (k + 0.5) / count).limit_denominator(_FINEST)
            if part.contains(value):
                found.add(value)
    return tuple(sorted(found))


def confront(race: Race, spec: Spec, value: Fraction | None, seeds: int, rng: int) -> RacePoint:
    """Train networks at one value of the parameter, and predict their shares.

    Args:
        race: The race of the spec's data.
        spec: With all parameters declared but the race's, which takes ``value``.
        value: The parameter.
        seeds: How many networks.
        rng: Seed of their weights.
    """
    trained = spec.at({} if value is None else {race.parameter: value})
    part, end = race.at(value), [network_of(spec).steps - 1]
    nearest = nearest_observer(trained.dataset.inputs.to_numpy(), list(race.classes.values()))
    seen = observe(trained, seeds=seeds, rng=rng, observers={"nearest": nearest}, steps=end)
    wide, which = predicted_shares(trained, nearest, len(race.classes)), seen.seen["nearest"][:, 0]
    shares = class_shares(which, seen.weights[:, 0], len(race.classes))
    return RacePoint(
        value=value,
        seeds=seeds,
        order=() if part is None else part.order,
        classes=tuple(
            ClassShare(
                pattern=pattern,
                predicted=None if wide is None else float(wide[0][place]),
                predicted_error=0.0 if wide is None else float(wide[1][place]),
                measured=float(own.mean()),
                spread=float(own.std(ddof=int(seeds > 1))),
                units=float((which == place).mean()),
            )
            for place, (pattern, own) in enumerate(zip(race.classes, shares.T, strict=True))
        ),
        left=float((seen.losses[:, -1] / seen.losses[:, 0]).max()),
    )
