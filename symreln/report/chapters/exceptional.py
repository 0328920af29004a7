"""For which values of the parameters the answer does not hold as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from symreln.claims.exceptional.sets import exceptional_sets
from symreln.claims.widths import narrow_pathways
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Details, Items, Math, Section, Table, Theorem, prose
from symreln.document.typeset import typeset
from symreln.exact.scalar import factored
from symreln.report.exceptional_words import SHORT, consequences_text, polynomial_text, short_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.derivation import Derivation
    from symreln.document.inlines import Content, Inline
    from symreln.exact.exceptional import ExceptionalSet, ExceptionalSets, SpecialPoint

#: Rows of a table of sets.
MOST = 24


def chapter(derivation: Derivation) -> Section:
    """Return the chapter on exceptional sets of a derivation that has them."""
    sets = derivation.ask(exceptional_sets)
    assert sets is not None
    harmless = [item for item in sets.sets if item.harmless]
    blocks: list[Block] = [_opening(derivation, sets), *_few_units(derivation), _remark()]
    if sets.breaking:
        blocks.append(_table(derivation, sets.breaking))
    blocks += _points(sets.breaking)
    if harmless:
        note = prose(
            "Where only this happens, every formula of this document stays true; where modes "
            "coincide in ",
            Math("s"),
            " and ",
            Math("d"),
            ", they are no longer unique and the verdict may differ.",
        )
        inside = (note, _table(derivation, harmless), *_points(harmless))
        blocks.append(Details(summary="Where modes coincide", blocks=inside))
    if sets.outside:
        blocks.append(_outside(derivation, sets.outside))
    if sets.undecided:
        blocks.append(prose("Not followed, and therefore undecided:"))
        blocks.append(Items(tuple(typeset(f"{text}.") for text in sets.undecided)))
    return Section(
        title="Exceptional values of the parameters", blocks=tuple(blocks), label="sec:exceptional"
    )


def _opening(derivation: Derivation, sets: ExceptionalSets) -> Block:
    names = [Math(to_latex(derivation.spec.symbols[name])) for name in sets.parameters]
    listed: list[str | Inline] = []
    for index, name in enumerate(names):
        listed += [", ", name] if index else [name]
    where = (" with ", *typeset(sets.domain)) if sets.domain else ()
    if not sets.breaking:
        wide = (
            ", as one of pathways that are wide enough," if derivation.ask(narrow_pathways) else ""
        )
        return prose(
            f"Every formula of this document{wide} holds as it stands for all real ",
            *listed,
            *where,
            ": no exceptional set that could break one meets them",
            ", up to what is named below as undecided." if sets.undecided else ".",
        )
    return prose(
        "The verdict, the modes and the loss hold for all real ",
        *listed,
        *where,
        ", outside the sets listed here",
        " and up to what is named below as undecided." if sets.undecided else ".",
        " What is not called possible happens everywhere on the set, but perhaps where it meets "
        "another one; what is called possible can happen only there, and need not.",
    )


def _few_units(derivation: Derivation) -> list[Block]:
    """Say what is not said of all values where pathways have fewer hidden units than modes."""
    if not derivation.ask(narrow_pathways):
        return []
    numbers = ", ".join(str(one.pathway.number) for one in derivation.ask(narrow_pathways))
    several = len(derivation.ask(narrow_pathways)) > 1
    return [
        prose(
            f"Which modes pathway{'s' * several} {numbers} with few hidden units "
            f"learn{'' if several else 's'}, and what loss stays, is decided at the declared "
            "values of the parameters; beside the decision stands for which others it is the same.",
        )
    ]


def _remark() -> Theorem:
    return Theorem(
        kind="Remark",
        blocks=(
            prose(
                "The characteristic polynomial of ",
                Math(r"M + t \Sigma^{x}"),
                " is an identity in the parameters, so the pairs ",
                Math("(s, d)"),
                " hold wherever the data are finite. Spectral projectors are bounded, so they have "
                "limit points on every path to such a point, which satisfy every proven equation: "
                "where pairs coincide the formulas stay true. The modes are no longer unique "
                "there, and the verdict, which speaks of their spaces, may differ.",
            ),
        ),
    )


def _polynomial(derivation: Derivation, item: ExceptionalSet) -> Content:
    if len(polynomial_text(item)) > SHORT:
        return short_text(item)
    symbols: dict[str, sp.Symbol] = derivation.spec.symbols
    return Math(f"{to_latex(factored(item.polynomial, item.parameters, symbols))} = 0")


def _values(derivation: Derivation, item: ExceptionalSet) -> Content:
    """Return the points of a set in one parameter: a root in radicals, else its decimal."""
    parts: list[str | Inline] = []
    for value in item.values:
        if parts:
            parts.append(", ")
        if value.is_radical:
            parts.append(Math(to_latex(value.to_sympy())))
        else:
            parts.append(Math(rf"\approx {value.decimal({}, 8)[0]}"))
    return tuple(parts) or "–"


def _table(derivation: Derivation, items: Sequence[ExceptionalSet]) -> Table:
    rows: list[tuple[Content, ...]] = [
        (
            _polynomial(derivation, item),
            _values(derivation, item),
            typeset(consequences_text(derivation, item)),
        )
        for item in items[:MOST]
    ]
    if len(items) > MOST:
        rows.append((f"{len(items) - MOST} more", "–", "listed in derivation.json"))
    return Table(header=("set", "values", "what happens"), rows=tuple(rows), alignment="lpp")


def _points(items: Sequence[ExceptionalSet]) -> list[Block]:
    """Return what second, exact derivations at rational points found."""
    found = [point for item in items for point in item.points]
    if not found:
        return []
    return [
        prose("At rational points of these sets, derived again, exactly:"),
        Items(tuple(_point(point) for point in found)),
    ]


def _point(point: SpecialPoint) -> Content:
    where = Math(
        ", ".join(
            rf"{to_latex(sp.Symbol(name))} = {to_latex(sp.Rational(str(value)))}"
            for name, value in point.values
        )
    )
    lead: list[str | Inline] = [where]
    if point.generic:
        lead.append(f", generic in {', '.join(point.generic)}")
    if point.note:
        return (*lead, *typeset(f": {point.note}."))
    if not point.changes:
        return (*lead, f": nothing changes, the verdict is ‘{point.level}’.")
    return (*lead, *typeset(f": {'; '.join(point.changes)}."))


def _outside(derivation: Derivation, items: Sequence[ExceptionalSet]) -> Details:
    rows: list[tuple[Content, ...]] = [
        (
            _polynomial(derivation, item),
            typeset(item.excluded),
            typeset(consequences_text(derivation, item)),
        )
        for item in items[:MOST]
    ]
    if len(items) > MOST:
        rows.append((f"{len(items) - MOST} more", "–", "listed in derivation.json"))
    return Details(
        summary="Sets that the declared ranges exclude",
        blocks=(
            prose("Proven to be outside, one irreducible polynomial each:"),
            Table(
                header=("set", "why it is outside", "what would happen"),
                rows=tuple(rows),
                alignment="lpp",
            ),
        ),
    )
