"""Algebraic numbers and functions: g(theta) and its square root, theta a root of f.

f is irreducible over Q(parameters); theta is the root with a given index among the real roots of
f at the parameter values, ascending from 0. All roots are real, because f belongs to a symmetric
operator, so an index follows one root as long as f's discriminant does not vanish.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, cmp_to_key, lru_cache
from itertools import repeat
from math import isqrt
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from symreln.base.records import record
from symreln.errors import FloatRangeError, InputError
from symreln.exact import enclosure
from symreln.exact.factoring import univariate
from symreln.exact.field import Coefficients, Field, irreducible_factors, linear
from symreln.exact.scalar import Scalar, univariate_text

if TYPE_CHECKING:
    import sympy as sp
    from flint import arb, fmpz_mpoly


Values = Mapping[str, Fraction]

# Two numbers that agree to this many bits are told apart exactly or taken as equal in rank.
ORDER_BITS = 1024

# Roots are isolated to at least so many bits, which takes no longer than fewer, so that a class
# is isolated once for putting its modes in order and for 50 digits of them.
ROOT_BITS = 256

# Numerators and denominators up to which a constant is written out in formulas: one beyond, which
# float64 could not hold, has a name there, and SymPy would look for its factors for minutes.
_WRITTEN_BITS = 1024

# The same of a function of parameters, in terms times bits of a coefficient: about a third of a
# page. Beyond, SymPy's questions for signs and factors take minutes.
_FORMULA_BITS = 2048


@record(eq=False)
class AlgebraicNumber:
    """g(theta), or its non-negative square root.

    Attributes:
        minpoly: f, coefficients low to high, polynomials over Z, positive leading coefficient.
        coefficients: g, low to high, as many as the degree of f.
        root: Index of theta among the real roots of f, ascending, from 0.
        is_sqrt: Whether the number is the square root of g(theta), which is then not negative.
    """

    minpoly: Coefficients
    coefficients: Coefficients
    root: int = 0
    is_sqrt: bool = False

    @classmethod
    def rational(cls, value: Scalar, *, is_sqrt: bool = False) -> AlgebraicNumber:
        """Return a rational function (or its square root)."""
        return cls(minpoly=linear(value), coefficients=(value,), is_sqrt=is_sqrt)

    # -- exact ----------------------------------------------------------------------------------

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return self.coefficients[0].parameters

    @property
    def is_constant(self) -> bool:
        """Whether no parameter occurs."""
        return all(each.is_constant for each in (*self.minpoly, *self.coefficients))

    @property
    def is_zero(self) -> bool:
        """Whether this is the zero function; exact, because f is irreducible."""
        return all(coefficient.is_zero for coefficient in self.coefficients)

    @property
    def scalar(self) -> Scalar | None:
        """The rational function g where theta does not occur in it, else None."""
        if all(coefficient.is_zero for coefficient in self.coefficients[1:]):
            return self.coefficients[0]
        return None

    @property
    def degree(self) -> int:
        """Degree of the number over Q(parameters), the square root's own step included."""
        return len(self.defining_polynomial) - 1

    @property
    def is_radical(self) -> bool:
        """Whether :meth:`to_sympy` writes it in radicals: of degree at most 2, and not long."""
        return not self.is_long and (self.scalar is not None or len(self.shortest.minpoly) <= 3)

    @cached_property
    def is_long(self) -> bool:
        """Whether it is too long to write: ``_WRITTEN_BITS``, ``_FORMULA_BITS`` if parametric.

        The first bounds every numerator and denominator, the second those of all terms together.
        """
        short, value = self.shortest, self.scalar
        parts = (*short.minpoly, *short.coefficients) if value is None else (value,)
        size = max(max(_size(part.numerator), _size(part.denominator)) for part in parts)
        return size > (_WRITTEN_BITS if all(p.is_constant for p in parts) else _FORMULA_BITS)

    @cached_property
    def shortest(self) -> AlgebraicNumber:
        """The same number over the field of g(theta) itself, where that has degree at most 2.

        A number has one text then, whatever field it was found in. With parameters the field
        stays as it is: which root of the shorter polynomial is meant may change where conjugates
        of theta meet.
        """
        if self.parameters or self.scalar is not None or len(self.minpoly) <= 3:
            return self
        own = self.squared_polynomial
        if len(own) > 3:
            return self
        plain = replace(self, is_sqrt=False)
        zero, one = Scalar((), 0), Scalar((), 1)
        return replace(self, minpoly=own, coefficients=(zero, one), root=plain.defining_root())

    @cached_property
    def squared_polynomial(self) -> Coefficients:
        """The minimal polynomial of g(theta), low to high, primitive."""
        if self.scalar is not None:
            return linear(self.scalar)
        return _minimal_polynomial(_Same(self.minpoly), _Same(self.coefficients))

    @cached_property
    def defining_polynomial(self) -> Coefficients:
        """The minimal polynomial of the number itself, low to high, primitive.

        With parameters that of an irrational s = √g is the one of g at x²: where a root μ of a
        factor changes sign, as it may, s = |μ| goes from one factor to another.
        """
        if not self.is_sqrt or self.is_zero:
            return self.squared_polynomial
        doubled = _of_square(self.squared_polynomial)
        point = _reference_point(self.parameters)
        vanishes = doubled[0].substitute(point).is_zero
        if self.parameters and (self.scalar is None or vanishes or self.is_long):
            return doubled
        factors = _square_root_factors(_Same(self.squared_polynomial))
        for bits in _precisions():  # ends: the factors have no common root at this point
            value = self.ball(point, bits)
            with enclosure.precision(bits):
                close = [f for f in factors if _at(f, point, value).contains(0)]
            if len(close) == 1:
                return close[0]
        raise AssertionError

    def defining_root(self, values: Values | None = None) -> int:
        """Return the number's index among the real roots of its own polynomial, ascending."""
        point = _reference_point(self.parameters) if values is None else values
        coefficients = tuple(
            coefficient.substitute(point).to_fraction() for coefficient in self.defining_polynomial
        )
        for bits in _precisions():
            value = self.ball(point, bits)
            near = [
                index
                for index, root in enumerate(enclosure.real_roots(coefficients, bits))
                if root.overlaps(value)
            ]
            if len(near) == 1:
                return near[0]
            if bits > ORDER_BITS and near:
                return near[0]  # roots that coincide at these parameter values
        raise AssertionError

    def __eq__(self, other: object) -> bool:
        """Exact equality, as functions of the parameters near :func:`_reference_point`."""
        if not isinstance(other, AlgebraicNumber):
            return NotImplemented
        mine, theirs = self.scalar, other.scalar
        if mine is not None and theirs is not None and self.is_sqrt == other.is_sqrt:
            return mine == theirs
        if _fields(self) == _fields(other):
            return True
        point = _reference_point(tuple(dict.fromkeys((*self.parameters, *other.parameters))))
        with enclosure.precision(ROOT_BITS):
            apart = self.ball(point, ROOT_BITS) - other.ball(point, ROOT_BITS)
        return apart.contains(0) and (
            self.defining_polynomial == other.defining_polynomial
            and self.defining_root() == other.defining_root()
        )

    def __hash__(self) -> int:
        return hash(self.defining_polynomial)

    # -- numbers --------------------------------------------------------------------------------

    def ball(self, values: Values | None, bits: int) -> arb:
        """Return a certified ball computed with ``bits`` of working precision."""
        point = tuple(self._point(values).items()) if self.parameters else ()
        coefficients = _fractions(_Same(self.coefficients), point)
        with enclosure.precision(bits):
            if not any(coefficients[1:]):
                result = enclosure.ball(coefficients[0])
            else:
                theta = _roots(_Same(self.minpoly), point, max(bits, ROOT_BITS))[self.root]
                result = enclosure.evaluate(coefficients, theta)
            if self.is_sqrt:
                # g(theta) >= 0 is known: it is an eigenvalue of M = A^T A.
                result = result.nonnegative_part().sqrt()
        return result

    def _point(self, values: Values | None) -> dict[str, Fraction]:
        given = dict(values or {})
        parts = (*self.minpoly, *self.coefficients) if self.scalar is None else (self.scalar,)
        if all(part.is_constant for part in parts):
            given = dict.fromkeys(self.parameters, Fraction(1)) | given  # no matter which
        missing = [name for name in self.parameters if name not in given]
        if missing:
            msg = f"a number needs values for {', '.join(missing)}; give {{name: Fraction}}"
            raise InputError(msg)
        return {name: Fraction(given[name]) for name in self.parameters}

    def enclose(self, values: Values | None = None, digits: int = 50) -> arb:
        """Return a certified ball with a relative radius below 10^-digits.

        A value that is 0 at these parameter values, without being the zero function, gets an
        absolute radius below 10^-digits instead.
        """
        for bits in _precisions(start=int(digits * 3.33) + 30):
            found = self.ball(values, bits)
            if found.rel_accuracy_bits() > digits * 3.33:
                return found
            if bits > 4 * digits * 3.33 + 200 and found.abs_upper() < enclosure.arb(10) ** -digits:
                return found
        raise AssertionError

    def decimal(self, values: Values | None = None, digits: int = 21) -> tuple[str, str]:
        """Return (decimal, radius) as text; the number is certified to lie within the radius."""
        value = self._rational_at(values)
        if value is not None and not pow(10, value.denominator.bit_length(), value.denominator):
            text = enclosure.exact_decimal(value)
            if len(text) <= digits + 10:
                return text, "0"
        ball = self.enclose(values, digits + 5)
        with enclosure.precision(int(digits * 3.33) + 80):
            return enclosure.decimal_of(ball, digits)

    def _rational_at(self, values: Values | None) -> Fraction | None:
        """Return the rational number that this is, or is the root of; None of any other one."""
        if self.scalar is None:
            return None
        value = self.scalar.substitute(self._point(values)).to_fraction()
        if not self.is_sqrt:
            return value
        root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
        return root if root**2 == value else None

    def scientific(self, values: Values | None = None, digits: int = 10) -> str:
        """Return the value with some significant digits; beyond float64 as 1.00e+400."""
        return enclosure.rounded_text(self.enclose(values, digits + 5), digits)

    def to_float(self, values: Values | None = None) -> float:
        """Return the nearest float, up to one unit in the last place.

        Raises:
            InputError: The number is not zero, and float64 has no room for it.
        """
        found = self.enclose(values, 20)
        if not enclosure.in_float64(found):
            raise FloatRangeError.of_size(self.scientific(values, 3))
        return float(found)

    def __float__(self) -> float:
        return self.to_float()

    def sign(self, values: Values | None = None) -> int:
        """Return the sign at parameter values: -1, 0 or 1; exact."""
        if self.is_zero:
            return 0
        exact = self.scalar
        if exact is not None:
            value = exact.substitute(self._point(values)).to_fraction()
            return (value > 0) - (value < 0)
        found = enclosure.sign_of(lambda bits: self.ball(values, bits), 2 * ORDER_BITS)
        # Else not 0, unless 0 is a root of the minimal polynomial at these values.
        if found or self.squared_polynomial[0].substitute(self._point(values)).is_zero:
            return found
        return enclosure.sign_of(lambda bits: self.ball(values, bits))

    def compare(self, bound: Fraction) -> int:
        """Return the sign of a number without parameters minus a rational one; exact."""
        if self.scalar is not None and not self.is_sqrt:
            value = self.scalar.to_fraction()
            return (value > bound) - (value < bound)
        # An irrational number is not the bound.
        return enclosure.sign_of(lambda bits: self.ball({}, bits) - enclosure.ball(bound))

    # -- text -----------------------------------------------------------------------------------

    def to_sympy(self, symbols: Mapping[str, sp.Symbol] | None = None, name: str = "") -> sp.Expr:
        """Return an expression: radicals up to degree 2, else (or if long) a named constant.

        Args:
            symbols: The parameters' symbols with their assumptions.
            name: Name of the constant that stands for a number of degree > 2 or a long one; its
                definition is ``defining_polynomial`` and ``defining_root``. Without a name a long
                number of lower degree is written out.
        """
        import sympy as sp

        from symreln.exact import radicals

        short, table = self.shortest, dict(symbols or {})
        if (self.is_long and name) or (self.scalar is None and len(short.minpoly) > 3):
            shown = name or f"{'s' if self.is_sqrt else 'theta'}_{self.root + 1}"
            return sp.Symbol(shown, **{"nonnegative" if self.is_sqrt else "real": True})
        return radicals.in_radicals(
            short.minpoly, short.coefficients, short.root, table, is_sqrt=self.is_sqrt
        )

    def polynomial_text(self) -> str:
        """Return the defining polynomial as text in x."""
        return univariate_text([value.numerator for value in self.defining_polynomial])

    def to_json(
        self,
        values: Values | None = None,
        symbols: Mapping[str, sp.Symbol] | None = None,
        digits: int = 21,
    ) -> dict[str, str]:
        """Return the number as JSON values.

        Without values for every parameter, or where the number has none, as 0/0, decimal and
        radius are left out.
        """
        result: dict[str, str] = {}
        known = self.has_value(values)
        radical = self.is_radical
        if radical:
            result["expr"] = str(self.to_sympy(symbols))
        elif self.scalar is not None and not self.is_sqrt:
            result["expr"] = str(self.scalar)
        else:
            root = self.defining_root(values if known else None)
            result["expr"] = f"CRootOf({self.polynomial_text()}, {root})"
        if known:
            result["decimal"], result["radius"] = self.decimal(values, digits)
        if not radical:
            result["minpoly"] = self.polynomial_text()
        return result

    def has_value(self, values: Values | None) -> bool:
        """Whether all parameters have values, at which no coefficient reads x/0."""
        given = dict(values or {})
        if any(name not in given for name in self.parameters):
            return False
        bottoms = (Scalar(c.parameters, c.denominator) for c in self.coefficients)
        return not any(bottom.substitute(given).is_zero for bottom in bottoms)

    def __repr__(self) -> str:
        shown = self.to_sympy() if self.is_radical else f"a root of {self.polynomial_text()}"
        return f"AlgebraicNumber({shown})"


def order_key(number: AlgebraicNumber, values: Values) -> Any:
    """Return a sort key: larger numbers first; numbers equal to ``ORDER_BITS`` bits tie."""
    exact = number.scalar
    at = None if exact is None else exact.substitute(dict(values)).to_fraction()
    first = number.ball(values, 64)
    return _order((at, lambda bits: first if bits == 64 else number.ball(values, bits)))


@cmp_to_key
def _order(one: tuple[Any, Any], other: tuple[Any, Any]) -> int:
    (exact, ball), (other_exact, other_ball) = one, other
    if exact is not None and other_exact is not None:
        return (other_exact > exact) - (other_exact < exact)
    return enclosure.sign_of(lambda bits: other_ball(bits) - ball(bits), ORDER_BITS)


def ratio(s: AlgebraicNumber, d: AlgebraicNumber) -> AlgebraicNumber | None:
    """Return s/d as the root of one rational function, or None where it is not one or is long.

    Args:
        s: A square root.
        d: Not a square root, not zero, not negative.
    """
    if s.scalar is None or d.scalar is None:
        return None
    found = AlgebraicNumber.rational(s.scalar / (d.scalar * d.scalar), is_sqrt=True)
    return None if s.is_long or d.is_long or found.is_long else found


def real_roots(polynomial: fmpz_mpoly) -> tuple[AlgebraicNumber, ...]:
    """Return the real roots of an irreducible polynomial in one parameter, ascending.

    Args:
        polynomial: Irreducible over Z; one parameter occurs in it.
    """
    coefficients = univariate(polynomial)
    minpoly = tuple(map(Scalar.of, coefficients))
    theta = Field(minpoly).theta
    return tuple(
        AlgebraicNumber(minpoly=minpoly, coefficients=theta, root=root)
        for root in range(len(enclosure.real_roots(coefficients, 64)))
    )


def _size(polynomial: fmpz_mpoly) -> int:
    """Return the number of terms times the bits of the largest coefficient."""
    largest = max((abs(int(value)) for value in polynomial.coeffs()), default=0)
    return len(polynomial) * largest.bit_length()


def _reference_point(parameters: tuple[str, ...]) -> dict[str, Fraction]:
    """Return the fixed point at which functions of the parameters are compared."""
    return {name: 1 + Fraction(1, 2 + index) for index, name in enumerate(parameters)}


class _Same:
    """A tuple of coefficients that is looked up by its identity.

    Conjugate modes share their tuples, and a hash of what is in them would cost more than the
    work that it saves. The reference keeps the identity from being used again.
    """

    __slots__ = ("coefficients",)

    def __init__(self, coefficients: Coefficients) -> None:
        self.coefficients = coefficients

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.coefficients is other.coefficients

    def __hash__(self) -> int:
        return id(self.coefficients)


_fields = attrgetter("is_sqrt", "root", "minpoly", "coefficients")
_Point = tuple[tuple[str, Fraction], ...]


@lru_cache(maxsize=512)
def _fractions(shared: _Same, point: _Point) -> tuple[Fraction, ...]:
    """Return the coefficients at a point, without trailing zeros but at least one."""
    at = dict(point)
    found = [value.substitute(at).to_fraction() for value in shared.coefficients]
    while len(found) > 1 and not found[-1]:
        found.pop()
    return tuple(found)


@lru_cache(maxsize=512)
def _roots(shared: _Same, point: _Point, bits: int) -> tuple[arb, ...]:
    """Return all real roots of a polynomial at a point, ascending."""
    return enclosure.real_roots(_fractions(shared, point), bits)


@lru_cache(maxsize=512)
def _minimal_polynomial(minpoly: _Same, element: _Same) -> Coefficients:
    """Return the minimal polynomial of g(theta): the same of all conjugates."""
    return Field(minpoly.coefficients).minimal_polynomial(element.coefficients)


@lru_cache(maxsize=512)
def _square_root_factors(shared: _Same) -> list[Coefficients]:
    """Return the irreducible factors of f(x²), the same for all roots of f."""
    return [factor for factor, _ in irreducible_factors(_of_square(shared.coefficients))]


def _of_square(polynomial: Coefficients) -> Coefficients:
    """Return f(x²)."""
    zero = Scalar(polynomial[0].parameters, 0)
    return tuple(value for pair in zip(polynomial, repeat(zero)) for value in pair)[:-1]


def _at(polynomial: Coefficients, point: Values, value: arb) -> arb:
    """Return the polynomial's value at the working precision."""
    return enclosure.evaluate([c.substitute(point).to_fraction() for c in polynomial], value)


def _precisions(start: int = 64) -> list[int]:
    """Return doubling precisions; the last is beyond any number that fits in memory here."""
    return [start << step for step in range(24)]
