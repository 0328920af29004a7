"""What a race says, as race.json, as lines, and as the table of finding 1: theory and networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symreln.claims.integration import network_of
from symreln.exact.algebraic import AlgebraicNumber
from symreln.gates.confronted import WITHIN, RacePoint, candidates_at, data_at
from symreln.gates.consistent import gate_spectrum, sign_pattern
from symreln.gates.enumerate import enumerate_gates, pattern
from symreln.gates.exact_finders import candidate_line
from symreln.gates.finite_start import finite_start
from symreln.gates.race_pieces import Race, RacePiece, Runner
from symreln.gates.serialise import Result, table
from symreln.spec.model import NetworkSpec, Spec

#: Halvings of an interval in which shares become equal; they end within its 2^-12th part.
HALVINGS = 12
#: Part of two intervals that is left out at their ends, where one of two gates may be missing.
EDGE = 1e-3


@dataclass(frozen=True, kw_only=True, eq=False)
class Unraced(Result):
    """A gate pattern that is asked for beside those that run.

    Attributes:
        name: Name of the pathway, or "all open".
        gate: 0 or 1 a sample.
        speed: Largest singular value, as a function of the parameter; None where it is zero.
        realisable: Whether some direction has the gate, at the value in the middle of the first
            interval.
    """

    JSON = (
        *("pattern", "name", "kind", "size", "speed", "realisable", "self_consistent"),
        "fractions",
    )
    kind, size, self_consistent, fractions = "full", 1, False, ()
    name: str
    gate: tuple[int, ...]
    speed: AlgebraicNumber | None
    realisable: bool

    @property
    def pattern(self) -> str:
        """The gate as text."""
        return pattern(self.gate)


@dataclass(frozen=True)
class _Crossing:
    """Where networks change sides, and how far that is from the boundary: the finite-init error."""

    boundary: AlgebraicNumber
    seen_at: float | None
    error: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Confronted(Result):
    """What trained networks took, and what was predicted for them.

    Attributes:
        seeds: Networks at a point.
        network: Their width and initial scale.
        points: By value of the parameter.
        crossings: Where predicted shares are equal whose speeds cross.
    """

    JSON = (
        *("seeds", "hidden=network.hidden", "init_std=network.init_std", "standard_errors"),
        *("points", "crossings", "fastest_taken", "within_stated_error"),
    )
    standard_errors = WITHIN
    seeds: int
    network: NetworkSpec
    points: Sequence[RacePoint]
    crossings: Sequence[_Crossing]

    @property
    def fastest_taken(self) -> int:
        """At how many points networks took the fastest class."""
        return sum(point.fastest_taken for point in self.points)

    @property
    def within_stated_error(self) -> int:
        """At how many points all shares are as predicted."""
        return sum(point.agrees is True for point in self.points)


@dataclass(frozen=True, kw_only=True, eq=False)
class RaceReport(Result):
    """A race and what is said beside it.

    Attributes:
        race: The race.
        spec: As it was given.
        learned: The spec with what is learned in place of its targets, others parameters declared.
        beside: Patterns that are asked for and do not run.
        confronted: Trained networks, or None.
    """

    JSON = (
        *("format", "parameter=race.parameter", "candidates", "winner", "winner_proven"),
        *("why_not=race.why", "boundaries=race.boundaries", "pieces", "confronted?"),
    )
    file, format = "race.json", "symreln-race/1"
    race: Race
    spec: Spec
    learned: Spec
    beside: Sequence[Unraced] = ()
    confronted: Confronted | None = None

    @property
    def pieces(self) -> Sequence[object]:
        """Who runs where."""
        return self.race.pieces

    @property
    def here(self) -> RacePiece | None:
        """The piece of the declared value."""
        return self.race.at(self.spec.values.get(self.race.parameter))

    @property
    def winner(self) -> tuple[str, ...] | None:
        """The fastest at the declared value."""
        return None if self.here is None else self.here.winners

    @property
    def winner_proven(self) -> bool:
        """Whether no unit is faster there."""
        return self.race.complete and self.here is not None and self.here.decided

    @property
    def runners(self) -> list[Runner]:
        """One runner for each gate and formula of its rate, at the declared value if it runs there.

        Fractions are given there, else in the first interval where the gate runs.
        """
        found: dict[str, Runner] = {}
        for part in self.race.pieces:
            for runner in part.runners:
                key = f"{runner.pattern} {runner.rate!r}"
                if runner.rate is not None and (key not in found or part is self.here):
                    found[key] = runner
        return list(found.values())

    @property
    def candidates(self) -> Sequence[object]:
        """Gates that run, then those that do not."""
        return [*self.runners, *self.beside]

    @property
    def points(self) -> Sequence[RacePoint]:
        """Where networks were trained."""
        return () if self.confronted is None else self.confronted.points

    @property
    def tables(self) -> dict[str, str]:
        """The table of finding 1, where networks were trained."""
        if self.confronted is None:
            return {}
        table = finding_table(self.race, self.beside, self.points)
        return {"race.md": table + _crossing_notes(self.race, self.confronted)}

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        name = self.race.parameter
        for each in self.runners:
            at = f" at {name} = {each.fractions_at}"
            yield candidate_line(each.called, each, at, self.spec)
        if self.race.why:
            yield f"not proven to be the fastest: {self.race.why}"
        for each in self.race.boundaries:
            value = each.value.to_json({})["expr"]
            more = ", the winner changes" if each.changes_winner else ""
            yield f"{name} = {value}: {each.kind} of {', '.join(each.between)}{more}"


@dataclass(frozen=True)
class _LabelPiece(Result):
    """A piece of a race by subset, with who keeps its gate there."""

    JSON = (
        *("from=part.piece.low", "to=part.piece.high", "closed=part.closed", "order=part.order"),
        *("undecided=part.undecided?", "why=part.why?", "self_consistent=part.kept"),
    )
    part: RacePiece


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelRaceReport(RaceReport):
    """A race of gates by subset of a label's values.

    Attributes:
        trained: Networks, by value of the parameter.
    """

    trained: Sequence[RacePoint] = ()

    @property
    def points(self) -> Sequence[RacePoint]:
        """Where networks were trained."""
        return self.trained

    @property
    def pieces(self) -> Sequence[object]:
        """Who runs where."""
        return list(map(_LabelPiece, self.race.pieces))

    @property
    def tables(self) -> dict[str, str]:
        """The pieces, and what networks took in them."""
        return {"race.md": label_race_table(self.race, self.points)}


def unraced(race: Race, spec: Spec) -> tuple[Unraced, ...]:
    """Return the gate that is open everywhere and those of the spec's pathways, if they do not run.

    The first is the linear solution of a network without gates.

    Args:
        race: The race of the spec's data.
        spec: With all parameters declared but the race's.
    """
    runs = {sign_pattern(signs) for alike in race.classes.values() for signs in alike}
    asked = {(1,) * spec.dataset.samples: "all open"}
    for pathway in spec.pathways:
        if all(gate in (0, 1) for gate in pathway.gate):
            asked.setdefault(tuple(int(g != 0) for g in pathway.gate), pathway.name)
    samples = (p.piece.sample for p in race.pieces if not p.piece.is_root)
    at = {race.parameter: next(sample for sample in samples if sample is not None)}
    gates = enumerate_gates(spec.dataset.inputs.substitute(at))
    found = []
    for gate, name in asked.items():
        if pattern(gate) in runs:
            continue
        spectrum = gate_spectrum(spec.dataset.inputs, spec.dataset.targets, gate)
        speeds = [mode.s for mode in spectrum.modes if not mode.is_null]
        top = max(speeds, key=lambda s: s.to_float(at), default=None)
        known = gates.index(gate) is not None
        found.append(Unraced(name=name, gate=gate, speed=top, realisable=known))
    return tuple(found)


def predicted_shares(race: Race, spec: Spec, value: float) -> dict[str, float]:
    """Return the predicted share of every class at a value of the parameter."""
    exact = Fraction(value).limit_denominator(10_000)
    candidates = candidates_at(race, spec, exact)
    start = finite_start(data_at(race, spec, exact), candidates, race.group, network_of(spec))
    return {name: start.share_of(name)[0] if start else 0.0 for name in race.classes}


def seen_crossings(race: Race, spec: Spec) -> list[_Crossing]:
    """Return where networks of the spec's width and initial scale change sides.

    That is where the predicted shares of two gates are equal whose speeds cross.

    Args:
        race: The race.
        spec: Of its data, with a network.
    """
    found = []
    for mark in race.boundaries:
        if mark.kind != "speed" or not mark.changes_winner:
            continue
        ends = [
            race.ends(k)
            for k, part in enumerate(race.pieces)
            if not part.piece.is_root
            and any(end is not None and end == mark.value for end in part.piece.ends)
        ]
        exact, (low, high) = float(mark.value), (min(e[0] for e in ends), max(e[1] for e in ends))
        edge = EDGE * (high - low)
        at = _equal(race, spec, mark.between, (low + edge, exact))
        at = _equal(race, spec, mark.between, (exact, high - edge)) if at is None else at
        found.append(_Crossing(mark.value, at, None if at is None else at - exact))
    return found


def _equal(
    race: Race, spec: Spec, between: tuple[str, ...], ends: tuple[float, float]
) -> float | None:
    """Return where two predicted shares are equal in an interval, or None."""
    one, two = between[:2]

    def apart(value: float) -> float:
        shares = predicted_shares(race, spec, value)
        return shares[one] - shares[two]

    start, end = ends
    left, right = apart(start), apart(end)
    if left * right >= 0:
        return None
    for _ in range(HALVINGS):
        middle = (start + end) / 2
        if left * apart(middle) > 0:
            start = middle
        else:
            end = middle
    return (start + end) / 2


def finding_table(race: Race, others: Sequence[Unraced], points: Sequence[RacePoint]) -> str:
    """Return the table of finding 1 as Markdown: which gates win in theory and in networks."""
    columns = [
        (race.parameter, lambda point: point.value),
        ("theory, fastest first", lambda point: _ordered(point.order) or "none"),
        ("networks, most weight first", lambda point: " > ".join(point.taken)),
        (
            "share of weight: measured ± std (predicted)",
            lambda point: ", ".join(
                f"{each.pattern} {each.measured:.3f} ± {each.spread:.3f} "
                f"({'–' if each.predicted is None else f'{each.predicted:.3f}'})"
                for each in point.classes
            ),
        ),
        (
            "share of units",
            lambda point: ", ".join(f"{each.pattern} {each.units:.3f}" for each in point.classes),
        ),
        (
            "half-time: measured (predicted)",
            lambda point: (
                f"{'–' if point.quarter is None else point.quarter} "
                f"({'–' if point.half_time is None else f'{point.half_time:.0f}'})"
            ),
        ),
        ("fastest taken", lambda point: _yes(point.fastest_taken)),
        ("share as predicted", lambda point: _yes(point.agrees)),
    ]
    lines = table(points, columns)
    for other in others:
        speed = "0" if other.speed is None else str(other.speed.to_sympy())
        can = "a ReLU unit can have it" if other.realisable else "no ReLU unit can have it"
        lines.append(f"\n{other.pattern} ({other.name}): speed {speed}; {can}, and none keeps it.")
    return "\n".join([*lines, *_explained(race.parameter, points)]) + "\n"


def _crossing_notes(race: Race, confronted: Confronted) -> str:
    """Return what finite initial weights do to boundaries, as Markdown."""
    network = confronted.network
    return "".join(
        f"\nAt hidden = {network.hidden} and init_std = {network.init_std} shares are "
        f"predicted to be equal at {race.parameter} = {each.seen_at:.4g}, and at "
        f"{each.boundary.to_json({})['expr']} = {each.seen_at - each.error:.4g} as init_std "
        f"goes to 0: the finite-init error is {each.error:.2g}.\n"
        for each in confronted.crossings
        if each.seen_at is not None and each.error is not None
    )


def _explained(name: str, points: Sequence[RacePoint]) -> list[str]:
    """Return what – and a fastest class without most of the weight mean, where they occur."""
    lines = []
    if any(point.start is None for point in points):
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
        here = [str(point.value) for point in late if (point.start is not None) is kind]
        if here:
            lines.append(
                f"\nThe fastest class does not have most of the weight at {name} = "
                f"{', '.join(here)}: {why}."
            )
    return lines


def label_race_table(race: Race, points: Sequence[RacePoint]) -> str:
    """Return the pieces of a race by subset, and what networks took in them, as Markdown."""
    names = race.names

    def ordered(order: Sequence[Sequence[str]]) -> str:
        return _ordered([[names[name] for name in rank] for rank in order])

    def told(part: RacePiece) -> str:
        if not part.decided or None in part.kept.values():
            return "not decided"
        return ", ".join(names[name] for name, value in part.kept.items() if value) or "none"

    fastest = [
        (race.parameter, _where),
        (
            "fastest first",
            lambda part: (
                "not decided at this value" if part.undecided else part.why or ordered(part.order)
            ),
        ),
        ("self-consistent", told),
    ]
    lines = table(race.pieces, fastest)
    if points:
        lines += [
            "",
            f"Weight of {points[0].seeds} networks a point at the end of training, by the nearest "
            "gate:",
            "",
            *table(
                points,
                [
                    (race.parameter, lambda point: point.value),
                    ("theory, fastest first", lambda point: ordered(point.order)),
                    (
                        "networks, mean ± std over seeds",
                        lambda point: ", ".join(
                            f"{names[each.pattern]} {each.measured:.3f} ± {each.spread:.3f}"
                            for each in sorted(point.classes, key=lambda each: -each.measured)
                            if each.pattern in point.taken
                        ),
                    ),
                    ("fastest taken", lambda point: _yes(point.fastest_taken)),
                ],
            ),
        ]
    return "\n".join(lines) + "\n"


def _where(part: RacePiece) -> str:
    low, high = part.piece.low, part.piece.high
    if part.piece.is_root and low is not None:
        return str(low.to_sympy())
    left = "(-oo" if low is None else f"{'[' if part.closed[0] else '('}{low.to_sympy()}"
    right = "oo)" if high is None else f"{high.to_sympy()}{']' if part.closed[1] else ')'}"
    return f"{left}, {right}"


def _ordered(order: Sequence[Sequence[str]]) -> str:
    return " > ".join(" = ".join(rank) for rank in order)


def _yes(value: bool | None) -> str:
    return "–" if value is None else "yes" if value else "**no**"
