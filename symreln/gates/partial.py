r"""Gates with fractions: units that settle with samples on their boundary, exactly.

Where a unit reaches :math:`w\cdot x_z = 0` and both sides push it back, it slides along the
boundary, and its gate on z is the fraction of time :math:`h_z` for which it is open (Filippov).
With Z the samples on the boundary and O the open ones, w stays in
:math:`L = \{w : w\cdot x_z = 0, z \in Z\}` and follows the projected flow. It keeps its direction,
and grows with rate s, where

.. math:: s\,b = \Sigma_O w, \qquad
   s\,w = \Sigma_O^T b + \tfrac1P \sum_{z\in Z} h_z\,(b\cdot r_z)\,x_z, \qquad
   0 \le h_z \le 1, \qquad b\cdot r_z \le 0,

:math:`\Sigma_O = R\,{\rm diag}(1_O) X^T/P`: (w, b) is a singular pair of :math:`\Sigma_O\Pi_L`, and
the fractions solve linear equations. The last condition says that the boundary attracts: a unit
that opens z is pushed back. With :math:`y_z = h_z (b\cdot r_z)` all of it is one linear programme,
so the answer is exact, over the rationals or over Q(s²).

There always is one: :math:`F(w, b) = \sum_\mu (w\cdot x_\mu)_+ (b\cdot r_\mu)/P` has a largest
value on unit vectors, and zero lies in its generalised gradient there (Clarke), which is the
equation above, without its last condition. Where the samples of Z are independent, the largest
value also needs :math:`b\cdot r_z \le 0`: moving w off z to the open side must not raise F.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from symreln.errors import InputError, LimitReachedError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.linear import pseudo_inverse, rank, subspace_projector
from symreln.exact.matrix import ExactMatrix
from symreln.exact.order import order_key
from symreln.exact.scalar import Scalar
from symreln.exact.spectrum import joint_spectrum
from symreln.gates.consistent import Pair, Vector, columns, gated_correlation, singular_pairs
from symreln.gates.enumerate import without_parameters
from symreln.gates.programming import Direction, Number, direction, dot
from symreln.gates.real import Real

#: Sign vectors above which listing all of them is refused.
MOST_SIGNS = 20_000


@dataclass(frozen=True, kw_only=True, eq=False)
class PartialGate:
    """A gate with a direction that early training keeps, fractions on its boundary.

    Attributes:
        signs: 1 open, -1 closed, 0 on the boundary, one a sample; zero samples count as closed.
        values: h, one a sample: 1, 0, or the fraction of time that a unit is open.
        s: Growth rate, in units of 1/tau.
        v: The direction, not normalised; exact.
        unique: Whether the direction and the fractions are the only ones for these signs and s.
        size: How many a symmetry of the data makes alike, this one included.
    """

    signs: tuple[int, ...]
    values: tuple[AlgebraicNumber, ...]
    s: AlgebraicNumber
    v: Vector
    unique: bool
    size: int = 1

    @property
    def pattern(self) -> str:
        """The gate as text, one letter a sample: 1, 0, or / on the boundary."""
        return "".join({1: "1", -1: "0", 0: "/"}[sign] for sign in self.signs)

    @property
    def is_whole(self) -> bool:
        """Whether no sample has a fraction other than 0 and 1."""
        return all(str(value.to_sympy()) in ("0", "1") for value in self.values)


def partial_gates(
    inputs: ExactMatrix, residual: ExactMatrix, signs: Iterable[tuple[Sequence[int], int]]
) -> tuple[PartialGate, ...]:
    """Return which sign vectors belong to directions that early training keeps, fastest first.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        residual: R, shape (n_y, P), without parameters.
        signs: (sign vector, how many are alike); entries 1 open, 0 on the boundary, -1 closed.

    Raises:
        InputError: Shapes or signs do not fit, or a parameter occurs.
    """
    inputs, residual = without_parameters(inputs), without_parameters(residual)
    found = [
        gate for chosen, size in signs for gate in _of_signs(inputs, residual, tuple(chosen), size)
    ]
    return tuple(sorted(found, key=lambda each: order_key(each.s, {})))


def all_signs(inputs: ExactMatrix, limit: int = MOST_SIGNS) -> tuple[tuple[int, ...], ...]:
    """Return every sign vector sign(Xᵀw): one a face of the arrangement; w = 0 is left out.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        limit: Number of sign vectors above which to stop.

    Raises:
        LimitReachedError: There are more.
    """
    samples = columns(without_parameters(inputs))
    found: list[tuple[int, ...]] = [()]
    for n, sample in enumerate(samples):
        sides = (1, 0, -1) if any(sample) else (-1,)
        longer = ((*signs, side) for signs in found for side in sides)
        found = [signs for signs in longer if _possible(samples[: n + 1], signs)]
        if len(found) > limit:
            msg = (
                f"partial gates: more than {limit} sign vectors after {n + 1} of {len(samples)} "
                "samples. Follow units to propose some instead (proposed_signs)"
            )
            raise LimitReachedError(msg)
    return tuple(signs for signs in found if any(signs))


def _possible(samples: Sequence[Vector], signs: Sequence[int]) -> bool:
    strict = [_times(x, sign) for x, sign in zip(samples, signs, strict=True) if sign and any(x)]
    weak = [
        _times(x, k) for x, sign in zip(samples, signs, strict=True) if not sign for k in (1, -1)
    ]
    return isinstance(direction(strict, weak, len(samples[0])), Direction)


def _of_signs(
    inputs: ExactMatrix, residual: ExactMatrix, signs: tuple[int, ...], size: int
) -> list[PartialGate]:
    """Return the singular pairs of one sign vector that are kept."""
    _check(inputs, residual, signs)
    samples = columns(inputs)
    signs = tuple(sign if any(x) else -1 for sign, x in zip(signs, samples, strict=True))
    sigma = gated_correlation(inputs, residual, [int(sign > 0) for sign in signs])
    if sigma.is_zero:
        return []
    inner = (sigma @ _projector(inputs, signs)).reduced()
    spectrum = joint_spectrum(inner, ExactMatrix.zeros(inner.shape[1], inner.shape[1]))
    return [
        gate
        for pair in singular_pairs(spectrum)
        if (gate := _kept(inputs, residual, sigma, signs, pair, size)) is not None
    ]


def _check(inputs: ExactMatrix, residual: ExactMatrix, signs: Sequence[int]) -> None:
    count = inputs.shape[1]
    if residual.shape[1] != count or len(signs) != count or any(s not in (-1, 0, 1) for s in signs):
        msg = (
            f"partial gates: X has {count} samples, the residual {residual.shape[1]} and the signs "
            f"are {list(signs)}; give one of -1, 0, 1 for every sample"
        )
        raise InputError(msg)


def _projector(inputs: ExactMatrix, signs: Sequence[int]) -> ExactMatrix:
    """Return the projector on what is orthogonal to all samples on the boundary."""
    whole = ExactMatrix.identity(inputs.shape[0])
    chosen = [place for place, sign in enumerate(signs) if not sign]
    if not chosen:
        return whole
    independent: list[int] = []
    for place in chosen:
        if rank(inputs.select(columns=[*independent, place])) > len(independent):
            independent.append(place)
    return (whole - subspace_projector(inputs.select(columns=independent))).reduced()


def _kept(
    inputs: ExactMatrix,
    residual: ExactMatrix,
    sigma: ExactMatrix,
    signs: tuple[int, ...],
    pair: Pair,
    size: int,
) -> PartialGate | None:
    """Return the gate of a singular pair if its signs are right and fractions exist.

    The unknowns are weights of the pair's vectors, then y_z of every boundary sample.
    """
    samples, targets, table = columns(inputs), columns(residual), _rows(sigma)
    count, edge = len(pair.vectors), [z for z, sign in enumerate(signs) if not sign]
    outputs = [_apply(table, vector) for vector in pair.vectors]
    # What the fractions have to make up for: s² v − Σᵀ Σ v, in the span of the boundary samples.
    missing = [_missing(table, v, b) for v, b in zip(pair.vectors, outputs, strict=True)]
    blank: list[Number] = [fmpq(0)] * len(edge)
    strict = [
        [dot(v, x) * sign for v in pair.vectors] + blank
        for x, sign in zip(samples, signs, strict=True)
        if sign and any(x)
    ]
    weak = []
    for i in range(len(samples[0])):
        row = [-lack[i] for lack in missing]
        row += [samples[z][i] / len(samples) for z in edge]
        weak += [row, _times(row, -1)]
    for place, z in enumerate(edge):
        unit = [fmpq(int(k == place)) for k in range(len(edge))]
        weak.append([fmpq(0)] * count + unit)
        weak.append([dot(b, targets[z]) for b in outputs] + _times(unit, -1))
    answer = direction(strict, weak, count + len(edge))
    if not isinstance(answer, Direction):
        return None
    weights, held = answer.vector[:count], answer.vector[count:]
    b = _mixed(outputs, weights)
    pushes = [dot(b, targets[z]) for z in edge]
    held = _evenly(inputs, edge, _mixed(missing, weights), pushes) or held
    fractions = iter(y / e if e else fmpq(0) for y, e in zip(held, pushes, strict=True))
    return PartialGate(
        signs=signs,
        values=tuple(_number(next(fractions) if not s else fmpq(int(s > 0))) for s in signs),
        s=pair.s,
        v=_mixed(pair.vectors, weights),
        unique=count == 1 and (not edge or _independent(inputs, edge)) and all(pushes),
        size=size,
    )


def _independent(inputs: ExactMatrix, places: Sequence[int]) -> bool:
    return rank(inputs.select(columns=places)) == len(places)


def _evenly(
    inputs: ExactMatrix, edge: Sequence[int], missing: Vector, pushes: Sequence[Number]
) -> tuple[Number, ...] | None:
    """Return the y of least norm if its fractions lie within 0 and 1, else None.

    Samples that a symmetry of the gate makes alike have the same fraction in it.
    """
    if not edge:
        return None
    chosen = inputs.select(columns=edge)
    inverse = chosen.T @ pseudo_inverse((chosen @ chosen.T).reduced())
    held = _apply(_rows(inverse.scale(inputs.shape[1])), missing)
    inside = (not y > 0 and not y < e for y, e in zip(held, pushes, strict=True))
    return held if all(inside) else None


def _missing(table: Sequence[Vector], vector: Vector, output: Vector) -> Vector:
    """Return s² v − Σᵀ Σ v for a singular vector v of Σ Π; v is in L, so s² v·v = v·Σᵀ Σ v."""
    back = tuple(dot(output, [row[i] for row in table]) for i in range(len(vector)))
    square = dot(vector, back) / dot(vector, vector)
    return tuple(square * a - c if a else c * -1 for a, c in zip(vector, back, strict=True))


def _rows(matrix: ExactMatrix) -> list[Vector]:
    return columns(matrix.T)


def _apply(table: Sequence[Vector], vector: Vector) -> Vector:
    return tuple(dot(row, vector) for row in table)


def _mixed(vectors: Sequence[Vector], weights: Sequence[Number]) -> Vector:
    return tuple(dot(weights, [v[i] for v in vectors]) for i in range(len(vectors[0])))


def _times(row: Sequence[Number], factor: int) -> list[Number]:
    return [value * factor for value in row]


def _number(value: Number) -> AlgebraicNumber:
    if isinstance(value, Real):
        return value.number
    exact = fmpq(value)
    return AlgebraicNumber.rational(Scalar.of(Fraction(int(exact.p), int(exact.q))))
