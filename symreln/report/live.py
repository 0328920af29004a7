r"""A derivation that a page computes again: its closed forms over sliders, as JavaScript.

The formulas are those that are evaluated: strengths, half-times and the loss in the parameters, the
sizes of a family, the hidden units, their initial scale and the learning rate. Where modes of later
stages are driven by earlier ones, their starts are formulas in all of these
(:mod:`symreln.claims.head_formulas`). SymPy prints them; the page draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import sympy as sp

from symreln.claims.derivation import Derivation, Derived
from symreln.claims.formulas import formulas_of
from symreln.claims.head_formulas import drivers, planar_start, start_in_effect
from symreln.claims.orbits import short_list
from symreln.claims.widths import narrow_pathways
from symreln.document.escape import GREEK
from symreln.document.symbols import strengths_in_text
from symreln.errors import NoClosedFormError
from symreln.laws.choice import law_of
from symreln.laws.law import STRENGTH0, TIME_CONSTANT, Law
from symreln.laws.ops import EVALUATED

if TYPE_CHECKING:
    from symreln.claims.families.derivation import FamilyDerivation, FamilyMode, FamilyPathway
    from symreln.specs.model import Parameter

#: What sliders of the network move; no parameter's name begins so.
HIDDEN, RATE = sp.symbols("_hidden _learning_rate", positive=True)
SCALE, SCALE_OUT = sp.symbols("_init_std _init_std_out", positive=True)
#: Where a mode starts, and when it is half learned.
START, HALF = sp.symbols("_start _half_time", positive=True)

Step = Literal["linear", "log", "whole", "doubling"]


@dataclass(frozen=True, kw_only=True)
class Slider:
    """A number that a reader may change.

    Attributes:
        name: Its symbol in formulas.
        symbol: The same as text.
        says: What it is, for the label.
        value: Declared.
        low: Least value.
        high: Greatest.
        step: How it moves.
    """

    name: str
    symbol: str
    says: str
    value: float
    low: float
    high: float
    step: Step


@dataclass(frozen=True, kw_only=True)
class LiveMode:
    """A mode over sliders; expressions in their symbols.

    Attributes:
        title: Symbol in LaTeX, or words.
        pathway: Whose it is.
        law: As it is evaluated; it starts at the letter :data:`START`, or at 0.
        start: Where it starts in effect.
        count: How many equal modes it is.
        holds: What must be positive for the formulas to hold, :data:`HALF` its half-time.
        names: Labels of modes in the derivation that it stands for.
    """

    title: str
    pathway: str
    law: Law
    start: sp.Expr
    count: sp.Expr
    holds: tuple[sp.Expr, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Group:
    """Modes with what they leave of the loss; of a family one copy number at a time.

    Attributes:
        modes: The modes.
        rest: Loss that is left of this group at the end.
        over: Symbol that runs over 1, 2, 4, … below ``below``; "" where there is none.
        below: Symbol or number.
    """

    modes: tuple[LiveMode, ...]
    rest: sp.Expr
    over: str = ""
    below: str = ""


@dataclass(frozen=True, kw_only=True)
class Live:
    """All that a page computes.

    Attributes:
        sliders: What is moved.
        groups: What is computed.
        steps: Times are 0 to this.
        fixed: Why some numbers have no slider; one sentence each.
    """

    sliders: tuple[Slider, ...]
    groups: tuple[Group, ...]
    steps: int
    fixed: tuple[str, ...] = ()


def live_of(derivation: Derived) -> Live:
    """Return what a page can compute of a derivation.

    Raises:
        NoClosedFormError: No formula in the parameters says it; the message is a sentence.
    """
    if not isinstance(derivation, Derivation):
        msg = "a network of nodes and edges has its figures for the declared values"
        raise NoClosedFormError(msg)
    network = derivation.spec.network
    if network is None or not derivation.spec.has_values:
        msg = "the spec has no [network], or a parameter without a value"
        raise NoClosedFormError(msg)
    if derivation.ask(narrow_pathways):
        msg = "pathways have fewer hidden units than modes, and which are learned is drawn"
        raise NoClosedFormError(msg)
    family = derivation.family
    if family is not None and family.complete and family.template is not None:
        groups, samples = _family_groups(family), family.template.samples.to_sympy(family.symbols)
    else:
        groups, samples = _pathway_groups(derivation), sp.Integer(derivation.spec.dataset.samples)
    begin = _beginning(derivation, samples)
    groups = tuple(_put(group, begin) for group in groups)
    return Live(
        sliders=tuple(_sliders(derivation, groups)),
        groups=groups,
        steps=network.steps - 1,
    )


def _beginning(derivation: Derivation, samples: sp.Expr) -> dict[sp.Symbol, Any]:
    """Return τ, π₀ and the imbalance in what the sliders of the network move."""
    network, known = derivation.spec.network, derivation.known
    assert network is not None
    per_step = RATE * (samples if network.loss == "sum" else 1)
    found: dict[sp.Symbol, Any] = {TIME_CONSTANT: known.slower / per_step}
    if known.units is None:
        return found
    scales = (SCALE, SCALE_OUT if known.apart else SCALE)
    law, units = law_of(known), sp.Rational(known.units / network.hidden) * HIDDEN
    regime: Any = replace(known, units=units, variances=tuple(each**2 for each in scales))
    start = law.start(regime)
    if start is None:
        msg = "the initial strength of more than two layers of weights is no formula"
        raise NoClosedFormError(msg)
    return found | {STRENGTH0: start.strength0, _IMBALANCE: start.imbalance}


_IMBALANCE = sp.Symbol("imbalance", positive=True)


def with_values(expr: Any, values: Mapping[sp.Symbol, Any]) -> Any:
    """Return an expression with values of symbols put in."""
    return sp.sympify(expr).xreplace(values)


def _put(group: Group, values: Mapping[sp.Symbol, Any]) -> Group:
    """Return a group with values of symbols put in."""

    def law(one: Law) -> Law:
        numbers = {f.name: getattr(one, f.name) for f in fields(one)}
        given = {k: with_values(v, values) for k, v in numbers.items() if isinstance(v, sp.Basic)}
        return replace(one, **{k: v for k, v in given.items() if k != "t"})

    modes = [
        replace(
            mode,
            law=law(mode.law),
            start=with_values(mode.start, values),
            count=with_values(mode.count, values),
            holds=tuple(with_values(each, values) for each in mode.holds),
        )
        for mode in group.modes
    ]
    return replace(group, modes=tuple(modes), rest=with_values(group.rest, values))


def _mode(law: Law, by: Law | None, r: Any, start: Any, count: Any) -> LiveMode:
    """Return a mode that starts where it does alone, or, driven by another, at a head start."""
    law = replace(law, ops=EVALUATED)
    alone = law if by is None else replace(law, strength0=STRENGTH0)
    # Steps are stable, and weights small: every mode starts below half of its plateau.
    holds: tuple[Any, ...] = (law.tau - law.s, alone.s / alone.d / 2 - alone.strength0)
    if by is not None:
        holds += (by.s / by.d / 2 - by.strength0, HALF - by.half_time, law.tau - r)
    if law.strength0 != 0:
        law = replace(law, strength0=START)
    return LiveMode(title="", pathway="", law=law, start=start, count=count, holds=holds)


# -- pathways -------------------------------------------------------------------------------------


def _pathway_groups(derivation: Derivation) -> tuple[Group, ...]:
    """Return the modes of pathways, those that are equal for all values as one."""
    formulas = formulas_of(derivation)
    if formulas.no_loss:
        raise NoClosedFormError(formulas.no_loss)
    numbers = {
        each.symbol: sp.Float(each.value)
        for each in formulas.letters.values()
        if each.says.startswith(("s of", "d of")) and each.value is not None
    }
    if numbers and derivation.spec.parameters:
        msg = "singular values are roots without radicals, and no functions that a page computes"
        raise NoClosedFormError(msg)
    names = {mode.label: p.name for p in derivation.pathways for mode in p.modes}
    made: dict[tuple[Any, ...], LiveMode] = {}
    for label, driver in drivers(derivation).items():
        copies = formulas[label].copies
        if isinstance(driver, str) or len(copies) > 1:
            why = driver if isinstance(driver, str) else "its copies start apart"
            msg = f"no formula in the parameters says where {label} starts: {why}"
            raise NoClosedFormError(msg)
        count, law = next(iter(copies))
        by, r, start = None, sp.S.Zero, law.strength0
        if driver is not None:
            r = sp.sqrt(driver.squared.to_sympy(derivation.spec.symbols))
            by = replace(formulas[driver.mode.label].copies[0][1], ops=EVALUATED)
            alone = replace(law, ops=EVALUATED, strength0=STRENGTH0)
            start = planar_start(alone, by, driver, derivation)
        one = _mode(law, by, r, start, sp.Integer(count))
        key = (one.law.s, one.law.d, one.start)
        before = made.get(key, replace(one, count=sp.S.Zero, title=strengths_in_text(label)))
        made[key] = replace(
            before,
            count=before.count + count,
            names=(*before.names, label),
        )
    alike = [
        replace(each, pathway=short_list([names[label] for label in each.names]))
        for each in made.values()
    ]
    rest = derivation.final_loss.to_sympy(derivation.spec.symbols)
    return (_put(Group(modes=tuple(alike), rest=rest), numbers),)


# -- families -------------------------------------------------------------------------------------


def _family_groups(family: FamilyDerivation) -> tuple[Group, ...]:
    """Return the modes of every sector, for every size."""
    assert family.template is not None  # of one that is complete
    domain, symbols = family.template.domain, family.symbols
    groups = []
    for sector in family.template.sectors:
        modes = [
            _family_mode(family, pathway, mode)
            for pathway in family.pathways
            for mode in pathway.modes
            if mode.sector is sector and not mode.is_null
        ]
        last = next(part for part in family.stages[-1].sectors if part.sector is sector)
        assert last.final_loss is not None  # of a stage that closes
        rest = (last.final_loss * sector.multiplicity).to_sympy(symbols)
        over, below = (sector.copies, str(domain.items)) if sector.copies else ("", "")
        groups.append(Group(modes=tuple(_told_apart(modes)), rest=rest, over=over, below=below))
    return tuple(groups)


def _told_apart(modes: Sequence[LiveMode]) -> Iterator[LiveMode]:
    """Yield modes whose titles are numbered where several have one."""
    titles = [mode.title for mode in modes]
    for place, mode in enumerate(modes):
        several = titles.count(mode.title) > 1
        number = titles[: place + 1].count(mode.title)
        yield replace(mode, title=f"{mode.title} {number}") if several else mode


def _family_mode(family: FamilyDerivation, pathway: FamilyPathway, mode: FamilyMode) -> LiveMode:
    """Return a mode for every size; all pathways of one template together."""
    at = f"{pathway.template.name} {mode.sector.name}"
    if mode.law is None or mode.obstacle or mode.strength0 is None:
        msg = f"{at}: {mode.obstacle or 'no closed form for every size'}"
        raise NoClosedFormError(msg)
    count: Any = mode.multiplicity.to_sympy(family.symbols)
    if pathway.template.each:
        assert family.template is not None
        count *= family.template.count.to_sympy(family.symbols)
    by, r, start = None, sp.S.Zero, mode.law.strength0
    if mode.ahead is not None:
        assert mode.ahead.by.law is not None
        by = replace(mode.ahead.by.law, ops=EVALUATED)
        alone = replace(mode.law, ops=EVALUATED, strength0=STRENGTH0)
        r, overlap = mode.ahead.faster * alone.s, mode.ahead.overlap
        start = start_in_effect(alone, by, r, overlap, mode.ahead.letters)
    return replace(_mode(mode.law, by, r, start, count), title=at, pathway=pathway.template.name)


# -- sliders --------------------------------------------------------------------------------------


def _sliders(derivation: Derivation, groups: Sequence[Group]) -> Iterator[Slider]:
    """Yield the sliders: of parameters, of sizes, of the network."""
    network = derivation.spec.network
    assert network is not None
    used = set().union(*map(_symbols, groups))
    for parameter in derivation.spec.parameters:
        if parameter.name in used and parameter.value is not None:
            yield _of_parameter(parameter)
    for size in derivation.spec.sizes:
        tree = size.name == groups[-1].below
        most = _MOST_LEAVES if tree else _MOST
        high = min(size.maximum or most, most)
        yield Slider(
            name=size.name,
            symbol=size.name,
            says=f"number of {size.option}",
            value=size.value,
            low=max(2, size.minimum),
            high=max(high, size.value),
            step="doubling" if tree else "whole",
        )
    first, last = network.stds
    for name, symbol, says, value, spread in (
        (HIDDEN, "H", "hidden units", network.hidden, 10),
        (SCALE, "σ", "standard deviation of initial weights", first, 100),
        (SCALE_OUT, "σ₂", "standard deviation of initial weights, last layer", last, 100),
        (RATE, "η", "learning rate", network.learning_rate, 4),
    ):
        if str(name) in used:
            at = float(value)
            yield Slider(
                name=str(name),
                symbol=symbol,
                says=says,
                value=at,
                low=at / spread,
                high=at * spread,
                step="log",
            )


#: Up to which size sliders go; of a binary tree.
_MOST, _MOST_LEAVES = 12, 64
_LETTERS = {name: letter for letter, name in reversed(GREEK.items())}


def _symbols(group: Group) -> set[str]:
    found = set(group.rest.free_symbols)
    for mode in group.modes:
        for each in (mode.law.s, mode.law.d, mode.law.tau, mode.start, mode.count):
            found |= sp.sympify(each).free_symbols
        found |= getattr(mode.law, "imbalance", sp.S.Zero).free_symbols
    return set(map(str, found))


def _of_parameter(parameter: Parameter) -> Slider:
    """Return the slider of a parameter: within its declared range, around its value."""
    value = float(parameter.value or 0)
    around = 3 * abs(value) or 2.0
    low, high = value - around, value + around
    if parameter.minimum is not None:
        low = max(low, float(parameter.minimum))
    if parameter.maximum is not None:
        high = min(high, float(parameter.maximum))
    if parameter.is_nonnegative:
        low = max(low, 0.0)
    if parameter.positive:
        low = max(low, value / 10)
    return Slider(
        name=parameter.name,
        symbol=_LETTERS.get(parameter.name, parameter.name),
        says="parameter of the data",
        value=value,
        low=low,
        high=high,
        step="linear",
    )
