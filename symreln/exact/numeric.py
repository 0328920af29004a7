"""Floating-point modes from exact subspaces: the one place where floats enter.

The spaces come from exact Krylov vectors projected on a certified root, so nearly degenerate
singular values are told apart as well as distant ones.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, arb_mat, fmpz_mat

from symreln.errors import InputError
from symreln.exact import enclosure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.exact.spectrum import JointSpectrum, Mode, ModeClass

NumpyMode = tuple[float, float, np.ndarray]

# QR in float64 loses about log10(condition) digits of 16; 100 keeps the basis good to 1e-13.
WELL_CONDITIONED = 100.0
START_BITS = 128
MOST_BITS = 1 << 14


def numpy_modes(spectrum: JointSpectrum, values: Mapping[str, Fraction]) -> tuple[NumpyMode, ...]:
    """Return (s, d, V) for every mode, in the order of ``spectrum.modes``.

    s and d are correctly rounded up to one unit in the last place; V (n_x × m, orthonormal
    columns) spans the mode's space to about 1e-13. Where the parameters take values at which
    modes collide, or a class degenerates, each mode gets its share of the joint eigenspace.

    Raises:
        InputError: A parameter has no value.
    """
    missing = [name for name in spectrum.parameters if name not in values]
    if missing:
        msg = (
            f"numbers need a value for {', '.join(missing)}; "
            "set it under [parameters] or pass values={name: Fraction}"
        )
        raise InputError(msg)
    point = {name: Fraction(values[name]) for name in spectrum.parameters}
    bases = {id(c): _class_bases(spectrum, c, point) for c in spectrum.classes}
    broken = any(basis is None for basis in bases.values())
    if broken and not point:
        msg = "an eigenbasis without parameters was not found; a bug of symreln"
        raise ArithmeticError(msg)
    shared = _shared_bases(spectrum, point) if broken else {}
    result: list[NumpyMode] = []
    for mode in spectrum.modes:
        found = bases[id(mode.mode_class)]
        if broken:
            v = shared[id(mode)]
        else:
            assert found is not None
            v = found[mode.root]
        result.append((mode.s.to_float(point), _d(spectrum, mode, v, point), v))
    return tuple(result)


def _d(spectrum: JointSpectrum, mode: Mode, v: np.ndarray, point: Mapping[str, Fraction]) -> float:
    if not mode.d_is_average:
        return mode.d.to_float(point)
    # The exact mean is a long number in Q(theta) of no further use; V^T Sigma^x V has it.
    sigma_x = spectrum.sigma_x.substitute(point).to_numpy()
    return float(np.trace(v.T @ sigma_x @ v) / mode.multiplicity)


def _class_bases(
    spectrum: JointSpectrum, mode_class: ModeClass, point: Mapping[str, Fraction]
) -> list[np.ndarray] | None:
    """Return an orthonormal basis for every root, or None where the class degenerates here."""
    words, rows, minpoly = _spanning(spectrum, mode_class, point)
    bases: list[np.ndarray] = []
    for root in range(mode_class.degree):
        basis = orthonormal(words, rows, minpoly, root)
        if basis is None:
            return None
        bases.append(basis)
    return bases


Spanning = tuple[list[fmpz_mat], list[list[Fraction]], tuple[Fraction, ...]]


def _spanning(
    spectrum: JointSpectrum, mode_class: ModeClass, point: Mapping[str, Fraction]
) -> Spanning:
    """Return (words, weights, f): Σ_j weights_j(theta)·words[j] spans the mode of a root theta."""
    generators, _ = mode_class.generators.substitute(point).integers()
    if mode_class.degree == 1:
        return [generators], [[Fraction(1)]], ()
    operator, scale = spectrum.operator_matrix(mode_class).substitute(point).integers()
    words = [generators]
    while len(words) < mode_class.degree:
        words.append(operator * words[-1])
    minpoly = tuple(c.substitute(point).to_fraction() for c in mode_class.minpoly)
    # T^j W = words[j]/scale^j, and f(x)/(x - theta) = Σ_j (Σ_{i>j} f_i theta^{i-j-1}) x^j.
    rows = [[c / Fraction(scale) ** j for c in minpoly[j + 1 :]] for j in range(mode_class.degree)]
    return words, rows, minpoly


def mode_columns(spectrum: JointSpectrum, mode: Mode, bits: int) -> list[list[arb]]:
    """Return balls for columns that span a mode of a spectrum without parameters."""
    words, rows, minpoly = _spanning(spectrum, mode.mode_class, {})
    return _columns(words, rows, minpoly, mode.root, bits)


def orthonormal(
    words: Sequence[fmpz_mat],
    weights: Sequence[Sequence[Fraction]],
    minpoly: tuple[Fraction, ...],
    root: int = 0,
) -> np.ndarray | None:
    """Return an orthonormal basis of the columns of Σ_j w_j(theta)·words[j], or None.

    None says that the columns are dependent, to 1024 bits where theta is irrational, or that eight
    times the bits of the integers do not tell.
    """
    height, width = words[0].nrows(), words[0].ncols()
    # What cancels has no more bits than a few products of these integers.
    entries = (abs(int(x)) for word in words for x in word.entries())
    parts = (part for c in minpoly for part in (abs(c.numerator), c.denominator))
    size = max(*entries, *parts, 1).bit_length()
    bits, most = START_BITS, max(MOST_BITS if minpoly else START_BITS << 3, 8 * size)
    while bits <= most:
        with enclosure.precision(bits):
            columns = _columns(words, weights, minpoly, root, bits)
            floats = _unit_columns(columns, height, width)
            if floats is not None:
                q, r = np.linalg.qr(floats)
                if np.linalg.cond(r) < WELL_CONDITIONED:
                    return q
                exact = _gram_schmidt(columns)
                if exact is not None:
                    return exact
        bits *= 2
        if bits > 1024 and minpoly and _repeated(minpoly, root):
            return None
    return None


@lru_cache(maxsize=1024)
def _repeated(minpoly: tuple[Fraction, ...], root: int) -> bool:
    """Whether a root coincides with a neighbour as far as 2048 bits can tell."""
    roots = enclosure.real_roots(minpoly, 2048)
    mine = roots[root]
    return any(other.overlaps(mine) for i, other in enumerate(roots) if i != root)


def _columns(
    words: Sequence[fmpz_mat],
    weights: Sequence[Sequence[Fraction]],
    minpoly: tuple[Fraction, ...],
    root: int,
    bits: int,
) -> list[list[arb]]:
    if len(words) == 1:
        total = arb_mat(words[0])
    else:
        theta = enclosure.real_roots(minpoly, bits)[root]
        total = arb_mat(words[0].nrows(), words[0].ncols())
        for word, weight in zip(words, weights, strict=True):
            total += arb_mat(word) * enclosure.evaluate(weight, theta)
    return total.transpose().tolist()


def _unit_columns(columns: list[list[arb]], height: int, width: int) -> np.ndarray | None:
    """Return the columns scaled to length 1 in float64, or None where a ball is too wide."""
    result = np.zeros((height, width))
    for index, column in enumerate(columns):
        # Modes of structured data are mostly exact zeros.
        filled = [(row, entry) for row, entry in enumerate(column) if not entry.is_zero()]
        largest = max((abs(entry).upper() for _, entry in filled), default=arb(0))
        if not largest > 0:
            return None
        for row, entry in filled:
            scaled = entry / largest
            if not scaled.rad() < 1e-20:
                return None
            result[row, index] = float(scaled.mid())
        result[:, index] /= np.linalg.norm(result[:, index])
    return result


def _gram_schmidt(columns: list[list[arb]]) -> np.ndarray | None:
    """Orthonormalise in ball arithmetic; None where the precision does not suffice."""
    done: list[list[arb]] = []
    for column in columns:
        current = list(column)
        for other in done:
            dot = sum((x * y for x, y in zip(other, current, strict=True)), arb(0))
            current = [x - dot * y for x, y in zip(current, other, strict=True)]
        square = sum((x * x for x in current), arb(0))
        if not square > 0:
            return None
        norm = square.sqrt()
        current = [x / norm for x in current]
        if not all(entry.rad() < 1e-20 for entry in current):
            return None
        done.append(current)
    return np.array([[float(entry.mid()) for entry in column] for column in done]).T


def _shared_bases(spectrum: JointSpectrum, point: Mapping[str, Fraction]) -> dict[int, np.ndarray]:
    """Split the eigenspaces at the point itself among the modes that meet in them.

    Modes are matched by s, and by d where it is defined, to 1e-12 of the largest: only here can
    two numbers meet, and they meet exactly.
    """
    from symreln.exact.spectrum import joint_spectrum

    here = joint_spectrum(spectrum.sigma_yx.substitute(point), spectrum.sigma_x.substitute(point))
    local = numpy_modes(here, {})
    by_d = spectrum.commutes
    scale_s = max(s for s, _, _ in local) or 1.0
    scale_d = max(abs(d) for _, d, _ in local) or 1.0
    left = [v for _, _, v in local]
    result: dict[int, np.ndarray] = {}
    for mode in spectrum.modes:
        s = mode.s.to_float(point)
        d = mode.d.to_float(point) if by_d else 0.0
        taken: list[np.ndarray] = []
        missing = mode.multiplicity
        for index, (s_here, d_here, _) in enumerate(local):
            close = abs(s - s_here) <= 1e-12 * scale_s and (
                not by_d or abs(d - d_here) <= 1e-12 * scale_d
            )
            if close and missing and left[index].shape[1]:
                share = left[index][:, :missing]
                left[index] = left[index][:, share.shape[1] :]
                missing -= share.shape[1]
                taken.append(share)
        if missing:
            msg = f"a mode with s = {s} was not found at {dict(point)}"
            raise ArithmeticError(msg)
        result[id(mode)] = np.concatenate(taken, axis=1)
    return result
