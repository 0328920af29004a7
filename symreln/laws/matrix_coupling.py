r"""Pathways as blocks of their own: what their maps make of each other's errors.

In reduced coordinates, with :math:`U_p` an orthonormal basis of where pathway p writes, in a basis
of all that is written or wanted,

.. math:: E_p = U_p^T \Bigl[ T R_p^T - \sum_j U_j W_j R_j R_p^T \Bigr],

the sum over the pathways j that p sees; T and R are scaled by 1/sqrt(P).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.laws.gated_data import GatedModule


class MatrixCoupling:
    """A Coupling of :mod:`symreln.laws.block_flow`, one block a pathway.

    Attributes:
        module: The data in reduced coordinates.
        bases: U of every pathway, shape (outputs, any).
        shapes: (Output directions that the pathway writes to, its inputs), one a pathway.
    """

    def __init__(self, module: GatedModule, bases: Sequence[np.ndarray] | None = None) -> None:
        """Take the bases, or the outputs that every pathway of the module writes to."""
        self.module = module
        outputs = np.eye(len(module.targets))
        self.bases = bases or [outputs[:, writes] for writes in module.writes]
        self.shapes = tuple(
            (basis.shape[1], len(own))
            for basis, own in zip(self.bases, module.features, strict=True)
        )
        ends = np.cumsum([0, *(a * b for a, b in self.shapes)]).tolist()
        self._places = [slice(a, b) for a, b in pairwise(ends)]

    @property
    def coupling(self) -> MatrixCoupling:
        """Itself: it is its own Coupling."""
        return self

    @property
    def rate(self) -> float:
        """Twice the largest singular value of a pathway's input-output correlation."""
        whole, columns = self.module.sigma_yx, self.module.columns
        own = [basis.T @ whole[:, p] for basis, p in zip(self.bases, columns, strict=True)]
        return 2 * max((float(np.linalg.norm(s, 2)) for s in own if s.size), default=0.0)

    def starts(self, grams: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the start of every block from that of every pathway.

        Args:
            grams: Q Qᵀ/g on [inputs; outputs] of a copy, shape (…, w_p + u, w_p + u), one a
                pathway.
        """
        from scipy.linalg import block_diag

        found = []
        for gram, basis, (_, width) in zip(grams, self.bases, self.shapes, strict=True):
            turn = block_diag(np.eye(width), basis)
            found.append(turn.T @ gram @ turn)
        return found

    def errors(self, maps: np.ndarray) -> np.ndarray:
        """Return E of every pathway."""
        module = self.module
        error = module.sigma_yx - self._written(maps) @ module.sigma_x
        parts = [
            (basis.T @ error[:, :, place]).reshape(len(error), rows * columns)
            for basis, place, (rows, columns) in zip(
                self.bases, module.columns, self.shapes, strict=True
            )
        ]
        return np.concatenate(parts, axis=1).T.reshape(maps.shape)

    def losses(self, maps: np.ndarray) -> np.ndarray:
        """Return the loss of all copies, shape (any,)."""
        left = self.residuals(maps)
        return self.module.copies * (0.5 * np.einsum("tus,tus->t", left, left) + self.module.floor)

    def residuals(self, maps: np.ndarray) -> np.ndarray:
        """Return what maps leave of a copy's targets, shape (any, u, P)."""
        return self.module.targets - self._written(maps) @ self.module.stacked

    def functional(self, pathway: int, weights: np.ndarray) -> np.ndarray:
        """Return tr(weightsᵀ W_p) of one copy as a linear function of the entries.

        Args:
            pathway: p.
            weights: Shape (u, w_p).
        """
        found = np.zeros(self._places[-1].stop)
        found[self._places[pathway]] = (self.bases[pathway].T @ weights).ravel()
        return found

    def _written(self, maps: np.ndarray) -> np.ndarray:
        """Return [U_1 W_1, …, U_N W_N], shape (any, u, Σ w_p)."""
        flat = np.atleast_2d(maps.T)
        blocks = zip(self.bases, self._places, self.shapes, strict=True)
        parts = [
            basis @ flat[:, place].reshape(len(flat), *shape) for basis, place, shape in blocks
        ]
        return np.concatenate(parts, axis=2)
