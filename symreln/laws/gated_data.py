"""Gated data in floats, and the small dense systems that they fall into.

Features are scaled by 1/sqrt(P) with the targets, so that correlations are plain products:
Sigma^yx_p = T R_pᵀ and Sigma^x(j,p) = R_j R_pᵀ.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from symreln.base.records import record
from symreln.base.summaries import short_repr
from symreln.laws.spans import orthonormal_span

#: A scipy.sparse.csr_array; scipy ships no types.
SparseArray = Any


@short_repr(eq=False)
class GatedData:
    """Features of every pathway and the targets, sparse.

    Attributes:
        features: X_p diag(g_p)/sqrt(P), one a pathway, shape (inputs of the pathway, P).
        targets: Y/sqrt(P), shape (n_y, P).
        writes: Whether a pathway writes to an output, shape (pathways, n_y).
        stages: Training stage of every pathway.
        staged: Whether a stage ignores the outputs of later stages.
    """

    features: tuple[SparseArray, ...]
    targets: SparseArray
    writes: np.ndarray
    stages: tuple[int, ...]
    staged: bool

    @cached_property
    def sees(self) -> np.ndarray:
        """Whether the error of pathway p contains the output of j, shape (pathways, pathways)."""
        stages = np.array(self.stages)
        return (stages[None, :] <= stages[:, None]) | (not self.staged)

    @cached_property
    def atoms(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """Outputs by who writes to them: (pathways, outputs); unwritten outputs are left out.

        Every product of output masks is a sum of these, so spans are kept one an atom.
        """
        kinds: dict[bytes, list[int]] = {}
        for row, writers in enumerate(np.ascontiguousarray(self.writes.T)):
            kinds.setdefault(writers.tobytes(), []).append(row)
        found = ((np.flatnonzero(self.writes[:, rows[0]]), rows) for rows in kinds.values())
        return tuple((writers, np.array(rows)) for writers, rows in found if len(writers))

    @cached_property
    def linked(self) -> np.ndarray:
        """Whether two pathways write to an output in common, shape (pathways, pathways)."""
        shared = self.writes.astype(float)
        return shared @ shared.T > 0

    @property
    def energy(self) -> float:
        """Loss with all outputs zero, ½ ‖Y‖²/P."""
        return 0.5 * float(self.targets.data @ self.targets.data)


@record(eq=False)
class GatedModule:
    """A part of the gated data that the flow does not leave, in orthonormal coordinates.

    It is a small gated linear network of its own; ``copies`` orthogonal parts are equal to it up
    to a rotation, so that one stands for all.

    Attributes:
        copies: How many equal parts there are.
        inputs: Basis of the part of every pathway's inputs, shape (inputs of the pathway, w_p).
        features: R_p, shape (w_p, z).
        targets: T, shape (u, z), both in one basis of the sample directions that matter.
        writes: Whether a pathway writes to an output direction, shape (pathways, u).
        sees: Whether pathway p sees the output of j, shape (pathways, pathways).
        stages: Training stage of every pathway; one for all in joint training.
        floor: Loss of one copy that no weights can lower.
    """

    copies: int
    inputs: tuple[np.ndarray, ...]
    features: tuple[np.ndarray, ...]
    targets: np.ndarray
    writes: np.ndarray
    sees: np.ndarray
    stages: tuple[int, ...]
    floor: float

    @cached_property
    def columns(self) -> tuple[slice, ...]:
        """Where the inputs of a pathway are among those of all."""
        ends = np.cumsum([0, *(r.shape[0] for r in self.features)]).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @cached_property
    def stacked(self) -> np.ndarray:
        """Features of all pathways, shape (Σ w_p, z)."""
        return np.vstack(self.features)

    @cached_property
    def rate(self) -> float:
        """Twice the largest singular value of a pathway's input-output correlation."""
        found = [self.sigma_yx[:, place] for place in self.columns]
        return 2 * max((float(np.linalg.norm(s, 2)) for s in found if s.size), default=0.0)

    @cached_property
    def mask(self) -> np.ndarray:
        """Which entries of [W_1, …, W_N] can be other than zero, shape (u, Σ w_p)."""
        return np.repeat(self.writes, [r.shape[0] for r in self.features], axis=0).T.astype(float)

    @cached_property
    def sigma_yx(self) -> np.ndarray:
        """[Sigma^yx_1, …, Sigma^yx_N], shape (u, Σ w_p)."""
        return self.mask * (self.targets @ self.stacked.T)

    @cached_property
    def sigma_x(self) -> np.ndarray:
        """Block (j, p) is Sigma^x(j,p) where p sees j, else zero; shape (Σ w_p, Σ w_p)."""
        widths = [r.shape[0] for r in self.features]
        seen = np.repeat(np.repeat(self.sees.T, widths, axis=0), widths, axis=1)
        return seen * (self.stacked @ self.stacked.T)

    @cached_property
    def _left(self) -> dict[int, np.ndarray]:
        """What every stage learns: targets less the outputs of converged earlier stages."""
        left, result = self.targets, {}
        for stage in sorted(set(self.stages)):
            result[stage] = left
            members = [p for p, own in enumerate(self.stages) if own == stage]
            left = self._residual(members, left)
        return result

    def learned(self, pathway: int) -> np.ndarray:
        """Return Sigma^yx_p of what the pathway's stage has to learn, shape (u, w_p)."""
        rows = self.writes[pathway][:, None]
        return rows * (self._left[self.stages[pathway]] @ self.features[pathway].T)

    def _residual(self, stage: list[int], targets: np.ndarray) -> np.ndarray:
        """Project every output off the features of the stage's pathways that write to it."""
        left = targets.copy()
        kinds: dict[tuple[int, ...], list[int]] = {}
        for row in range(len(targets)):
            kinds.setdefault(tuple(p for p in stage if self.writes[p, row]), []).append(row)
        for members, rows in kinds.items():
            if members:
                basis = orthonormal_span(np.vstack([self.features[p] for p in members]).T)
                left[rows] -= (left[rows] @ basis) @ basis.T
        return left
