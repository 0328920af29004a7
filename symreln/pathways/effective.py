"""What a pathway sees: its effective dataset and the correlations that drive it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symreln.exact.matrix import ExactMatrix
    from symreln.spec.model import Dataset, PathwaySpec


@dataclass(frozen=True, kw_only=True)
class EffectiveDataset:
    r"""Inputs and targets under one pathway's gate and masks, with their correlations.

    Correlations carry 1/P over the WHOLE dataset, not over the gated samples.
    Source: [Saxe2022] for gated networks, [Jarvis2025] for the reading as effective datasets.

    Attributes:
        pathway: The pathway.
        inputs: X_p, shape (inputs of the pathway, P): its own inputs only, closed samples zero.
        targets: Y_p, shape (n_y, P): closed samples and outputs of other pathways zero; for a
            later stage the residual that the converged earlier stages leave.
        sigma_yx: Input-output correlation Y_p X_pᵀ/P, shape (n_y, inputs of the pathway).
        sigma_x: Input correlation X_p X_pᵀ/P, square, one row an input of the pathway.
    """

    pathway: PathwaySpec
    inputs: ExactMatrix
    targets: ExactMatrix
    sigma_yx: ExactMatrix
    sigma_x: ExactMatrix

    @property
    def samples(self) -> int:
        """P, closed samples included."""
        return self.inputs.shape[1]

    def cross_sigma_x(self, other: EffectiveDataset) -> ExactMatrix:
        """Return Sigma^x(self, other) = X_self X_otherᵀ / P."""
        return (self.inputs @ other.inputs.T).scale(Fraction(1, self.samples))


def effective_dataset(
    dataset: Dataset, pathway: PathwaySpec, targets: ExactMatrix
) -> EffectiveDataset:
    """Apply a pathway's gate and masks to the dataset.

    Args:
        dataset: The whole dataset.
        pathway: Gate and masks.
        targets: Shape (n_y, P): the dataset's targets, or a later stage's residual.
    """
    open_samples = pathway.open_samples
    inputs = dataset.inputs.select(rows=pathway.inputs).masked(columns=open_samples)
    outputs = None if len(pathway.outputs) == dataset.n_y else pathway.outputs
    own_targets = targets.masked(rows=outputs, columns=open_samples)
    per_sample = Fraction(1, dataset.samples)
    return EffectiveDataset(
        pathway=pathway,
        inputs=inputs,
        targets=own_targets,
        sigma_yx=(own_targets @ inputs.T).scale(per_sample),
        sigma_x=(inputs @ inputs.T).scale(per_sample),
    )
