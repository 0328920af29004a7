"""The key "family" of derivation.json: the derivation for every size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.claims.families.forms import root_of, stage_loss
from symreln.exact.algebraic import AlgebraicNumber

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.claims.families.derivation import FamilyDerivation, FamilyMode, FamilyStage

DIGITS = 21


def family_to_json(derivation: Derivation) -> dict[str, Any] | None:
    """Return the derivation for every size as JSON values, None without size symbols.

    Numbers are as everywhere in derivation.json; their decimals are at the declared parameters
    and sizes, with one copy of a sector (u = 1). ``proven`` says whether every stage closes for
    every size; where it is false, ``reason`` says why, and the stages that do close stand. A stage
    that is closed by symmetry is closed at the sizes in its ``closed_at``.
    """
    family = derivation.family
    if family is None:
        return None
    shape = family.template
    copies = "" if shape is None else shape.domain.copies
    return {
        "sizes": [
            {"name": s.name, "option": s.option, "minimum": s.minimum, "value": s.value}
            for s in family.sizes
        ],
        "proven": family.complete,
        "reason": family.reason or next((s.obstacle for s in family.stages if s.obstacle), None),
        "copies": {"symbol": copies, "values": f"1, 2, 4, ..., {shape.domain.items}/2"}
        if shape is not None and copies
        else None,
        "certificate": None if shape is None else "certificate-family.json",
        "exceptions": []
        if shape is None
        else [
            {
                "polynomial": str(c.polynomial.to_sympy(family.symbols)),
                "symbol": c.symbol or None,
                "values": list(c.values) if c.symbol else None,
            }
            for c in family.conditions
        ],
        "stages": [_stage(family, stage) for stage in family.stages],
        "pathways": [
            {
                "name": pathway.template.name,
                "each": pathway.template.each,
                "stage": pathway.stage,
                "modes": [_mode(family, mode) for mode in pathway.modes],
            }
            for pathway in family.pathways
        ],
        "steps": [
            {
                "name": step.name,
                "statement": step.statement,
                "check": step.check,
                "outcome": step.outcome.value,
            }
            for step in family.steps
        ],
    }


def _stage(family: FamilyDerivation, stage: FamilyStage) -> dict[str, Any]:
    losses = [stage_loss(family, stage, final=final) for final in (False, True)]
    return {
        "stage": stage.stage,
        "level": None if stage.level is None else stage.level.value,
        "closed_at": {name: list(values) for name, values in family.closed_at(stage).items()},
        "obstacle": stage.obstacle or None,
        "initial_loss": None if losses[0] is None else str(losses[0]),
        "final_loss": None if losses[1] is None else str(losses[1]),
    }


def _mode(family: FamilyDerivation, mode: FamilyMode) -> dict[str, Any]:
    return {
        "sector": mode.sector.name,
        "s": _number(family, mode.s),
        "d": _number(family, mode.d),
        "d_eff": _number(family, mode.d if mode.is_null else mode.d_eff),
        "multiplicity": _number(family, AlgebraicNumber.rational(mode.multiplicity)),
        "height": _number(family, mode.height),
    }


def _number(family: FamilyDerivation, number: AlgebraicNumber | None) -> dict[str, str] | None:
    if number is None:
        return None
    assert family.template is not None
    found = number.to_json(family.values, family.symbols, DIGITS)
    value = number.scalar
    if number.is_sqrt and value is not None:
        found["expr"] = str(root_of(value, family.template.domain, family.symbols).expr)
    return found
