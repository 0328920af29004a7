"""Effective datasets of all stages without any spectrum: what an earlier stage leaves is rational.

A second route to what the pipeline finds from plateaus, in use where spectra may not be had.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from symreln.pathways.effective import EffectiveDataset, effective_dataset
from symreln.pathways.residual import converged_outputs

if TYPE_CHECKING:
    from symreln.exact.matrix import ExactMatrix
    from symreln.spec.model import Spec


def effective_stages(spec: Spec) -> Iterator[tuple[int, EffectiveDataset]]:
    """Yield (number of the pathway from 1, its effective dataset), stage by stage."""
    targets = spec.dataset.targets
    for stage in spec.stages:
        members = _members(spec, stage, targets)
        yield from members.items()
        if stage != spec.stages[-1]:
            targets = targets - converged_outputs(targets, tuple(members.values()))


def first_stage(spec: Spec) -> Iterator[tuple[int, EffectiveDataset]]:
    """Yield (number of the pathway from 1, its effective dataset) of the first stage."""
    yield from _members(spec, spec.stages[0], spec.dataset.targets).items()


def _members(spec: Spec, stage: int, targets: ExactMatrix) -> dict[int, EffectiveDataset]:
    return {
        number: effective_dataset(spec.dataset, pathway, targets)
        for number, pathway in enumerate(spec.pathways, start=1)
        if len(spec.stages) == 1 or pathway.stage == stage
    }
