"""Closing a few vectors under all correlations: the smallest part that the flow does not leave.

A pathway's map is made of products of Sigma^yx_p, Sigma^x(j,p), output masks and their transposes.
Bases, one a pathway for its inputs and one an atom of outputs, that are closed under these are
never left. Correlations are never formed: every product goes through the samples.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from symreln.laws.gated_data import GatedData

#: Leftover of an image, relative to the norms of the matrices, that counts as a new direction.
#: Measured on symmetric data, 3 contexts to 16 contexts of 128 items: rounding leaves at most 2e-12
#: (an eigenvector's error, over the length of the shortest direction), true ones are 3e-4 and
#: longer. Without symmetry the two can meet; then rounding is taken for a direction and the part
#: grows, which costs time and is as exact.
_LEAK_TOLERANCE = 1e-10
#: Directions of one image matrix that are told apart in one go, relative to the longest.
_SHARP = 1e-6
#: Columns of a first sketch; a part of more directions takes further rounds.
_SKETCH = 24


@dataclass(eq=False)
class InvariantSubspaces:
    """Orthonormal bases, closed.

    Attributes:
        inputs: One a pathway, shape (inputs of the pathway, w_p).
        outputs: One an atom, shape (outputs of the atom, u_a).
    """

    inputs: list[np.ndarray]
    outputs: list[np.ndarray]


@dataclass(eq=False)
class SubspaceSearch:
    """Spins seeds in one gated dataset."""

    data: GatedData
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def __post_init__(self) -> None:
        self.norms = np.array([norm_bound(f) for f in self.data.features])
        self.blocks = [self.data.targets[rows] for _, rows in self.data.atoms]
        self.block_norms = np.array([norm_bound(block) for block in self.blocks])
        self.transposed = [f.T.tocsr() for f in self.data.features]
        self.blocks_transposed = [block.T.tocsr() for block in self.blocks]

    def spin(self, pathway: int, seeds: np.ndarray) -> InvariantSubspaces:
        """Return the smallest closed bases that contain the seeds.

        Args:
            pathway: Whose inputs the seeds are.
            seeds: Orthonormal columns, shape (inputs of the pathway, k).
        """
        features = self.data.features
        spun = InvariantSubspaces(
            inputs=[np.zeros((f.shape[0], 0)) for f in features],
            outputs=[np.zeros((block.shape[0], 0)) for block in self.blocks],
        )
        spun.inputs[pathway] = seeds
        fresh_inputs: dict[int, np.ndarray] = {pathway: seeds}
        fresh_outputs: dict[int, np.ndarray] = {}
        while fresh_inputs or fresh_outputs:
            written = {p: self.transposed[p] @ new for p, new in fresh_inputs.items()}
            wanted = {a: self.blocks_transposed[a] @ new for a, new in fresh_outputs.items()}
            fresh_inputs = self._grow_inputs(spun, written, wanted)
            fresh_outputs = self._grow_outputs(spun, written)
        return spun

    def _grow_inputs(
        self, spun: InvariantSubspaces, written: dict, wanted: dict
    ) -> dict[int, np.ndarray]:
        fresh, together = {}, {}
        for j, feature in enumerate(self.data.features):
            sources = tuple(p for p in written if self.data.linked[p, j])
            targets = tuple(a for a in wanted if self.data.writes[j, self.data.atoms[a][1][0]])
            if not (sources or targets) or not self.norms[j]:
                continue
            if (sources, targets) not in together:
                parts = [written[p] / self.norms[p] for p in sources]
                parts += [wanted[a] / self.block_norms[a] for a in targets]
                together[sources, targets] = np.hstack(parts)
            images = feature @ together[sources, targets] / self.norms[j]
            new = self.new_directions(spun.inputs[j], images)
            if new.shape[1]:
                fresh[j] = new
                spun.inputs[j] = np.hstack([spun.inputs[j], new])
        return fresh

    def _grow_outputs(self, spun: InvariantSubspaces, written: dict) -> dict[int, np.ndarray]:
        fresh = {}
        for a, ((members, _), block) in enumerate(zip(self.data.atoms, self.blocks, strict=True)):
            samples = [x / self.norms[p] for p, x in written.items() if p in members]
            if samples and self.block_norms[a]:
                images = block @ np.hstack(samples) / self.block_norms[a]
                new = self.new_directions(spun.outputs[a], images)
                if new.shape[1]:
                    fresh[a] = new
                    spun.outputs[a] = np.hstack([spun.outputs[a], new])
        return fresh

    def new_directions(self, basis: np.ndarray, images: np.ndarray) -> np.ndarray:
        """Return orthonormal directions of the images outside a basis, shape (rows, new).

        Images of many columns are few directions seen often, so random mixtures find them; the
        loop ends only when no single image is left outside.
        """
        found = np.zeros((len(images), 0))
        while True:
            known = np.hstack([basis, found])
            images = _outside(known, images)
            if images.shape[1]:  # the second projection removes the rounding of the first
                images = _outside(known, images)
            if not images.shape[1]:
                return found
            u, s, _ = np.linalg.svd(self._sketched(images), full_matrices=False)
            # Much shorter directions are found sharper once the longer ones are taken out.
            new = u[:, s > _SHARP * s[0]]
            new = new - known @ (known.T @ new)
            found = np.hstack([found, np.linalg.qr(new)[0]])

    def _sketched(self, images: np.ndarray) -> np.ndarray:
        count = images.shape[1]
        if count <= 2 * _SKETCH:
            return images
        mixing = self.rng.standard_normal((count, _SKETCH)) / np.sqrt(_SKETCH)
        return images @ mixing


def _outside(basis: np.ndarray, images: np.ndarray) -> np.ndarray:
    """Return what is left of the images off a basis, where it is longer than rounding."""
    images = images - basis @ (basis.T @ images)
    return images[:, np.einsum("ij,ij->j", images, images) > _LEAK_TOLERANCE**2]


def norm_bound(matrix) -> float:
    """Return a bound of the largest singular value: sqrt(largest column sum · largest row sum)."""
    if not matrix.nnz:
        return 0.0
    size = abs(matrix)
    return float(np.sqrt(size.sum(axis=0).max() * size.sum(axis=1).max()))
