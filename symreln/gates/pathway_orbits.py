r"""Pathways that a symmetry of the data exchanges, decided exactly.

Single units start from a law that no rotation changes. So a permutation sigma of the samples with
rotations :math:`QX = XP_\sigma`, :math:`Q'Y = YP_\sigma` maps what units do onto what they do as
often: a pathway with gate g and one with the gate moved by sigma have the same constants. Such
rotations exist exactly where sigma keeps the Gram matrices :math:`X^TX` and :math:`Y^TY`, which is
a matter of comparing exact numbers; no rotation is formed. Of pathways with inputs or outputs of
their own the rotations must map these too: sigma then also takes the Gram matrices of one's own
inputs and outputs to those of the other's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.exact.matrix import ExactMatrix
from symreln.gates.orbits import sample_map
from symreln.laws.gate_classes import numbered, paired

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.spec.model import Dataset, PathwaySpec


def pathway_orbits(dataset: Dataset, pathways: Sequence[PathwaySpec]) -> list[int]:
    """Return for every pathway the first of its orbit, by place; itself where it is alone.

    A search that is given up (:data:`symreln.gates.orbits.BRANCHES`) leaves a pathway alone.

    Args:
        dataset: X and Y, without parameters.
        pathways: With gates of 0 and 1.
    """
    originals = list(range(len(pathways)))
    if len(pathways) < 2:
        return originals
    relations = _relations(dataset, pathways)
    for place, own in enumerate(relations):
        for other in sorted(set(originals[:place])):
            if _counts(relations[other]) == _counts(own) and (
                sample_map(relations[other], own) is not None
            ):
                originals[place] = other
                break
    return originals


def _relations(dataset: Dataset, pathways: Sequence[PathwaySpec]) -> list[np.ndarray]:
    """Return, for every pathway, how samples lie to each other and to it, shape (P, P).

    Two pairs of samples have one number, over all pathways, where their products are the same, in
    all inputs and outputs and in the pathway's own, and gates are open on the same.
    """
    x, y = dataset.inputs, dataset.targets
    inputs = [x, *(x.select(rows=pathway.inputs) for pathway in pathways)]
    outputs = [y, *(y.select(rows=pathway.outputs) for pathway in pathways)]
    products = [numbered(ExactMatrix.beside([m.gram() for m in ms])) for ms in (inputs, outputs)]
    gates = np.hstack([np.diag(_sides(pathway)) for pathway in pathways])
    found = gates
    for each in products:
        whole, own = np.split(each, [dataset.samples], axis=1)
        found = paired(paired(found, np.hstack([whole] * len(pathways))), own)
    return np.split(found, len(pathways), axis=1)


def _sides(pathway: PathwaySpec) -> np.ndarray:
    """Return 0 closed, 1 open, 2 on the boundary, shape (P,)."""
    sides = np.array(pathway.gate, dtype=np.int64)
    sides[list(pathway.boundary)] = 2
    return sides


def _counts(relations: np.ndarray) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return how often each relation occurs: no map takes relations to others than as many."""
    values, counts = np.unique(relations, return_counts=True)
    return tuple(values.tolist()), tuple(counts.tolist())
