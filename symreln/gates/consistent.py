r"""Self-consistent gates: the ones that early training from small weights selects, exactly.

While weights are small the residual R is constant and a unit follows

.. math:: \tau\dot w = \sum_\mu g_\mu (b \cdot r_\mu)\, x_\mu / P, \qquad
   \tau\dot b = \sum_\mu g_\mu (w \cdot x_\mu)\, r_\mu / P, \qquad g = 1[X^T w > 0].

A direction stays fixed and grows with rate s where w and b are along a singular pair (v, u) of
:math:`R\,{\rm diag}(g) X^T/P` with s > 0 and v opens exactly the samples of g: then g is
self-consistent. Where s has several directions, any of their span will do: whether one opens the
right samples is a linear programme. (u, v) and (-u, -v) are both asked.

There need not be any. The rates are critical values of
:math:`\sum_\mu (w\cdot x_\mu)_+\,(b\cdot r_\mu)/P` on unit vectors; its maximum is smooth, and
then a self-consistent gate, unless samples with :math:`b\cdot r_\mu < 0` lie exactly on the
boundary of w: opening them would push w back, so units stay there. That is no gate of 0 and 1.

Source: Maennel et al. 2018, Boursier and Flammarion (early alignment); theory.md 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, Protocol, TypeVar

from flint import fmpq

from symreln.errors import InputError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.field import quotient_coefficients
from symreln.exact.linear_programming import Direction, Number, direction, dot
from symreln.exact.matrix import ExactMatrix
from symreln.exact.order import order_key
from symreln.exact.real_algebraic import Real, RealField
from symreln.exact.scalar import Scalar
from symreln.exact.spectrum import JointSpectrum, ModeClass, joint_spectrum
from symreln.gates.arrangement import without_parameters
from symreln.gates.serialise import Result

Vector = tuple[Number, ...]


class _HasSpeed(Protocol):
    @property
    def s(self) -> AlgebraicNumber: ...


Speedy = TypeVar("Speedy", bound=_HasSpeed)


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair:
    """A singular value of a gate's correlation with all its right singular vectors.

    Attributes:
        s: The singular value, positive.
        vectors: Independent vectors that span them, not normalised; rational numbers (``fmpq``)
            or elements of one real field.
    """

    s: AlgebraicNumber
    vectors: tuple[Vector, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class SelfConsistentGate(Result):
    """A gate with a direction that keeps it: a full one of 0 and 1, or a partial one.

    Attributes:
        signs: 1 open, -1 closed, 0 on the boundary, one a sample; zero samples count as closed.
        times_open: 1, 0, or on the boundary the fraction of time that a unit is open, one a
            sample.
        s: Growth rate, in units of 1/tau.
        v: The direction, not normalised; exact.
        dimension: Of the space of directions with this rate.
        largest: Whether s is the largest singular value of what drives w; partial gates are listed
            for this one only.
        unique: Whether direction and fractions are the only ones for these signs and s.
        size: How many gates a symmetry of the data makes alike, this one included.
    """

    JSON = (
        "pattern",
        "name=pattern",
        "kind",
        "size",
        "speed",
        "realisable",
        "self_consistent",
        "fractions",
        "unique",
        "largest",
        "dimension",
        "boundary",
    )
    realisable = self_consistent = True
    signs: tuple[int, ...]
    times_open: tuple[AlgebraicNumber, ...]
    s: AlgebraicNumber
    v: Vector
    dimension: int
    largest: bool
    unique: bool = True
    size: int = 1

    @property
    def gate(self) -> tuple[int, ...]:
        """0 or 1 a sample, samples on the boundary closed."""
        return tuple(int(sign > 0) for sign in self.signs)

    @property
    def boundary(self) -> tuple[int, ...]:
        """Samples, not zero, to which v is orthogonal."""
        return tuple(place for place, sign in enumerate(self.signs) if not sign)

    @property
    def kind(self) -> Literal["full", "partial"]:
        """Whether a unit must be open for a fraction of time on some boundary sample."""
        held = (self.times_open[place] for place in self.boundary)
        return "full" if all(value.is_zero for value in held) else "partial"

    @property
    def speed(self) -> AlgebraicNumber:
        """The growth rate."""
        return self.s

    @property
    def fractions(self) -> tuple[AlgebraicNumber, ...]:
        """The gate on every / of the pattern, in order; empty for a full gate."""
        return tuple(self.times_open[z] for z in self.boundary if self.kind == "partial")

    @property
    def course(self) -> tuple[int, ...]:
        """What tells gates apart: the signs, boundary samples of a full gate counted as closed."""
        return self.signs if self.kind == "partial" else tuple(2 * g - 1 for g in self.gate)

    @property
    def pattern(self) -> str:
        """The gate as text, one letter a sample: 1, 0, or / on a partial gate's boundary."""
        return sign_pattern(self.course)

    def __repr__(self) -> str:
        return (
            f"SelfConsistentGate({self.pattern}, {self.kind}, s = {float(self.s):.6g}, "
            f"{self.size} alike)"
        )


def sign_pattern(signs: Sequence[int]) -> str:
    """Return signs as text: 1 open, 0 closed, / on the boundary."""
    return "".join({1: "1", -1: "0", 0: "/"}[sign] for sign in signs)


def gated_correlation(
    inputs: ExactMatrix, residual: ExactMatrix, gate: Sequence[int]
) -> ExactMatrix:
    """Return R diag(g) Xᵀ/P, shape (n_y, n_x).

    Raises:
        InputError: X, R and the gate do not have one column or entry a sample.
    """
    count = inputs.shape[1]
    if residual.shape[1] != count or len(gate) != count:
        msg = (
            f"self-consistent gates: X has {count} samples, the residual {residual.shape[1]} and "
            f"the gate {len(gate)} entries; give one of each for every sample"
        )
        raise InputError(msg)
    places = [i for i, value in enumerate(gate) if value]
    seen = residual.select(columns=places) @ inputs.select(columns=places).T
    return seen.scale(Fraction(1, count)).reduced()


def gate_spectrum(inputs: ExactMatrix, residual: ExactMatrix, gate: Sequence[int]) -> JointSpectrum:
    """Return the exact singular values of R diag(g) Xᵀ/P with their spaces."""
    sigma = gated_correlation(inputs, residual, gate)
    # Only the singular pairs are asked for: without Sigma^x, spaces are as large as they are.
    return joint_spectrum(sigma, ExactMatrix.zeros(sigma.shape[1], sigma.shape[1]))


def singular_pairs(spectrum: JointSpectrum) -> tuple[Pair, ...]:
    """Return the pairs with s > 0, the largest first, of a spectrum without parameters."""
    pairs = [
        Pair(s=mode.s, vectors=_eigenvectors(spectrum, mode.mode_class, mode.root))
        for mode in spectrum.modes
        if not mode.is_null
    ]
    return tuple(sorted(pairs, key=lambda pair: order_key(pair.s, {})))


def _eigenvectors(spectrum: JointSpectrum, mode_class: ModeClass, root: int) -> tuple[Vector, ...]:
    """Return vectors that span a mode's space, without parameters.

    For a root theta of the class's polynomial f they are Σ_j c_j(theta) T^j w, with
    f(x)/(x - theta) = Σ c_j x^j, for the generators w: (T - theta) maps them to f(T) w = 0.
    """
    words = [columns(mode_class.generators)]
    if mode_class.degree == 1:
        return tuple(words[0])
    operator = spectrum.operator_matrix(mode_class)
    current = mode_class.generators
    for _ in range(mode_class.degree - 1):
        current = (operator @ current).reduced()
        words.append(columns(current))
    field = RealField([value.to_fraction() for value in mode_class.minpoly], root)
    weights = [
        field.element([value.to_fraction() for value in coefficients])
        for coefficients in quotient_coefficients(mode_class.minpoly)
    ]
    return tuple(
        tuple(
            sum(
                (weight * word[k][i] for weight, word in zip(weights, words, strict=True)),
                start=field.element([0]),
            )
            for i in range(spectrum.n_x)
        )
        for k in range(mode_class.multiplicity)
    )


def pairs_at(spectrum: JointSpectrum, field: RealField) -> list[Pair] | None:
    """Return the singular pairs with s > 0 at the field's generator, or None if undecided.

    Eigenvalues come from the classes over Q(parameter), which hold for all values; those that are
    irrational over Q(alpha) are not followed.

    Args:
        spectrum: Over Q(parameter).
        field: Q(alpha), alpha no pole of the spectrum.
    """
    if any(one.degree > 1 for one in spectrum.classes if not one.is_null):
        return None
    rows = field.columns(spectrum.m)  # symmetric
    squares: list[Real] = []
    for one in spectrum.classes:
        square = field.value(one.eigenvalue[0])
        if square and not any(square == known for known in squares):
            squares.append(square)
    squares.sort(reverse=True)
    return [
        Pair(s=replace(square.number, is_sqrt=True), vectors=tuple(_kernel(rows, square)))
        for square in squares
    ]


def _kernel(matrix: Sequence[Sequence[Real]], eigenvalue: Real) -> list[Vector]:
    """Return vectors that span the eigenspace of a symmetric matrix."""
    size = len(matrix)
    rows = [
        [value - eigenvalue if i == j else value for j, value in enumerate(row)]
        for i, row in enumerate(matrix)
    ]
    pivots: list[int] = []
    for column in range(size):
        height = len(pivots)
        place = next((i for i in range(height, size) if rows[i][column]), None)
        if place is None:
            continue
        rows[height], rows[place] = rows[place], rows[height]
        pivot = rows[height][column]
        rows[height] = [value / pivot for value in rows[height]]
        for i in range(size):
            factor = rows[i][column]
            if i != height and factor:
                rows[i] = [a - b * factor for a, b in zip(rows[i], rows[height], strict=True)]
        pivots.append(column)
    one = eigenvalue.field.element([1])
    found = []
    for free in (k for k in range(size) if k not in pivots):
        own = dict(zip(pivots, (-row[free] for row in rows), strict=False))
        own[free] = one
        found.append(tuple(own.get(k, one * 0) for k in range(size)))
    return found


def opening(pair: Pair, samples: Sequence[Vector], gate: Sequence[int]) -> Vector | None:
    """Return a vector of the pair's span that opens exactly the gate's samples, or None.

    Args:
        pair: A singular value with its vectors.
        samples: The columns of X.
        gate: 0 or 1 a sample.
    """
    strict = [x for x, g in zip(samples, gate, strict=True) if g]
    return opened_by(pair, strict, [x for x, g in zip(samples, gate, strict=True) if not g])


def opened_by(pair: Pair, strict: Sequence[Vector], weak: Sequence[Vector]) -> Vector | None:
    """Return a vector of the pair's span with v·x > 0 on strict x and v·x ≤ 0 on weak ones.

    Args:
        pair: A singular value with its vectors.
        strict: Vectors of n_x entries.
        weak: Likewise.
    """
    positive, negative = (
        [[dot(vector, x) for vector in pair.vectors] for x in rows] for rows in (strict, weak)
    )
    if len(pair.vectors) == 1:
        for sign in (1, -1):
            if all(row[0] * sign > 0 for row in positive) and not any(
                row[0] * sign > 0 for row in negative
            ):
                return tuple(value * sign for value in pair.vectors[0])
        return None
    answer = direction(positive, negative, len(pair.vectors))
    if not isinstance(answer, Direction):
        return None
    return tuple(
        dot(answer.vector, [vector[i] for vector in pair.vectors])
        for i in range(len(pair.vectors[0]))
    )


def consistent_pairs(
    pairs: Sequence[Pair], samples: Sequence[Vector], gate: Sequence[int], size: int = 1
) -> list[SelfConsistentGate]:
    """Return the pairs, the largest first, that open exactly the samples of their gate."""
    found = []
    for place, pair in enumerate(pairs):
        v = opening(pair, samples, gate)
        if v is not None:
            found.append(
                SelfConsistentGate(
                    signs=tuple(
                        1 if g else -int(bool(any(x) and dot(v, x)) or not any(x))
                        for g, x in zip(gate, samples, strict=True)
                    ),
                    times_open=tuple(AlgebraicNumber.rational(Scalar.of(int(g))) for g in gate),
                    s=pair.s,
                    v=v,
                    dimension=len(pair.vectors),
                    largest=place == 0,
                    size=size,
                )
            )
    return found


def self_consistent_gates(
    inputs: ExactMatrix,
    residual: ExactMatrix,
    gates: Sequence[tuple[Sequence[int], int]],
    progress: Callable[[int, int], None] | None = None,
) -> tuple[SelfConsistentGate, ...]:
    """Return which gates of 0 and 1 are self-consistent, the fastest first.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        residual: R, shape (n_y, P), without parameters: the targets, or what a stage leaves.
        gates: (gate, how many are alike): all gates that the dataset allows, or one of each kind.
        progress: Called with (gates done, of so many).

    Raises:
        InputError: Shapes do not fit, or a parameter occurs.
    """
    inputs, residual = without_parameters(inputs), without_parameters(residual)
    samples = columns(inputs)
    found: list[SelfConsistentGate] = []
    for place, (gate, size) in enumerate(gates):
        pairs = singular_pairs(gate_spectrum(inputs, residual, gate))
        found += consistent_pairs(pairs, samples, gate, size)
        if progress is not None:
            progress(place + 1, len(gates))
    return tuple(sorted(found, key=lambda each: order_key(each.s, {})))


def by_speed(gates: Iterable[Speedy]) -> list[list[Speedy]]:
    """Return what has a growth rate ``s``, equal ones together, the fastest first; exact."""
    ranks: list[list[Speedy]] = []
    for each in sorted(gates, key=lambda gate: order_key(gate.s, {})):
        if ranks and ranks[-1][0].s == each.s:
            ranks[-1].append(each)
        else:
            ranks.append([each])
    return ranks


def columns(matrix: ExactMatrix) -> list[Vector]:
    """Return the columns of a matrix without parameters as rational numbers.

    Raises:
        InputError: A parameter occurs.
    """
    numerator, denominator = matrix.integers()
    return [
        tuple(fmpq(int(value), denominator) for value in column)
        for column in numerator.transpose().tolist()
    ]
