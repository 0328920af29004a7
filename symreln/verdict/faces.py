r"""Faces: units that are held on the boundary of samples while they grow, exactly.

With Z the samples on the boundary and O the open ones, a unit w stays in
:math:`L = \{w : w\cdot x_z = 0, z \in Z\}`. It keeps its direction where (w, b) is a singular pair
of :math:`\Sigma_O\Pi_L`, :math:`\Sigma_O = R\,{\rm diag}(1_O) X^T/P`; within L it leaves every pair
but that of the largest singular value. The boundary attracts if no direction d leads off it:

.. math:: \psi(d) = b\cdot\Bigl(\Sigma_O d + \tfrac1P\sum_{z\in Z} (d\cdot x_z)_+\,r_z\Bigr) \le 0
   \quad\text{for all } d \in {\rm span}(x_z).

ψ is linear between the hyperplanes of Z, so that its values on finitely many rays decide.
:mod:`symreln.gating.partial` says for which fraction of time such a unit is open on Z.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from symreln.base.records import record
from symreln.exact.linear import complement_projector, inverse, rank
from symreln.exact.linear_programming import dot
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import JointSpectrum, joint_spectrum
from symreln.verdict.directions import Pair, Vector, columns, gated_correlation, singular_pairs


@record(eq=False)
class Face:
    """What a unit on a face grows by, and when its direction stays there; over Q or Q(parameter).

    Attributes:
        sigma: Σ_O, shape (n_y, n_x).
        inner: Σ_O Π_L, not zero.
        strict: Vectors with which the direction's products are positive, shape (n_x, a).
        weak: Vectors with which they are not, shape (n_x, b): ψ on its rays.
    """

    sigma: ExactMatrix
    inner: ExactMatrix
    strict: ExactMatrix
    weak: ExactMatrix

    @property
    def spectrum(self) -> JointSpectrum:
        """Singular values of what drives the units, with their spaces."""
        size = self.inner.shape[1]
        return joint_spectrum(self.inner, ExactMatrix.zeros(size, size, self.inner.parameters))

    @classmethod
    def of(
        cls, inputs: ExactMatrix, residual: ExactMatrix, signs: Sequence[int], at: ExactMatrix
    ) -> Face | None:
        """Return a face, or None where nothing drives its units.

        Args:
            inputs: X, shape (n_x, P).
            residual: R, shape (n_y, P).
            signs: 1 open, 0 on the boundary, -1 closed, one a sample.
            at: X at a value of the parameter, which says how boundary samples open each other.
        """
        edge = [place for place, sign in enumerate(signs) if not sign]
        sigma = gated_correlation(inputs, residual, [int(sign > 0) for sign in signs])
        inner = (sigma @ complement_projector(inputs.select(columns=edge))).reduced()
        if inner.is_zero:
            return None
        strict = [
            sample.scale(sign)
            for place, sign in enumerate(signs)
            if sign and not (sample := inputs.select(columns=[place])).is_zero
        ]
        weak = [inputs.select(columns=[])]
        for chosen, other in _walls(at, edge):
            ray = _off(inputs, chosen, other)
            there = ray if at is inputs else _off(at, chosen, other)
            (direction_there,), samples = columns(there), columns(at)
            for sign in (1, -1):
                opened = [z for z in edge if dot(direction_there, samples[z]) * sign > 0]
                drive = sigma @ ray
                if opened:
                    on, targets = inputs.select(columns=opened), residual.select(columns=opened)
                    drive += (targets @ (on.T @ ray)).scale(Fraction(1, inputs.shape[1]))
                weak.append((sigma.T @ drive).scale(sign).reduced())
        return cls(
            sigma=sigma,
            inner=inner,
            strict=ExactMatrix.beside(strict).reduced(),
            weak=ExactMatrix.beside(weak).reduced(),
        )


@record(eq=False)
class _Held:
    """A direction that stays on its face.

    Attributes:
        signs: 1 open, 0 on the boundary, -1 closed, one a sample; zero samples are closed.
        face: The face.
        pair: The largest singular value there.
        v: A vector of its span, not normalised.
    """

    signs: tuple[int, ...]
    face: Face
    pair: Pair
    v: Vector


def held_on(inputs: ExactMatrix, residual: ExactMatrix, signs: Sequence[int]) -> _Held | None:
    """Return the direction with given signs, if the largest singular value of their face has one.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        residual: R, shape (n_y, P), without parameters.
        signs: 1 open, 0 on the boundary, -1 closed, one a sample.
    """
    closed = tuple(s if any(x) else -1 for s, x in zip(signs, columns(inputs), strict=True))
    face = Face.of(inputs, residual, closed, inputs)
    if face is None:
        return None
    pair = singular_pairs(face.spectrum)[0]
    v = pair.opened_by(columns(face.strict), columns(face.weak))
    return None if v is None else _Held(signs=closed, face=face, pair=pair, v=v)


def _walls(inputs: ExactMatrix, edge: Sequence[int]) -> list[tuple[tuple[int, ...], int]]:
    """Return independent samples of Z, one less than its rank, with one more that is too.

    One choice a ray: what lies in the span of an earlier one spans the same, or less.
    """
    height = rank(inputs.select(columns=edge)) if edge else 0
    samples, found, spans = columns(inputs), [], list[frozenset[int]]()
    for chosen in combinations(edge, max(height - 1, 0)):
        if not edge or any(span.issuperset(chosen) for span in spans):
            continue
        if chosen and rank(inputs.select(columns=chosen)) < len(chosen):
            continue
        others = (z for z in edge if z not in chosen)
        other = next(
            z for z in others if rank(inputs.select(columns=[*chosen, z])) == len(chosen) + 1
        )
        found.append((chosen, other))
        (ray,) = columns(_off(inputs, chosen, other))
        spans.append(frozenset(z for z in edge if dot(ray, samples[z]) == 0))
    return found


def _off(inputs: ExactMatrix, chosen: Sequence[int], other: int) -> ExactMatrix:
    """Return the part of a sample that is orthogonal to others, which are independent."""
    sample, basis = inputs.select(columns=[other]), inputs.select(columns=chosen)
    if not chosen:
        return sample.reduced()
    return (sample - basis @ (inverse(basis.gram) @ (basis.T @ sample))).reduced()
