"""The sliders of a page: parameters, sizes, and what a network starts and descends with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import sympy as sp

from symreln.document.escape import GREEK
from symreln.report.live_values import HIDDEN, RATE, SCALE, SCALE_OUT, Group, Slider

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.specs.model import Parameter


#: Up to which size sliders go; of a binary tree.
_MOST, _MOST_LEAVES = 12, 64
_LETTERS = {name: letter for letter, name in reversed(GREEK.items())}


def sliders_of(derivation: Derivation, groups: Sequence[Group]) -> Iterator[Slider]:
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
