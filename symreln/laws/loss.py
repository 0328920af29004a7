r"""The loss as a function of the strengths of the modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

if TYPE_CHECKING:
    from collections.abc import Iterable


def mode_space_loss(
    initial: sp.Expr, terms: Iterable[tuple[sp.Expr, int, sp.Expr, sp.Expr]]
) -> sp.Expr:
    r"""Return ½ tr Sigma^y − Σ m (s π − ½ d π²) over the modes that learn something.

    Exact for one pathway, and for several whose modes are closed: d is then d_eff, which carries
    the couplings, because modes that move together are equal.

    Args:
        initial: ½ tr Sigma^y.
        terms: (strength, multiplicity, s, d or d_eff), one entry a mode.
    """
    return sp.Add(
        initial,
        *(
            -multiplicity * (s * strength - d * strength**2 / 2)
            for strength, multiplicity, s, d in terms
        ),
    )


def strength_symbol(label: str) -> sp.Symbol:
    """Return the symbol of a mode's strength in the loss."""
    return sp.Symbol(label, nonnegative=True)
