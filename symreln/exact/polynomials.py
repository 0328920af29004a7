"""Small dense matrices over Z[parameters]: characteristic polynomial, adjugate, Krylov vectors.

Blocks that depend on parameters are small (their size is the number of eigenvalues that meet one
vector), so division-free schoolbook algorithms over FLINT's sparse polynomials are enough.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from flint import fmpz, fmpz_mat, fmpz_mpoly

from symreln.exact import integers
from symreln.exact.scalar import Scalar, cleared, polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


Table = list[list[fmpz_mpoly]]

SPECTRAL = "x!"  # not an identifier, so no parameter can have this name


class Packing:
    """Polynomials with bounded coefficients and degrees packed into single integers.

    Substituting high powers of two for the parameters (Kronecker) turns a determinant of
    polynomials into one determinant of integers, which FLINT computes modulo many primes. The
    bounds are proven, so unpacking is exact.
    """

    def __init__(self, parameters: tuple[str, ...], degrees: Sequence[int], bound: int) -> None:
        self.ring = polynomial_ring(parameters)
        self.bytes = (bound.bit_length() + 2) // 8 + 1
        self.lengths = [degree + 1 for degree in degrees]
        self.size = 1
        self.strides: list[int] = []
        for length in self.lengths:
            self.strides.append(self.size)
            self.size *= length
        self._offset = int.from_bytes((b"\x00" * (self.bytes - 1) + b"\x80") * self.size, "little")

    @classmethod
    def for_minors(
        cls, rows: Sequence[Sequence[fmpz_mpoly]], parameters: tuple[str, ...]
    ) -> Packing:
        """Return a packing for every minor of the rows, one entry taken from each row at most."""
        bound = 1
        degrees = [0] * len(parameters)
        for row in rows:
            bound *= 1 + sum(_norm(entry) for entry in row)
            for index in range(len(parameters)):
                degrees[index] += max(
                    (int(entry.degrees()[index]) for entry in row if not entry.is_zero()), default=0
                )
        return cls(parameters, degrees, bound)

    def pack(self, polynomial: fmpz_mpoly) -> int:
        """Return the polynomial's value at the powers of two."""
        # A sum of shifted coefficients would copy the whole number for each of them.
        width, half = self.bytes, 1 << (8 * self.bytes - 1)
        data = bytearray(self._offset.to_bytes(width * self.size, "little"))
        for exponents, coefficient in polynomial.to_dict().items():
            place = sum(int(e) * stride for e, stride in zip(exponents, self.strides, strict=True))
            data[place * width : (place + 1) * width] = (half + int(coefficient)).to_bytes(
                width, "little"
            )
        return int.from_bytes(data, "little") - self._offset

    def unpack(self, value: int) -> fmpz_mpoly:
        """Return the polynomial with this value."""
        # The offset makes every digit positive: digit = coefficient + half of the base.
        width, half = self.bytes, 1 << (8 * self.bytes - 1)
        data = (value + self._offset).to_bytes(width * self.size, "little")
        found: dict[tuple[int, ...], int] = {}
        for place in range(self.size):
            digit = int.from_bytes(data[place * width : (place + 1) * width], "little") - half
            if digit:
                key, rest = [], place
                for length in self.lengths:
                    rest, power = divmod(rest, length)
                    key.append(power)
                found[tuple(key)] = digit
        return self.ring.from_dict(found)


def _norm(polynomial: fmpz_mpoly) -> int:
    """Return the sum of the absolute values of the coefficients."""
    return sum(abs(int(c)) for c in polynomial.coeffs())


def characteristic(a: Table, parameters: tuple[str, ...]) -> list[fmpz_mpoly]:
    """Return the coefficients of det(x - a), low to high."""
    packing = Packing.for_minors(a, parameters)
    packed = fmpz_mat([[packing.pack(entry) for entry in row] for row in a])
    return [packing.unpack(int(c)) for c in packed.charpoly().coeffs()]


def in_x(coefficients: Sequence[Scalar]) -> fmpz_mpoly:
    """Return Σ c_j x^j over Z[x, parameters], times the common denominator of the c_j."""
    ring = polynomial_ring((SPECTRAL, *coefficients[0].parameters))
    x, total = ring.gen(0), ring.constant(0)
    for power, coefficient in enumerate(cleared(coefficients)[0]):
        total += coefficient.project_to_context(ring) * x**power
    return total


def by_powers_of_x(factor: fmpz_mpoly, parameters: tuple[str, ...]) -> list[fmpz_mpoly]:
    """Return c_j with the polynomial ± Σ c_j x^j, its leading coefficient positive."""
    if factor.leading_coefficient() < 0:
        factor = -factor
    ring = polynomial_ring(parameters)
    parts: list[dict[tuple[int, ...], fmpz]] = [{} for _ in range(int(factor.degrees()[0]) + 1)]
    for exponents, coefficient in factor.to_dict().items():
        parts[int(exponents[0])][tuple(int(e) for e in exponents[1:])] = coefficient
    return [ring.from_dict(part) for part in parts]


def primitive(vector: Sequence[fmpz_mpoly]) -> list[fmpz_mpoly]:
    """Return the vector divided by the greatest common divisor of its entries."""
    common = reduce(lambda total, entry: total.gcd(entry), vector)
    if common.is_zero() or common.is_one():
        return list(vector)
    return [entry // common for entry in vector]


def evaluation_point(parameters: tuple[str, ...], attempt: int = 0) -> tuple[int, ...]:
    """Return a fixed integer point at which no accident is expected."""
    return tuple(1_000_003 + 7919 * index + 104_729 * attempt for index in range(len(parameters)))


def lattice(size: int, degree: int) -> Iterator[tuple[int, ...]]:
    """Yield the points of whole numbers >= 0 whose sum is at most ``degree``, in order of the sum.

    A polynomial of that total degree which vanishes at all of them is zero: by induction over
    ``size`` and ``degree``, it vanishes where the last number is 0, so that the last variable
    divides it, and the quotient, of one degree less, vanishes at the rest, moved by 1.
    """
    for total in range(degree + 1 if size else 1):
        yield from _with_sum(size, total)


def _with_sum(size: int, total: int) -> Iterator[tuple[int, ...]]:
    if size <= 1:
        yield (total,) * size
        return
    for first in range(total + 1):
        for rest in _with_sum(size - 1, total - first):
            yield (first, *rest)


def rows_at_point(columns: Sequence[Sequence[fmpz_mpoly]]) -> list[int]:
    """Return rows on which the columns are independent at one point modulo a prime.

    As many as there are columns prove that these are independent; fewer prove nothing.
    """
    names = columns[0][0].context().names()
    point = evaluation_point(tuple(names))
    return integers.pivot_columns(
        fmpz_mat([[int(entry(*point)) % integers.PRIME for entry in column] for column in columns])
    )


def independent_rows(columns: Sequence[Sequence[fmpz_mpoly]]) -> list[int]:
    """Return rows on which the columns have their rank, exactly; as many as the rank is."""
    found = rows_at_point(columns)
    if len(found) == len(columns):
        return found
    # No minor that is not zero vanishes in a packing that holds all of them.
    packing = Packing.for_minors(columns, tuple(columns[0][0].context().names()))
    packed = [[packing.pack(entry) for entry in column] for column in columns]
    return integers.exact_pivot_columns(fmpz_mat(packed))
