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
from symreln.claims.formulas import IMBALANCE, formulas_of
from symreln.claims.head_formulas import Driver, drivers, planar_start, start_in_effect
from symreln.claims.orbits import short_list
from symreln.claims.widths import narrow_pathways
from symreln.document.escape import GREEK
from symreln.document.symbols import strengths_in_text
from symreln.errors import NoClosedFormError, SymrelnError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.gating.race import race
from symreln.laws.choice import law_of
from symreln.laws.law import STRENGTH0, TIME_CONSTANT, Law
from symreln.laws.ops import EVALUATED

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.claims.families.derivation import FamilyDerivation, FamilyMode, FamilyPathway
    from symreln.gating.race_pieces import Race
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
class Speed:
    """The growth rate of a gate's units, in units of 1/τ, where the gate is self-consistent.

    Attributes:
        name: The gate, one of its class.
        rate: In the parameter.
        low: From where on; None without an end.
        high: Up to where; likewise.
    """

    name: str
    rate: sp.Expr
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Live:
    """All that a page computes.

    Attributes:
        sliders: What is moved.
        groups: What is computed.
        steps: Times are 0 to this.
        speeds: How fast units grow while weights are small, by gate; none where there is no race.
        over: The parameter that they race over.
        marks: (value of the parameter, what changes there).
    """

    sliders: tuple[Slider, ...]
    groups: tuple[Group, ...]
    steps: int
    speeds: tuple[Speed, ...] = ()
    over: str = ""
    marks: tuple[tuple[float, str], ...] = ()


def live_of(derivation: Derived) -> Live:
    """Return what a page can compute of a derivation.

    Raises:
        NoClosedFormError: No formula in the parameters says it; the message is a sentence.
        FloatRangeError: A page, which computes in float64, has no room for a number of it.
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
    for given in (*network.stds, network.learning_rate, derivation.strength0):
        _check_range(given)
    family = derivation.family
    if family is not None and family.complete and family.template is not None:
        groups, samples = _family_groups(family), family.template.samples.to_sympy(family.symbols)
    else:
        groups, samples = _pathway_groups(derivation), sp.Integer(derivation.spec.dataset.samples)
    begin = _beginning(derivation, samples)
    groups = tuple(_put(group, begin) for group in groups)
    found = _race(derivation)
    return Live(
        sliders=tuple(_sliders(derivation, groups)),
        groups=groups,
        steps=network.steps - 1,
        speeds=() if found is None else tuple(_speeds(found, derivation)),
        over="" if found is None else found.parameter,
        marks=() if found is None else tuple(_marks(found)),
    )


def _check_range(value: Fraction | None) -> None:
    """Refuse what float64 has no room for."""
    if value is not None:
        AlgebraicNumber.rational(Scalar.of(value)).to_float()


def _race(derivation: Derivation) -> Race | None:
    """Return the race of all gates over the one parameter of small data; None of others."""
    spec = derivation.spec
    one = len(spec.parameters) == 1 and len(derivation.stages) == 1 and not spec.sizes
    if not one or spec.dataset.samples > _MOST_RACED:
        return None
    data, limits = spec.dataset, spec.parameters[0].range
    try:
        return race(data.inputs, data.targets, limits)
    except SymrelnError:  # no parameter in the data, or more gates than are followed
        return None


def _speeds(found: Race, derivation: Derivation) -> Iterator[Speed]:
    for part in found.pieces:
        ends = [None if end is None else float(end) for end in part.piece.ends]
        for runner in part.runners:
            rate = None if runner.rate is None else runner.rate.to_sympy(derivation.spec.symbols)
            if rate is not None:
                yield Speed(name=runner.pattern, rate=rate, low=ends[0], high=ends[1])


def _marks(found: Race) -> Iterator[tuple[float, str]]:
    for each in found.boundaries:
        names = ", ".join(each.between)
        crossing = each.kind == "speed"
        yield float(each.value), f"{names} cross" if crossing else f"end of {names}"


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
    return found | {STRENGTH0: start.strength0, IMBALANCE: start.imbalance}


def _with_values(expr: Any, values: Mapping[sp.Symbol, Any]) -> Any:
    """Return an expression or a number with values of symbols put in."""
    return sp.sympify(expr, strict=True).xreplace(values)


def _put(group: Group, values: Mapping[sp.Symbol, Any]) -> Group:
    """Return a group with values of symbols put in."""

    def law(one: Law) -> Law:
        numbers = {f.name: getattr(one, f.name) for f in fields(one)}
        given = {k: _with_values(v, values) for k, v in numbers.items() if isinstance(v, sp.Basic)}
        return replace(one, **{k: v for k, v in given.items() if k != "t"})

    modes = [
        replace(
            mode,
            law=law(mode.law),
            start=_with_values(mode.start, values),
            count=_with_values(mode.count, values),
            holds=tuple(_with_values(each, values) for each in mode.holds),
        )
        for mode in group.modes
    ]
    return replace(group, modes=tuple(modes), rest=_with_values(group.rest, values))


def _mode(law: Law, by: Law | None, r: Any, start: Any, count: Any) -> LiveMode:
    """Return a mode that starts where it does alone, or, driven by another, at a head start."""
    law = replace(law, ops=EVALUATED)
    alone = law if by is None else replace(law, strength0=STRENGTH0)
    holds: tuple[Any, ...] = (law.tau - law.s,)  # steps are stable
    if by is not None:  # it is small until what drives it, which is small at first, is learned
        both = (alone, by)
        holds += tuple(each.plateau / 2 - each.strength0 for each in both)
        holds += (HALF - by.half_time, law.tau - r)
    if law.strength0 != 0:
        law = replace(law, strength0=START)
    return LiveMode(title="", pathway="", law=law, start=start, count=count, holds=holds)


# -- pathways -------------------------------------------------------------------------------------


def _pathway_groups(derivation: Derivation) -> tuple[Group, ...]:
    """Return the modes of pathways, those that are equal for all values as one."""
    formulas = derivation.ask(formulas_of)
    if formulas.no_loss:
        raise NoClosedFormError(formulas.no_loss)
    spectra = {
        symbol
        for formula in formulas.values()
        for _, law in formula.copies
        for symbol in law.s.free_symbols | law.d.free_symbols
    }
    numbers = {
        each.symbol: sp.Float(each.value)
        for each in formulas.letters.values()
        if each.symbol in spectra - set(derivation.spec.symbols.values()) and each.value is not None
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
        key = (law.s, law.d, driver and (driver.mode.label, driver.squared, driver.across))
        one = made.get(key)
        if one is None:
            by = None if driver is None else formulas[driver.mode.label].copies[0][1]
            one = _of_pathway(derivation, law, driver, by)
            one = replace(one, title=strengths_in_text(label))
        made[key] = replace(one, count=one.count + count, names=(*one.names, label))
    alike = [
        replace(each, pathway=short_list([names[label] for label in each.names]))
        for each in made.values()
    ]
    rest = derivation.final_loss.to_sympy(derivation.spec.symbols)
    return (_put(Group(modes=tuple(alike), rest=rest), numbers),)


def _of_pathway(
    derivation: Derivation, law: Law, driver: Driver | None, by: Law | None
) -> LiveMode:
    """Return a mode, none of it as yet.

    Args:
        derivation: Its derivation.
        law: Its law.
        driver: What drives it.
        by: The law of that.
    """
    if driver is None or by is None:
        return _mode(law, None, sp.S.Zero, law.strength0, sp.S.Zero)
    alone, by = (
        replace(law, ops=EVALUATED, strength0=STRENGTH0),
        replace(by, ops=EVALUATED),
    )
    r = sp.sqrt(driver.squared.to_sympy(derivation.spec.symbols))
    start = planar_start(alone, by, driver, derivation)
    return _mode(law, by, r, start, sp.S.Zero)


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
#: Samples up to which gates are raced for a page: a fraction of a second.
_MOST_RACED = 4
_LETTERS = {name: letter for letter, name in reversed(GREEK.items())}


def _symbols(group: Group) -> set[str]:
    found = set(group.rest.free_symbols)
    for mode in group.modes:
        for each in (mode.law.s, mode.law.d, mode.law.tau, mode.start, mode.count):
            found |= sp.sympify(each, strict=True).free_symbols
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
