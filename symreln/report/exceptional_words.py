"""Exceptional sets in words, for the document, the JSON and the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.widths import narrow_pathways
from symreln.exact.domain import real_roots
from symreln.exact.exceptional import Effect
from symreln.exact.text import polynomial

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation
    from symreln.exact.exceptional import Consequence, ExceptionalSet, ExceptionalSets

#: Characters up to which a polynomial is written out in the document and on the terminal.
SHORT = 48
#: Sets named on the terminal.
NAMED = 4
_COUNTS = ("none", "one", "two", "three", "four", "five", "six")


def polynomial_text(item: ExceptionalSet) -> str:
    """Return the polynomial in full, as formulas of a spec are written."""
    return polynomial(item.polynomial)


def short_text(item: ExceptionalSet) -> str:
    """Return the polynomial, or its degree and parameters where it is long."""
    text = polynomial_text(item)
    if len(text) <= SHORT:
        return text
    degree = int(item.polynomial.total_degree())
    return f"a polynomial of degree {degree} in {', '.join(item.names)}"


def condition_text(item: ExceptionalSet) -> str:
    """Return "c = 2" for a linear polynomial in one parameter, else "polynomial = 0"."""
    if len(item.values) == 1 and item.values[0].scalar is not None:
        return f"{item.names[0]} = {item.values[0].scalar}"
    return f"{short_text(item)} = 0"


def consequence_text(derivation: Derivation, consequence: Consequence) -> str:
    """Return what happens, where, and whether it is proven."""
    text = _effect(derivation, consequence.effect)
    where = _where(derivation, consequence)
    if where:
        text += f" ({where})"
    return text if consequence.proven else f"possible: {text}"


def consequences_text(derivation: Derivation, item: ExceptionalSet) -> str:
    """Return all that happens on a set, each effect once with everything that it concerns."""
    groups: dict[tuple[str, str], list[str]] = {}
    for consequence in item.consequences:
        text = _effect(derivation, consequence.effect)
        key = ("" if consequence.proven else "possible: ", text)
        where = _where(derivation, consequence)
        if where not in groups.setdefault(key, []):
            groups[key].append(where)
    return "; ".join(
        f"{lead}{text} ({', '.join(filter(None, places))})" if any(places) else f"{lead}{text}"
        for (lead, text), places in groups.items()
    )


def _effect(derivation: Derivation, effect: Effect) -> str:
    """Return what happens; few hidden units feel more than the formulas do."""
    if effect is Effect.CROSSING and derivation.ask(narrow_pathways):
        return "modes coincide in s; where d differs, the order changes in which units learn them"
    return effect.value


def _where(derivation: Derivation, consequence: Consequence) -> str:
    if not consequence.pathways:
        return ""
    members = [derivation.pathways[number - 1] for number in consequence.pathways]
    names = [f"'{pathway.name}'" for pathway in members]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    if not consequence.classes:
        return f"stage {consequence.stage}: {shown}"
    modes = " with ".join(_modes(members[0], index, consequence) for index in consequence.classes)
    return f"{modes} of {shown}"


def _modes(pathway: PathwayDerivation, index: int, consequence: Consequence) -> str:
    """Name the modes of a class that a statement is about.

    A condition on a class of conjugates holds of some of them: of which depends on the point.
    """
    degree = pathway.spectrum.classes[index].degree
    numbers = pathway.mode_numbers(index)
    if degree == 1:
        return f"mode {numbers}"
    count = consequence.count
    if consequence.effect in (Effect.DEGENERATE, Effect.MERGED, Effect.CROSSING):
        count = 1 if len(consequence.classes) > 1 else 2
    elif consequence.effect is Effect.JUMP:
        count = 1
    if count in (0, degree):
        return f"modes {numbers}"
    few = _COUNTS[count] if count < len(_COUNTS) else str(count)
    return f"{'' if consequence.exact else 'at least '}{few} of modes {numbers}"


def sentence(sets: ExceptionalSets) -> str:
    """Return one line for the terminal: where the generic answer ends, where modes coincide."""
    named = [condition_text(item) for item in sets.breaking]
    for item in sets.outside:
        if not item.harmless and item.polynomial.total_degree() == 1 and len(item.names) == 1:
            (root,) = real_roots(item.polynomial, item.parameters)
            barred = item.excluded.removeprefix("no root with ")
            named.append(f"{item.names[0]} = {root.scalar} (excluded by {barred})")
    text = f"generic in {', '.join(sets.parameters)}; exceptional: {_some(named) or 'nothing'}"
    together = [condition_text(item) for item in sets.sets if item.harmless and _coincide(item)]
    return f"{text} (modes coincide on: {_some(together)})" if together else text


def _some(named: list[str]) -> str:
    """List the first few."""
    more = [f"{len(named) - NAMED} more"] if len(named) > NAMED else []
    return ", ".join([*named[:NAMED], *more])


def _coincide(item: ExceptionalSet) -> bool:
    """Return whether modes are proven not to be unique: where only s coincides, they are."""
    effects = {c.effect for c in item.consequences if c.proven}
    return bool(effects & {Effect.DEGENERATE, Effect.MERGED})


def effect_key(effect: Effect) -> str:
    """Return the effect's name in the JSON."""
    return effect.name.lower()
