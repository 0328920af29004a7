"""The modes of a page: those of pathways, and of families for every size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.claims.formulas import NO_LOSS, printed_laws, start_symbols
from symreln.claims.head_formulas import planar_start, start_in_effect
from symreln.claims.orbits import mode_orbits, short_list
from symreln.document.symbols import strengths_in_text
from symreln.errors import NoClosedFormError
from symreln.laws.law import Law
from symreln.laws.ops import WRITTEN
from symreln.report.live_values import HALF, START, Group, LiveMode

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, Driver
    from symreln.claims.families.derivation import FamilyDerivation, FamilyMode
    from symreln.claims.families.task import Task


def _with_values(expr: Any, values: Mapping[sp.Symbol, Any]) -> Any:
    """Return an expression or a number with values of symbols put in."""
    return sp.sympify(expr, strict=True).xreplace(values)


def _put_in_law(law: Law, values: Mapping[sp.Symbol, Any]) -> Law:
    """Return a law with values of symbols put in."""
    numbers = {f.name: getattr(law, f.name) for f in fields(law)}
    given = {k: _with_values(v, values) for k, v in numbers.items() if isinstance(v, sp.Basic)}
    return replace(law, **{k: v for k, v in given.items() if k != "t"})


def put_values(group: Group, values: Mapping[sp.Symbol, Any]) -> Group:
    """Return a group with values of symbols put in."""
    modes = [
        replace(
            mode,
            law=_put_in_law(mode.law, values),
            start=_with_values(mode.start, values),
            count=_with_values(mode.count, values),
            holds=tuple(_with_values(each, values) for each in mode.holds),
        )
        for mode in group.modes
    ]
    return replace(group, modes=tuple(modes), rest=_with_values(group.rest, values))


def _mode(law: Law, begin: sp.Symbol, by: Law | None, r: Any, start: Any, count: Any) -> LiveMode:
    """Return a mode that starts where it does alone, or, driven by another, at a head start."""
    law = replace(law, ops=WRITTEN)
    alone = law if by is None else replace(law, strength0=begin)
    holds: tuple[Any, ...] = (law.tau - law.s,)  # steps are stable
    if by is not None:  # it is small until what drives it, which is small at first, is learned
        both = (alone, by)
        holds += tuple(each.plateau / 2 - each.strength0 for each in both)
        holds += (HALF - by.half_time, law.tau - r)
    if law.strength0 != 0:
        law = replace(law, strength0=START)
    return LiveMode(title="", pathway="", law=law, start=start, count=count, holds=holds)


# -- pathways -------------------------------------------------------------------------------------


def pathway_groups(derivation: Derivation) -> tuple[Group, ...]:
    """Return the modes of pathways, those that are equal for all values as one."""
    laws, letters = printed_laws(derivation)
    if not derivation.loss_separates:
        raise NoClosedFormError(NO_LOSS)
    spectra = {
        symbol for _, law in laws.values() for symbol in law.s.free_symbols | law.d.free_symbols
    }
    numbers = {
        each.symbol: sp.Float(each.value)
        for each in letters
        if each.symbol in spectra - set(derivation.spec.symbols.values()) and each.value is not None
    }
    if numbers and derivation.spec.parameters:
        msg = "singular values are roots without radicals, and no functions that a page computes"
        raise NoClosedFormError(msg)
    names = {mode.label: p.name for p in derivation.pathways for mode in p.modes}
    begin = start_symbols(derivation)
    made: dict[tuple[Any, ...], LiveMode] = {}
    for label, driver in derivation.drivers.items():
        if isinstance(driver, str):
            msg = f"no formula in the parameters says where {label} starts: {driver}"
            raise NoClosedFormError(msg)
        count, law = laws[label]
        start = begin[names[label]]
        key = (law.s, law.d, start, driver and (driver.mode.label, driver.squared, driver.across))
        one = made.get(key)
        if one is None:
            by = None if driver is None else laws[driver.mode.label][1]
            one = _of_pathway(derivation, law, start, driver, by)
        made[key] = replace(one, count=one.count + count, names=(*one.names, label))
    alike = [
        replace(
            each,
            title=_title(derivation, each.names),
            pathway=short_list([names[label] for label in each.names]),
        )
        for each in made.values()
    ]
    rest = derivation.least_loss.to_sympy(derivation.spec.symbols)
    return (put_values(Group(modes=tuple(alike), rest=rest), numbers),)


def _title(derivation: Derivation, labels: Sequence[str]) -> str:
    """Return the names of some modes as tables have them: with p for all pathways of an orbit."""
    found = dict(zip(labels, labels, strict=True))
    for orbit in mode_orbits(derivation):
        for modes in zip(*(pathway.modes for pathway in orbit.pathways), strict=True):
            own = [mode.label for mode in modes]
            if found.keys() >= set(own):
                found |= dict.fromkeys(own, str(orbit.strength_symbol(modes[0])))
    return short_list([strengths_in_text(name) for name in dict.fromkeys(found.values())], "modes")


def _of_pathway(
    derivation: Derivation, law: Law, begin: sp.Symbol, driver: Driver | None, by: Law | None
) -> LiveMode:
    """Return a mode, none of it as yet.

    Args:
        derivation: Its derivation.
        law: Its law.
        begin: The letter of where its pathway starts.
        driver: What drives it.
        by: The law of that.
    """
    if driver is None or by is None:
        return _mode(law, begin, None, sp.S.Zero, law.strength0, sp.S.Zero)
    alone, by = replace(law, ops=WRITTEN, strength0=begin), replace(by, ops=WRITTEN)
    r = sp.sqrt(driver.squared.to_sympy(derivation.spec.symbols))
    return _mode(law, begin, by, r, planar_start(alone, by, driver, derivation), sp.S.Zero)


# -- families -------------------------------------------------------------------------------------


def family_groups(family: FamilyDerivation, task: Task) -> tuple[Group, ...]:
    """Return the modes on the root and on the wavelets, for every size."""
    groups = []
    for place, left in enumerate(family.stages[-1].after):
        modes = [_family_mode(task, mode) for mode in family.modes if mode.found.place == place]
        below = task.items.symbol or str(task.items.at)
        over, below = (str(task.copies), below) if place else ("", "")
        rest = left.to_sympy(task.symbols)
        groups.append(Group(modes=tuple(_told_apart(modes)), rest=rest, over=over, below=below))
    return tuple(groups)


def _told_apart(modes: Sequence[LiveMode]) -> Iterator[LiveMode]:
    """Yield modes whose titles are numbered where several have one."""
    titles = [mode.title for mode in modes]
    for place, mode in enumerate(modes):
        several = titles.count(mode.title) > 1
        number = titles[: place + 1].count(mode.title)
        yield replace(mode, title=f"{mode.title} {number}") if several else mode


def _family_mode(task: Task, mode: FamilyMode) -> LiveMode:
    """Return a mode for every size; all pathways of one template together."""
    title = f"{mode.template.name} {mode.part}"
    if mode.strength0 is None:
        msg = f"{title}: no formula for every size says where it starts"
        raise NoClosedFormError(msg)
    several = task.contexts.number if mode.template.each else 1
    count = (mode.multiplicity * several).to_sympy(task.symbols)
    by, r, start = None, sp.S.Zero, mode.law.strength0
    if mode.ahead is not None:
        by = replace(mode.ahead.by.law, ops=WRITTEN)
        alone = replace(mode.law, ops=WRITTEN, strength0=mode.start)
        r, overlap = mode.ahead.faster * alone.s, 1 / mode.ahead.faster
        start = start_in_effect(alone, by, r, overlap, mode.ahead.letters)
    found = _mode(mode.law, mode.start, by, r, start, count)
    return replace(found, title=title, pathway=mode.template.name)
