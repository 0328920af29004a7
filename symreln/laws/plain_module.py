"""A module whose pathways share nothing: every pathway's map is a block of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.laws.gated_data import GatedModule


class PlainModule:
    """A module as a Coupling of :mod:`symreln.laws.block_flow`, one block a pathway.

    Attributes:
        module: The module.
    """

    def __init__(self, module: GatedModule) -> None:
        self.module = module
        rows = [np.flatnonzero(writes) for writes in module.writes]
        columns = [np.arange(place.start, place.stop) for place in module.columns]
        self._shapes: tuple[tuple[int, int], ...] = tuple(
            (len(r), len(c)) for r, c in zip(rows, columns, strict=True)
        )
        self._wide = module.sigma_yx.shape[1]
        # Where an entry of the blocks is in [W_1, …, W_N], row by row.
        self._places = np.concatenate(
            [(r[:, None] * self._wide + c).ravel() for r, c in zip(rows, columns, strict=True)]
            or [np.zeros(0, dtype=int)]
        )

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """(Output directions that the pathway writes to, its inputs), one a pathway."""
        return self._shapes

    @property
    def coupling(self) -> PlainModule:
        """The module itself: it is its own Coupling."""
        return self

    @property
    def rate(self) -> float:
        """Twice the largest singular value of a pathway's input-output correlation."""
        return self.module.rate

    def starts(self, grams: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the start of every block from that of every pathway.

        Args:
            grams: Q Qᵀ/g on [inputs; outputs] of a copy, shape (w_p + u) squared, one a pathway.
        """
        return [
            gram[np.ix_(keep, keep)]
            for gram, place, rows in zip(
                grams, self.module.columns, self.module.writes, strict=True
            )
            for width in [place.stop - place.start]
            for keep in [np.r_[np.arange(width), width + np.flatnonzero(rows)]]
        ]

    def errors(self, maps: np.ndarray) -> np.ndarray:
        """Return E of every pathway."""
        return self.many_errors(maps[:, None])[:, 0]

    def many_errors(self, maps: np.ndarray) -> np.ndarray:
        """Return E of every pathway for maps of shape (entries, any)."""
        seen = self._together(maps) @ self.module.sigma_x
        return (self.module.sigma_yx - seen).reshape(maps.shape[1], -1)[:, self._places].T

    def losses(self, maps: np.ndarray) -> np.ndarray:
        """Return the loss of all copies, shape (times,)."""
        left = self.module.targets - self._together(maps) @ self.module.stacked
        return self.module.copies * (0.5 * np.einsum("tus,tus->t", left, left) + self.module.floor)

    def functional(self, pathway: int, weights: np.ndarray) -> np.ndarray:
        """Return tr(weightsᵀ W_p) of one copy as a linear function of the entries.

        Args:
            pathway: p.
            weights: Shape (u, w_p).
        """
        whole = np.zeros(self.module.sigma_yx.shape)
        whole[:, self.module.columns[pathway]] = weights
        return whole.ravel()[self._places]

    def _together(self, maps: np.ndarray) -> np.ndarray:
        """Return [W_1, …, W_N] at every time, shape (times, u, Σ w_p)."""
        shape = self.module.sigma_yx.shape
        flat = np.zeros((maps.shape[1], shape[0] * shape[1]))
        flat[:, self._places] = maps.T
        return flat.reshape(-1, *shape)
