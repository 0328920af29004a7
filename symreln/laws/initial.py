r"""Initial strengths derived from the initialisation law; nothing is fitted."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symreln.spec.model import NetworkSpec

#: Where the law is argued, in one line for provenance tables.
SOURCE = "law of large numbers over hidden units of the growing combination of a mode's amplitudes"


def pathway_units(network: NetworkSpec) -> Fraction:
    """Return how many hidden units take part in one pathway.

    A linear network lends all H units to its pathway. In a ReLU network a unit's gate is open on
    an input or on its negative with equal probability, so half of the units are taken to take
    part in a pathway; the unit's later fate is not followed here.
    """
    return Fraction(network.hidden, 1 if network.activation == "linear" else 2)


def gram_scale(network: NetworkSpec) -> Fraction:
    r"""Return the factor g of the expected initial Gram matrix E[Q Qᵀ] = g I of a pathway.

    Q = [W1ᵀ; W2] has one column a hidden unit and independent entries N(0, init_std²); over the
    pathway's units the mean of Q Qᵀ is (units · init_std²) I, with relative fluctuations of
    order 1/sqrt(units). Of layers that start apart, σ₁ and σ₂, g is the mean of both: of a mode's
    amplitudes a and b only |a + b|² and |a − b|² move its strength, each by itself
    (:mod:`symreln.laws.aligned_descent`), and their means are units · (σ₁² + σ₂²).
    """
    second = network.init_std if network.init_std_out is None else network.init_std_out
    return pathway_units(network) * (network.init_std**2 + second**2) / 2


def initial_strength(network: NetworkSpec) -> Fraction:
    r"""Return the expected effective initial strength of a mode, units · init_std² / 2.

    Of a mode's two amplitudes (a, b) of a hidden unit only the growing combination (a+b)/sqrt(2)
    survives; the product that it grows into starts, in effect, from ((a+b)/2)², whose mean is
    init_std²/2. For a linear network this is Hσ²/2, for a ReLU network Hσ²/4.
    """
    return gram_scale(network) / 2
