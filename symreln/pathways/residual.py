"""What a converged stage leaves to the next one, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.exact.linear import inverse, pseudo_inverse
from symreln.exact.matrix import ExactMatrix

if TYPE_CHECKING:
    from symreln.exact.spectrum import JointSpectrum
    from symreln.pathways.effective import EffectiveDataset


def converged_outputs(targets: ExactMatrix, stage: tuple[EffectiveDataset, ...]) -> ExactMatrix:
    """Return the outputs of a stage at the minimum of its loss, shape (n_y, P).

    Every output is the orthogonal projection of its targets onto the row space of the gated
    inputs of the pathways that write to it. The minimiser may not be unique; its outputs are.
    With one pathway this is W* X with W* = Sigma^{yx} (Sigma^x)⁺. Rational, so the residual
    dataset of the next stage stays exact.

    Args:
        targets: What the stage learns, shape (n_y, P), before any gate or mask.
        stage: The stage's pathways.
    """
    writers: dict[tuple[int, ...], list[int]] = {}
    own_rows = [set(effective.pathway.outputs) for effective in stage]
    for row in range(targets.shape[0]):
        members = tuple(i for i, rows in enumerate(own_rows) if row in rows)
        writers.setdefault(members, []).append(row)
    outputs = ExactMatrix.zeros(*targets.shape, targets.parameters)
    for members, rows in writers.items():
        if not members:
            continue
        features = ExactMatrix.stacked([stage[i].inputs for i in members])
        own = targets if len(rows) == targets.shape[0] else targets.masked(rows=rows)
        outputs += own @ features.T @ pseudo_inverse(features @ features.T) @ features
    return outputs


#: A pathway with its spectrum.
Learner = tuple["EffectiveDataset", "JointSpectrum"]


def stages_decouple(stages: tuple[tuple[Learner, ...], ...]) -> bool:
    """Return whether the loss is the sum of the stages' losses at all times, proven.

    The residual of a converged stage is orthogonal to that stage's inputs, so the one cross term
    is ⟨outputs of a later stage, what an earlier stage has still to learn⟩. It vanishes for all
    strengths if and only if it does for every pair of modes. False also where that could not be
    decided (modes whose eigenvalue is not rational in the parameters).
    """
    return all(
        _orthogonal(late, early)
        for place, stage in enumerate(stages)
        for late in stage
        for before in stages[:place]
        for early in before
    )


def _orthogonal(late: Learner, early: Learner) -> bool:
    late_data, late_spectrum = late
    early_data, early_spectrum = early
    if (late_data.sigma_yx.T @ early_data.sigma_yx).is_zero:
        return True
    cross = early_data.cross_sigma_x(late_data)
    if any(mode.degree > 1 for s in (late_spectrum, early_spectrum) for mode in s.classes):
        return cross.is_zero
    for mode in late_spectrum.classes:
        basis = mode.generators
        written = late_data.sigma_yx @ basis @ inverse(basis.T @ basis)
        for other in early_spectrum.classes:
            known = other.generators
            wanted = early_data.sigma_yx @ known @ inverse(known.T @ known)
            if not written.frobenius(wanted @ (known.T @ cross @ basis)).is_zero:
                return False
    return True
