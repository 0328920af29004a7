"""The key "exceptional" of derivation.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.claims.exceptional.sets import exceptional_sets
from symreln.report.exceptional_words import consequence_text, effect_key, polynomial_text

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.exact.exceptional import Consequence, ExceptionalSet, SpecialPoint


def exceptional_to_json(derivation: Derivation) -> dict[str, Any] | None:
    """Return the exceptional sets as JSON values, None without parameters.

    ``sets`` meet the declared domain or may do so; ``outside`` are proven not to. Each is the zero
    set of one irreducible polynomial. ``breaking`` says whether a printed formula can fail or
    improve there.
    """
    sets = derivation.ask(exceptional_sets)
    if sets is None:
        return None
    return {
        "parameters": list(sets.parameters),
        "domain": sets.domain,
        "sets": [_set(derivation, item) for item in sets.sets],
        "outside": [_set(derivation, item) for item in sets.outside],
        "undecided": list(sets.undecided),
    }


def _set(derivation: Derivation, item: ExceptionalSet) -> dict[str, Any]:
    return {
        "polynomial": polynomial_text(item),
        "parameters": list(item.names),
        "breaking": not item.harmless,
        "values": [value.to_json({}, {}) for value in item.values],
        "excluded": item.excluded or None,
        "consequences": [_consequence(derivation, c) for c in item.consequences],
        "points": [_point(point) for point in item.points],
    }


def _consequence(derivation: Derivation, consequence: Consequence) -> dict[str, Any]:
    pathways = [derivation.pathways[number - 1] for number in consequence.pathways]
    labels = [
        [m.label for m in pathways[0].modes if m.class_index == index]
        for index in consequence.classes
    ]
    return {
        "effect": effect_key(consequence.effect),
        "stage": consequence.stage or None,
        "pathways": [pathway.name for pathway in pathways],
        "modes": labels,
        "count": consequence.count or None,
        "exact": consequence.exact,
        "proven": consequence.proven,
        "text": consequence_text(derivation, consequence),
    }


def _point(point: SpecialPoint) -> dict[str, Any]:
    return {
        "values": {name: str(value) for name, value in point.values},
        "generic": list(point.generic),
        "level": point.level or None,
        "learning_modes": list(point.modes),
        "changes": list(point.changes),
        "note": point.note or None,
    }
