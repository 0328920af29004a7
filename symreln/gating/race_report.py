"""What a race says, as race.json, as lines, and as the table of finding 1: theory and networks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from symreln.base.rounding import mean_text
from symreln.claims.integration import network_of
from symreln.exact.algebraic import AlgebraicNumber
from symreln.gating.confronted import WITHIN, ClassShare, Crossing, RacePoint
from symreln.gating.consistent import GrowingGate, SignedGate
from symreln.gating.enumerate import enumerate_gates
from symreln.gating.exact_finders import candidate_line
from symreln.gating.race_pieces import Race, RacePiece
from symreln.gating.serialise import Page, Result, Rows, table
from symreln.specs.model import Spec
from symreln.verdict.directions import gate_spectrum


@dataclass(frozen=True, kw_only=True, eq=False)
class _Unraced(SignedGate):
    """A gate pattern that is asked for beside those that run.

    Attributes:
        name: Name of the pathway, or "all open".
        speed: Largest singular value, as a function of the parameter; None where it is zero.
        realisable: Whether some direction has the gate, at the value in the middle of the first
            interval.
    """

    JSON = (
        *("pattern", "name", "kind", "size", "speed", "realisable", "self_consistent"),
        "fractions",
    )
    self_consistent, fractions = False, ()
    name: str
    speed: AlgebraicNumber | None
    realisable: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class RaceReport(Result):
    """A race and what is said beside it.

    Attributes:
        race: The race.
        spec: As it was given.
        learned: The spec with what is learned in place of its targets, others parameters declared.
        beside: Patterns that are asked for and do not run.
        seeds: Networks at every point; 0 where none were trained.
        points: What they took, and what was predicted, by value of the parameter.
        crossings: Where predicted shares are equal whose speeds cross.
    """

    JSON = (
        *("format", "parameter=race.parameter", "candidates", "winner", "winner_proven"),
        *("why_not=race.why", "boundaries=race.boundaries", "pieces=race.pieces", "confronted?"),
    )
    file, format = "race.json", "symreln-race/1"
    race: Race
    spec: Spec
    learned: Spec
    beside: Sequence[_Unraced] = ()
    seeds: int = 0
    points: Sequence[RacePoint] = ()
    crossings: Sequence[Crossing] = ()

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
    def runners(self) -> list[GrowingGate]:
        """One runner for each gate and formula of its rate, at the declared value if it runs there.

        Fractions are given there, else in the first interval where the gate runs.
        """
        found: dict[str, GrowingGate] = {}
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
    def confronted(self) -> dict[str, object] | None:
        """What trained networks took, and what was predicted for them."""
        if not self.seeds or self.race.given:
            return None
        network = network_of(self.learned)
        return {
            "seeds": self.seeds,
            "hidden": network.hidden,
            "init_std": network.init_std,
            "standard_errors": WITHIN,
            "points": self.points,
            "crossings": self.crossings,
            "fastest_taken": sum(point.fastest_taken for point in self.points),
            "within_stated_error": sum(point.agrees is True for point in self.points),
        }

    @property
    def tables(self) -> dict[str, Page]:
        """The table of finding 1, where networks were trained; of given gates, all pieces."""
        if self.race.given:
            return {"race.md": _label_race_table(self.race, self.points)}
        if not self.seeds:
            return {}
        found = finding_table(self.race, self.beside, self.points)
        return {"race.md": Page([*found, *self._crossing_notes()])}

    def _crossing_notes(self) -> Iterator[str]:
        """Yield what finite initial weights do to boundaries."""
        network = network_of(self.learned)
        for each in self.crossings:
            if each.seen_at is None or each.error is None:
                continue
            yield ""
            yield (
                f"At hidden = {network.hidden} and init_std = {network.init_std} shares are "
                f"predicted to be equal at {self.race.parameter} = {each.seen_at:.4g}, and at "
                f"{each.boundary.to_json({})['expr']} = {each.seen_at - each.error:.4g} as "
                f"init_std goes to 0: the finite-init error is {each.error:.2g}."
            )

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
            yield f"{name} = {value}: {_CHANGES[each.kind].format(', '.join(each.between))}{more}"


#: What happens at a boundary, by its kind.
_CHANGES = {
    "speed": "the speeds of {} cross",
    "existence": "self-consistent gates change ({})",
}


def unraced(race: Race, spec: Spec) -> tuple[_Unraced, ...]:
    """Return the gate that is open everywhere and those of the spec's pathways, if they do not run.

    The first is the linear solution of a network without gates.

    Args:
        race: The race of the spec's data.
        spec: With all parameters declared but the race's.
    """
    runs = {signs for alike in race.classes.values() for signs in alike}
    asked = {(1,) * spec.dataset.samples: "all open"}
    for pathway in spec.pathways:
        if all(gate in (0, 1) for gate in pathway.gate):
            asked.setdefault(tuple(2 * int(g != 0) - 1 for g in pathway.gate), pathway.name)
    samples = (p.piece.sample for p in race.pieces if not p.piece.is_root)
    at = {race.parameter: next(sample for sample in samples if sample is not None)}
    gates = enumerate_gates(spec.dataset.inputs.substitute(at))
    found = []
    for signs, name in asked.items():
        if signs in runs:
            continue
        gate = [int(sign > 0) for sign in signs]
        spectrum = gate_spectrum(spec.dataset.inputs, spec.dataset.targets, gate)
        speeds = [mode.s for mode in spectrum.modes if not mode.is_null]
        top = max(speeds, key=lambda s: s.to_float(at), default=None)
        known = gates.index(gate) is not None
        found.append(_Unraced(name=name, signs=signs, speed=top, realisable=known))
    return tuple(found)


def finding_table(race: Race, others: Sequence[_Unraced], points: Sequence[RacePoint]) -> Page:
    """Return the table of finding 1: which gates win in theory and in networks."""
    columns = [
        (race.parameter, lambda point: point.value),
        ("theory, fastest first", lambda point: _ordered(point.order) or "none"),
        ("networks, most weight first", lambda point: " > ".join(point.taken)),
        (
            "share of weight: measured ± std (predicted)",
            lambda point: ", ".join(
                f"{each.pattern} {mean_text(each.measured, each.spread, point.seeds)} "
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
    lines: list[str | Rows] = [table(points, columns)]
    for other in others:
        speed = "0" if other.speed is None else str(other.speed.to_sympy())
        can = "a ReLU unit can have it" if other.realisable else "no ReLU unit can have it"
        lines += ["", f"{other.pattern} ({other.name}): speed {speed}; {can}, and none keeps it."]
    return Page([*lines, *_explained(race.parameter, points)])


def _explained(name: str, points: Sequence[RacePoint]) -> list[str]:
    """Return what – and a fastest class without most of the weight mean, where they occur."""
    lines = []
    if any(point.start is None for point in points):
        lines += [
            "",
            "–: nothing is predicted. Shares are where some class grows, weights do not decay, "
            "and each class by itself learns a multiple of the targets, so that the residual keeps "
            "its shape.",
        ]
    lines += _single(points)
    late = [point for point in points if point.order and not point.fastest_taken]
    for kind, why in (
        (True, "shares were predicted for this width and init_std, and are compared in the last "
         "column; speeds decide alone only as init_std goes to 0"),
        (False, "these are shares at the end of training, when slower classes have learned too "
         "what the fastest does not; how much there is to learn counts as well as speed"),
    ):  # fmt: skip
        here = [str(point.value) for point in late if (point.start is not None) is kind]
        if here:
            lines += [
                "",
                f"The fastest class does not have most of the weight at {name} = "
                f"{', '.join(here)}: {why}.",
            ]
    return lines


def _single(points: Sequence[RacePoint]) -> list[str]:
    """Return what is said where there is no spread to compare with."""
    if any(point.predicted and point.seeds < 2 for point in points):
        return ["", "One network has no spread: shares are compared of two seeds or more."]
    return []


def _label_race_table(race: Race, points: Sequence[RacePoint]) -> Page:
    """Return the pieces of a race by subset, and what networks took in them."""
    names = race.names

    def ordered(order: Sequence[Sequence[str]]) -> str:
        return _ordered([[names[name] for name in rank] for rank in order])

    def told(part: RacePiece) -> str:
        if not part.decided or None in part.kept.values():
            return "not decided"
        return ", ".join(names[name] for name, value in part.kept.items() if value) or "none"

    def shares(point: RacePoint, of: Callable[[ClassShare], str]) -> str:
        ordered = sorted(point.classes, key=lambda each: -each.measured)
        taken = [each for each in ordered if each.pattern in point.taken]
        return ", ".join(f"{names[each.pattern]} {of(each)}" for each in taken)

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
    lines: list[str | Rows] = [table(race.pieces, fastest)]
    if points:
        lines += [
            "",
            f"Weight of {points[0].seeds} networks a point at the end of training, by the nearest "
            "gate:",
            "",
            table(
                points,
                [
                    (race.parameter, lambda point: point.value),
                    ("theory, fastest first", lambda point: ordered(point.order)),
                    (
                        "networks, mean ± std over seeds",
                        lambda point: shares(
                            point,
                            lambda each: mean_text(each.measured, each.spread, point.seeds),
                        ),
                    ),
                    (
                        "at infinite width",
                        lambda point: (
                            shares(point, lambda each: f"{each.predicted:.3f}")
                            if point.predicted
                            else "–"
                        ),
                    ),
                    ("fastest taken", lambda point: _yes(point.fastest_taken)),
                    ("share as at infinite width", lambda point: _yes(point.agrees)),
                ],
            ),
            *_single(points),
        ]
        if not all(point.predicted for point in points):
            lines += [
                "",
                "–: the mean-field simulation takes minutes on these data, or all targets are 0.",
            ]
    return Page(lines)


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
