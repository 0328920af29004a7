"""Pathways with fewer hidden units than modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.claims.widths import NarrowPathway, losses, narrow_pathways
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Math, prose
from symreln.document.numerals import decimal_latex
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import typeset
from symreln.document.words import SHORT
from symreln.exact.enclosure import decimal_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flint import arb

    from symreln.claims.derivation import Derivation, ModeDerivation
    from symreln.dynamics.width import Narrow

#: Escapes, and comparisons of modes, that are printed.
MOST_ESCAPES = MOST_COMPARISONS = 6


def width(derivation: Derivation) -> list[Block]:
    """Return which modes narrow pathways learn, and the loss that stays."""
    if not derivation.ask(narrow_pathways):
        return []
    blocks: list[Block] = []
    for one in derivation.ask(narrow_pathways):
        blocks += _pathway(one)
    found = losses(derivation)
    if found is not None:
        plateau, least = found
        declared = any(one.declared for one in derivation.ask(narrow_pathways))
        where = " at the declared values" if declared else ""
        content: list = [f"With these widths the loss comes{where} to ", _decimal(plateau), ". "]
        if any(
            one.found is not None and one.found.escapes for one in derivation.ask(narrow_pathways)
        ):
            content += ["In the end it falls to the least of these widths, ", _decimal(least), "."]
        else:
            content.append("That is the least of these widths, and stays.")
        blocks.append(prose(*content))
    return blocks


def own_units(derivation: Derivation) -> list[Block]:
    """Return what is said of pathways with hidden units of their own; nothing without any."""
    own = [p.number for p in derivation.pathways if p.effective.pathway.hidden is not None]
    if not own:
        return []
    which = ", ".join(map(str, own))
    return [
        prose(
            f"Pathway{'s' * (len(own) > 1)} {which} with hidden units of "
            f"{'their' if len(own) > 1 else 'its'} own: ",
            Math(r"\sigma"),
            " is scaled there so that this mean is the same.",
        )
    ]


def _pathway(one: NarrowPathway) -> list[Block]:
    units = "1 hidden unit" if one.units == 1 else f"{one.units} hidden units"
    start = f"Pathway {one.pathway.number} has {units} for {one.rank} modes. "
    if one.found is None or one.found.plateau is None:
        return [
            prose(
                start,
                "Which of them it learns is not decided: ",
                *typeset(one.undecided),
                ". What is printed of it holds for a pathway that is wide enough.",
            )
        ]
    blocks: list[Block] = [
        prose(
            start,
            "In the limit of small initial weights it first learns those with the largest ",
            Math("s"),
            ": ",
            *_listed(one.found, one.found.plateau),
            ". The others stay near 0; solutions that are printed for them hold for a pathway that "
            "is wide enough.",
            *_wherever(one, one.comparisons(), "s"),
        )
    ]
    if not one.found.escapes:
        text = "No other mode can replace one of them: none has a larger "
        stays = _wherever(one, one.final_comparisons(), "s^2/d")
        return [*blocks, prose(text, Math("s^2/d"), ", and the plateau is stable.", *stays)]
    content: list = [
        "The plateau is left again, because modes that are missing have a larger ",
        Math("s^2/d"),
        " than some that are there. To first order replacements grow at the rates ",
    ]
    for place, escape in enumerate(one.found.escapes[:MOST_ESCAPES]):
        content += [", " if place else "", _rate(one, escape)]
    content += [
        ". In the end the largest ",
        Math("s^2/d"),
        " are there (Baldi and Hornik, 1989: every other choice is a saddle): ",
        *_listed(one.found, one.found.least),
        ".",
        *_wherever(one, one.final_comparisons(), "s^2/d"),
    ]
    return [*blocks, prose(*content)]


def _wherever(
    one: NarrowPathway, pairs: Sequence[tuple[ModeDerivation, ModeDerivation]], what: str
) -> list[Any]:
    """Say for which values of the parameters a choice is the same as at the declared ones."""
    if not one.declared:
        return []
    if one.symbolic is None:
        return [
            " This is decided at the declared values of the parameters, where modes are equal that "
            "differ elsewhere, or closed that elsewhere are not: at other values it may be "
            "otherwise."
        ]
    if not pairs:
        return [" No parameter changes that."]
    content: list[Any] = [
        " This is decided at the declared values of the parameters, and the same wherever "
    ]
    for place, (first, second) in enumerate(pairs[:MOST_COMPARISONS]):
        left, right = (_compared(mode, what) for mode in (first, second))
        content += [", " if place else "", Math(f"{left} > {right}")]
    if len(pairs) > MOST_COMPARISONS:
        count = len(pairs) - MOST_COMPARISONS
        content += [f", and {count} more such comparisons of ", Math(what), " hold"]
    return [*content, "."]


def _compared(mode: ModeDerivation, what: str) -> str:
    """Return s or s²/d of a mode, written out where that is short."""
    assert mode.strength is not None  # of closed modes every one has it
    s, d = mode.strength.s, mode.strength.d
    text = to_latex(s if what == "s" else sp.factor(s**2 / d))
    if len(text) <= SHORT:
        return text
    number = symbol_latex(mode.label).removeprefix(r"\pi")
    return f"s{number}" if what == "s" else f"s{number}^2/d{number}"


def _rate(one: NarrowPathway, escape: tuple[int, int]) -> Math:
    assert one.found is not None
    learned, other = (symbol_latex(one.found.modes[i].mode.label) for i in escape)
    decimal = decimal_latex(*decimal_of(one.found.rate(escape), 21), digits=5)
    return Math(rf"{decimal}/\tau\ ({other} \text{{ for }} {learned})")


def _listed(found: Narrow, counts: tuple[int, ...]) -> list[Any]:
    content: list[Any] = []
    for entry, count in zip(found.modes, counts, strict=True):
        if count:
            content += [", "] if content else []
            content.append(Math(symbol_latex(entry.mode.label)))
            if count < entry.mode.multiplicity:
                content.append(f" ({count} of {entry.mode.multiplicity} equal ones)")
    return content


def _decimal(value: arb) -> Math:
    return Math(decimal_latex(*decimal_of(value, 21), digits=8))


def width_to_json(derivation: Derivation) -> dict[str, Any]:
    """Return the entry "width" of derivation.json, or nothing where all pathways are wide enough.

    "first" and "least" count equal modes by label; a rate is in units of 1/tau.
    """
    if not derivation.ask(narrow_pathways):
        return {}
    found = losses(derivation)
    return {
        "width": {
            "loss": None if found is None else _number(found[0]),
            "least_loss": None if found is None else _number(found[1]),
            "pathways": [_entry(one) for one in derivation.ask(narrow_pathways)],
        }
    }


def _entry(one: NarrowPathway) -> dict[str, Any]:
    found = one.found
    return {
        "name": one.pathway.name,
        "units": one.units,
        "modes": one.rank,
        "undecided": one.undecided,
        "at_declared_values": one.declared,
        "same_where": _conditions(one),
        "first": None if found is None or found.plateau is None else _counts(found, found.plateau),
        "least": None if found is None else _counts(found, found.least),
        "replaced": []
        if found is None
        else [
            {
                "mode": found.modes[escape[0]].mode.label,
                "by": found.modes[escape[1]].mode.label,
                "rate": _number(found.rate(escape)),
            }
            for escape in found.escapes
        ],
    }


def _conditions(one: NarrowPathway) -> dict[str, list[list[str]]] | None:
    """Return the pairs of labels whose order decides: larger s first, and larger s²/d in the end.

    None where no parameter moves a mode, or the declared values make modes equal.
    """
    if one.symbolic is None:
        return None
    return {
        "s": [[a.label, b.label] for a, b in one.comparisons()],
        "s2_over_d": [[a.label, b.label] for a, b in one.final_comparisons()],
    }


def _counts(found: Narrow, counts: tuple[int, ...]) -> dict[str, int]:
    return {e.mode.label: n for e, n in zip(found.modes, counts, strict=True) if n}


def _number(value: arb) -> dict[str, str]:
    decimal, radius = decimal_of(value, 21)
    return {"decimal": decimal, "radius": radius}
