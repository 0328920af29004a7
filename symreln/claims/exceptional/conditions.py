r"""Where a generic answer ends: polynomial conditions on the parameters.

A joint spectrum over Q(parameters) holds for all values but those at which one of finitely many
polynomials vanishes. Two facts decide what is lost there. The joint characteristic polynomial
det(x - M - t Sigma^x) is an identity in the parameters, so that the pairs (s^2, d), counted with
multiplicity, hold at every point where the data are finite. And orthogonal projectors stay
bounded, so that on every path into such a point they have limit points, for which every proven
equation still holds. Where pairs collide the formulas therefore stay true, but the modes' spaces
are no longer unique, and a verdict on spaces may be another one, stronger or weaker (DEGENERATE);
what can break is listed with another effect.

Independence of a class's generators is no condition: they are one way to write a projector, and
no printed formula holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import combinations
from typing import TYPE_CHECKING

from symreln.base.records import record
from symreln.exact.factoring import factors
from symreln.exact.field import Field
from symreln.exact.polynomials import SPECTRAL, in_x
from symreln.exact.scalar import Scalar, cleared, polynomial_ring

if TYPE_CHECKING:
    from flint import fmpz_mpoly

    from symreln.exact.spectrum import JointSpectrum, ModeClass

MAX_DEGREE = (12, 5)
"""Degree of a class up to which discriminants are computed, for one parameter and for more: their
size grows with its square, to the power of the number of parameters."""
_MAX_PRODUCT = (36, 12)
"""Product of two classes' degrees up to which resultants are computed, likewise."""

MOST_PAIRS = (3, 1)
"""Pairs of conjugates up to which a coincidence in s is followed to one in d, likewise."""


class Effect(Enum):
    """What can happen where a polynomial vanishes."""

    UNDEFINED = "the data are infinite"
    RESIDUAL = "what an earlier stage leaves has no value; the formulas hold as limits"
    NULL = "modes lose their strength: s = 0"
    JUMP = "the loss that is left jumps, because s and d vanish together"
    FLAT = "Sigma^x loses rank on null modes, which learn nothing"
    DEGENERATE = (
        "modes coincide in s and d; the formulas stay true, but the modes are no longer unique and "
        "the verdict may differ"
    )
    CROSSING = "modes coincide in s; where d differs, nothing else changes"
    MERGED = "modes coincide in s: their singular vectors are not unique, only their span is"
    LIMIT = "a formula reads 0/0 and holds as a limit"
    COMMUTES = "the pathway's correlations commute: it has a joint eigenbasis"

    @property
    def harmless(self) -> bool:
        """Whether every printed formula stays true as it stands."""
        return self in (Effect.DEGENERATE, Effect.CROSSING, Effect.MERGED, Effect.FLAT)


@record
class Condition:
    """A polynomial that was found for one spectrum.

    Attributes:
        polynomial: Over Z, not factored; its zeros are what matters.
        effect: What happens at them.
        classes: Indices of the mode classes concerned.
        proven: Whether it happens at every zero, rather than perhaps.
        count: Of how many modes of a class of conjugates it holds at every zero; 0 where it is not
            counted, or holds of all.
        exact: Whether it is never more than ``count``.
        stage: The stage concerned, or 0 for the data; told by whoever knows, as the pathways are.
        pathways: Numbers of the pathways concerned, whose classes are the same.
    """

    polynomial: fmpz_mpoly
    effect: Effect
    classes: tuple[int, ...] = ()
    proven: bool = False
    count: int = 0
    exact: bool = False
    stage: int = 0
    pathways: tuple[int, ...] = ()


# -- conditions of one spectrum ------------------------------------------------------------------


def _is_constant(polynomial: fmpz_mpoly) -> bool:
    """Return whether a polynomial has no zeros at all."""
    return bool(polynomial.is_constant()) and not polynomial.is_zero()


def spectrum_conditions(spectrum: JointSpectrum) -> tuple[list[Condition], list[str]]:
    """Return the conditions of one pathway's spectrum, and what was not followed.

    Args:
        spectrum: Over Q(parameters).
    """
    found: list[Condition] = []
    skipped: list[str] = []
    several = len(spectrum.parameters) > 1
    for a, one in enumerate(spectrum.classes):
        found += _of_class(a, one)
        if one.degree > MAX_DEGREE[several]:
            skipped.append(f"coincidences within a class of {one.degree} conjugate modes")
        elif one.degree > 1:
            found += _within(a, one, exact=spectrum.commutes)
    for (a, one), (b, two) in combinations(enumerate(spectrum.classes), 2):
        if one.is_null != two.is_null:
            continue  # a coincidence means s = 0, which is a condition of its own
        if one.degree * two.degree > _MAX_PRODUCT[several]:
            skipped.append(f"coincidences of classes of {one.degree} and {two.degree} modes")
        else:
            found += _between(a, b, one, two, exact=spectrum.commutes)
    if spectrum.commutator is not None:
        norm = spectrum.commutator.relative_norm_squared.numerator
        found.append(Condition(polynomial=norm, effect=Effect.COMMUTES, proven=True))
    return [c for c in found if not _is_constant(c.polynomial)], skipped


def norm(mode_class: ModeClass, element: Sequence[Scalar]) -> Scalar:
    """Return the product of an element over all roots of the class's polynomial, up to sign."""
    if mode_class.degree == 1:
        return element[0]
    return Field(mode_class.minpoly).characteristic(tuple(element))[0]


def _of_class(a: int, one: ModeClass) -> Iterable[Condition]:
    if not one.is_null:
        yield from _vanishing(a, one, one.eigenvalue, Effect.NULL)
    elif one.d is not None and any(not c.is_zero for c in one.d):
        yield from _vanishing(a, one, one.d, Effect.FLAT)
    for element in (one.eigenvalue, one.d or ()):
        if one.degree > 1 and element:
            _, bottom = cleared(element, element[0].parameters)
            yield Condition(polynomial=bottom, effect=Effect.LIMIT, classes=(a,))


def _vanishing(
    a: int, one: ModeClass, element: tuple[Scalar, ...], effect: Effect
) -> Iterable[Condition]:
    """Return where an element is 0 on a mode of a class, and on how many of its conjugates.

    The product over all conjugates vanishes where one of them does. As many vanish as the
    characteristic polynomial's lowest coefficients, and the next one tells where it is no more.
    """
    if one.degree == 1:
        yield Condition(polynomial=element[0].numerator, effect=effect, classes=(a,), proven=True)
        return
    coefficients = Field(one.minpoly).characteristic(element)
    several = len(coefficients[0].parameters) > 1
    for factor in factors(coefficients[0].numerator):
        count = next(k for k, c in enumerate(coefficients) if not _divides(factor, c))
        beyond = coefficients[count].numerator
        everyone = count == one.degree
        yield Condition(
            polynomial=factor,
            effect=effect,
            classes=(a,),
            proven=True,
            count=0 if everyone else count,
            # In one parameter, what an irreducible factor does not divide has no zero with it.
            exact=not everyone and (not several or _is_constant(beyond)),
        )


def _divides(factor: fmpz_mpoly, value: Scalar) -> bool:
    return value.is_zero or bool((value.numerator % factor).is_zero())


def _element(one: ModeClass, t: int) -> tuple[Scalar, ...]:
    """Return lambda + t d."""
    if one.d is None or t == 0:
        return one.eigenvalue
    return tuple(x + y * t for x, y in zip(one.eigenvalue, one.d, strict=True))


def _characteristic(one: ModeClass, t: int) -> fmpz_mpoly:
    return in_x(Field(one.minpoly).characteristic(_element(one, t)))


def resultant(one: ModeClass, two: ModeClass, t: int) -> fmpz_mpoly:
    """Return a polynomial that vanishes where lambda + t d takes one value on both classes."""
    if one.degree == two.degree == 1:
        return (_element(one, t)[0] - _element(two, t)[0]).numerator
    names = one.minpoly[0].parameters
    found = _characteristic(one, t).resultant(_characteristic(two, t), SPECTRAL)
    return found.project_to_context(polynomial_ring(names))


def _between(a: int, b: int, one: ModeClass, two: ModeClass, *, exact: bool) -> Iterable[Condition]:
    """Return where modes of two classes coincide.

    A coincidence in (s^2, d) makes lambda + t d equal for every t. Conversely, where some pair of
    conjugates agrees at each of k_a k_b + 1 values of t, one pair agrees at two of them, and then
    in lambda and in d: that proves the coincidence.
    """
    lines = range(one.degree * two.degree + 1) if exact else range(1)
    along = [resultant(one, two, t) for t in lines]
    first = next((t for t, polynomial in enumerate(along) if not polynomial.is_zero()), None)
    if first is None:
        # lambda agrees for all parameters and d is no eigenvalue: nothing can come together.
        return
    for factor in factors(along[first]):
        joint = all(p.is_zero() or (p % factor).is_zero() for p in along)
        if not exact:
            effect = Effect.MERGED
        elif joint:
            effect = Effect.DEGENERATE
        else:
            effect = Effect.CROSSING if first == 0 else Effect.DEGENERATE
        proven = joint or first == 0
        yield Condition(polynomial=factor, effect=effect, classes=(a, b), proven=proven)
        several = len(factor.degrees()) > 1
        if effect is Effect.CROSSING and several and not any(map(_is_constant, along)):
            # A polynomial that the factor does not divide can still vanish at some of its zeros.
            yield Condition(polynomial=factor, effect=Effect.DEGENERATE, classes=(a, b))


def _within(a: int, one: ModeClass, *, exact: bool) -> Iterable[Condition]:
    """Return where conjugate modes of one class coincide in s and d.

    As between classes, one pair agrees at two of the values of t where there are more values of t
    than pairs; that many are only computed for small classes.
    """
    pairs = one.degree * (one.degree - 1) // 2
    names = one.minpoly[0].parameters
    few = pairs <= MOST_PAIRS[len(names) > 1]
    lines = range((pairs + 1 if few else one.degree**2) if exact else 1)
    effect = Effect.DEGENERATE if exact else Effect.MERGED
    ring = polynomial_ring(names)
    along: list[fmpz_mpoly] = []
    for t in lines:
        found = _characteristic(one, t).discriminant(SPECTRAL).project_to_context(ring)
        if not found.is_zero():
            along.append(found)
        if along and not few:
            break
    for factor in factors(along[0]) if along else ():
        proven = not exact or (few and all((p % factor).is_zero() for p in along))
        yield Condition(polynomial=factor, effect=effect, classes=(a,), proven=proven)
