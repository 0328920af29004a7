r"""A derivation that a page computes again: its closed forms over sliders, as JavaScript.

The formulas are those that are evaluated: strengths, half-times and the loss in the parameters, the
sizes of a family, the hidden units, their initial scale and the learning rate. Where modes of later
stages are driven by earlier ones, their starts are formulas in all of these
(:mod:`symreln.claims.head_formulas`). SymPy prints them; the page draws.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.claims.derivation import Derivation, Derived
from symreln.claims.formulas import start_symbols
from symreln.claims.starts import starts_of
from symreln.claims.widths import narrow_pathways
from symreln.errors import NoClosedFormError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.laws.choice import law_of
from symreln.laws.law import STRENGTH0, TIME_CONSTANT
from symreln.report.live_modes import family_groups, pathway_groups, put_values
from symreln.report.live_sliders import sliders_of
from symreln.report.live_values import HIDDEN, RATE, SCALE, SCALE_OUT, Live

if TYPE_CHECKING:
    from fractions import Fraction


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
    if family is not None and family.task is not None:
        groups, samples = family_groups(family, family.task), family.task.samples
    else:
        groups, samples = pathway_groups(derivation), sp.Integer(derivation.spec.dataset.samples)
    begin = _beginning(derivation, samples)
    groups = tuple(put_values(group, begin) for group in groups)
    return Live(
        sliders=tuple(sliders_of(derivation, groups)),
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
