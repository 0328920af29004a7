r"""Where modes start: the one start of formulas, half-times, curves, programs and judgement.

In expectation a mode starts from what the units that its pathway is taken to have draw. Where the
early phase of a ReLU network says which units a pathway gets (:mod:`symreln.claims.early`), its
modes start from :math:`\pi_0 = \tfrac{1}{2} \kappa H \sigma^2` instead. A derivation may be given
another start for all modes. Where a product of three or more random matrices starts in effect no
formula says: single modes are followed for it (:mod:`symreln.laws.chain_start`), once numbers are
asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from fractions import Fraction

import numpy as np

from symreln.base.records import record
from symreln.claims.derivation import Derivation
from symreln.claims.early import EarlyStrengths
from symreln.claims.integration import check_range, network_of
from symreln.claims.narrow import narrow_pathways
from symreln.claims.probes import learning_modes
from symreln.claims.regime import regime_of
from symreln.claims.solve import at_values
from symreln.errors import InputError, NotSupportedError
from symreln.laws.chain_start import ChainStart, chain_start, shared_start
from symreln.laws.choice import expected_start, law_of
from symreln.laws.early_phase import EarlyStrength
from symreln.laws.law import Start, pathway_units

#: Significant digits of κ: its standard error is in the second.
_DIGITS = 4


@record
class Starts:
    """What the early phase says of where modes start.

    Attributes:
        kappas: κ by name of the pathways that have one, rounded.
        errors: Its standard errors.
        factors: How many times stronger than expected modes start, by label; 1 of the others.
    """

    kappas: Mapping[str, float] = field(default_factory=dict)
    errors: Mapping[str, float] = field(default_factory=dict)
    factors: Mapping[str, Fraction] = field(default_factory=dict)


def starts_of(derivation: Derivation) -> Starts:
    """Return where modes start that do not where they are expected; ask for it.

    None where a start was given, where a parameter has no value, for κ is a number, and where
    float64, in which units are followed, has no room for the data.
    """
    spec = derivation.spec
    if derivation.given_start is not None or spec.network is None or not spec.has_values:
        return Starts()
    try:
        check_range(derivation.ask(at_values))
        with np.errstate(over="raise"):  # of steps that diverge
            early = derivation.ask(EarlyStrengths.of)
    except (InputError, FloatingPointError):
        return Starts()
    kappas = _pathway_kappas(derivation, early)
    errors = {
        pathway.name: early[pathway.modes[0].label].error
        for pathway in derivation.pathways
        if pathway.name in kappas
    }
    factors = start_factors(derivation, kappas)
    return Starts(kappas=kappas, errors=errors, factors=factors)


def start_of(derivation: Derivation) -> Start:
    """Return where modes without a κ start: as expected, as followed, or as given."""
    chain = chain_of(derivation)
    if chain is not None:
        std = float(network_of(derivation.spec).init_std)
        return Start(strength0=Fraction(chain.strength(std)))
    if derivation.given_start is None:
        return expected_start(derivation.known)
    found = law_of(derivation.known).start(derivation.known) or Start(strength0=Fraction(0))
    return replace(found, strength0=derivation.given_start)


def chain_of(derivation: Derivation) -> ChainStart | None:
    """Return where modes start that no formula says, of three or more layers; None of others.

    Raises:
        NotSupportedError: Pathways start differently.
    """
    known = derivation.known
    if derivation.strength0 is not None:
        return None
    if known.units is None or known.irregular:
        msg = (
            "where modes start is derived of pathways with equal hidden layers; here "
            f"{known.irregular or 'their hidden nodes have different numbers of units'}"
        )
        raise NotSupportedError(msg)
    if known.sharing is not None:
        return derivation.ask(_shared_start)
    return chain_start(known.layers, int(known.units))


def _shared_start(derivation: Derivation) -> ChainStart:
    assert derivation.known.sharing is not None  # asked before
    return shared_start(derivation.spec.edges, derivation.known.sharing)


def strength0_of(derivation: Derivation, label: str) -> Fraction | None:
    """Return π₀ of a mode; None without a network, and where none is derived or given."""
    start = derivation.strength0
    if start is None:
        return None
    return start * derivation.ask(starts_of).factors.get(label, 1)


@record
class _PrintedStart:
    """π₀ of some pathways' modes.

    Attributes:
        pathways: Their names.
        strength0: π₀.
        factor: π₀ over its expectation.
        kappa: κ with its standard error, of those that have one.
    """

    pathways: tuple[str, ...]
    strength0: Fraction
    factor: Fraction
    kappa: tuple[float, float] | None = None


def printed_starts(derivation: Derivation) -> tuple[_PrintedStart, ...]:
    """Return π₀ of the modes that learn, equal ones together; none where it stays a symbol."""
    usual, starts = derivation.strength0, derivation.ask(starts_of)
    if usual is None:
        return ()
    found: dict[tuple[Fraction, tuple[float, float] | None], list[str]] = {}
    for pathway in derivation.pathways:
        for mode in pathway.learning[:1]:
            name, factor = pathway.name, starts.factors.get(mode.label, Fraction(1))
            kappa = (starts.kappas[name], starts.errors[name]) if name in starts.kappas else None
            found.setdefault((factor, kappa), []).append(name)
    return tuple(
        _PrintedStart(pathways=tuple(names), strength0=usual * factor, factor=factor, kappa=kappa)
        for (factor, kappa), names in found.items()
    )


def _pathway_kappas(
    derivation: Derivation, strengths: Mapping[str, EarlyStrength]
) -> dict[str, float]:
    """Return κ of every pathway that has one, by name: that of its fastest mode.

    A pathway is one law for all of its modes, as a gated deep linear network of κ H units is.
    Few units are counted one by one: no share of many says how many a pathway has. In a lazy
    regime units do not grow from small weights, and no early phase says which of them do.
    """
    regime = derivation.ask(regime_of)
    if derivation.ask(narrow_pathways) or (regime is not None and regime.lazy):
        return {}
    return {
        pathway.name: float(f"{strengths[pathway.modes[0].label].kappa:.{_DIGITS}g}")
        for pathway in derivation.pathways  # modes are by decreasing s
        if pathway.modes[0].label in strengths
    }


def start_factors(derivation: Derivation, kappas: Mapping[str, float]) -> dict[str, Fraction]:
    """Return by how many times modes that learn start stronger than expected, by label.

    Args:
        derivation: With a network.
        kappas: κ by name of the pathways that have one.
    """
    network = network_of(derivation.spec)
    share = Fraction(network.hidden) / pathway_units(network)
    return {
        mode.label: Fraction(str(kappas[pathway.name])) * share
        for pathway, mode in learning_modes(derivation)
        if pathway.name in kappas
    }
