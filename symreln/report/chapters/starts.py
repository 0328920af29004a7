"""Time and initial strengths on the first page: what they are, and where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.orbits import short_list
from symreln.claims.starts import printed_starts
from symreln.document.model import Math, inlines
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import phrase, typeset
from symreln.document.words import fraction_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.laws.choice import expected_start
from symreln.specs.number import WrittenDecimal

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.claims.derivation import Derivation
    from symreln.document.model import Inline


def time_constant_content(derivation: Derivation) -> list[Inline]:
    """Say what time counts, and the time constant of a network."""
    network, tau = derivation.spec.network, derivation.tau
    assert network is not None
    assert tau is not None
    half = derivation.known.half_speed.holds
    top, below = 2 if half else 1, r"(P \eta)" if network.loss == "sum" else r"\eta"
    decimals = isinstance(network.learning_rate, WrittenDecimal)
    shown = fraction_latex(tau, decimals=decimals)
    twice = " (twice that of a linear network: [#sec:lines])" * half
    return [
        *phrase(
            "Time $t$ counts full-batch steps; the time constant is {tau} steps" + twice + ". ",
            tau=Math(rf"\tau = {top}/{below} = {shown}"),
        )
    ]


def start_content(derivation: Derivation) -> list[Inline]:
    """Say where strengths start: π₀, with κ of the pathways that have one."""
    if derivation.given_start is not None:
        return [*phrase("Strengths start where was asked, at {it}.", it=_at(derivation))]
    if derivation.by_edges:
        return [*phrase("Weights start as they are drawn; predicted is the mean over draws.")]
    if derivation.strength0 is None:
        return [
            *phrase(
                f"The initial strength of a product of {derivation.known.layers} random matrices "
                r"is not derived: the formulas hold for any $\pi_0$. `symreln validate` and "
                "`evaluate()` in Python follow single modes of random layers to predict it."
            )
        ]
    content: list[Inline] = []
    starts = derivation.ask(printed_starts)
    for place, each in enumerate(starts):
        begin = "; " if place else "The initial strength is "
        where = "" if len(starts) == 1 else f" in {short_list(each.pathways)}"
        if each.kappa is None:
            formula, origin = "", ", expected of the initialisation distribution"
        else:
            formula = r"\tfrac{1}{2} \kappa H \sigma^2 = "
            origin = ", with the Monte Carlo estimate κ = {} ± {:.2g}".format(*each.kappa)
        content += inlines((begin, Math(rf"\pi_0 = {formula}{_decimal(each.strength0)}")))
        content += inlines(typeset(where + origin))
    content += _apart(derivation)
    return [*content, *inlines(".")]


def _apart(derivation: Derivation) -> tuple[Inline, ...]:
    """Say what is conserved of layers that start apart."""
    imbalance = expected_start(derivation.known).imbalance
    if not imbalance:
        return ()
    return phrase(
        r", with the conserved product $\delta = |a + b|\,|a - b| = "
        rf"{decimal_latex(str(imbalance), digits=6)}$ of its amplitudes' sum and difference "
        "(vectors over the hidden units)"
        + ", which decays under weight decay"
        * derivation.known.lowers_plateaus
    )


def _at(derivation: Derivation) -> Math:
    assert derivation.given_start is not None
    return Math(rf"\pi_0 = {_decimal(derivation.given_start)}")


def _decimal(value: Fraction) -> str:
    """Return an initial strength as it is printed everywhere: a decimal, with its error if any."""
    return decimal_latex(*AlgebraicNumber.rational(Scalar.of(value)).decimal({}, 21), digits=6)
