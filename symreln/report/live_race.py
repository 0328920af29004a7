"""The race of gates for a page: speeds over a parameter, who wins where, and what changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from symreln.gating.serialise import number_text
from symreln.report.live_sliders import letter, parameter_slider
from symreln.report.live_values import LiveRace, Phase, Slider, Speed

if TYPE_CHECKING:
    import sympy as sp

    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.gating.race_pieces import Race, RacePiece
    from symreln.specs.model import Spec

#: Values at which a rate without radicals is given in an interval.
_POINTS = 60
_ROOT = re.compile(r"sqrt\((\d+)\)")


def live_race(found: Race, spec: Spec) -> LiveRace:
    """Return what a page shows of a race."""
    return LiveRace(
        over=found.parameter,
        speeds=tuple(_speeds(found, spec)),
        phases=tuple(_phase(part, found) for part in found.pieces),
        marks=tuple(_marks(found)),
    )


def race_slider(found: Race, spec: Spec) -> Slider:
    """Return the slider of the parameter, at least as wide as what is drawn of its race."""
    (parameter,) = (each for each in spec.parameters if each.name == found.parameter)
    ends = [
        end
        for place, part in enumerate(found.pieces)
        if not part.piece.is_root
        for end in found.ends(place)
    ]
    return parameter_slider(parameter, *ends)


def _speeds(found: Race, spec: Spec) -> Iterator[Speed]:
    """Yield the rates of gates, interval by interval, in the order of their classes."""
    for pattern in found.classes:
        for place, part in enumerate(found.pieces):
            if part.piece.is_root:
                continue
            low, high = (None if end is None else float(end) for end in part.piece.ends)
            for runner in part.runners:
                if runner.pattern == pattern and runner.rate is not None:
                    rate, points = _rate(runner.rate, found.ends(place), spec, found.parameter)
                    name = found.names[pattern]
                    yield Speed(name=name, rate=rate, points=points, low=low, high=high)


def _rate(
    rate: AlgebraicNumber, ends: tuple[float, float], spec: Spec, parameter: str
) -> tuple[sp.Expr | None, tuple[tuple[float, float], ...]]:
    """Return a rate as a formula, or, where radicals do not say it, at some values."""
    if rate.is_radical:
        return rate.to_sympy(spec.symbols), ()
    values = np.linspace(*ends, _POINTS + 2)[1:-1].tolist()
    return None, tuple((x, rate.to_float({parameter: Fraction(x)})) for x in values)


def _phase(part: RacePiece, found: Race) -> Phase:
    low, high = part.piece.ends
    names = found.names
    ranks = [" = ".join(names[each] for each in rank) for rank in part.order]
    return Phase(
        low=None if low is None else float(low),
        high=None if high is None else float(high),
        closed=part.piece.is_root or part.closed[1],
        where="".join(part.where(letter(found.parameter), _exact)),
        winners=tuple(names[each] for each in part.winners),
        says=part.why or " > ".join(ranks) or "none grows",
    )


def _marks(found: Race) -> Iterator[tuple[float, str, str]]:
    for each in found.boundaries:
        names = ", ".join(found.names[name] for name in each.between)
        says = "cross" if each.kind == "speed" else "starts or stops to exist"
        yield float(each.value), _exact(each.value), f"{names} {says}"


def _exact(value: AlgebraicNumber) -> str:
    """Return a number as a drawing on a canvas can show it."""
    return _ROOT.sub(r"√\1", number_text(value)).replace("*", "·")
