"""Where in parameter space mode classes meet: polynomials that vanish there.

With λ = s², or the eigenvalue of the correlations' sum, λ + t d of a class is an element of its own
field. Resultants and discriminants of its characteristic polynomials say where two are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symreln.exact.field import Field
from symreln.exact.polynomials import SPECTRAL, in_x
from symreln.exact.scalar import Scalar, polynomial_ring

if TYPE_CHECKING:
    from flint import fmpz_mpoly

    from symreln.exact.spectrum import ModeClass


def meeting(one: ModeClass, two: ModeClass, t: int) -> fmpz_mpoly:
    """Return a polynomial that vanishes where λ + t d takes one value on both, or twice on one."""
    if one is not two:
        return resultant(one, two, t)
    ring = polynomial_ring(one.minpoly[0].parameters)
    return _characteristic(one, t).discriminant(SPECTRAL).project_to_context(ring)


def resultant(one: ModeClass, two: ModeClass, t: int) -> fmpz_mpoly:
    """Return a polynomial that vanishes where λ + t d takes one value on both classes."""
    if one.degree == two.degree == 1:
        return (_element(one, t)[0] - _element(two, t)[0]).numerator
    found = _characteristic(one, t).resultant(_characteristic(two, t), SPECTRAL)
    return found.project_to_context(polynomial_ring(one.minpoly[0].parameters))


def _characteristic(one: ModeClass, t: int) -> fmpz_mpoly:
    return in_x(Field(one.minpoly).characteristic(_element(one, t)))


def _element(one: ModeClass, t: int) -> tuple[Scalar, ...]:
    """Return λ + t d."""
    if one.d is None or t == 0:
        return one.eigenvalue
    return tuple(x + y * t for x, y in zip(one.eigenvalue, one.d, strict=True))


def norm(mode_class: ModeClass, element: Sequence[Scalar]) -> Scalar:
    """Return the product of an element over all roots of the class's polynomial, up to sign."""
    if mode_class.degree == 1:
        return element[0]
    return Field(mode_class.minpoly).characteristic(tuple(element))[0]
