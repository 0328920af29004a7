"""Sliders of a page: the closed forms of a derivation over what its reader moves, as JavaScript.

The formulas are those that are evaluated: strengths, half-times and the loss in the parameters, the
hidden units, their initial scale and the learning rate. Where an earlier mode drives one of a later
stage, its start is a formula in all of these (:mod:`symreln.claims.head_formulas`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.base.progress import phase
from symreln.claims.derivation import Derivation
from symreln.claims.formulas import NO_LOSS, Alike, Letter, printed_laws, start_symbols
from symreln.claims.head_formulas import planar_start
from symreln.claims.narrow import narrow_pathways
from symreln.claims.pathway_orbits import short_list
from symreln.claims.starts import starts_of
from symreln.document.document_model import Interactive
from symreln.document.escape import GREEK
from symreln.document.symbols import strengths_in_text
from symreln.errors import FloatRangeError, NoClosedFormError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.laws.choice import law_of
from symreln.laws.law import STRENGTH0, TIME, TIME_CONSTANT
from symreln.laws.ops import WRITTEN
from symreln.report.code import PagePrinter, statements

if TYPE_CHECKING:
    from symreln.specs.spec import Parameter

#: What sliders of the network move; no parameter's name begins so.
_HIDDEN, _RATE, _SCALE, _SCALE_OUT = sp.symbols(
    "_hidden _learning_rate _init_std _init_std_out", positive=True
)
#: Bytes of the script above which a page has none: it would no longer move at once.
_MOST_BYTES = 400_000
_LETTERS = {name: letter for letter, name in reversed(GREEK.items())}
_NOTE = (
    "The sliders move the closed forms of this document, which the page computes; it needs scripts "
    "for that. All figures below are for the declared values, and modes keep the names that they "
    "have at these. An estimated κ in an initial strength stays that of the declared values."
)


@phase("sliders")
def interactive(derivation: Derivation) -> Interactive | None:
    """Return what a page lets its reader move; None where it cannot compute that."""
    try:
        script = live_script(derivation)
    except NoClosedFormError:
        return None
    except FloatRangeError as why:
        return Interactive(note=f"There are no sliders here: {why}.")
    return Interactive(script=script, note=_NOTE) if len(script) <= _MOST_BYTES else None


def live_script(derivation: Derivation) -> str:
    """Return the text of a script that sets ``LIVE``: sliders, and a function of their values.

    ``LIVE.build(P, lnGamma)`` takes the numbers by name and returns what is left of the loss, every
    mode's numbers, and ``at(t, out)``, which writes the strengths at a time.

    Raises:
        NoClosedFormError: No formula in the parameters says it; the message is a sentence.
        FloatRangeError: A page, which computes in float64, has no room for a number of it.
    """
    laws, letters = _printed_laws(derivation)
    computed = {**_beginning(derivation), **_roots(derivation, laws, letters)}
    begin = start_symbols(derivation)
    names = {mode.label: each.name for each in derivation.pathways for mode in each.modes}
    modes, shown, strengths = [], [], []
    for n, labels in enumerate(_equal_modes(derivation, laws, names)):
        count, law = sum(laws[label][0] for label in labels), laws[labels[0]][1]
        law, driver = replace(law, ops=WRITTEN), derivation.drivers[labels[0]]
        start, half = sp.Symbol(f"_start_{n}"), sp.Symbol(f"_half_{n}")
        holds: list[Any] = [law.tau - law.s]  # steps are stable
        if driver is not None:
            assert not isinstance(driver, str)
            alone = replace(law, strength0=begin[names[labels[0]]])
            by = replace(laws[driver.mode.label][1], ops=WRITTEN)
            computed[start] = planar_start(alone, by, driver, derivation)
            law = replace(law, strength0=start)
            # It is small until what drives it, which is small at first, is learned.
            holds += [each.plateau / 2 - each.strength0 for each in (alone, by)]
            r = sp.sqrt(driver.squared.to_sympy(derivation.spec.symbols))
            holds += [half - by.half_time, law.tau - r]
        computed[half] = sp.nan if law.half_time is None else law.half_time
        title = short_list([strengths_in_text(label) for label in labels], "modes")
        pathway = short_list(list(dict.fromkeys(names[label] for label in labels)))
        modes.append({"title": title, "pathway": pathway, "names": labels})
        strengths.append(law.strength(TIME))
        weight = sp.Rational(count, 2) * law.d
        shown.append((law.strength0, half, law.plateau, law.s / law.d, weight, *holds))
    rest = derivation.least_loss.to_sympy(derivation.spec.symbols)
    build, used = _build(computed, rest, shown, strengths)
    sliders = [each for each in _sliders(derivation) if each["name"] in used]
    assert derivation.spec.network is not None
    known = {"sliders": sliders, "steps": derivation.spec.network.steps - 1, "modes": modes}
    return f"globalThis.LIVE = {_json(known)};\nLIVE.build = {build};\n"


def _printed_laws(derivation: Derivation) -> tuple[dict[str, Alike], list[Letter]]:
    """Return the laws of modes with the letters that they have, where a page could compute them."""
    network = derivation.spec.network
    if network is None or not derivation.spec.has_values:
        msg = "the spec has no [network], or a parameter without a value"
        raise NoClosedFormError(msg)
    if derivation.ask(narrow_pathways):
        msg = "pathways have fewer hidden units than modes, and which are learned is drawn"
        raise NoClosedFormError(msg)
    for given in (*network.stds, network.learning_rate, derivation.strength0):
        if given is not None:
            AlgebraicNumber.rational(Scalar.of(given)).to_float()
    found = printed_laws(derivation)
    if not derivation.loss_separates:
        raise NoClosedFormError(NO_LOSS)
    for label, driver in derivation.drivers.items():
        if isinstance(driver, str):
            msg = f"no formula in the parameters says where {label} starts: {driver}"
            raise NoClosedFormError(msg)
    return found


def _beginning(derivation: Derivation) -> dict[sp.Symbol, Any]:
    """Return τ and the letters of starts in what the sliders of the network move."""
    spec, known = derivation.spec, derivation.known
    assert spec.network is not None
    per_step = _RATE * (spec.dataset.samples if spec.network.loss == "sum" else 1)
    found: dict[sp.Symbol, Any] = {TIME_CONSTANT: known.slower / per_step}
    if known.units is None:
        return found
    scales = (_SCALE, _SCALE_OUT if known.apart else _SCALE)
    law, units = law_of(known), sp.Rational(known.units / spec.network.hidden) * _HIDDEN
    regime: Any = replace(known, units=units, variances=tuple(each**2 for each in scales))
    start = law.start(regime)
    if start is None:
        msg = "the initial strength of more than two layers of weights is no formula"
        raise NoClosedFormError(msg)
    letters, factors = start_symbols(derivation), derivation.ask(starts_of).factors
    value = start.imbalance if law.starts_at_zero else start.strength0
    for pathway in derivation.pathways:
        factor = sp.Rational(factors.get(pathway.modes[0].label, 1))
        found[letters.get(pathway.name, STRENGTH0)] = value * factor
    return found


def _roots(
    derivation: Derivation, laws: Mapping[str, Alike], letters: Iterable[Letter]
) -> dict[sp.Symbol, Any]:
    """Return the letters of s and d that have no radicals, where nothing moves them."""
    free = {x for _, law in laws.values() for x in law.s.free_symbols | law.d.free_symbols}
    free -= set(derivation.spec.symbols.values())
    if free and derivation.spec.parameters:
        msg = "singular values are roots without radicals, and no functions that a page computes"
        raise NoClosedFormError(msg)
    return {x.symbol: sp.Float(x.value) for x in letters if x.symbol in free and x.value}


def _equal_modes(
    derivation: Derivation, laws: Mapping[str, Alike], names: Mapping[str, str]
) -> Iterable[list[str]]:
    """Return the labels of modes that are equal for all values, each group in a list."""
    begin, found = start_symbols(derivation), dict[Any, list[str]]()
    for label, driver in derivation.drivers.items():
        assert not isinstance(driver, str)
        by = driver and (driver.mode.label, driver.squared, driver.across)
        law = laws[label][1]
        found.setdefault((law.s, law.d, begin.get(names[label]), by), []).append(label)
    return found.values()


def _build(
    computed: Mapping[sp.Symbol, Any],
    rest: sp.Expr,
    modes: Sequence[Sequence[Any]],
    strengths: Sequence[sp.Expr],
) -> tuple[str, set[str]]:
    """Return the function that computes modes, and the letters that it takes.

    Args:
        computed: Letters in terms of those and of others.
        rest: What is left of the loss.
        modes: Of each its start, half-time, plateau, s/d, its weight in the loss, and what must be
            positive where its formula holds.
        strengths: Of each its strength.
    """
    values: dict[Any, Any] = {}
    for name, value in computed.items():
        values[name] = sp.sympify(value).xreplace(values)
    shown = [rest, *(each for mode in modes for each in mode), *strengths]
    whole = [sp.sympify(each).xreplace(values) for each in shown]
    still, moving, (left, *texts) = statements(whole, PagePrinter(), "const {} = {};")
    waiting, built = iter(texts), list[str]()
    for mode in modes:
        start, half, plateau, goal, weight, *holds = islice(waiting, len(mode))
        built.append(
            f"{{start: {start}, half: {half}, plateau: {plateau}, goal: {goal}, "
            f"weight: {weight}, holds: [{', '.join(holds)}]}}"
        )
    out = [f"out[{n}] = {each};" for n, each in enumerate(waiting)]
    used = {str(symbol) for each in whole for symbol in each.free_symbols} - {str(TIME)}
    body = [
        *(f"const p_{name} = P[{_json(name)}];" for name in sorted(used)),
        *still,
        f"return {{ rest: {left}, modes: [{', '.join(built)}],",
        f"  at(t, out) {{ {' '.join([*moving, *out])} }} }};",
    ]
    return "\n".join(["(P, lnGamma) => {", *body, "}"]), used


def _json(value: Any) -> str:
    """Return JSON that no text of a spec can end the script with."""
    return json.dumps(value).replace("<", "\\u003c")


def _sliders(derivation: Derivation) -> Iterator[dict[str, Any]]:
    """Yield the sliders of the parameters and of the network."""
    network = derivation.spec.network
    assert network is not None
    for parameter in derivation.spec.parameters:
        yield _parameter_slider(parameter)
    first, last = network.stds
    for name, symbol, says, value, spread in (
        (_HIDDEN, "H", "hidden units", network.hidden, 10),
        (_SCALE, "σ", "standard deviation of initial weights", first, 100),
        (_SCALE_OUT, "σ₂", "standard deviation of initial weights, last layer", last, 100),
        (_RATE, "η", "learning rate", network.learning_rate, 4),
    ):
        at = float(value)
        ends = {"value": at, "low": at / spread, "high": at * spread, "log": True}
        yield {"name": str(name), "symbol": symbol, "says": says, **ends}


def _parameter_slider(parameter: Parameter) -> dict[str, Any]:
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
    symbol = _LETTERS.get(parameter.name, parameter.name)
    ends = {"value": value, "low": low, "high": high, "log": False}
    return {"name": parameter.name, "symbol": symbol, "says": "parameter of the data", **ends}
