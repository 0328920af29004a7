r"""Singular vectors of a joint spectrum, exact: one column a mode, degenerate ones one by one.

A mode of root theta is spanned by columns over K = Q(parameters)[theta]. Of several the reduced
echelon form is taken, whose rows part the space along disjoint sets of inputs wherever it is a sum
of such parts, as every symmetry of the data that maps it onto itself keeps them (wavelets of a
hierarchy); within a part the rows are made orthogonal in their order (contrasts). Lengths are
square roots in K. Any orthonormal basis of the space would do: this one is a choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpz_mat

from symreln.base.linked import linked
from symreln.base.records import record
from symreln.errors import InputError, NotSupportedError
from symreln.exact.enclosure import precision
from symreln.exact.field import Coefficients, Field
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.spectrum import JointSpectrum, Mode, ModeClass, ordering_point

if TYPE_CHECKING:
    import sympy as sp

    from symreln.exact.algebraic import AlgebraicNumber

_Vector = list[Coefficients]
_Side = tuple[list[_Vector], tuple[Coefficients, ...]]
#: Working precisions of numbers that become floats, and the radius up to which they do.
_BITS, _ROUNDING = (96, 384, 1536, 6144), 1e-16


@record(eq=False)
class Columns:
    """Orthogonal columns over Q(parameters)[theta], with their lengths.

    Attributes:
        mode: Whose they are.
        entries: Rows of each column.
        squares: Squared length of each column.
    """

    mode: Mode
    entries: tuple[_Vector, ...]
    squares: tuple[Coefficients, ...]

    def to_sympy(self, symbols: Mapping[str, sp.Symbol]) -> list[list[Any]]:
        """Return the unit columns as expressions: radicals up to degree 2, else roots.

        Raises:
            NotSupportedError: They are roots of degree > 2 that depend on parameters.
        """
        found, mode_class = [], self.mode.mode_class
        for column, square in zip(self.entries, self.squares, strict=True):
            inverse = _inverse(mode_class.minpoly, square)
            shorter = exact_root(mode_class.number(inverse, self.mode.root, is_sqrt=True), symbols)
            units = [
                exact_root(mode_class.number(entry, self.mode.root), symbols) * shorter
                for entry in column
            ]
            found.append([x.cancel() if symbols and x.is_rational_function() else x for x in units])
        return found

    def to_numpy(self, values: Mapping[str, Fraction]) -> np.ndarray | None:
        """Return the unit columns in float64, shape (rows, columns); None where there are none.

        That is without a value of a parameter, at values at which the mode is another one, or where
        the working precisions do not give its digits.
        """
        root, number = self.mode.root, self.mode.mode_class.number
        distinct = {id(x): number(x, root) for x in chain(*self.entries)}
        for bits in _BITS:
            # In balls, which have room for numbers of any size on the way.
            with precision(bits):
                try:
                    known = {key: each.ball(values, bits) for key, each in distinct.items()}
                    lengths = [
                        1 / number(square, root, is_sqrt=True).ball(values, bits)
                        for square in self.squares
                    ]
                except (InputError, ZeroDivisionError):
                    return None
                units = [
                    {key: known[key] * length for key in {*map(id, column)}}
                    for column, length in zip(self.entries, lengths, strict=True)
                ]
            if all(float(each.rad()) <= _ROUNDING for own in units for each in own.values()):
                found = [
                    [float(own[id(entry)].mid()) for entry in column]
                    for own, column in zip(units, self.entries, strict=True)
                ]
                return np.array(found).T if np.isfinite(found).all() else None
        return None


def exact_root(number: AlgebraicNumber, symbols: Mapping[str, sp.Symbol]) -> Any:
    """Return a number as an expression: radicals up to degree 2, else in a root of a polynomial.

    Raises:
        NotSupportedError: It is a root of degree > 2 that depends on parameters.
    """
    degree = len(number.minpoly) - 1
    if number.scalar is not None or degree < 3:
        return number.to_sympy(symbols)
    if number.parameters:
        msg = (
            f"singular values and vectors: they are roots of degree {degree} in the parameters, "
            "without a formula. derivation.at_values has them at the declared values"
        )
        raise NotSupportedError(msg)
    import sympy as sp

    theta = _root(tuple(each.to_fraction() for each in number.minpoly), number.root)
    # Written, not evaluated: SymPy would ask for the sign of every root.
    powers = [sp.Pow(theta, n, evaluate=n < 2) for n in range(degree)]
    total = sp.Add(
        *(
            sp.Mul(each.to_sympy(), power, evaluate=False)
            for each, power in zip(number.coefficients, powers, strict=True)
            if not each.is_zero
        ),
        evaluate=False,
    )
    return sp.Pow(total, sp.S.Half, evaluate=False) if number.is_sqrt else total


@lru_cache(maxsize=64)
def _inverse(minpoly: Coefficients, value: Coefficients) -> Coefficients:
    return Field(minpoly).inverse(value)


@lru_cache(maxsize=64)
def _root(minpoly: tuple[Fraction, ...], place: int) -> Any:
    """Return a root of a polynomial, coefficients low to high, by its place among the real ones."""
    import sympy as sp

    return sp.CRootOf(sp.Poly([*map(sp.Rational, reversed(minpoly))], sp.Symbol("x")), place)


def singular_vectors(spectrum: JointSpectrum) -> tuple[tuple[Columns, Columns], ...]:
    """Return (U, V) of every mode with s > 0, in the order of ``spectrum.modes``.

    Sigma^{yx} V = U s, U^T U = V^T V = 1.
    """
    known: dict[int, list[_Side]] = {}
    found = []
    for mode in spectrum.modes:
        if mode.is_null:
            continue
        if id(mode.mode_class) not in known:
            known[id(mode.mode_class)] = _sides(spectrum, mode.mode_class)
        found.append(_signed(spectrum, mode, known[id(mode.mode_class)]))
    return tuple(found)


def _sides(spectrum: JointSpectrum, mode_class: ModeClass) -> list[_Side]:
    """Return U and V of conjugate modes, up to signs, with squared lengths."""
    field, v = Field(mode_class.minpoly), list(_orthogonal(spectrum, mode_class))
    u = [_shortened(field, column) for column in _images(field, spectrum.sigma_yx, v)]
    return [(side, tuple(_dot(field, each, each) for each in side)) for side in (u, v)]


def _signed(spectrum: JointSpectrum, mode: Mode, sides: list[_Side]) -> tuple[Columns, Columns]:
    """Return (U, V) of a mode, the first entry of every column of V that is not 0 positive."""
    field, number = Field(mode.mode_class.minpoly), mode.mode_class.number
    point = ordering_point(spectrum.parameters, spectrum.values)
    first = [next(entry for entry in column if not _is_zero(entry)) for column in sides[1][0]]
    turned = [number(entry, mode.root).sign(point) < 0 for entry in first]

    def minus(column: _Vector) -> _Vector:  # equal entries stay one
        known = {id(entry): field.scale(entry, -1) for entry in column}
        return [known[id(entry)] for entry in column]

    u, v = (
        Columns(
            mode=mode,
            entries=tuple(minus(x) if turn else x for x, turn in zip(side, turned, strict=True)),
            squares=squares,
        )
        for side, squares in sides
    )
    return u, v


def _orthogonal(spectrum: JointSpectrum, mode_class: ModeClass) -> Iterator[_Vector]:
    """Yield orthogonal columns that span the modes of a class, over its field."""
    field = Field(mode_class.minpoly)
    for part in _parts(_echelon(field, spectrum.spanning(mode_class))):
        done: list[tuple[_Vector, Coefficients]] = []
        for vector in part:
            rest = vector
            for other, square in done:
                factor = field.multiply(_dot(field, vector, other), field.inverse(square))
                rest = _less(field, rest, factor, other)
            rest = _shortened(field, rest)
            done.append((rest, _dot(field, rest, rest)))
            yield rest


def _echelon(field: Field, vectors: list[_Vector]) -> list[_Vector]:
    """Return the reduced echelon form of independent vectors."""
    if len(vectors) == 1:
        return vectors
    if field.degree == 1 and not field.parameters:
        matrix, _ = ExactMatrix.from_rows([[entry[0] for entry in v] for v in vectors]).integers()
        reduced, bottom, _ = matrix.rref()
        assert isinstance(reduced, fmpz_mat)
        return [
            [field.constant(Scalar((), int(x), int(bottom))) for x in row]
            for row in reduced.tolist()
        ]
    left, done, place = list(vectors), list[_Vector](), 0
    while left:
        chosen = next((i for i, v in enumerate(left) if not _is_zero(v[place])), None)
        if chosen is not None:
            pivot = left.pop(chosen)
            inverse = field.inverse(pivot[place])
            pivot = [field.multiply(entry, inverse) for entry in pivot]
            left = [_less(field, v, v[place], pivot) for v in left]
            done = [*(_less(field, v, v[place], pivot) for v in done), pivot]
        place += 1
    return done


def _parts(vectors: Sequence[_Vector]) -> list[list[_Vector]]:
    """Return the vectors by connected sets of places at which they are not 0."""
    places = ([i for i, entry in enumerate(v) if not _is_zero(entry)] for v in vectors)
    return [[vectors[number] for number in part] for part in linked(places)]


def _shortened(field: Field, vector: _Vector) -> _Vector:
    """Return a multiple of a vector whose entries are integral over the parameters, if rational."""
    if field.degree > 1:
        return vector
    row = ExactMatrix.from_rows([[entry[0] for entry in vector]], field.parameters).reduced()
    content = row.content() or 1
    return [(each,) for each in row.divided(content, 1).rows()[0]]


def _is_zero(entry: Coefficients) -> bool:
    return all(each.is_zero for each in entry)


def _dot(field: Field, a: _Vector, b: _Vector) -> Coefficients:
    total = field.constant(0)
    for x, y in zip(a, b, strict=True):
        if not _is_zero(x) and not _is_zero(y):
            total = field.add(total, field.multiply(x, y))
    return total


def _images(field: Field, matrix: ExactMatrix, columns: Sequence[_Vector]) -> list[_Vector]:
    """Return what a matrix makes of columns."""
    parts = []
    for power in range(field.degree):
        table = [[entry[power] for entry in row] for row in zip(*columns, strict=True)]
        parts.append((matrix @ ExactMatrix.from_rows(table, field.parameters)).T.rows())
    return [[*zip(*column, strict=True)] for column in zip(*parts, strict=True)]


def _less(field: Field, vector: _Vector, factor: Coefficients, other: _Vector) -> _Vector:
    """Return vector − factor·other."""
    if _is_zero(factor):
        return vector
    minus = field.scale(factor, -1)
    return [
        x if _is_zero(y) else field.add(x, field.multiply(minus, y))
        for x, y in zip(vector, other, strict=True)
    ]
