"""A race from a spec, over a parameter or of gates by subsets of a label, and what it says.

As race.json, as lines, and as the table of finding 1: theory and networks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.base.tables import plain_table
from symreln.claims.integration import network_of
from symreln.errors import InputError
from symreln.exact.domain import Range
from symreln.gating.confronted import WITHIN, ClassShare, RacePoint, confront, confronted_points
from symreln.gating.consistent import GrowingGate
from symreln.gating.context_subsets import SubsetFormulas
from symreln.gating.enumerate import RealisableGates
from symreln.gating.exact_finders import candidate_line
from symreln.gating.parameter_intervals import rational_number
from symreln.gating.race import race, race_at
from symreln.gating.race_pieces import MOST_SHOWN, Race, RacePiece, merged
from symreln.gating.search import stage_residuals
from symreln.gating.serialise import Result
from symreln.specs.finding import quoted
from symreln.specs.spec import Dataset, Spec
from symreln.verdict.directions import gate_spectrum

_NO_SPEED = rational_number(0)
#: Values of a label above which subsets are refused: there are 2^k of them.
_MOST_VALUES = 12


@record(eq=False)
class RaceReport(Result):
    """A race and what is said beside it.

    Attributes:
        race: The race.
        spec: As it was given.
        learned: The spec with what is learned in place of its targets, other parameters at their
            values.
        beside: Patterns that are asked for and do not run.
        seeds: Networks at every point; 0 where none were trained.
        points: What they took, by value of the parameter.
        formulas: Speeds in C, m, n and c, of gates by subsets of contexts where they are known.
    """

    JSON = (
        *("format", "parameter=race.parameter", "candidates", "winner", "winner_proven"),
        *("why_not=race.why", "boundaries=race.boundaries", "pieces=race.pieces", "confronted?"),
        "formulas?",
    )
    file, format = "race.json", "symreln-race/2"
    race: Race
    spec: Spec
    learned: Spec
    beside: Sequence[GrowingGate] = ()
    seeds: int = 0
    points: Sequence[RacePoint] = ()
    formulas: SubsetFormulas | None = None

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
        """Whether no unit is faster there; of given gates, none of them."""
        return self.race.complete and self.here is not None and not self.here.why

    @property
    def runners(self) -> list[GrowingGate]:
        """One runner for each gate and formula of its rate, at the declared value if it runs there.

        Fractions are given there, else in the first interval where the gate runs.
        """
        found: dict[str, GrowingGate] = {}
        for part in self.race.pieces:
            for runner in part.runners:
                key = f"{runner.pattern} {runner.rate!r}"
                known = runner.rate is not None or not self.race.parameter
                if known and (key not in found or part is self.here):
                    found[key] = runner
        return list(found.values())

    @property
    def candidates(self) -> Sequence[GrowingGate]:
        """Gates that run, then those that do not."""
        return [*self.runners, *self.beside]

    @property
    def confronted(self) -> dict[str, object] | None:
        """What trained networks took, and predicted shares."""
        if not self.seeds:
            return None
        network = network_of(self.learned)
        return {
            "seeds": self.seeds,
            "hidden": network.hidden,
            "init_std": network.init_std,
            "standard_errors": WITHIN,
            "points": self.points,
            "fastest_taken": sum(point.fastest_taken for point in self.points),
            "within_stated_error": sum(point.agrees is True for point in self.points),
        }

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        name = self.race.parameter
        for each in self.runners:
            at = f" at {name} = {each.fractions_at}"
            yield candidate_line(each.called, each, at, self.spec)
        if self.race.why:
            yield f"not proven to be the fastest: {self.race.why}"
        # Given gates have a table of their own.
        parts = () if self.race.given else merged(self.race.pieces, of_winners=True)
        for part in parts[:MOST_SHOWN]:
            first = " and ".join(self.race.names[each] for each in part.winners)
            yield f"fastest for {part.where(name)}: {part.why or first or 'none'}"
        if len(parts) > MOST_SHOWN:
            yield f"… {len(parts) - MOST_SHOWN} intervals more: race.json"
        for each in self.race.boundaries:
            value = each.value.to_json({})["expr"]
            more = ", the winner changes" if each.changes_winner else ""
            said, gates = "self-consistent gates change ({})", ", ".join(each.between)
            if each.kind == "speed":
                said = "the speeds of {} cross"
            yield f"{name} = {value}: {said.format(gates)}{more}"
        if self.formulas is not None:
            yield from self.formulas.lines()
        if self.race.given:
            yield _pieces_table(self.race)
        if self.points:
            yield from _points_lines(self.race, self.points)
        for other in self.beside if self.points else ():
            can = "a ReLU unit can have it" if other.realisable else "no ReLU unit can have it"
            named = f"{other.pattern} ({other.name})"
            yield f"{named}: speed {other.speed.to_sympy()}; {can}, and none keeps it"

    @classmethod
    def of(
        cls,
        spec: Spec,
        over: str | None,
        *,
        label: str | None = None,
        stage: int = 1,
        limit: int | None = None,
        seeds: int = 0,
        points: int = 3,
        rng: int = 0,
    ) -> RaceReport:
        """Race the self-consistent gates over a parameter, or those by subsets of a label.

        Args:
            spec: With parameters, or without where gates by a label are compared at their values.
            over: The parameter; None for the only one.
            label: Name of the label, if gates are by its subsets.
            stage: Whose residual is learned.
            limit: Gates above which to stop.
            seeds: Networks at every point, 0 for none.
            points: Points in every interval.
            rng: Seed of the networks.

        Raises:
            InputError: No parameter or stage is meant; or networks are asked for on a residual.
        """
        if seeds and stage > 1 and label is None:
            msg = (
                f"race: found --seeds {seeds} with --stage {stage}; networks learn the first stage "
                "at once, and what they leave is no data set to train on. Leave --seeds out"
            )
            raise InputError(msg)
        limits = _limits(spec, over) if label is None or over is not None else None
        learned = _learned(spec, stage, limits)
        data = learned.dataset
        given = {} if label is None else _label_gates(data, label)
        if limits is None:
            found = race_at(data.inputs, data.targets, given)
        else:
            found = race(data.inputs, data.targets, limits, limit, given)
        trained = []
        if seeds:
            with phase(f"{seeds} networks at every point"):
                # Networks learn the targets, whatever stage is raced.
                whole = _learned(spec, 1, limits)
                values = confronted_points(found, points)
                trained = [confront(found, whole, value, seeds, rng) for value in values]
        return cls(
            race=found,
            spec=spec,
            learned=learned,
            beside=() if given else _unraced(found, learned),
            seeds=seeds,
            points=trained,
            formulas=SubsetFormulas.of(spec) if given else None,
        )


def _label_gates(dataset: Dataset, label: str) -> dict[tuple[int, ...], str]:
    """Return the gates by subset of a label's values, 0 or 1 a sample, and their names.

    Raises:
        InputError: There is no such label, or it has fewer than 2 values or more than 12.
    """
    if label not in dataset.labels:
        known = ", ".join(dataset.labels) or "none"
        msg = f"subsets: found --by {label}; the data have these labels: {known}"
        raise InputError(msg)
    held = dataset.labels[label]
    values = tuple(dict.fromkeys(held))
    if not 2 <= len(values) <= _MOST_VALUES:
        msg = (
            f"subsets: label {label} has {len(values)} values; gates by subsets need 2 to "
            f"{_MOST_VALUES}. Choose another label"
        )
        raise InputError(msg)
    return {
        tuple(int(value in chosen) for value in held): f"m = {m} ({', '.join(map(str, chosen))})"
        for m in range(1, len(values) + 1)
        for chosen in combinations(values, m)
    }


def _unraced(race: Race, spec: Spec) -> tuple[GrowingGate, ...]:
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
    at = {race.parameter: next(samples)}
    gates = RealisableGates.of(spec.dataset.inputs.substitute(at))
    found = []
    for signs, name in asked.items():
        if signs in runs:
            continue
        gate = [int(sign > 0) for sign in signs]
        spectrum = gate_spectrum(spec.dataset.inputs, spec.dataset.targets, gate)
        speeds = [mode.s for mode in spectrum.modes if not mode.is_null]
        top = max(speeds, key=lambda s: s.to_float(at), default=None)
        there = bool((gates.gates == gate).all(axis=1).any())
        no: dict[str, Any] = {"s": _NO_SPEED, "self_consistent": False}
        found.append(GrowingGate(name=name, signs=signs, rate=top, realisable=there, **no))
    return tuple(found)


def _limits(spec: Spec, over: str | None) -> Range:
    """Return the range of the parameter to race over.

    Raises:
        InputError: No parameter is meant.
    """
    names = [parameter.name for parameter in spec.parameters]
    written = {parameter.given: parameter.name for parameter in spec.parameters}
    name = written.get(over, over) if over else (names[0] if len(names) == 1 else None)
    if not names:
        msg = (
            "race: found a spec without parameters; a race is over one, declared as "
            "[parameters.NAME]. gates by the method self-consistent compares speeds at one point"
        )
        raise InputError(msg)
    if name not in names:
        found = f"found no parameter {quoted(over)}" if over else f"found {len(names)} parameters"
        msg = f"race: {found} in the spec; a race is over one of these: {', '.join(written)}"
        raise InputError(msg)
    return next(p.range for p in spec.parameters if p.name == name)


def _learned(spec: Spec, stage: int, limits: Range | None) -> Spec:
    """Return a spec with what a stage learns; parameters but the one of the race have their values.

    Raises:
        InputError: There is no such stage, or another parameter has no value.
    """
    residuals = stage_residuals(spec)
    if stage > len(residuals):
        msg = f"race: found stage {stage}; the last stage of the spec is {len(residuals)}"
        raise InputError(msg)
    free = None if limits is None else limits.name
    left = [p.given for p in spec.parameters if p.name != free and p.value is None]
    if left:
        msg = (
            f"race: {', '.join(left)} has no value, and a race is over one parameter. Give values "
            f"to the others, e.g. --set parameters.{left[0]}.value=1"
        )
        raise InputError(msg)
    others = {key: value for key, value in spec.values.items() if key != free}
    return replace(spec, dataset=replace(spec.dataset, targets=residuals[stage - 1])).at(others)


# -- what stands in tables ------------------------------------------------------------------------


def _pieces_table(race: Race) -> str:
    """Return the pieces of a race of given gates."""
    rows = []
    for part in race.pieces:
        kept = ", ".join(race.names[name] for name, value in part.kept.items() if value) or "none"
        unsure = part.why or None in part.kept.values()
        order = part.why or _ordered(part.order, race.names)
        rows.append([part.where(race.parameter), order, "not decided" if unsure else kept])
    header = [race.parameter or "parameters", "fastest first", "self-consistent"]
    return plain_table("", header, rows).rstrip()


def _points_lines(race: Race, points: Sequence[RacePoint]) -> Iterator[str]:
    """Yield the table of finding 1: which gates win in theory and in networks."""
    rows = [_row(race, point) for point in points]
    said = f"weight of {points[0].seeds} networks a point after training, by the nearest gate"
    yield plain_table(said, [*rows[0]], [[*row.values()] for row in rows]).rstrip()
    if any(point.predicted and point.seeds < 2 for point in points):
        yield "one network has no spread: shares are compared of two seeds or more"
    if not all(point.predicted for point in points):
        yield "–: following units takes minutes on these data, they decay, or none grows"
    late = [str(point.value) for point in points if point.order and not point.fastest_taken]
    if late:
        where = f" at {race.parameter} = {', '.join(late)}" if race.parameter else ""
        yield (
            f"the fastest class does not have most of the weight{where}: speeds decide alone only "
            "as init_std goes to 0, and slower classes learn later what the fastest does not"
        )


def _row(race: Race, point: RacePoint) -> dict[str, str]:
    """Return what the table says of a point, by header."""
    ordered = sorted(point.classes, key=lambda each: -each.measured)
    taken = [each for each in ordered if each.pattern in point.taken]

    def shares(of: Callable[[ClassShare], str]) -> str:
        return ", ".join(f"{race.names[each.pattern]} {of(each)}" for each in taken)

    def measured(each: ClassShare) -> str:
        return f"{each.measured:.3f}" + f" ± {each.spread:.3f}" * (point.seeds > 1)

    return {
        race.parameter or "parameters": "as declared" if point.value is None else str(point.value),
        "theory, fastest first": _ordered(point.order, race.names) or "none",
        "networks, mean ± std over seeds": shares(measured),
        "predicted from the data": shares(lambda each: f"{each.predicted:.3f}")
        if point.predicted
        else "–",
        "share of units": shares(lambda each: f"{each.units:.3f}"),
        "fastest taken": _yes(point.fastest_taken),
        "share as predicted": _yes(point.agrees),
    }


def _ordered(order: Sequence[Sequence[str]], names: Mapping[str, str]) -> str:
    return " > ".join(" = ".join(names[each] for each in rank) for rank in order)


def _yes(value: bool | None) -> str:
    return "–" if value is None else "yes" if value else "no"
