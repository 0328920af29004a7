r"""Certified enclosures of eigenvalues from a float eigenbasis, with no factorisation at all.

Floats only propose an eigenbasis V; everything that is claimed about it is computed in integers.
For commuting symmetric M and B the matrix N = M + iB is normal. Let D be the diagonal of VᵀNV and
η = ‖VᵀV - 1‖_F ≤ 1/2. Then Q = V(VᵀV)^{-1/2} is orthogonal, ‖(VᵀV)^{-1/2} - 1‖ ≤ η, and

.. math:: ‖Q^T N Q - D‖_F ≤ ‖V^T N V - D‖_F + η(2 + η)‖V^T N V‖_F =: ε.

By the theorem of Hoffman and Wielandt (two normal matrices; Q^T N Q and D) there is a numbering of
the joint eigenvalues (λ_k, μ_k) of (M, B), repeated by multiplicity, with |λ_k + iμ_k - D_k| ≤ ε
for every k. Clusters and repeated eigenvalues need no special care; without B the same holds for
the eigenvalues of M alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np
from flint import fmpz, fmpz_mat

if TYPE_CHECKING:
    from symreln.exact.matrix import ExactMatrix

#: Bits behind the binary point of a basis as floats give it, of a step that refines it (the step
#: is near 2^-50 and good to float's 53 digits), and of their product.
FLOAT_BITS = 52
STEP_BITS = 100
REFINED_BITS = FLOAT_BITS + STEP_BITS
#: Digits of a number that is known exactly.
_EXACT_DIGITS = 20


@dataclass(frozen=True, kw_only=True)
class Enclosed:
    """One joint eigenvalue, known to lie in a box.

    Attributes:
        s_squared: Midpoint for the eigenvalue of M.
        d: Midpoint for the matching eigenvalue of B, or None where B was not given.
        radius: Both true values lie within this distance of their midpoints.
        apart: M is AᵀA, and the matrix whose singular values are meant lies within this distance
            of A (spectral norm). Source: Weyl's inequality for singular values.
    """

    s_squared: Fraction
    d: Fraction | None
    radius: Fraction
    apart: Fraction = Fraction(0)

    @property
    def s(self) -> tuple[Fraction, Fraction]:
        """Midpoint and radius of an enclosure of s, the root of an eigenvalue that is not < 0."""
        low = root_bound(max(self.s_squared - self.radius, Fraction(0)), up=False)
        high = root_bound(max(self.s_squared + self.radius, Fraction(0)), up=True)
        low, high = max(low - self.apart, Fraction(0)), high + self.apart
        return (low + high) / 2, (high - low) / 2


def enclose_spectrum(
    m: ExactMatrix, b: ExactMatrix | None = None, *, refine: bool = True
) -> tuple[Enclosed, ...]:
    """Return an enclosure of every eigenvalue of M, with the matching one of B, s falling.

    Args:
        m: Symmetric, positive semidefinite, n × n, without parameters.
        b: Symmetric, n × n, without parameters, and proven to commute with ``m``; or None.
        refine: Whether to take one more step, which costs about four times the rest and squares
            the relative radius where eigenvalues are not too close together.

    Returns:
        n enclosures: proven to contain the eigenvalues, each as often as it occurs.

    Raises:
        ArithmeticError: The float eigenbasis is useless (entries beyond the range of floats).
    """
    matrices = [_Scaled(m)] + ([] if b is None else [_Scaled(b)])
    basis = _float_basis(matrices)
    best = _enclosures(matrices, fixed(basis, FLOAT_BITS), FLOAT_BITS)
    if refine and best:
        finer = _refined(matrices, basis)
        better = _enclosures(matrices, finer, REFINED_BITS)
        if better and better[0].radius < best[0].radius:
            best = better
    return tuple(sorted(best, key=lambda e: (-e.s_squared, -(e.d or 0))))


def interval_text(middle: Fraction, radius: Fraction) -> tuple[str, str]:
    """Return (decimal, radius) as text, rounding included: the interval lies within.

    The decimal has two digits more than the radius leaves meaning to, the radius is a power of ten.

    Example:
        >>> interval_text(Fraction(1, 3), Fraction(1, 5000))
        ('0.33333', '1e-3')
        >>> interval_text(Fraction(0), Fraction(0))
        ('0', '0')
        >>> interval_text(Fraction(1, 2), Fraction(0))[1]
        '0'
    """
    if not radius and middle.denominator == 1:
        return str(middle), "0"
    places = 2 - _power_above(radius or abs(middle) / 10**_EXACT_DIGITS)
    top, bottom = middle.numerator, middle.denominator
    # Rounded in integers: thousands of these are printed after a limit, in a hurry.
    if places >= 0:
        top *= 10**places
    else:
        bottom *= 10**-places
    rounded = (2 * top + bottom) // (2 * bottom)
    error = radius + Fraction(abs(rounded * bottom - top), bottom) / Fraction(10) ** places
    # From its digits: every operation on decimals rounds to the context's 28.
    digits = tuple(int(digit) for digit in str(abs(rounded)))
    decimal = Decimal((int(rounded < 0), digits, -places))
    return f"{decimal:f}", f"1e{_power_above(error)}" if error else "0"


def _power_above(value: Fraction) -> int:
    """Return the least k with value <= 10^k, for a value above 0."""
    top, bottom = value.numerator, value.denominator
    # Below the logarithm by less than 1.
    power = (top.bit_length() - bottom.bit_length() - 1) * 30103 // 100000 - 1
    while (top > bottom * 10**power) if power >= 0 else (top * 10**-power > bottom):
        power += 1
    return power


class _Scaled:
    """A symmetric matrix as integers over a common denominator, and as floats near it."""

    def __init__(self, matrix: ExactMatrix) -> None:
        self.whole, self.denominator = matrix.integers()
        self.floats = matrix.to_numpy()
        self.floats = (self.floats + self.floats.T) / 2


def _float_basis(matrices: list[_Scaled]) -> np.ndarray:
    """Return approximate joint eigenvectors, in columns."""
    total = np.zeros_like(matrices[0].floats)
    for weight, matrix in zip((1.0, np.sqrt(2.0) / 3), matrices, strict=False):
        # An irrational ratio of the weights: two pairs (λ, μ) rarely fall on one sum.
        size = np.abs(matrix.floats).max(initial=0.0)
        total += matrix.floats * (weight / size if size else 0.0)
    if not np.isfinite(total).all():
        msg = "certified enclosures: the data's entries are beyond the range of float64"
        raise ArithmeticError(msg)
    return np.linalg.eigh(total)[1]


def fixed(values: np.ndarray, bits: int) -> fmpz_mat:
    """Return the integers nearest to values·2^bits, for finite values."""
    rows, columns = values.shape
    whole = np.ldexp(values, bits).round()
    return fmpz_mat(rows, columns, [int(entry) for entry in whole.ravel().tolist()])


def _enclosures(matrices: list[_Scaled], basis: fmpz_mat, bits: int) -> tuple[Enclosed, ...]:
    """Return the enclosures that a basis V·2^bits proves; none where it is not orthogonal enough.

    Integers throughout: the diagonal and the norms are those of the given V exactly.
    """
    one = 1 << (2 * bits)
    defect = basis.transpose() * basis
    for index in range(defect.nrows()):
        defect[index, index] = defect[index, index] - one
    eta = root_bound(Fraction(square_sum(defect), one * one), up=True)
    if eta > Fraction(1, 2):
        return ()
    off, whole = Fraction(0), Fraction(0)
    diagonals = []
    for matrix in matrices:
        image = basis.transpose() * (matrix.whole * basis)
        unit = one * matrix.denominator
        diagonal = [int(image[k, k]) for k in range(image.nrows())]
        square = square_sum(image)
        off += Fraction(square - sum(entry * entry for entry in diagonal), unit * unit)
        whole += Fraction(square, unit * unit)
        diagonals.append([Fraction(entry, unit) for entry in diagonal])
    radius = root_bound(off, up=True) + eta * (2 + eta) * root_bound(whole, up=True)
    second = diagonals[1] if len(diagonals) > 1 else [None] * len(diagonals[0])
    return tuple(
        Enclosed(s_squared=first, d=d, radius=radius)
        for first, d in zip(diagonals[0], second, strict=True)
    )


def _refined(matrices: list[_Scaled], basis: np.ndarray) -> fmpz_mat:
    """Return the basis after one step of Newton's method for eigenvectors, at REFINED_BITS.

    Source: Ogita and Aishima's iteration (2018). Pairs of eigenvalues that floats cannot tell
    apart are only made orthogonal; nothing depends on it, the result is checked like any other.
    """
    start = fixed(basis, FLOAT_BITS)
    one = 1 << (2 * FLOAT_BITS)
    size = start.nrows()
    defect = start.transpose() * start
    for index in range(size):
        defect[index, index] = defect[index, index] - one
    gram = -_floats(defect, one)  # 1 - VᵀV, without cancellation
    step = gram / 2
    done = np.zeros((size, size), dtype=bool)
    for matrix in matrices:
        image = _floats(start.transpose() * (matrix.whole * start), one * matrix.denominator)
        values = np.diag(image) / (1 - np.diag(gram))
        gaps = values[None, :] - values[:, None]
        apart = (np.abs(gaps) > 1e-8 * np.abs(values).max(initial=0.0)) & ~done
        fine = (image + values[None, :] * gram)[apart] / gaps[apart]
        step[apart] = fine
        done |= apart
    correction = start * fixed(np.nan_to_num(np.clip(step, -1.0, 1.0)), STEP_BITS)
    return start * (1 << STEP_BITS) + correction


def _floats(matrix: fmpz_mat, unit: int) -> np.ndarray:
    flat = [int(entry) / unit for entry in matrix.entries()]
    return np.array(flat).reshape(matrix.nrows(), matrix.ncols())


def square_sum(matrix: fmpz_mat) -> int:
    """Return the sum of the squares of all entries."""
    return int(sum((entry * entry for entry in matrix.entries()), fmpz(0)))


def root_bound(value: Fraction, *, up: bool) -> Fraction:
    """Return a bound of the square root from above or below, good to about 40 digits."""
    scale = 1 << max(0, 136 - (value.numerator.bit_length() - value.denominator.bit_length()) // 2)
    whole = value * scale * scale
    floor = isqrt(whole.numerator // whole.denominator)
    exact = whole.denominator == 1 and floor * floor == whole.numerator
    return Fraction(floor + (1 if up and not exact else 0), scale)
