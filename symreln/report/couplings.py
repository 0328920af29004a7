"""Overlaps of coupled modes as expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from symreln.exact.algebraic import AlgebraicNumber

if TYPE_CHECKING:
    import sympy as sp

    from symreln.derivation import StageDerivation
    from symreln.pathways.coupling import ModeCoupling


def overlap(
    stage: StageDerivation, coupling: ModeCoupling, symbols: Mapping[str, sp.Symbol]
) -> tuple[sp.Expr | None, sp.Expr | None]:
    """Return (k, g) of two modes with common input directions, else (None, None).

    k s_p s_j is known exactly; the product of the two roots is one root of a rational number.
    """
    if coupling.overlap_squared is None or coupling.input_overlap is None:
        return None, None
    (p, a), (j, i) = coupling.target, coupling.source
    target = stage.pathways[p].spectrum.classes[a].eigenvalue[0]
    source = stage.pathways[j].spectrum.classes[i].eigenvalue[0]
    if target.is_zero:
        return None, None
    if target == source:
        k = (coupling.overlap_squared / target).to_sympy(symbols)
    else:
        root = AlgebraicNumber.rational(target * source, is_sqrt=True).to_sympy(symbols)
        k = coupling.overlap_squared.to_sympy(symbols) / root
    return k, coupling.input_overlap.to_sympy(symbols)
