"""Figures of races."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.document.document_model import Drawing
from symreln.document.mathtext import slashed_latex
from symreln.document.symbols import symbol_latex
from symreln.gating.race_report import RaceReport
from symreln.report.looks import FAINT, INK, PALETTE, line_style
from symreln.report.sketch import Curve, Panel, Sketch

if TYPE_CHECKING:
    from symreln.exact.algebraic import AlgebraicNumber

#: Values of the parameter in an interval at which lines are drawn.
_DRAWN = 60
#: Dashes of a boundary by its kind.
_KINDS = {"speed": "-", "existence": (0, (1.5, 1.5))}
#: Marks of trained networks, and of what is predicted of them.
_DOT = {"marker": "o", "markersize": 3.5, "linestyle": ""}
_CROSS = {"marker": "x", "markersize": 4.5, "linestyle": ""}


def race_figure(found: RaceReport) -> Drawing | None:
    """Draw speeds and, where networks were trained, their shares beside them; or nothing.

    Args:
        found: A race, drawn where it is over a parameter.
    """
    race = found.race
    if not race.parameter:
        return None
    x, speeds = f"${symbol_latex(race.parameter)}$", tuple(_speeds(found))
    high = 1.05 * max(float(np.nanmax(curve.y)) for curve in speeds)
    legend = list(_boundaries(found, high, named=True))
    if found.points:
        nowhere = np.full(1, np.nan)
        for said, mark in (("trained networks, ± std", _DOT), ("predicted", _CROSS)):
            legend.append(Curve(x=nowhere, y=nowhere, label=said, style=mark | {"color": INK}))
    curves = (*speeds, *legend)
    panels = [Panel(x=x, y=r"speed $s$  ($1/\tau$)", curves=curves, top=high)]
    if found.points:
        marks = tuple(_boundaries(found, 1.0, named=False))
        for whose in ("weight", "units"):
            shares = (*_shares(found, whose), *marks)
            panels.append(Panel(x=x, y=f"share of {whose}", curves=shares, top=1.04))
    return Sketch.of("race", *panels, height=2.4).draw(pdf=False)


def _speeds(found: RaceReport) -> Iterator[Curve]:
    """Yield the speeds of gates, with gaps where a gate ends."""
    race = found.race
    intervals = [
        (part, np.linspace(*race.ends(place), _DRAWN + 2)[1:-1])
        for place, part in enumerate(race.pieces)
        if not part.piece.is_root
    ]
    drawn = 0
    for name, alike in race.classes.items():
        lines = [
            (np.append(inner, np.nan), [*_along(runner.rate, race.parameter, inner), np.nan])
            for part, inner in intervals
            for runner in part.runners
            if runner.pattern == name and runner.rate is not None
        ]
        if lines:
            more = f", orbit of size {len(alike)}" if len(alike) > 1 else ""
            x, y = (np.concatenate(parts) for parts in zip(*lines, strict=True))
            style = line_style(drawn) | {"linewidth": 1.4}
            yield Curve(x=x, y=y, label=race.names[name] + more, style=style)
            drawn += 1
    everywhere = np.concatenate([inner for _, inner in intervals])
    for other in found.beside:
        if other.rate is not None and not other.realisable:
            label = f"{other.name}, {other.pattern}: no ReLU unit"
            speeds = np.array(_along(other.rate, race.parameter, everywhere))
            style = {"linewidth": 1.4, "color": FAINT, "linestyle": (0, (4, 2))}
            yield Curve(x=everywhere, y=speeds, label=label, style=style)


def _along(rate: AlgebraicNumber, parameter: str, values: np.ndarray) -> list[float]:
    at = (Fraction(float(value)).limit_denominator(10_000) for value in values)
    return [rate.to_float({parameter: value}) for value in at]


def _boundaries(found: RaceReport, high: float, *, named: bool) -> Iterator[Curve]:
    """Yield boundaries as lines up to a height, their values in the legend where ``named``."""
    for kind, dashes in _KINDS.items():
        own = [each for each in found.race.boundaries if each.kind == kind]
        places = np.array([float(each.value) for each in own])
        style = {"color": INK, "linewidth": 0.7, "linestyle": dashes, "zorder": 0}
        note = ", ".join(dict.fromkeys(slashed_latex(each.value.to_sympy()) for each in own))
        for place, value in enumerate(places):
            said: dict[str, Any] = {}
            if named and not place:
                said = {"label": f"{kind} boundary", "note": note}
            yield Curve(x=np.array([value, value]), y=np.array([0.0, high]), style=style, **said)


def _shares(found: RaceReport, whose: str) -> Iterator[Curve]:
    """Yield the shares of the weight, measured and predicted, or those of the units."""
    values = np.array([float(point.value or 0) for point in found.points])
    for place, name in enumerate(found.race.classes):
        own = [each for point in found.points for each in point.classes if each.pattern == name]
        colour = {"color": PALETTE[place % len(PALETTE)]}
        if whose == "units":
            yield Curve(x=values, y=np.array([each.units for each in own]), style=_DOT | colour)
            continue
        y, spread = (np.array([getattr(e, n) for e in own]) for n in ("measured", "spread"))
        dots = _DOT | colour
        yield Curve(x=values, y=y, style=dots, low=y - spread, high=y + spread, spread="bars")
        wide = np.array([np.nan if each.predicted is None else each.predicted for each in own])
        yield Curve(x=values, y=wide, style=_CROSS | colour)
