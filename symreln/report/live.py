r"""A derivation that a page computes again: its closed forms over sliders, as JavaScript.

The formulas are those that are evaluated: strengths, half-times and the loss in the parameters, the
sizes of a family, the hidden units, their initial scale and the learning rate. Where modes of later
stages are driven by earlier ones, their starts are formulas in all of these
(:mod:`symreln.claims.head_formulas`). SymPy prints them; the page draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.claims.derivation import Derivation
from symreln.claims.formulas import start_symbols
from symreln.claims.starts import starts_of
from symreln.claims.widths import narrow_pathways
from symreln.document.escape import GREEK
from symreln.errors import NoClosedFormError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.laws.choice import law_of
from symreln.laws.law import STRENGTH0, TIME_CONSTANT
from symreln.report.live_modes import family_groups, pathway_groups, put_values
from symreln.report.live_values import HIDDEN, RATE, SCALE, SCALE_OUT, Group, Live, Slider

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.specs.model import Parameter

#: Up to which size sliders go; of a binary tree.
_MOST, _MOST_LEAVES = 12, 64
_LETTERS = {name: letter for letter, name in reversed(GREEK.items())}


def live_of(derivation: Derivation) -> Live:
    """Return what a page can compute of a derivation.

    Raises:
        NoClosedFormError: No formula in the parameters says it; the message is a sentence.
        FloatRangeError: A page, which computes in float64, has no room for a number of it.
    """
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
    if family is not None and family.task is not None:
        groups, samples = family_groups(family, family.task), family.task.samples
    else:
        groups, samples = pathway_groups(derivation), sp.Integer(derivation.spec.dataset.samples)
    begin = _beginning(derivation, samples)
    groups = tuple(put_values(group, begin) for group in groups)
    return Live(
        sliders=tuple(_sliders_of(derivation, groups)),
        groups=groups,
        steps=network.steps - 1,
    )


def _check_range(value: Fraction | None) -> None:
    """Refuse what float64 has no room for."""
    if value is not None:
        AlgebraicNumber.rational(Scalar.of(value)).to_float()


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
    letters, factors = start_symbols(derivation), derivation.ask(starts_of).factors
    for pathway in derivation.pathways:
        letter = letters.get(pathway.name, STRENGTH0)
        value = start.imbalance if law.starts_at_zero else start.strength0
        found[letter] = value * sp.Rational(factors.get(pathway.modes[0].label, 1))
    return found


def _sliders_of(derivation: Derivation, groups: Sequence[Group]) -> Iterator[Slider]:
    """Yield the sliders: of parameters, of sizes, of the network."""
    network = derivation.spec.network
    assert network is not None
    used = set().union(*map(_symbols, groups))
    for parameter in derivation.spec.parameters:
        if parameter.name in used and parameter.value is not None:
            yield _parameter_slider(parameter)
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


def _symbols(group: Group) -> set[str]:
    found = set(group.rest.free_symbols)
    for mode in group.modes:
        for each in (mode.law.s, mode.law.d, mode.law.tau, mode.start, mode.count):
            found |= sp.sympify(each, strict=True).free_symbols
        found |= getattr(mode.law, "imbalance", sp.S.Zero).free_symbols
    return set(map(str, found))


def _parameter_slider(parameter: Parameter) -> Slider:
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
