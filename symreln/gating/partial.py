r"""Partial gates: units that grow with samples on their boundary, exactly and completely.

Where a unit reaches :math:`w\cdot x_z = 0` and both sides push it back, it slides along the
boundary, and its gate on z is the fraction of time :math:`h_z` for which it is open (Filippov):

.. math:: s\,b = \Sigma_O w, \qquad
   s\,w = \Sigma_O^T b + \tfrac1P \sum_{z\in Z} h_z\,(b\cdot r_z)\,x_z, \qquad 0 \le h_z \le 1.

:mod:`symreln.verdict.faces` says which directions do so: those whose boundary attracts,
ψ ≤ 0. Zero is the maximum of ψ then and lies in its generalised gradient (Clarke): the fractions
exist.

**The fastest of all.** :math:`F(w) = \|\sum_\mu (w\cdot x_\mu)_+\, r_\mu\|/P` is the growth rate of
a unit with direction w and the best b. Its largest value on unit vectors lies on some face. There w
is a direction of the largest singular value of :math:`\Sigma_O\Pi_L`, ψ ≤ 0, or else F would be
larger nearby: so it is a self-consistent gate, full (Z empty, or all h_z = 0) or partial. All faces
asked, the fastest gate found is the largest value of F, and no unit grows faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
from flint import fmpq
from scipy.linalg import null_space

from symreln.base.progress import phase
from symreln.exact.algebraic import AlgebraicNumber, order_key
from symreln.exact.linear import pseudo_inverse
from symreln.exact.linear_programming import Number, direction, dot
from symreln.exact.matrix import ExactMatrix
from symreln.exact.real_algebraic import Real
from symreln.gating.arrangement import flats, without_parameters
from symreln.gating.consistent import GrowingGate
from symreln.gating.float_scale import CLEAR, unit_floats
from symreln.gating.parameter_intervals import rational_number
from symreln.laws.spans import orthonormal_span
from symreln.networks.gate_orbits import SampleGroup, gate_kinds
from symreln.verdict.directions import Vector, columns
from symreln.verdict.faces import held_on

#: Relative size from which float64 may say that a condition fails: its own errors, those of a
#: singular vector included where its singular value is as far from the others, are below 1e-8.
_CLEAR = 1e-6


def every_partial_gate(
    inputs: ExactMatrix, residual: ExactMatrix, group: SampleGroup
) -> tuple[GrowingGate, ...]:
    """Return all partial gates of a residual, one of each kind, the fastest first.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        residual: R, shape (n_y, P), without parameters.
        group: Symmetries of both.

    Raises:
        LimitReachedError: There are too many faces to ask.
    """
    inputs, residual = without_parameters(inputs), without_parameters(residual)
    # Which faces are asked does not hang on the sizes of X and R, which float64 may not hold.
    x, r = unit_floats(inputs), unit_floats(residual)
    with phase("partial gates") as report:
        asked = (
            signs
            for flat in flats(inputs, report)
            if flat.boundary
            for signs in flat.signs[plausible(x, r, flat.boundary, flat.signs)].tolist()
        )
        kinds = [(max(alike), len(alike)) for alike in gate_kinds(asked, group)]
        return partial_gates(inputs, residual, kinds)


def partial_gates(
    inputs: ExactMatrix, residual: ExactMatrix, signs: Iterable[tuple[Sequence[int], int]]
) -> tuple[GrowingGate, ...]:
    """Return which sign vectors belong to partial gates, the fastest first.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        residual: R, shape (n_y, P), without parameters.
        signs: (sign vector, how many are alike); entries 1 open, 0 on the boundary, -1 closed.

    Raises:
        InputError: A parameter occurs.
    """
    inputs, residual = without_parameters(inputs), without_parameters(residual)
    found = (_gate_on_face(inputs, residual, chosen, size) for chosen, size in signs)
    return tuple(sorted(filter(None, found), key=lambda each: order_key(each.s, {})))


def plausible(
    x: np.ndarray, r: np.ndarray, boundary: Sequence[int], signs: np.ndarray
) -> np.ndarray:
    """Return which faces may have a gate, in float64; no face that has one is left out.

    Args:
        x: X, shape (n_x, P).
        r: R, shape (n_y, P).
        boundary: Z.
        signs: 1 open, -1 closed, 0 on the boundary, shape (faces, P).

    Returns:
        Shape (faces,).
    """
    on = x[:, list(boundary)]
    # Of all inputs, dependent ones too: norms within L are those of w.
    inner, count = null_space(on.T, rcond=CLEAR).T @ x, x.shape[1]
    # Relative to the largest that there could be, so that all margins are pure numbers.
    scale = np.linalg.norm(r, 2) * np.linalg.norm(x, 2) / count
    if not len(inner) or not scale > 0:
        return np.zeros(len(signs), dtype=bool)
    opened = (signs > 0).astype(float)
    sigma = np.einsum("ym,fm,lm->fyl", r, opened, inner, optimize=True) / (count * scale)
    u, s, vt = np.linalg.svd(sigma, full_matrices=False)
    second = s[:, 1] if s.shape[1] > 1 else np.zeros(len(s))
    # Small or nearly equal singular values: their vectors are not known.
    unsure = (s[:, 0] ** 2 - second**2) < _CLEAR
    seen = vt[:, 0] @ inner / (np.linalg.norm(inner, 2) or 1.0)
    strict = signs * (np.linalg.norm(inner, axis=0) > 0)
    sides = [
        ~((sign * seen * strict < -_CLEAR) & (strict != 0)).any(axis=1) for sign in (1.0, -1.0)
    ]
    for ray in _float_rays(on):
        pushed = r[:, list(boundary)] @ np.maximum(ray @ on, 0)
        drive = np.einsum("ym,fm,m->fy", r, opened, ray @ x, optimize=True) + pushed
        size = np.linalg.norm(r, 2) * np.linalg.norm(x, 2) * np.linalg.norm(ray)
        # b is along u, with the sign of v: of either sign where both are open.
        off = np.einsum("fy,fy->f", u[:, :, 0], drive) / size
        sides = [side & (sign * off <= _CLEAR) for side, sign in zip(sides, (1, -1), strict=True)]
    return unsure | sides[0] | sides[1]


def _float_rays(on: np.ndarray) -> list[np.ndarray]:
    """Return the rays between which ψ is linear, in float64; dependent choices are left out."""
    if not on.any():
        return []
    span = orthonormal_span(on)
    inner = span.T @ on
    top, found = np.linalg.norm(on, 2), []
    for chosen in combinations(range(on.shape[1]), span.shape[1] - 1):
        _, sizes, vt = np.linalg.svd(inner[:, list(chosen)].T, full_matrices=True)
        if len(sizes) == 0 or sizes[-1] > 1e-6 * top:
            found += [span @ vt[-1], -(span @ vt[-1])]
    return found


def _gate_on_face(
    inputs: ExactMatrix, residual: ExactMatrix, signs: Sequence[int], size: int
) -> GrowingGate | None:
    """Return the partial gate with given signs, if the largest singular value has one.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        residual: R, shape (n_y, P), without parameters.
        signs: 1 open, 0 on the boundary, -1 closed, one a sample.
        size: How many are alike.
    """
    found = held_on(inputs, residual, signs)
    if found is None:
        return None
    signs, pair, v, targets = found.signs, found.pair, found.v, columns(residual)
    edge = [z for z, sign in enumerate(signs) if not sign]
    table = columns(found.face.sigma.T)
    b = tuple(dot(row, v) for row in table)
    pushes = [dot(b, targets[z]) for z in edge]
    held = _fractions(inputs, edge, _missing(table, v, b), pushes)
    if not any(held):
        return None
    return GrowingGate(
        signs=signs,
        size=size,
        s=pair.s,
        fractions=tuple(map(_number, held)),
        v=v,
        boundary=tuple(edge),
    )


def _fractions(
    inputs: ExactMatrix, edge: Sequence[int], missing: Vector, pushes: Sequence[Number]
) -> list[Number]:
    """Return h with Σ_z h_z (b·r_z) x_z/P = missing, 0 ≤ h_z ≤ 1.

    First the y_z = h_z (b·r_z) of least norm: samples that a symmetry of the gate makes alike then
    have the same fraction. Where one is out of range, a linear programme.
    """
    if not edge:
        return []
    chosen = inputs.select(columns=edge)
    inverse = chosen.T @ pseudo_inverse((chosen @ chosen.T).reduced())
    held = tuple(dot(row, missing) for row in columns(inverse.scale(inputs.shape[1]).T))
    low = [push if push < 0 else push * 0 for push in pushes]
    high = [push if push > 0 else push * 0 for push in pushes]
    if any(y < a or y > b for y, a, b in zip(held, low, high, strict=True)):
        held = _feasible(columns(chosen), [value * inputs.shape[1] for value in missing], low, high)
    return [y / push if push else fmpq(0) for y, push in zip(held, pushes, strict=True)]


def _feasible(
    samples: Sequence[Vector], missing: Vector | list, low: Sequence[Number], high: Sequence[Number]
) -> Vector:
    """Return y with Σ y_z x_z = missing and low ≤ y ≤ high; there is one where ψ ≤ 0."""
    size = len(samples)
    weak: list[list[Number]] = []
    for i, value in enumerate(missing):
        row = [*(x[i] for x in samples), value * -1]
        weak += [row, [each * -1 for each in row]]
    for z in range(size):
        unit = [fmpq(int(k == z)) for k in range(size)]
        weak += [[*unit, high[z] * -1], [*(each * -1 for each in unit), low[z]]]
    answer = direction([[*([fmpq(0)] * size), fmpq(1)]], weak, size + 1)
    if answer is None:
        msg = "partial gates: the boundary attracts, yet no fractions were found"
        raise ArithmeticError(msg)
    return tuple(value / answer[-1] for value in answer[:-1])


def _missing(table: Sequence[Vector], vector: Vector, output: Vector) -> Vector:
    """Return s² v − Σᵀ Σ v for a singular vector v of Σ Π; v is in L, so s² v·v = v·Σᵀ Σ v."""
    back = tuple(dot(output, [row[i] for row in table]) for i in range(len(vector)))
    square = dot(vector, back) / dot(vector, vector)
    return tuple(square * a - c if a else c * -1 for a, c in zip(vector, back, strict=True))


def _number(value: Number) -> AlgebraicNumber:
    if isinstance(value, Real):
        return value.number
    exact = fmpq(value)
    return rational_number(Fraction(int(exact.p), int(exact.q)))
