"""Gates and races as JSON: gates.json and race.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symreln.gates.consistent import SelfConsistentGate, sign_pattern
from symreln.gates.enumerate import RealisableGates
from symreln.gates.orbits import GateOrbit, SampleGroup
from symreln.gates.race import Race, RacePiece, Runner
from symreln.gates.stages import GateStage

if TYPE_CHECKING:
    import sympy as sp

    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.gates.race_report import Unraced

GATES_FORMAT = "symreln-gates/1"
RACE_FORMAT = "symreln-race/1"
#: Gates up to which all are listed; beyond, one of each kind.
LISTED = 20_000

Json = dict[str, Any]


def realisable_json(
    found: RealisableGates, orbits: Sequence[GateOrbit], group: SampleGroup
) -> Json:
    """Return what an enumeration, or sampling, found."""
    result: Json = {
        "samples": found.samples,
        "count": found.count,
        "open": int(found.open.sum()),
        "sampled": found.sampled,
        "draws": found.draws,
        "symmetries": group.order,
        "kinds": [
            {
                "pattern": found.pattern(orbit.index),
                "size": orbit.size,
                "open": bool(found.open[orbit.index]),
                "witness": [int(v) for v in found.witnesses[orbit.index]],
            }
            for orbit in orbits
        ],
    }
    if found.count <= LISTED:
        result["gates"] = [found.pattern(k) for k in range(found.count)]
    return result


def stage_json(number: int, stage: GateStage) -> Json:
    """Return the self-consistent gates of one residual, full and partial."""
    return {
        "stage": number,
        "candidates": [_candidate(each) for each in stage.candidates],
        "winners": [sign_pattern(signs) for signs in stage.winners],
        "complete": stage.found.complete,
        "winner_proven": stage.found.proven,
        "bound": stage.found.bound,
        "told": stage.found.told,
    }


def fractions_json(found: SelfConsistentGate) -> list[Json]:
    """Return the gate on every / of the pattern, in order; empty for a full gate."""
    on = found.boundary if found.kind == "partial" else ()
    return [found.values[place].to_json({}) for place in on]


def _candidate(found: SelfConsistentGate) -> Json:
    return {
        "pattern": found.pattern,
        "name": found.pattern,
        "kind": found.kind,
        "size": found.size,
        "speed": found.s.to_json({}),
        "realisable": True,
        "self_consistent": True,
        "fractions": fractions_json(found),
        "unique": found.unique,
        "largest": found.largest,
        "dimension": found.dimension,
        "boundary": list(found.boundary),
    }


def race_json(found: Race, values: Mapping[str, Fraction], symbols: dict[str, sp.Symbol]) -> Json:
    """Return a race over a parameter.

    Args:
        found: The race.
        values: Declared value of the parameter, where it has one.
        symbols: The parameter's symbol.
    """
    candidates: dict[str, Json] = {}
    here = _piece_at(found, values.get(found.parameter))
    for part in found.pieces:
        for rank in part.ranks:
            for runner in rank:
                key = f"{runner.pattern} {runner.rate!r}"
                # Fractions are given in the piece of the declared value where the gate runs there.
                if runner.rate is not None and (key not in candidates or part is here):
                    candidates[key] = _runner(runner, part.piece.sample, values, symbols)
    return {
        "format": RACE_FORMAT,
        "parameter": found.parameter,
        "candidates": list(candidates.values()),
        "winner": None if here is None else list(here.winners),
        "winner_proven": found.complete and here is not None and not (here.undecided or here.why),
        "why_not": found.why,
        "boundaries": [
            {
                "parameter": found.parameter,
                "value": each.value.to_json({}),
                "between": list(each.between),
                "kind": each.kind,
                "changes_winner": each.winner,
            }
            for each in found.boundaries
        ],
        "pieces": [_piece(part) for part in found.pieces],
    }


def _runner(
    runner: Runner,
    at: Fraction | None,
    values: Mapping[str, Fraction],
    symbols: dict[str, sp.Symbol],
) -> Json:
    assert runner.rate is not None
    return {
        "pattern": runner.pattern,
        "name": runner.pattern,
        "kind": runner.kind,
        "size": runner.size,
        "speed": runner.rate.to_json(values, symbols),
        "realisable": True,
        "self_consistent": True,
        "fractions": [value.to_json({}) for value in runner.fractions],
        **({"fractions_at": str(at)} if runner.fractions else {}),
        "largest": runner.largest,
    }


def unraced_json(
    others: Sequence[Unraced], values: Mapping[str, Fraction], symbols: dict[str, sp.Symbol]
) -> list[Json]:
    """Return patterns that no unit keeps, in the form of candidates.

    Args:
        others: See :func:`symreln.gates.race_report.unraced`.
        values: Declared value of the parameter, where it has one.
        symbols: The parameter's symbol.
    """
    return [
        {
            "pattern": each.pattern,
            "name": each.name,
            "kind": "full",
            "size": 1,
            "speed": None if each.speed is None else each.speed.to_json(values, symbols),
            "realisable": each.realisable,
            "self_consistent": False,
            "fractions": [],
        }
        for each in others
    ]


def _piece(part: RacePiece) -> Json:
    result: Json = {
        "from": _end(part.piece.low),
        "to": _end(part.piece.high),
        "closed": list(part.closed),
        "order": [list(rank) for rank in part.order],
    }
    if part.undecided:
        result["undecided"] = list(part.undecided)
    if part.why:
        result["why"] = part.why
    return result


def _end(number: AlgebraicNumber | None) -> Json | None:
    return None if number is None else number.to_json({})


def _piece_at(found: Race, value: Fraction | None) -> RacePiece | None:
    """Return the piece in which a value lies, decided exactly."""
    return None if value is None else next((p for p in found.pieces if p.contains(value)), None)
