"""Gates over one parameter that may run: what decides where each of them is self-consistent.

A full gate's direction must open its samples and no other. A partial gate's must have the signs of
its face off the boundary and be attracted by it (:mod:`symreln.gates.partial`): products of the
direction with vectors over Q(parameter), whose signs change at roots of polynomials only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from symreln.errors import LimitReachedError
from symreln.exact.linear import complement_projector, rank
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import JointSpectrum, joint_spectrum
from symreln.gates.consistent import (
    Pair,
    SelfConsistentGate,
    columns,
    gate_spectrum,
    gated_correlation,
    opened_by,
    sign_pattern,
)
from symreln.gates.faces import Flat, flats
from symreln.gates.irrational import columns_at
from symreln.gates.line import Piece
from symreln.gates.orbits import SampleGroup, moved_gates
from symreln.gates.partial import every_partial_gate, plausible, rays, walls
from symreln.gates.programming import dot
from symreln.gates.real import RealField
from symreln.gates.search import may_be_kept
from symreln.gates.sizes import unit_floats

#: Faces above which partial gates are not followed over a parameter.
MOST_FACES = 2000


@dataclass(frozen=True, kw_only=True, eq=False)
class Conditions:
    """Vectors over Q(parameter) with which a direction's products have signs.

    Attributes:
        strict: Columns with which they are positive, shape (n_x, a).
        weak: Columns with which they are not, shape (n_x, b).
    """

    strict: ExactMatrix
    weak: ExactMatrix

    @property
    def vectors(self) -> ExactMatrix:
        """All of them, shape (n_x, a + b)."""
        return ExactMatrix.beside([self.strict, self.weak])


@dataclass(frozen=True, kw_only=True, eq=False)
class Entrant:
    """A gate that may run somewhere.

    Attributes:
        signs: 1 open, -1 closed, 0 on the boundary, one a sample.
        size: How many are alike, for all values of the parameter.
        spectrum: Singular values of what drives its units, over Q(parameter).
        conditions: One for a full gate, or whose boundary samples are independent; else one a way
            in which they open each other.
    """

    signs: tuple[int, ...]
    size: int
    spectrum: JointSpectrum
    conditions: tuple[Conditions, ...]

    @property
    def is_face(self) -> bool:
        """Whether samples are on the boundary."""
        return 0 in self.signs

    @property
    def gate(self) -> tuple[int, ...]:
        """0 or 1 a sample, samples on the boundary closed."""
        return tuple(int(sign > 0) for sign in self.signs)

    @property
    def pattern(self) -> str:
        """The gate as text."""
        return sign_pattern(self.signs)

    def likely(self, inputs: ExactMatrix, residual: ExactMatrix, value: float) -> bool:
        """Return whether float64 leaves open that it runs at a value of the parameter."""
        at = dict.fromkeys(inputs.parameters, Fraction(value))
        x, r = (unit_floats(matrix.substitute(at)) for matrix in (inputs, residual))
        if self.is_face:
            return face_is_plausible(x, r, self.signs)
        _, kept, large = may_be_kept(x, r, np.array([self.gate], dtype=bool))
        growing = sum(not mode.is_null for mode in self.spectrum.modes)
        return bool(kept[0]) or int(large[0]) < growing

    def kept_at(self, pairs: Sequence[Pair], field: RealField) -> bool | None:
        """Return whether a face has a gate at an irrational value, None where undecided.

        Args:
            pairs: Its singular pairs there, the largest first.
            field: Q(value).
        """
        if len(self.conditions) != 1:
            return None
        (one,) = self.conditions
        strict, weak = columns_at(one.strict, field), columns_at(one.weak, field)
        return bool(pairs) and opened_by(pairs[0], strict, weak) is not None


def entrant_of_gate(
    inputs: ExactMatrix, residual: ExactMatrix, gate: tuple[int, ...], size: int
) -> Entrant:
    """Return a full gate as an entrant.

    Args:
        inputs: X over Q(parameter), shape (n_x, P).
        residual: R over Q(parameter), shape (n_y, P).
        gate: 0 or 1 a sample.
        size: How many are alike.
    """
    opened = [place for place, value in enumerate(gate) if value]
    closed = [place for place, value in enumerate(gate) if not value]
    return Entrant(
        signs=tuple(2 * value - 1 for value in gate),
        size=size,
        spectrum=gate_spectrum(inputs, residual, gate),
        conditions=(
            Conditions(strict=inputs.select(columns=opened), weak=inputs.select(columns=closed)),
        ),
    )


def faces_along(
    inputs: ExactMatrix, residual: ExactMatrix, group: SampleGroup, chambers: Sequence[Piece]
) -> tuple[list[Entrant], dict[Fraction, list[SelfConsistentGate]]]:
    """Return all faces that intervals of the parameter have, and partial gates that cuts add.

    Args:
        inputs: X over Q(parameter), shape (n_x, P).
        residual: R over Q(parameter), shape (n_y, P).
        group: Symmetries for all values of the parameter.
        chambers: Intervals on which the faces are the same, and the cuts between them.

    Raises:
        LimitReachedError: There are too many.
    """
    name = inputs.parameters[0]
    found: dict[tuple[int, ...], Entrant] = {}
    rational = [piece for piece in chambers if piece.sample is not None]
    for piece in rational:
        if piece.is_root:
            continue
        at = inputs.substitute({name: piece.sample})  # type: ignore[dict-item]
        for flat in flats(at):
            for signs in map(tuple, flat.signs.tolist() if flat.boundary else ()):
                _add(found, inputs, residual, group, at, signs)
    alone: dict[Fraction, list[SelfConsistentGate]] = {}
    for piece in rational:
        if piece.is_root and piece.sample is not None:
            try:
                here = [m.substitute({name: piece.sample}) for m in (inputs, residual)]
            except ZeroDivisionError:
                continue
            more = every_partial_gate(here[0], here[1], group)
            more = tuple(each for each in more if each.signs not in found)
            if more:
                alone[piece.sample] = list(more)
    return list(found.values()), alone


def _add(
    found: dict[tuple[int, ...], Entrant],
    inputs: ExactMatrix,
    residual: ExactMatrix,
    group: SampleGroup,
    at: ExactMatrix,
    signs: tuple[int, ...],
) -> None:
    """Add one face of each kind, with its conditions at a value of the parameter."""
    edge = [place for place, sign in enumerate(signs) if not sign]
    if signs in found and (
        len(found[signs].conditions) == 1 and rank(at.select(columns=edge)) == len(edge)
    ):
        return
    alike = moved_gates(signs, group)
    if max(alike) != signs:
        return
    sigma = gated_correlation(inputs, residual, [int(sign > 0) for sign in signs])
    inner = (sigma @ complement_projector(inputs.select(columns=edge))).reduced()
    if inner.is_zero:
        return
    new = _conditions(inputs, residual, sigma, at, signs)
    if signs not in found:
        if len(found) >= MOST_FACES:
            msg = f"more than {MOST_FACES} kinds of faces"
            raise LimitReachedError(msg)
        size = inner.shape[1]
        found[signs] = Entrant(
            signs=signs,
            size=len(alike),
            spectrum=joint_spectrum(inner, ExactMatrix.zeros(size, size, inner.parameters)),
            conditions=(new,),
        )
    elif all(new.weak != each.weak for each in found[signs].conditions):
        known = found[signs]
        found[signs] = replace(known, conditions=(*known.conditions, new))


def _conditions(
    inputs: ExactMatrix,
    residual: ExactMatrix,
    sigma: ExactMatrix,
    at: ExactMatrix,
    signs: tuple[int, ...],
) -> Conditions:
    """Return what a direction of a face must fulfil; ψ(d) = v·Σ_Oᵀ(Σ_O d + Σ_z (d·x_z)₊ r_z/P)."""
    edge = [place for place, sign in enumerate(signs) if not sign]
    samples, per_sample = columns(at), Fraction(1, inputs.shape[1])
    seen = iter(rays(at, edge))
    pushes = []
    for chosen, other in walls(at, edge):
        off = complement_projector(inputs.select(columns=chosen))
        one = (off @ inputs.select(columns=[other])).reduced()
        for sign in (1, -1):
            here = next(seen)
            opened = [z for z in edge if dot(here, samples[z]) > 0]
            drive = sigma @ one
            if opened:
                on, targets = inputs.select(columns=opened), residual.select(columns=opened)
                drive = drive + (targets @ (on.T @ one)).scale(per_sample)
            pushes.append((sigma.T @ drive).scale(sign).reduced())
    strict = [
        inputs.select(columns=[place]).scale(sign)
        for place, sign in enumerate(signs)
        if sign and not inputs.select(columns=[place]).is_zero
    ]
    return Conditions(
        strict=ExactMatrix.beside(strict).reduced(), weak=ExactMatrix.beside(pushes).reduced()
    )


def face_is_plausible(x: np.ndarray, r: np.ndarray, signs: Sequence[int]) -> bool:
    """Return whether float64 leaves open that a face has a gate.

    Args:
        x: X, shape (n_x, P).
        r: R, shape (n_y, P).
        signs: 1 open, -1 closed, 0 on the boundary.
    """
    edge = tuple(place for place, sign in enumerate(signs) if not sign)
    u, s, _ = np.linalg.svd(x[:, list(edge)], full_matrices=True)
    basis = u[:, (s > 1e-9 * s.max(initial=0.0)).sum() :].T
    if not len(basis):
        return False
    flat = Flat(boundary=edge, basis=basis, signs=np.array([signs]))
    return bool(plausible(x, r, flat)[0])
