"""The equilibria of coupled modes in derivation.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.claims.equilibria import conserved_sums, races_of, resting_loss
from symreln.claims.resting_points import resting_points
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.enclosure import decimal_of
from symreln.report.spec_json import DIGITS

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.claims.derivation import Derivation
    from symreln.claims.equilibria import Race
    from symreln.dynamics.competition import Equilibrium


def equilibria_to_json(derivation: Derivation) -> dict[str, Any]:
    """Return the entry "equilibria", or nothing where no stage has coupled modes.

    "at_rest" of a competition is null where "undecided" says why, or where "line" gives the
    equilibria of which the start picks one; "unstable" is null where not every choice of survivors
    was tried. "shortfall" is Σ kappa π* − s of a mode that is absent; "totals" are of modes that
    are alike and share their sum in the ratio of their starts.
    """
    if not derivation.ask(races_of):
        return {}
    spec = derivation.spec
    rest = resting_loss(derivation)
    return {
        "equilibria": {
            "loss": None
            if rest is None
            else AlgebraicNumber.rational(rest).to_json(spec.values, spec.symbols, DIGITS),
            "competitions": [_race(derivation, race) for race in derivation.ask(races_of)],
        }
    }


def _race(derivation: Derivation, race: Race) -> dict[str, Any]:
    return {
        "modes": list(race.labels),
        "undecided": race.undecided,
        "at_rest": None if race.end is None else _point(derivation, race, race.end),
        "line": None if race.line is None else _line(race, derivation.strength0),
        "unstable": None
        if race.unstable is None
        else [_point(derivation, race, found) for found in race.unstable],
        "conserved": [
            {"sum": str(total), "rate_times_tau": str(rate)}
            for total, rate in conserved_sums(race, derivation.spec.symbols)
        ],
    }


def _point(derivation: Derivation, race: Race, found: Equilibrium) -> dict[str, Any]:
    spec = derivation.spec

    def number(value: AlgebraicNumber) -> dict[str, str]:
        return value.to_json(spec.values, spec.symbols, DIGITS)

    known = list(race.strengths(found))
    result: dict[str, Any] = {
        "strengths": {modes[0].label: number(value) for modes, value in known if len(modes) == 1}
    }
    shared = [(modes, value) for modes, value in known if len(modes) > 1]
    if shared:
        result["totals"] = [
            {"modes": [mode.label for mode in modes], "total": number(value)}
            for modes, value in shared
        ]
    if race.end is found:
        result["shortfall"] = {mode.label: number(value) for mode, value in race.losers(found)}
    else:
        result["grows"] = list(race.growing(found, spec.values))
    return result


def _line(race: Race, start: Fraction | None) -> dict[str, Any]:
    """Return the equilibria of least loss, and the point that a start leads to.

    "strengths" are formulas in "unknowns", at the declared values; "conserved" are the sums that
    pick them. With one unknown: its "range", the "root" in radicals of rho = "product" at the
    start, null where there is none, and the decimals "from_equal_starts" of the prediction.
    """
    points = resting_points(race, start)
    powers = points.powers
    return {
        "unknowns": [str(x) for x in points.unknowns],
        "strengths": {
            str(pi): str(formula)
            for pi, formula in zip(points.strengths, points.formulas, strict=True)
        },
        "die_out": [
            mode.label
            for g, there in enumerate(race.line.support if race.line else ())
            if not there
            for modes in race.alike(g)
            for mode in modes
        ],
        "conserved": [str(total) for total in points.sums],
        "range": None if points.low is None else [str(points.low), str(points.high)],
        "product": None
        if powers is None
        else str(sp.Mul(*(pi**e for pi, e in zip(points.strengths, powers, strict=True)))),
        "root": None if points.root is None else str(points.root),
        "from_equal_starts": None
        if points.balls is None
        else {
            str(pi): dict(zip(("decimal", "radius"), decimal_of(value, DIGITS), strict=True))
            for pi, value in zip(points.strengths, points.balls, strict=True)
        },
    }
