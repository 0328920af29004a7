"""The equilibria of coupled modes in derivation.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.equilibria import conserved_sums, resting_loss
from symreln.exact.algebraic import AlgebraicNumber
from symreln.report.spec_json import DIGITS

if TYPE_CHECKING:
    from symreln.derivation import Derivation
    from symreln.dynamics.competition import Equilibrium
    from symreln.equilibria import Race


def equilibria_to_json(derivation: Derivation) -> dict[str, Any]:
    """Return the entry "equilibria", or nothing where no stage has coupled modes.

    "at_rest" of a competition is null where "undecided" says why; "unstable" is null where not
    every choice of survivors was tried. "shortfall" is Σ kappa π* − s of a mode that is absent.
    """
    if not derivation.races:
        return {}
    spec = derivation.spec
    rest = resting_loss(derivation)
    return {
        "equilibria": {
            "loss": None
            if rest is None
            else AlgebraicNumber.rational(rest).to_json(spec.values, spec.symbols, DIGITS),
            "competitions": [_race(derivation, race) for race in derivation.races],
        }
    }


def _race(derivation: Derivation, race: Race) -> dict[str, Any]:
    return {
        "modes": list(race.labels),
        "undecided": race.undecided,
        "at_rest": None if race.end is None else _point(derivation, race, race.end),
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

    result: dict[str, Any] = {
        "strengths": {mode.label: number(value) for mode, value in race.strengths(found)}
    }
    if race.end is found:
        result["shortfall"] = {mode.label: number(value) for mode, value in race.losers(found)}
    else:
        result["grows"] = list(race.growing(found, spec.values))
    return result
