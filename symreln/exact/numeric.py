"""Floating-point modes from exact subspaces: the one place where floats enter.

The spaces come from exact Krylov vectors projected on a certified root, so nearly degenerate
singular values are told apart as well as distant ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_poly, fmpz_mat, fmpz_poly

from symreln.errors import InputError
from symreln.exact import enclosure, integers
from symreln.exact.spectrum import JointSpectrum, Mode, ModeClass, joint_spectrum

_NumpyMode = tuple[float, np.ndarray]
#: A column's entries that are not exactly 0: modes of structured data have few others.
_Column = dict[int, arb]

_START_BITS = 128
_MOST_BITS = 1 << 14


def numpy_modes(spectrum: JointSpectrum) -> tuple[_NumpyMode, ...]:
    """Return (s, V) in float64 for every mode, in the order of ``spectrum.modes``.

    s is correctly rounded up to one unit in the last place; V (n_x × m, orthonormal columns)
    spans the mode's space to about 1e-13, and U = Sigma^{yx} V / s. Where the parameters take
    values at which modes collide, or a class degenerates, each mode gets its share of the joint
    eigenspace.

    Raises:
        InputError: A parameter has no value.
    """
    missing = [name for name in spectrum.parameters if name not in spectrum.values]
    if missing:
        msg = f"numbers need a value for {', '.join(missing)}; set it under [parameters]"
        raise InputError(msg)
    point = {name: Fraction(spectrum.values[name]) for name in spectrum.parameters}
    spans = {id(each): _spanning(spectrum, each, point) for each in spectrum.classes}
    if point and any(_has_double_roots(minpoly) for _, _, minpoly in spans.values()):
        return _shared(spectrum, point)
    found: list[_NumpyMode] = []
    for mode in spectrum.modes:
        basis = _orthonormal(spans[id(mode.mode_class)], mode.root)
        if basis is None:
            return _shared(spectrum, point)
        found.append((mode.s.to_float(point), basis))
    return tuple(found)


_Spanning = tuple[list[fmpz_mat], list[list[Fraction]], tuple[Fraction, ...]]


def _spanning(
    spectrum: JointSpectrum, mode_class: ModeClass, point: Mapping[str, Fraction]
) -> _Spanning:
    """Return (words, weights, f): Σ_j weights_j(theta)·words[j] spans the mode of a root theta."""
    generators, _ = mode_class.generators.substitute(point).integers()
    if mode_class.degree == 1:
        return [generators], [[Fraction(1)]], ()
    operator, scale = spectrum.operator_matrix(mode_class).substitute(point).integers()
    words = integers.iterated(lambda word: operator * word, generators, mode_class.degree)
    minpoly = tuple(c.substitute(point).to_fraction() for c in mode_class.minpoly)
    # T^j W = words[j]/scale^j, and f(x)/(x - theta) = Σ_j (Σ_{i>j} f_i theta^{i-j-1}) x^j.
    rows = [[c / Fraction(scale) ** j for c in minpoly[j + 1 :]] for j in range(mode_class.degree)]
    return words, rows, minpoly


def _has_double_roots(minpoly: tuple[Fraction, ...]) -> bool:
    polynomial = fmpq_poly([fmpq(value.numerator, value.denominator) for value in minpoly])
    return polynomial.gcd(polynomial.derivative()).degree() > 0


def _orthonormal(span: _Spanning, root: int) -> np.ndarray | None:
    """Return an orthonormal basis of the columns of Σ_j w_j(theta)·words[j], or None.

    None says that the columns are dependent, or that eight times the bits of the integers do not
    tell.
    """
    words, _, minpoly = span
    # What cancels has no more bits than a few products of these integers.
    parts = (part.bit_length() for c in minpoly for part in (c.numerator, c.denominator))
    size = max(*(fmpz_poly(word.entries()).height_bits() for word in words), *parts, 1)
    bits, most = _START_BITS, max(_MOST_BITS if minpoly else _START_BITS << 3, 8 * size)
    while bits <= most:
        with enclosure.precision(bits):
            columns = _ball_columns(span, root, bits)
            if columns is not None and all(
                entry.rad() < 1e-20 for column in columns for entry in column.values()
            ):
                result = np.zeros((words[0].nrows(), words[0].ncols()))
                for index, column in enumerate(columns):
                    for row, entry in column.items():
                        result[row, index] = float(entry.mid())
                return result
        bits *= 2
    return None


def _ball_columns(span: _Spanning, root: int, bits: int) -> list[_Column] | None:
    """Return a root's orthonormal columns in balls; None where the precision does not suffice."""
    words, weights, minpoly = span
    total = arb_mat(words[0])
    if minpoly:
        theta = enclosure.real_roots(minpoly, bits)[root]
        total = arb_mat(words[0].nrows(), words[0].ncols())
        for word, weight in zip(words, weights, strict=True):
            total += arb_mat(word) * enclosure.evaluate(weight, theta)
    done: list[_Column] = []
    for entries in total.transpose().tolist():
        current = {row: entry for row, entry in enumerate(entries) if not entry.is_zero()}
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


def _shared(spectrum: JointSpectrum, point: Mapping[str, Fraction]) -> tuple[_NumpyMode, ...]:
    """Split the eigenspaces at the point itself among the modes that meet in them.

    Modes are matched by s, and by d where it is defined, to 1e-12 of the largest: only here can
    two numbers meet, and they meet exactly.
    """
    if not point:
        msg = "an eigenbasis without parameters was not found; a bug of symreln"
        raise ArithmeticError(msg)
    here = joint_spectrum(spectrum.sigma_yx.substitute(point), spectrum.sigma_x.substitute(point))
    left = [v for _, v in numpy_modes(here)]
    known = [_pair(mode, {}) for mode in here.modes]
    reach = [1e-12 * (max(map(abs, numbers)) or 1.0) for numbers in zip(*known, strict=True)]
    result: list[_NumpyMode] = []
    for mode in spectrum.modes:
        pair = _pair(mode, point)
        taken: list[np.ndarray] = []
        missing = mode.multiplicity
        for index, other in enumerate(known):
            # Without d on one side s alone decides.
            close = all(abs(a - b) <= most for a, b, most in zip(pair, other, reach, strict=False))
            if close and missing and left[index].shape[1]:
                share = left[index][:, :missing]
                left[index] = left[index][:, share.shape[1] :]
                missing -= share.shape[1]
                taken.append(share)
        if missing:
            msg = f"a mode with s = {pair[0]} was not found at {dict(point)}"
            raise ArithmeticError(msg)
        result.append((pair[0], np.concatenate(taken, axis=1)))
    return tuple(result)


def _pair(mode: Mode, point: Mapping[str, Fraction]) -> tuple[float, ...]:
    """Return (s, d), or (s,) where the mode has no d."""
    s = mode.s.to_float(point)
    return (s,) if mode.d is None else (s, mode.d.to_float(point))
