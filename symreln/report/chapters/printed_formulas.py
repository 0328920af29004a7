"""Closed forms and modes as they are printed: the first ones on the first page, others later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from symreln.base.records import record
from symreln.claims.balls import HalfTime, half_time
from symreln.claims.claim import DIGITS
from symreln.claims.derivation import Derivation, ModeDerivation
from symreln.claims.head_formulas import some_driven
from symreln.claims.later_stages import head_starts_of
from symreln.claims.pathway_orbits import PathwayOrbit, mode_orbits
from symreln.claims.rules import rule_of
from symreln.document.document_model import Block, Content, Math, Reference, Table, equation, prose
from symreln.document.mathtext import to_latex
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import typeset
from symreln.document.words import NONE, Notation, decimal_cell, evaluable, number_cell
from symreln.exact.algebraic import AlgebraicNumber, ratio
from symreln.exact.enclosure import decimal_of, precision
from symreln.laws.deep_chain import Depth

#: Modes up to which all are on the first page, and modes of one pathway that are printed at all.
MOST_FIRST, MOST_ROWS = 10, 40
#: Labels of the first table of modes, and of the numbers without a form in square roots.
MODES, NUMBERS = "tab:modes", "tab:numbers"
#: Working precision of quotients that are shown as decimals.
_RATIO_BITS = 160


@record(kw_only=False)
class _Chosen:
    """Some of the modes of pathways that have equal modes.

    Attributes:
        group: The pathways.
        modes: The modes that are shown.
    """

    group: PathwayOrbit
    modes: tuple[ModeDerivation, ...]


def first_modes(derivation: Derivation) -> list[_Chosen]:
    """Return the modes of the first page: all, or the fastest of every pathway."""
    groups = [group for group in mode_orbits(derivation) if group.learning]
    few = sum(len(group.learning) for group in groups) <= MOST_FIRST
    each = MOST_FIRST if few else max(1, MOST_FIRST // len(groups))
    return [_Chosen(group, tuple(group.learning[:each])) for group in groups[:MOST_FIRST]]


def other_modes(derivation: Derivation) -> list[_Chosen]:
    """Return the modes that are not on the first page, up to a number that can be read."""
    first = {chosen.group.first.number: len(chosen.modes) for chosen in first_modes(derivation)}
    found = [
        _Chosen(group, tuple(group.learning[first.get(group.first.number, 0) : MOST_ROWS]))
        for group in mode_orbits(derivation)
    ]
    return [chosen for chosen in found if chosen.modes]


def formulas_first(derivation: Derivation) -> list[_Chosen]:
    """Return the modes whose closed forms are on the first page.

    None where it has closed forms for every size: those at one size come later.
    """
    sizes = derivation.ask(rule_of("family"))
    return [] if sizes is not None and sizes.complete else first_modes(derivation)


def formulas_later(derivation: Derivation) -> list[_Chosen]:
    """Return the modes whose closed forms are in the chapter on the dynamics."""
    others = other_modes(derivation)
    return others if formulas_first(derivation) else [*first_modes(derivation), *others]


def formula_blocks(shown: Sequence[_Chosen], notation: Notation) -> Iterator[Block]:
    """Yield the closed forms of some modes, pathway by pathway."""
    for chosen in shown:
        modes = [m for m in chosen.modes if m.strength is not None]
        lines = _families({m: _formula(chosen.group, m, notation) for m in modes}, chosen.group)
        if lines:
            title = chosen.group.title
            yield from (prose(*typeset(f"{title[:1].upper()}{title[1:]}:")), equation(*lines))


def _families(formulas: dict[ModeDerivation, str], group: PathwayOrbit) -> list[str]:
    """Return lines, those that differ in the place of their mode alone as one of all places."""
    found: dict[str, list[tuple[str, str]]] = {}
    for mode, line in formulas.items():
        place = group.symbol(mode).partition("_")[2]
        family = line.replace(f"_{place}", r"_{\alpha}")
        found.setdefault(family, []).append((place.strip("{}"), line))
    lines = []
    for family, members in found.items():
        places = [f"({place})" for place, _ in members]
        if len(found) == 1 and len(places) > 3:
            places = [places[0], r"\dots", places[-1]]
        all_of_them = [rf"{family},", rf"& \qquad \alpha = {', '.join(places)}"]
        lines += all_of_them if len(members) > 1 else [members[0][1]]
    return lines


def _formula(group: PathwayOrbit, mode: ModeDerivation, notation: Notation) -> str:
    """Return the line of a solution; where it is implicit, the time at which it is pi."""
    if implicit(mode):
        return _implicit_formula(group, mode, notation)
    return rf"{group.symbol(mode)}(t) &= {notation.latex(group.strength(mode))}"


def implicit(mode: ModeDerivation) -> bool:
    """Whether only the time is in closed form, as a function of the strength."""
    return isinstance(mode.strength, Depth) and mode.strength.expr is None


def _implicit_formula(group: PathwayOrbit, mode: ModeDerivation, notation: Notation) -> str:
    """Return the line of such a solution: its factor and the variable of T."""
    strength = mode.strength
    assert isinstance(strength, Depth)
    scale, height = (group.renamed(mode, e) for e in (strength.scale, strength.plateau))
    power = rf"1/{to_latex(strength.layers)}"
    share = r"\pi" if height == 1 else rf"\left(\frac{{\pi}}{{{notation.latex(height)}}}\right)"
    return (
        rf"t({group.symbol(mode)} = \pi) &= {notation.latex(scale)} "
        rf"\left[T(\rho) - T(\rho_0)\right], \quad \rho = {share}^{{{power}}}"
    )


def modes_table(
    derivation: Derivation, shown: Sequence[_Chosen], notation: Notation, *, label: str = ""
) -> Table:
    """Return some modes with all that is known of them; a column without an entry is left out."""
    rows = [
        _cells(derivation, chosen.group, mode, notation)
        for chosen in shown
        for mode in chosen.modes
    ]
    left_out = {
        "pathways": sum(len(chosen.group.pathways) > 1 for chosen in shown) < 2,
        "at values": any(row["half-time"] != NONE for row in rows),
        "d_eff": all(row["d_eff"] == row["d"] for row in rows),  # nothing couples
    }
    kept = [
        name
        for name in rows[0]
        if any(row[name] != NONE for row in rows) and not left_out.get(name)
    ]
    return Table(
        header=tuple(_HEADER[name] for name in kept),
        rows=tuple(tuple(row[name] for name in kept) for row in rows),
        caption=_caption(derivation, shown, label, "half-time" in kept),
        alignment="".join("l" if name == "strength" else "c" for name in kept[:-1]) + "r",
        label=label,
    )


_HEADER: dict[str, Content] = {
    "pathways": "p",
    "strength": "mode",
    "s": Math("s"),
    "d": Math("d"),
    "d_eff": Math(r"d_{\mathrm{eff}}"),
    "plateau": "plateau",
    "half-time": "half-time (steps)",
    "at values": (Math("s"), " in decimals"),
    "multiplicity": "multiplicity",
}


def _cells(
    derivation: Derivation, group: PathwayOrbit, mode: ModeDerivation, notation: Notation
) -> dict[str, Content]:
    values = derivation.spec.values
    joint = group.first.spectrum.commutes
    half = _half_time(derivation, mode)
    return {
        "pathways": ", ".join(str(pathway.number) for pathway in group.pathways),
        "strength": Math(group.symbol(mode)),
        "s": _number(mode.s, notation, group.symbol(mode, "s")),
        "d": _number(mode.d if joint else None, notation, group.symbol(mode, "d")),
        "d_eff": _number(mode.d_eff, notation, group.symbol(mode, group.d_letter(mode))),
        "plateau": _plateau(group, mode, notation) if joint else NONE,
        "half-time": NONE
        if half is None or half.decimal is None
        else Math(decimal_latex(*half.decimal, digits=5)),
        "at values": decimal_cell(mode.s, values) if mode.s.is_radical else NONE,
        "multiplicity": str(mode.multiplicity),
    }


def _number(number: AlgebraicNumber | None, notation: Notation, name: str) -> Content:
    """Return a number by radicals; one without them by its name, with its decimal if it has one."""
    if number is not None and not number.is_radical and evaluable(number, notation.values):
        return Math(rf"{name} = {decimal_latex(*number.decimal(notation.values, 21), digits=6)}")
    return number_cell(number, notation, name)


def _plateau(group: PathwayOrbit, mode: ModeDerivation, notation: Notation) -> Content:
    """Return where a strength grows to: that of the pathway alone where modes do not close."""
    if mode.strength is not None:
        plateau = group.renamed(mode, mode.strength.plateau)
        return Math(r"\infty" if plateau is sp.oo else notation.latex(plateau))
    d = mode.d if mode.d_eff is None else mode.d_eff
    if d is not None and not (mode.s.parameters or d.parameters):
        return _constant_plateau(mode.s, d, notation)
    height = group.height(mode, notation.symbols)
    return NONE if height is None else Math(notation.latex(height))


def _constant_plateau(s: AlgebraicNumber, d: AlgebraicNumber, notation: Notation) -> Content:
    """Return s/d: as the root of one rational function where it is one, else as a decimal."""
    if d.is_zero:
        return NONE
    height = ratio(s, d)
    if height is not None:
        return Math(notation.latex(height.to_sympy()))
    if s.is_radical and d.scalar is not None:
        return Math(notation.latex(sp.expand(s.to_sympy() / d.to_sympy())))
    with precision(_RATIO_BITS):
        quotient = s.ball({}, _RATIO_BITS) / d.ball({}, _RATIO_BITS)
        return Math(decimal_latex(*decimal_of(quotient, 21), digits=6))


def _half_time(derivation: Derivation, mode: ModeDerivation) -> HalfTime | None:
    if not derivation.closed or mode.strength is None:
        return None
    return half_time(derivation, mode, DIGITS)


def _caption(derivation: Derivation, shown: Sequence[_Chosen], label: str, timed: bool) -> Content:
    """Say what is shown, what is left out, and what half-times hold for."""
    groups = [chosen.group for chosen in shown]
    content: list = ["Modes, by decreasing ", Math("s"), " in every pathway."]
    joint = [group for group in groups if group.first.spectrum.commutes]
    if joint:
        content += _plateaus(derivation, joint)
    if len(joint) < len(groups):
        content.append(" Without a joint eigenbasis a mode has no eigenvalue d and no plateau.")
    nulls = dict.fromkeys(
        f"{n} of {_which(group)}"
        for group in groups
        if (n := sum(m.multiplicity for m in group.first.modes if m.is_null))
    )
    if nulls:
        content += [" Null modes (", Math("s = 0"), f", nothing to learn): {', '.join(nulls)}."]
    numbers = [x for g in groups for m in g.learning for x in (m.s, m.d_eff) if x is not None]
    if any(not x.is_radical and not x.is_constant for x in numbers):
        content.append(" Decimals are at the declared values.")
    if timed:
        content += _timed(derivation, shown)
    content += typeset(_without_half_times(derivation, shown))
    if label and other_modes(derivation):
        content.append(" The other modes are in the full document and the JSON.")
    left = sum(max(0, len(group.learning) - MOST_ROWS) for group in mode_orbits(derivation))
    if left:
        content.append(f" {left} slower modes are in derivation.json.")
    return tuple(content)


def _which(group: PathwayOrbit) -> str:
    return "each pathway p" if len(group.pathways) > 1 else f"pathway {group.first.number}"


def _plateaus(derivation: Derivation, groups: Sequence[PathwayOrbit]) -> list:
    """Say what the plateaus are, of pathways with a joint eigenbasis."""
    shown = Math(plateaus_latex(groups, decay=derivation.known.lowers_plateaus))
    if any(mode.d_eff is None for group in groups for mode in group.learning):
        return [" The plateau ", shown, " is that of the pathway alone; pathways couple."]
    return [" Plateaus are ", shown, "."]


def _timed(derivation: Derivation, shown: Sequence[_Chosen]) -> list:
    """Say what half-times hold for: those of later stages are of leading order."""
    content: list = [" Half-times are at the declared values."] * bool(derivation.spec.parameters)
    first, staged = derivation.stages[0].stage, len(derivation.stages) > 1
    if not staged or not any(chosen.group.first.stage > first for chosen in shown):
        return content
    ahead = derivation.ask(head_starts_of)
    if some_driven(derivation):
        content += [" Those of later stages count from the head starts"]
        content += [" of ", Reference("tab:headstarts")] * bool(ahead is not None and ahead.tabled)
        content += [", to leading order; "]
    else:
        content += [" Those of later stages count from ", Math(r"\pi_0"), ": nothing drives them; "]
    return [*content, "of the flow of all stages together nothing is proven."]


def _without_half_times(derivation: Derivation, shown: Sequence[_Chosen]) -> str:
    """Say why modes have no half-time."""
    modes = [mode for chosen in shown for mode in chosen.modes]
    reasons: dict[str, list[str]] = {}
    for mode in modes:
        found = _half_time(derivation, mode)
        if found is not None and found.why:
            reasons.setdefault(found.why, []).append(mode.label)
    return "".join(
        f" No half-times: {why}."
        if len(labels) == len(modes)
        else f" No half-time of {', '.join(labels)}: {why}."
        for why, labels in reasons.items()
    )


def plateaus_latex(groups: Sequence[PathwayOrbit], *, decay: bool = False) -> str:
    """Return the LaTeX of what the heights of all modes are, s/d or s/d_eff.

    Args:
        groups: The modes.
        decay: Whether weight decay lowers the heights.
    """
    found = max((group.height_latex for group in groups), key=len, default="s/d")
    return found.replace("s/", r"(s - \lambda)/", 1) if decay else found
