r"""Whether no unit grows faster than a given rate, where there are too many faces to ask each.

On the closed cell :math:`\{w : a_\mu\cdot w \ge 0\}`, a = ±x by the gate, a unit grows at
:math:`\|\Sigma w\|`, :math:`\Sigma = R\,{\rm diag}(g) X^T/P`. All products of two of the
:math:`a_\mu\cdot w` being positive or zero, any matrix :math:`N \ge 0` gives a bound,

.. math:: \|\Sigma w\|^2 \le w^T\Bigl(\Sigma^T\Sigma + \sum_{\mu\nu} N_{\mu\nu}\,
   a_\mu a_\nu^T\Bigr) w \le \lambda_{\max}(\cdot)\,\|w\|^2 :

N is looked for in float64, and whatever is found, its bound holds to rounding. A cell whose bound
is below the rate is done. Where the bound is above the rate and below :math:`\|\Sigma\|`, no
leading direction of Σ lies in the cell. A maximum inside it would be one, so that the largest rate
is on a face, and all faces of one dimension less are asked the same within their span.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from symreln.gating.sizes import orthogonal_to
from symreln.laws.spans import orthonormal_span
from symreln.networks.orbits import SampleGroup

#: What is proven: no unit is faster by more than this share of the rate. Rounding is far below.
CLEAR = 1e-9
#: Faces that are followed, above which there is no decision.
MOST_FACES = 20_000
#: Permutations under which faces are looked for that are the same; with fewer more are asked.
_MOST_PERMUTATIONS = 2000
#: Faces whose bounds are looked for at once.
CHUNK = 1024
#: Steps in which N is looked for, the length of the first ones, and how sharp the maximum of the
#: eigenvalues is taken.
STEPS, LENGTH, SHARPNESS = 200, 0.02, 60.0


def none_faster(
    inputs: np.ndarray,
    residual: np.ndarray,
    gates: np.ndarray,
    rate: float,
    group: SampleGroup,
    progress: Callable[[int, int], None] | None = None,
) -> bool:
    """Return whether it is proven that no unit's rate is above a given one by a share of CLEAR.

    Args:
        inputs: X, shape (n_x, P), zero where a sample is zero and nowhere else.
        residual: R, shape (n_y, P).
        gates: Truth values of all gates that X allows, one of each kind, shape (gates, P).
        rate: The rate, positive.
        group: Symmetries of both.
        progress: Called with (dimensions done, number of them).
    """
    question = _Question(inputs, residual, rate, group)
    faces = 2 * gates.astype(np.int8) - 1
    faces[:, ~inputs.any(axis=0)] = 0
    for done in range(question.dimension):
        live = question.live(faces)
        if live is None:
            return False
        faces = question.below(live)
        if not len(faces):
            return True
        if len(faces) > MOST_FACES:
            return False
        if progress is not None:
            progress(done + 1, question.dimension)
    return False


class _Question:
    """Data in float64, in units in which the rate is one."""

    def __init__(
        self,
        inputs: np.ndarray,
        residual: np.ndarray,
        rate: float,
        group: SampleGroup,
    ) -> None:
        self._x = orthonormal_span(inputs).T @ inputs
        self.dimension = len(self._x)
        self._r = residual / (inputs.shape[1] * rate)
        self._permutations = _permutations(group)

    def live(self, faces: np.ndarray) -> np.ndarray | None:
        """Return the faces on whose boundary units may be faster; None where one is undecided.

        Args:
            faces: Signs, 0 on the boundary, shape (faces, P).
        """
        kept = [faces[:0]]
        for start in range(0, len(faces), CHUNK):
            part = faces[start : start + CHUNK]
            sigma, sides, rays = self._within(part)
            tops = np.linalg.norm(sigma, 2, axis=(1, 2))
            above = np.flatnonzero(tops > 1 + CLEAR)
            limits = (1 + CLEAR) / tops[above]
            bounds = _cone_bounds(sigma[above] / tops[above, None, None], sides[above], limits)
            left = bounds > limits
            if (bounds[left] >= 1 - CLEAR).any() or rays[above[left]].any():
                return None
            kept.append(part[above[left]])
        return np.concatenate(kept)

    def _within(self, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return Σ of every face within its span, the sides of its cone, and which are rays."""
        sigma = np.empty((len(faces), len(self._r), self.dimension))
        sides = np.empty((*faces.shape, self.dimension))
        rays = np.empty(len(faces), dtype=bool)
        for zero, own in _by_boundary(faces):
            basis = orthogonal_to(self._x[:, zero])
            inner = basis @ (basis.T @ self._x)
            opened = (faces[own] > 0).astype(float)
            sigma[own] = np.einsum("ym,fm,lm->fyl", self._r, opened, inner, optimize=True)
            lengths = np.linalg.norm(inner, axis=0)
            units = np.where(lengths > CLEAR, inner / np.maximum(lengths, CLEAR), 0)
            sides[own] = faces[own].astype(float)[:, :, None] * units.T
            rays[own] = basis.shape[1] == 1
        return sigma, sides, rays

    def below(self, faces: np.ndarray) -> np.ndarray:
        """Return sign vectors that hold all faces of one dimension less, one of each kind."""
        found = [faces[:0]]
        for zero, own in _by_boundary(faces):
            for wider in self._wider(zero):
                inner = faces[own]
                inner[:, wider] = 0
                found.append(inner)
        together = np.unique(np.concatenate(found), axis=0)
        return self._one_of_each(together[together.any(axis=1)])

    def _wider(self, zero: np.ndarray) -> Iterator[np.ndarray]:
        """Yield which samples are on the boundary where one more is."""
        basis = orthogonal_to(self._x[:, zero])
        inner = basis.T @ self._x
        left = np.linalg.norm(inner, axis=0) > CLEAR * np.linalg.norm(self._x, axis=0)
        seen: set[bytes] = set()
        for n in np.flatnonzero(left & ~zero):
            direction = inner[:, n] / np.linalg.norm(inner[:, n])
            off = np.linalg.norm(inner - np.outer(direction, direction @ inner), axis=0)
            wider = zero | (off <= CLEAR * np.linalg.norm(self._x, axis=0))
            if wider.tobytes() not in seen:
                seen.add(wider.tobytes())
                yield wider

    def _one_of_each(self, faces: np.ndarray) -> np.ndarray:
        """Leave out faces that a permutation of the samples takes to another one."""
        largest = []
        for start in range(0, len(faces), CHUNK):
            images = faces[start : start + CHUNK][:, self._permutations] + np.int8(2)
            texts = np.ascontiguousarray(images).view(f"S{faces.shape[1]}")[..., 0]
            largest.append(np.sort(texts, axis=1)[:, -1])
        if not largest:
            return faces
        _, first = np.unique(np.concatenate(largest), return_index=True)
        return faces[first]


def _cone_bounds(sigma: np.ndarray, sides: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return bounds of ‖Σw‖ over unit vectors w of cones.

    Args:
        sigma: Σ of every cone, shape (B, n_y, L), its largest singular value about one.
        sides: Unit vectors a with a·w ≥ 0 in the cone, shape (B, P, L); zeros ask for nothing.
        limits: Bounds below which no better one is looked for, shape (B,).

    Returns:
        Shape (B,).
    """
    squares = np.einsum("fyl,fyk->flk", sigma, sigma)
    best = np.linalg.eigvalsh(squares)[:, -1]
    asked = np.flatnonzero(best > limits**2)
    weights = np.zeros((len(asked), sides.shape[1], sides.shape[1]))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        a = sides[asked]
        more = np.einsum("fml,fmj,fjk->flk", a, weights, a, optimize=True)
        values, vectors = np.linalg.eigh(squares[asked] + (more + more.swapaxes(1, 2)) / 2)
        best[asked] = np.minimum(best[asked], values[:, -1])
        kept = best[asked] > limits[asked] ** 2
        asked, weights = asked[kept], weights[kept]
        if not len(asked):
            break
        # Adam on the soft maximum of the eigenvalues: its gradient by N is Σ_k p_k (a·v_k)(a·v_k)ᵀ.
        values, vectors = values[kept], vectors[kept]
        share = np.exp(SHARPNESS * (values - values[:, -1:]))
        share /= share.sum(axis=1, keepdims=True)
        seen = np.einsum("fml,flk->fmk", a[kept], vectors) * np.sqrt(share)[:, None, :]
        slope = np.einsum("fmk,fjk->fmj", seen, seen)
        first = 0.9 * first[kept] + 0.1 * slope
        second = 0.99 * second[kept] + 0.01 * slope**2
        mean = first / (1 - 0.9**step)
        size = np.sqrt(second / (1 - 0.99**step)) + 1e-8
        weights = np.maximum(weights - LENGTH / (1 + 2 * step / STEPS) * mean / size, 0)
    return np.sqrt(np.maximum(best, 0))


def _by_boundary(faces: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (samples on the boundary, places of the faces that have them there)."""
    zero, which = np.unique(faces == 0, axis=0, return_inverse=True)
    for k, samples in enumerate(zero):
        yield samples, np.flatnonzero(which.ravel() == k)


def _permutations(group: SampleGroup) -> np.ndarray:
    """Return permutations of the group, the identity first, at most so many, shape (some, P)."""
    start = tuple(range(group.samples))
    found: dict[tuple[int, ...], None] = {start: None}
    queue: list[Sequence[int]] = [start]
    while queue and len(found) < _MOST_PERMUTATIONS:
        current = queue.pop(0)
        for generator in group.generators:
            image = tuple(int(generator[i]) for i in current)
            if image not in found:
                found[image] = None
                queue.append(image)
    return np.array(list(found))
