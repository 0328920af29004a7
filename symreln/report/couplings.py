"""Overlaps of coupled modes as expressions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.exact.algebraic import AlgebraicNumber

if TYPE_CHECKING:
    import sympy as sp

    from symreln.claims.derivation import StageDerivation
    from symreln.exact.scalar import Scalar
    from symreln.verdict.coupling import ModeCoupling


def original(coupling: ModeCoupling) -> ModeCoupling:
    """Return the coupling that a symmetry maps to this one: its k and g are the same."""
    while coupling.like is not None:
        coupling = coupling.like
    return coupling


def overlap(
    stage: StageDerivation, coupling: ModeCoupling, symbols: Mapping[str, sp.Symbol]
) -> tuple[sp.Expr | None, sp.Expr | None]:
    """Return (k, g) of two modes with common input directions, else (None, None).

    k s_p s_j is known exactly; where s differs, the product of the two roots is one root of a
    rational number. A mode with s = 0 has no k: the data do not determine its u.
    """
    squared, gain = coupling.overlap_squared, coupling.input_overlap
    if squared is None or gain is None:
        return None, None
    if coupling.target_class.is_null:
        return None, gain.to_sympy(symbols)
    target, source = _squares(stage, coupling)
    if target == source:
        return (squared / target).to_sympy(symbols), gain.to_sympy(symbols)
    root = AlgebraicNumber.rational(target * source, is_sqrt=True).to_sympy(symbols)
    return squared.to_sympy(symbols) / root, gain.to_sympy(symbols)


def overlap_decimal(
    stage: StageDerivation, coupling: ModeCoupling, values: Mapping[str, Fraction], digits: int
) -> tuple[str, str] | None:
    """Return (decimal, radius) of k at the declared values, or None where one is missing."""
    from symreln.exact.enclosure import ball, decimal_of, precision

    squared = coupling.overlap_squared
    if squared is None or any(name not in values for name in squared.parameters):
        return None
    target, source = _squares(stage, coupling)
    product = (target * source).substitute(values).to_fraction()
    if not product:
        return None
    with precision(4 * digits + 60):
        return decimal_of(
            ball(squared.substitute(values).to_fraction()) / ball(product).sqrt(), digits
        )


def _squares(stage: StageDerivation, coupling: ModeCoupling) -> tuple[Scalar, Scalar]:
    """Return s² of the target and of the source; both classes are of degree 1 here."""
    (p, a), (j, i) = coupling.target, coupling.source
    return (
        stage.pathways[p].spectrum.classes[a].eigenvalue[0],
        stage.pathways[j].spectrum.classes[i].eigenvalue[0],
    )
