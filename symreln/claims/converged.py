"""Where the loss comes to rest when decay or few units keep it above the least-squares value."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.claims.probes import learning_modes
from symreln.claims.solve import at_values
from symreln.claims.widths import learned_counts
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.enclosure import ball, decimal_of, precision
from symreln.exact.scalar import Scalar
from symreln.laws.choice import solve
from symreln.laws.loss import strength_symbol
from symreln.laws.ops import ARB

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation

_BITS = 160


def converged_loss(derivation: Derivation) -> sp.Expr | None:
    """Return the limit of the loss; None where it is the least-squares value, or no sum over modes.

    Every strength is put at its plateau, (s − λ)/d or 0; modes without a unit leave s²/(2d).
    """
    counts = learned_counts(derivation, least=True)
    if derivation.loss is None or not (counts or derivation.known.lowers_plateaus):
        return None
    laws = [(mode, mode.strength) for _, mode in learning_modes(derivation) if mode.strength]
    plateaus = {strength_symbol(mode.label): law.plateau for mode, law in laws}
    found: Any = derivation.loss.xreplace(plateaus)
    for mode, law in laws:
        lost = mode.multiplicity - counts.get(mode.label, mode.multiplicity)
        found += lost * law.s**2 / (2 * law.d)
    return found


def converged_number(derivation: Derivation) -> Fraction | None:
    """Return that limit at the declared values where it is rational; None otherwise."""
    if not derivation.spec.has_values:
        return None
    limit: Any = converged_loss(derivation.ask(at_values))
    if limit is None:
        return None
    limit = sp.expand(limit)  # roots of modes cancel
    return Fraction(int(limit.p), int(limit.q)) if limit.is_Rational else None


def converged_decimal(derivation: Derivation, digits: int) -> tuple[str, str] | None:
    """Return (decimal, radius) of that limit at the declared values, or None without them.

    A mode that stays below its plateau s/d by g adds m d g²/2 to the least-squares value. A limit
    that is rational has a radius of 0 where its decimal ends.
    """
    if derivation.spec.network is None:
        return None
    if not derivation.spec.has_values:
        return None
    number = derivation.ask(converged_number)
    if number is not None:
        return AlgebraicNumber.rational(Scalar.of(number)).decimal({}, digits)
    exact = derivation.ask(at_values)
    counts = learned_counts(exact, least=True)
    with precision(_BITS):
        total = ball(exact.least_loss.to_fraction())
        for pathway in exact.pathways:
            for mode in pathway.modes:
                if mode.is_null or mode.d_eff is None:
                    continue
                s, d = mode.s.ball({}, _BITS), mode.d_eff.ball({}, _BITS)
                gap = s - ARB.positive(solve(derivation.known, s, d, ops=ARB).growth)
                lost = mode.multiplicity - counts.get(mode.label, mode.multiplicity)
                total += ((mode.multiplicity - lost) * gap * gap + lost * s * s) / (2 * d)
        return decimal_of(total, digits)
