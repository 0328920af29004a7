"""What a converged stage leaves to the next one, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.exact.linear import pseudo_inverse, stack_rows
from symreln.exact.matrix import ExactMatrix

if TYPE_CHECKING:
    from symreln.pathways.effective import EffectiveDataset


def converged_outputs(
    targets: ExactMatrix, stage: tuple[EffectiveDataset, ...]
) -> ExactMatrix:
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
        features = stack_rows([stage[i].inputs for i in members])
        own = targets if len(rows) == targets.shape[0] else targets.masked(rows=rows)
        outputs += own @ features.T @ pseudo_inverse(features @ features.T) @ features
    return outputs
