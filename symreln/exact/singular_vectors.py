"""Certified products of singular vectors: balls as narrow as what is printed of them needs.

u = Sigma^{yx} v / s in float64 is off by the rounding of Sigma^{yx} v over s, which for modes of
tiny s is more than what is printed. Here v comes from exact spaces in ball arithmetic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from flint import arb, arb_mat

from symreln.exact import enclosure
from symreln.exact.numeric import MOST_BITS, START_BITS, mode_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from symreln.exact.matrix import ExactMatrix
    from symreln.exact.spectrum import JointSpectrum


#: U of shape (n_y, modes) and V of shape (n_x, modes), degenerate modes one by one.
Vectors = tuple[arb_mat, arb_mat]
#: A column's entries that are not exactly 0.
Column = dict[int, arb]


def certified(
    spectra: Sequence[JointSpectrum],
    product: Callable[[list[Vectors]], list[arb_mat]],
    radius: float,
) -> list[np.ndarray]:
    """Return matrices made of singular vectors, each entry within ``radius`` and a last place.

    Args:
        spectra: Spectra without parameters.
        product: Makes matrices of the vectors of the modes with s > 0 of every spectrum.
        radius: Largest radius of a ball that is taken for its midpoint.

    Raises:
        ArithmeticError: No precision up to ``MOST_BITS`` does.
    """
    bits = START_BITS
    while bits <= MOST_BITS:
        with enclosure.precision(bits):
            vectors = [found for s in spectra if (found := _vectors(s, bits)) is not None]
            if len(vectors) == len(spectra):
                found = product(vectors)
                if all(entry.rad() < radius for matrix in found for entry in matrix.entries()):
                    return [floats(matrix) for matrix in found]
        bits *= 2
    msg = f"singular vectors are not separated from dependent ones by {MOST_BITS} bits"
    raise ArithmeticError(msg)


def balls(matrix: ExactMatrix) -> arb_mat:
    """Return an exact matrix without parameters as balls at the working precision."""
    numerator, denominator = matrix.integers()
    return arb_mat(numerator) / denominator


def floats(matrix: arb_mat) -> np.ndarray:
    """Return the midpoints."""
    table = [[float(entry.mid()) for entry in row] for row in matrix.tolist()]
    return np.array(table).reshape(matrix.nrows(), matrix.ncols())


def _vectors(spectrum: JointSpectrum, bits: int) -> Vectors | None:
    """Return (U, V) of the modes with s > 0, or None where the precision does not suffice."""
    sigma_yx = balls(spectrum.sigma_yx)
    right: list[Column] = []
    strengths: list[arb] = []
    for mode in spectrum.modes:
        if mode.is_null:
            continue
        found = _orthonormal(mode_columns(spectrum, mode, bits))
        s = mode.s.ball({}, bits)
        if found is None or not s > 0:
            return None
        right += found
        strengths += [s] * len(found)
    v = arb_mat(spectrum.n_x, len(right))
    for place, column in enumerate(right):
        for row, entry in column.items():
            v[row, place] = entry
    u = sigma_yx * v
    for place, s in enumerate(strengths):
        for row in range(u.nrows()):
            u[row, place] = u[row, place] / s
    return u, v


def _orthonormal(columns: list[list[arb]]) -> list[Column] | None:
    """Orthonormalise; columns of structured data are mostly exact zeros, and orthogonal."""
    done: list[Column] = []
    for column in columns:
        current = {row: entry for row, entry in enumerate(column) if not entry.is_zero()}
        for other in done:
            dot = sum((other[row] * current[row] for row in other.keys() & current.keys()), arb(0))
            if not dot.is_zero():
                for row, entry in other.items():
                    current[row] = current.get(row, arb(0)) - dot * entry
        square = sum((entry * entry for entry in current.values()), arb(0))
        if not square > 0:
            return None
        norm = square.sqrt()
        done.append({row: entry / norm for row, entry in current.items()})
    return done
