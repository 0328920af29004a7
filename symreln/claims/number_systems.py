"""Float64 and balls for modes and their vectors, so that a head start is written once."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, arb_mat

from symreln.base.records import record
from symreln.claims.probes import mode_bases
from symreln.errors import LimitReachedError
from symreln.exact.numeric import ball_modes, balls
from symreln.laws.ops import ARB, NUMPY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from symreln.claims.derivation import PathwayDerivation
    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.exact.matrix import ExactMatrix
    from symreln.laws.ops import Ops

#: A matrix of floats or of balls.
Matrix = Any
#: U and V of a mode, one column a copy.
Vectors = tuple[Matrix, Matrix]

#: Relative distance up to which float64 takes two numbers for one, and a part of something for 0:
#: far above its rounding, 1e-16 times the condition of what is computed; far below what data tell.
ALIKE = 1e-9
#: What a bound that is computed in float64 is raised by, for its own rounding.
_RAISED = 1 + 2.0**-20


@record
class Numbers:
    """A number system for modes and their vectors, at the declared values.

    Attributes:
        ops: The number system.
        number: Returns s or d of a mode.
        vectors: Returns V of every mode of a pathway that learns, by label.
        matrix: Returns an exact matrix.
        in_floats: The same in float64.
        times: Product of two matrices.
        solve: Returns the inverse of one matrix times another.
        given: Returns a matrix of floats as one of the system.
        entries: Returns the entries of a matrix, shape (rows, columns).
        norm: Returns a bound of a matrix's largest singular value.
        around: Returns a matrix, or a number, that is known up to an error of its entries.
        stacked: Returns two matrices of as many columns as one above the other.
        middle: Returns a matrix without what is not known of it.
        left_out: Share of a sum that the terms left out may be.
    """

    ops: Ops
    number: Callable[[AlgebraicNumber], Any]
    vectors: Callable[[PathwayDerivation], dict[str, Matrix]]
    matrix: Callable[[ExactMatrix], Matrix]
    in_floats: Callable[[ExactMatrix], np.ndarray]
    times: Callable[[Matrix, Matrix], Matrix]
    solve: Callable[[Matrix, Matrix], Matrix]
    given: Callable[[np.ndarray], Matrix]
    entries: Callable[[Matrix], np.ndarray]
    norm: Callable[[Matrix], float]
    around: Callable[[Any, float], Any]
    stacked: Callable[[Matrix, Matrix], Matrix]
    middle: Callable[[Matrix], Matrix]
    left_out: float


def in_floats(values: Mapping[str, Fraction]) -> Numbers:
    """Return float64 at some values of the parameters."""

    def matrix(exact: ExactMatrix) -> np.ndarray:
        return exact.substitute(values).to_numpy()

    return Numbers(
        ops=NUMPY,
        number=lambda number: np.float64(number.to_float(values)),
        vectors=lambda pathway: {label: v for label, (_, v) in mode_bases(pathway).items()},
        matrix=matrix,
        in_floats=matrix,
        times=np.matmul,
        solve=np.linalg.solve,
        given=lambda matrix: matrix,
        entries=lambda matrix: matrix,
        norm=_norm,
        around=lambda matrix, error: matrix,
        stacked=lambda above, below: np.vstack([above, below]),
        middle=lambda matrix: matrix,
        left_out=2.0**-60,
    )


def in_balls(values: Mapping[str, Fraction], bits: int) -> Numbers:
    """Return balls of a working precision, which holds while they are used.

    They hold the formula's numbers. Which parts of it are 0, as no ball can tell, float64 decides.
    """

    def number(exact: AlgebraicNumber) -> arb:
        # What vanishes must be exactly 0 to select its case: no ball gets sharp enough.
        return arb(0) if exact.sign(values) == 0 else exact.ball(values, bits)

    def vectors(pathway: PathwayDerivation) -> dict[str, Matrix]:
        found = ball_modes(pathway.spectrum, values, bits)
        modes = zip(pathway.modes, found, strict=True)
        return {mode.label: each for mode, each in modes if not mode.is_null}

    return Numbers(
        ops=ARB,
        number=number,
        vectors=vectors,
        matrix=lambda matrix: balls(matrix.substitute(values)),
        in_floats=in_floats(values).matrix,
        times=lambda one, other: one * other,
        solve=_solved,
        given=lambda matrix: arb_mat(matrix.tolist()),
        entries=lambda matrix: np.array(matrix.tolist(), dtype=object),
        norm=lambda matrix: _norm(_bounds(matrix)) * _RAISED,
        around=_around,
        stacked=lambda above, below: arb_mat(above.tolist() + below.tolist()),
        middle=lambda matrix: matrix.mid(),
        left_out=2.0**-bits,
    )


def floats(matrix: Matrix) -> np.ndarray:
    """Return a matrix in float64."""
    return matrix if isinstance(matrix, np.ndarray) else np.array(matrix.tolist(), dtype=float)


def _norm(matrix: np.ndarray) -> float:
    """Return √(‖M‖₁ ‖M‖_∞), which no singular value is above."""
    sizes = np.abs(matrix)
    columns, rows = (float(sizes.sum(axis=axis).max(initial=0)) for axis in (0, 1))
    return sqrt(columns) * sqrt(rows)


def _bounds(matrix: arb_mat) -> np.ndarray:
    """Return upper bounds of a matrix's entries."""
    upper = [float(entry.abs_upper()) for entry in matrix.entries()]
    return np.array(upper).reshape(matrix.nrows(), matrix.ncols())


def _solved(one: arb_mat, other: arb_mat) -> arb_mat:
    try:
        return one.solve(other)
    except ZeroDivisionError:
        msg = "head start: balls of this precision do not tell a matrix from a singular one"
        raise LimitReachedError(msg) from None


def _around(value: Any, error: float) -> Any:
    unknown = arb(0, error * _RAISED)
    if isinstance(value, arb):
        return value + unknown
    return arb_mat([[entry + unknown for entry in row] for row in value.tolist()])
