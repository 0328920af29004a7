"""A race as a figure and as the table of finding 1: theory's order, measured order, differences."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.claims.integration import network_of
from symreln.gates.confronted import (
    WITHIN,
    RacePoint,
    candidates_at,
    classes_of,
    piece_ends,
)
from symreln.gates.consistent import gate_spectrum, sign_pattern
from symreln.gates.enumerate import enumerate_gates, pattern
from symreln.gates.finite_start import finite_start
from symreln.gates.race_reasons import explained

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.document.model import Drawing
    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.gates.race import Race, RacePiece
    from symreln.spec.model import Spec

#: Values of the parameter in an interval at which lines are drawn, and shares are predicted.
DRAWN, PREDICTED = 60, 9
#: Samples times classes above which shares are predicted at the trained values only.
MANY = 200
#: Halvings of an interval in which shares become equal; they end within its 2^-12th part.
HALVINGS = 12
#: Part of two intervals that is left out at their ends, where one of two gates may be missing.
EDGE = 1e-3

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Unraced:
    """A gate pattern that is asked for beside those that run.

    Attributes:
        name: Name of the pathway, or "all open".
        gate: 0 or 1 a sample.
        speed: Largest singular value, as a function of the parameter; None where it is zero.
        realisable: Whether some direction has the gate, at the value in the middle of the first
            interval.
    """

    name: str
    gate: tuple[int, ...]
    speed: AlgebraicNumber | None
    realisable: bool

    @property
    def pattern(self) -> str:
        """The gate as text."""
        return pattern(self.gate)


def unraced(race: Race, spec: Spec) -> tuple[Unraced, ...]:
    """Return the gate that is open everywhere and those of the spec's pathways, if they do not run.

    The first is the linear solution of a network without gates.

    Args:
        race: The race of the spec's data.
        spec: With all parameters declared but the race's.
    """
    runs = {sign_pattern(signs) for alike in classes_of(race).values() for signs in alike}
    asked = {(1,) * spec.dataset.samples: "all open"}
    for pathway in spec.pathways:
        if all(gate in (0, 1) for gate in pathway.gate):
            asked.setdefault(tuple(int(g != 0) for g in pathway.gate), pathway.name)
    part = next(p for p in race.pieces if not p.piece.is_root and p.piece.sample is not None)
    at = {race.parameter: part.piece.sample}
    gates = enumerate_gates(spec.dataset.inputs.substitute(at))  # type: ignore[arg-type]
    found = []
    for gate, name in asked.items():
        if pattern(gate) in runs:
            continue
        spectrum = gate_spectrum(spec.dataset.inputs, spec.dataset.targets, gate)
        modes = [mode for mode in spectrum.modes if not mode.is_null]
        top = max(modes, key=lambda mode: mode.s.to_float(at), default=None)  # type: ignore[arg-type]
        speed = None if top is None else top.s
        known = gates.index(gate) is not None
        found.append(Unraced(name=name, gate=gate, speed=speed, realisable=known))
    return tuple(found)


def race_drawing(
    race: Race,
    spec: Spec,
    others: Sequence[Unraced],
    points: Sequence[RacePoint],
    *,
    names: Mapping[str, str] | None = None,
    png: bool = False,
) -> Drawing:
    """Draw a race and the networks that were trained along it.

    Args:
        race: The race.
        spec: Of its data, with a network where points are given.
        others: Patterns that do not run.
        points: Trained networks, or none.
        names: What to call gates, by pattern; nothing is predicted of such races.
        png: Whether to make a raster copy.
    """
    import sympy as sp

    from symreln.gates.figure import BoundaryMark, SharePoints, race_figure

    classes = classes_of(race)
    curves = _predicted(race, spec) if points and names is None else {}
    values = np.array([float(point.value) for point in points])
    return race_figure(
        sp.latex(sp.Symbol(race.parameter)),
        _lines(race, others, names or {}),
        [
            BoundaryMark(
                value=float(mark.value),
                kind=mark.kind,
                label=sp.latex(mark.value.to_sympy(), fold_short_frac=True),
            )
            for mark in race.boundaries
        ],
        [
            SharePoints(
                label=(names or {}).get(name, name),
                values=values,
                weight=np.array([point.shares[name] for point in points]),
                spread=np.array([point.spread[name] for point in points]),
                units=np.array([point.units[name] for point in points]),
                curve=_curve(curves, name),
            )
            for name in (classes if points else ())
        ],
        png=png,
    )


def _lines(race: Race, others: Sequence[Unraced], names: Mapping[str, str]) -> list[Any]:
    from symreln.gates.figure import SpeedLine

    x: dict[str, list[float]] = {}
    y: dict[str, list[float]] = {}
    everywhere: list[float] = []
    for place, part in enumerate(race.pieces):
        if part.piece.is_root:
            continue
        low, high = piece_ends(race, place)
        inner = np.linspace(low, high, DRAWN + 2)[1:-1]
        everywhere += inner.tolist()
        for rank in part.ranks:
            for runner in rank:
                if runner.rate is None:
                    continue
                # A gap where the gate ends: nan breaks the line.
                x.setdefault(runner.pattern, []).extend([*inner.tolist(), np.nan])
                y.setdefault(runner.pattern, []).extend(
                    [*_along(runner.rate, race.parameter, inner), np.nan]
                )
    lines = [
        SpeedLine(
            label=_called(race, name, names), values=np.array(x[name]), speeds=np.array(y[name])
        )
        for name in classes_of(race)
        if name in x
    ]
    for other in others:
        if other.speed is not None and not other.realisable:
            values = np.array(everywhere)
            speeds = np.array(_along(other.speed, race.parameter, values))
            label = f"{other.pattern} ({other.name}; of no ReLU unit)"
            lines.append(SpeedLine(label=label, values=values, speeds=speeds, faint=True))
    return lines


def _called(race: Race, name: str, names: Mapping[str, str]) -> str:
    more = len(classes_of(race)[name]) - 1
    return names.get(name, name) + (f" and {more} alike" if more else "")


def _along(rate: AlgebraicNumber, parameter: str, values: np.ndarray) -> list[float]:
    at = (Fraction(float(value)).limit_denominator(10_000) for value in values)
    return [rate.to_float({parameter: value}) for value in at]


def _predicted(race: Race, spec: Spec) -> dict[float, dict[str, float]]:
    """Return predicted shares along the parameter, where they cost little."""
    if spec.dataset.samples * len(classes_of(race)) > MANY or not race.complete:
        return {}
    found: dict[float, dict[str, float]] = {}
    for place, part in enumerate(race.pieces):
        if part.piece.is_root:
            continue
        low, high = piece_ends(race, place)
        for k in range(PREDICTED):
            value = low + (high - low) * (k + 0.5) / PREDICTED
            shares = _shares_at(race, spec, value)
            if any(shares.values()):
                found[value] = shares
    return found


def _shares_at(race: Race, spec: Spec, value: float) -> dict[str, float]:
    """Return the predicted share of every class at a value of the parameter."""
    exact = Fraction(value).limit_denominator(10_000)
    at = {race.parameter: exact}
    start = finite_start(
        spec.dataset.inputs.substitute(at).to_numpy(),
        spec.dataset.targets.substitute(at).to_numpy(),
        candidates_at(race, spec, exact),
        race.group,
        network_of(spec),
    )
    shares = dict.fromkeys(classes_of(race), 0.0)
    if start is not None:
        for each, share in zip(start.classes, start.shares, strict=True):
            shares[each.pattern] += share
    return shares


def seen_crossings(race: Race, spec: Spec) -> list[Json]:
    """Return where networks of the spec's width and initial scale change sides.

    That is where the predicted shares of two gates are equal whose speeds cross: the finite-init
    error of the boundary is how far that is from it.

    Args:
        race: The race.
        spec: Of its data, with a network.
    """
    found = []
    for mark in race.boundaries:
        if mark.kind != "speed" or not mark.winner:
            continue
        inside = [k for k, part in enumerate(race.pieces) if _touches(part, mark.value)]
        ends = [piece_ends(race, k) for k in inside if not race.pieces[k].piece.is_root]
        low, high = min(end[0] for end in ends), max(end[1] for end in ends)
        exact = float(mark.value)
        at = _equal(race, spec, mark.between, (low, exact, high))
        error = None if at is None else at - exact
        found.append({"boundary": mark.value.to_json({}), "seen_at": at, "error": error})
    return found


def _touches(part: RacePiece, value: AlgebraicNumber) -> bool:
    return any(end is not None and end == value for end in (part.piece.low, part.piece.high))


def _equal(
    race: Race, spec: Spec, between: tuple[str, ...], places: tuple[float, float, float]
) -> float | None:
    """Return where two predicted shares are equal, on either side of a boundary, or None."""
    one, two = between[:2]

    def apart(value: float) -> float:
        shares = _shares_at(race, spec, value)
        return shares[one] - shares[two]

    low, middle, high = places
    edge = EDGE * (high - low)
    for start, end in ((low + edge, middle), (middle, high - edge)):
        left, right = apart(start), apart(end)
        if left * right >= 0:
            continue
        for _ in range(HALVINGS):
            middle = (start + end) / 2
            here = apart(middle)
            if left * here > 0:
                start = middle
            else:
                end = middle
        return (start + end) / 2
    return None


def _curve(curves: Mapping[float, Mapping[str, float]], name: str) -> tuple[np.ndarray, np.ndarray]:
    return np.array(list(curves)), np.array([shares[name] for shares in curves.values()])


def confrontation_json(race: Race, points: Sequence[RacePoint], spec: Spec, seeds: int) -> Json:
    """Return what trained networks took, and what was predicted for them."""
    network = network_of(spec)
    return {
        "seeds": seeds,
        "hidden": network.hidden,
        "init_std": str(network.init_std),
        "standard_errors": WITHIN,
        "points": [_point(point, seeds) for point in points],
        "crossings": seen_crossings(race, spec),
        "fastest_taken": sum(point.fastest_taken for point in points),
        "within_stated_error": sum(agrees(point, seeds) is True for point in points),
    }


def agrees(point: RacePoint, seeds: int) -> bool | None:
    """Return whether all measured shares lie within the stated error of the predicted ones.

    None where nothing is predicted: no class grows, the residual changes shape, or weights decay.
    """
    if point.predicted is None:
        return None
    return all(_close(point, name, seeds) for name in point.shares)


def _close(point: RacePoint, name: str, seeds: int) -> bool:
    # Both below a thousandth: sampled spreads of nearly nothing are no measure of it.
    apart = abs(point.shares[name] - point.foretold[name])
    return apart < 1e-3 or point.distance(name, seeds) <= WITHIN


def _point(point: RacePoint, seeds: int) -> Json:
    predicted = point.predicted
    errors = {} if predicted is None else {
        each.pattern: error
        for each, error in zip(predicted.classes, predicted.errors, strict=True)
    }  # fmt: skip
    return {
        "value": str(point.value),
        "order": [list(rank) for rank in point.order],
        "taken": list(point.taken),
        "fastest_taken": point.fastest_taken,
        "agrees": agrees(point, seeds),
        "classes": [
            {
                "pattern": name,
                "predicted": None if predicted is None else point.foretold[name],
                "predicted_error": errors.get(name, 0.0),
                "measured": point.shares[name],
                "spread": point.spread[name],
                "units": point.units[name],
            }
            for name in point.shares
        ],
        "kappa_settled": predicted is None or all(each.settled for each in predicted.classes),
        "outside": point.outside,
        "half_time_predicted": None if predicted is None else predicted.half_time * point.tau,
        "half_time_measured": point.quarter,
        "loss_left": point.left,
        "steps": point.steps,
    }


def finding_table(
    race: Race, others: Sequence[Unraced], points: Sequence[RacePoint], seeds: int
) -> str:
    """Return the table of finding 1 as Markdown: which gates win in theory and in networks."""
    name = race.parameter
    lines = [
        f"| {name} | theory, fastest first | networks, most weight first | share of weight:"
        " measured ± std (predicted) | share of units | half-time: measured (predicted) | fastest"
        " taken | share as predicted |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for point in points:
        shares = ", ".join(
            f"{key} {point.shares[key]:.3f} ± {point.spread[key]:.3f} ({_foretold(point, key)})"
            for key in point.shares
        )
        units = ", ".join(f"{key} {value:.3f}" for key, value in point.units.items())
        half = "–" if point.predicted is None else f"{point.predicted.half_time * point.tau:.0f}"
        order = " > ".join(" = ".join(rank) for rank in point.order) or "none"
        lines.append(
            f"| {point.value} | {order} | {' > '.join(point.taken)} | {shares} | {units} | "
            f"{'–' if point.quarter is None else point.quarter} ({half}) | "
            f"{_yes(point.fastest_taken)} | {_yes(agrees(point, seeds))} |"
        )
    for other in others:
        speed = "0" if other.speed is None else str(other.speed.to_sympy())
        can = "a ReLU unit can have it" if other.realisable else "no ReLU unit can have it"
        lines.append(f"\n{other.pattern} ({other.name}): speed {speed}; {can}, and none keeps it.")
    lines += explained(name, points)
    return "\n".join(lines) + "\n"


def _foretold(point: RacePoint, name: str) -> str:
    return "–" if point.predicted is None else f"{point.foretold[name]:.3f}"


def _yes(value: bool | None) -> str:
    return "–" if value is None else "yes" if value else "**no**"
