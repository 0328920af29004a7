"""Arithmetic in Q(parameters)[theta], theta a root of an irreducible polynomial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import fmpq, fmpq_mat, fmpq_poly, fmpz, fmpz_mpoly

from symreln.exact import integers, polynomials
from symreln.exact.factoring import factorisation
from symreln.exact.scalar import Scalar, cleared, polynomial_ring

Coefficients = tuple[Scalar, ...]


def _to_fmpq(value: Scalar) -> fmpq:
    """Return a constant as FLINT's rational."""
    return fmpq(*value.to_fraction().as_integer_ratio())


class Field:
    """The field Q(parameters)[x]/f; elements are coefficient tuples of length k = deg f.

    Attributes:
        minpoly: f, coefficients low to high.
        degree: k.
        parameters: Names of the parameters.
        modulus: f as FLINT's polynomial where there are no parameters, else None.
    """

    def __init__(self, minpoly: Sequence[Scalar]) -> None:
        self.minpoly = tuple(minpoly)
        self.degree = len(minpoly) - 1
        self.parameters = minpoly[0].parameters
        self.modulus: Any = None
        if not self.parameters:
            self.modulus = fmpq_poly([_to_fmpq(value) for value in minpoly])

    def constant(self, value: Scalar | int) -> Coefficients:
        """Return an element of the ground field."""
        zero = Scalar(self.parameters, 0)
        return (Scalar.of(value, self.parameters), *[zero] * (self.degree - 1))

    @property
    def theta(self) -> Coefficients:
        """The root theta itself."""
        return self.reduce((Scalar(self.parameters, 0), Scalar(self.parameters, 1)))

    def pack(self, element: Sequence[Scalar]) -> fmpq_poly:
        """Return an element without parameters as FLINT's polynomial in theta."""
        return fmpq_poly([_to_fmpq(value) for value in element])

    def unpack(self, polynomial: fmpq_poly) -> Coefficients:
        """Return the element that a polynomial of lower degree than f is."""
        found = [Scalar(self.parameters, int(c.p), int(c.q)) for c in polynomial.coeffs()]
        zero = Scalar(self.parameters, 0)
        return tuple(found + [zero] * (self.degree - len(found)))

    def add(self, a: Coefficients, b: Coefficients) -> Coefficients:
        """Return a + b."""
        return tuple(x + y for x, y in zip(a, b, strict=True))

    def scale(self, a: Coefficients, factor: Scalar | int) -> Coefficients:
        """Return factor·a."""
        return tuple(x * factor for x in a)

    def reduce(self, coefficients: Sequence[Scalar]) -> Coefficients:
        """Return a polynomial in theta of any degree as an element."""
        if self.modulus is not None:
            return self.unpack(self.pack(coefficients) % self.modulus)
        work = list(coefficients)
        lead = self.minpoly[-1]
        while len(work) > self.degree:
            top = work.pop()
            if top.is_zero:
                continue
            ratio = top / lead
            for power in range(self.degree):
                place = len(work) - self.degree + power
                work[place] = work[place] - ratio * self.minpoly[power]
        zero = Scalar(self.parameters, 0)
        return tuple(work + [zero] * (self.degree - len(work)))

    def multiply(self, a: Coefficients, b: Coefficients) -> Coefficients:
        """Return a·b."""
        if self.modulus is not None:
            return self.unpack(self.pack(a) * self.pack(b) % self.modulus)
        result = [Scalar(self.parameters, 0) for _ in range(2 * self.degree - 1)]
        for i, x in enumerate(a):
            if x.is_zero:
                continue
            for j, y in enumerate(b):
                if not y.is_zero:
                    result[i + j] = result[i + j] + x * y
        return self.reduce(result)

    def inverse(self, a: Coefficients) -> Coefficients:
        """Return 1/a."""
        if self.modulus is not None:
            common, inverse, _ = self.pack(a).xgcd(self.modulus)
            if common.degree() != 0:
                msg = "division by zero in Q(theta)"
                raise ZeroDivisionError(msg)
            return self.unpack(inverse / common[0])
        # Cayley-Hamilton: with charpoly Σ p_j x^j of a, 1/a = -(Σ_{j>0} p_j a^{j-1})/p_0.
        coefficients = self.characteristic(a)
        if coefficients[0].is_zero:
            msg = "division by zero in Q(parameters)(theta)"
            raise ZeroDivisionError(msg)
        total = self.constant(0)
        for coefficient in reversed(coefficients[1:]):
            total = self.add(self.multiply(total, a), self.constant(coefficient))
        return self.scale(total, -1 / coefficients[0])

    def multiplication(self, a: Coefficients) -> list[Coefficients]:
        """Return a·theta^j for j < k."""
        zero = Scalar(self.parameters, 0)
        return integers.iterated(lambda row: self.reduce((zero, *row)), a, self.degree)

    def characteristic(self, a: Coefficients) -> Coefficients:
        """Return the characteristic polynomial of multiplication by a, low to high, monic."""
        rows = self.multiplication(a)
        if self.modulus is not None:
            table = fmpq_mat([[_to_fmpq(value) for value in row] for row in rows])
            found = table.charpoly().coeffs()
            return tuple(Scalar(self.parameters, int(c.p), int(c.q)) for c in found)
        flat, common = cleared([value for row in rows for value in row])
        table = [flat[i : i + self.degree] for i in range(0, len(flat), self.degree)]
        return polynomials.characteristic(table, common, self.parameters)

    def trace(self, a: Coefficients) -> Scalar:
        """Return the sum of a over all roots of f."""
        return -self.characteristic(a)[self.degree - 1]

    def minimal_polynomial(self, a: Coefficients) -> tuple[Scalar, ...]:
        """Return the minimal polynomial of a over Q(parameters), primitive over Z[parameters]."""
        return irreducible_factors(self.characteristic(a))[0][0]


def linear(root: Scalar) -> Coefficients:
    """Return the primitive polynomial of degree 1 with this root."""
    names = root.parameters
    return (Scalar(names, -root.numerator), Scalar(names, root.denominator))


def irreducible_factors(coefficients: Sequence[Scalar]) -> list[tuple[Coefficients, int]]:
    """Return (irreducible factor, exponent) of Σ c_j x^j over Q(parameters).

    Factors are primitive over Z[parameters]; what depends on the parameters alone is dropped.
    """
    names = coefficients[0].parameters
    _, found = factorisation(polynomials.in_x(coefficients))
    return [
        (tuple(Scalar(names, c) for c in _by_powers_of_x(factor, names)), exponent)
        for factor, exponent in found
        if factor.degrees()[0] > 0
    ]


def _by_powers_of_x(factor: fmpz_mpoly, parameters: tuple[str, ...]) -> list[fmpz_mpoly]:
    """Return c_j with the polynomial ± Σ c_j x^j, its leading coefficient positive."""
    if factor.leading_coefficient() < 0:
        factor = -factor
    ring = polynomial_ring(parameters)
    parts: list[dict[tuple[int, ...], fmpz]] = [{} for _ in range(int(factor.degrees()[0]) + 1)]
    for exponents, coefficient in factor.to_dict().items():
        parts[int(exponents[0])][tuple(int(e) for e in exponents[1:])] = coefficient
    return [ring.from_dict(part) for part in parts]
