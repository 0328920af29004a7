"""Trained maps beside the modes that were predicted for each pathway (theory.md 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.prediction import probe_bases
from symreln.validation.alignment import (
    Alignment,
    NeuronAssignment,
    assign_neurons,
    measure_alignment,
)

if TYPE_CHECKING:
    from symreln.derivation import Derivation
    from symreln.train.network import TrainingRun


@dataclass(frozen=True, kw_only=True, eq=False)
class PathwayAlignment:
    """Alignment of one pathway's map with its predicted modes at the last step (theory.md 8).

    Attributes:
        pathway: Its name.
        left: Mean over seeds of the smallest cosine of output vectors, one a mode.
        right: The same of input vectors.
        outside: Mean over seeds of the share of ‖W2W1‖² outside the predicted span.
    """

    pathway: str
    left: tuple[float, ...]
    right: tuple[float, ...]
    outside: float


def gdln_alignment(derivation: Derivation, gdln: TrainingRun) -> tuple[PathwayAlignment, ...]:
    """Return how far the trained pathways of a GDLN are aligned, those with modes only."""
    final = gdln.snapshots["maps"][:, -1]
    return tuple(
        alignment
        for p, _ in enumerate(derivation.pathways)
        for alignment in [_pathway_alignment(derivation, p, final[:, p])]
        if alignment is not None
    )


def _pathway_alignment(derivation: Derivation, p: int, maps: np.ndarray) -> PathwayAlignment | None:
    """Compare maps of shape (seeds, n_y, n_x) with a pathway's modes; None where it has none."""
    pathway = derivation.pathways[p]
    u, v, labels = probe_bases(pathway)
    if not labels:
        return None
    groups = [
        [place for place, found in enumerate(labels) if found == label]
        for label in dict.fromkeys(labels)
    ]
    own = maps[:, :, list(pathway.effective.pathway.inputs)]
    found: Alignment = measure_alignment(own, u, v, groups)
    return PathwayAlignment(
        pathway=pathway.name,
        left=tuple(float(x) for x in found.left.mean(axis=0)),
        right=tuple(float(x) for x in found.right.mean(axis=0)),
        outside=float(found.outside.mean()),
    )


@dataclass(frozen=True, kw_only=True)
class SplitNetwork:
    """ReLU networks seen as pathways: means over seeds."""

    alignment: tuple[PathwayAlignment, ...]
    shares: tuple[float, ...]
    exact: float


def split_network(derivation: Derivation, network: TrainingRun, inputs: np.ndarray) -> SplitNetwork:
    """Split trained ReLU networks into pathways by the nearest gate and compare their maps."""
    # Gates of 0 and 1: a network is trained for no others.
    gates = np.array([p.effective.pathway.gate for p in derivation.pathways], dtype=int)
    weights = network.weights[0]
    maps = np.zeros((network.seeds, len(gates), weights.w2.shape[1], inputs.shape[0]))
    exact, shares = [], []
    for seed in range(network.seeds):
        w1, w2 = weights.w1[seed], weights.w2[seed]
        size = np.linalg.norm(w1, axis=1) * np.linalg.norm(w2, axis=0)
        assigned: NeuronAssignment = assign_neurons(w1 @ inputs > 0, gates, size)
        exact.append(assigned.exact_share)
        shares.append(assigned.shares)
        for p in range(len(gates)):
            chosen = assigned.index == p
            maps[seed, p] = w2[:, chosen] @ w1[chosen]
    found = [_pathway_alignment(derivation, p, maps[:, p]) for p in range(len(derivation.pathways))]
    return SplitNetwork(
        alignment=tuple(a for a in found if a is not None),
        shares=tuple(float(share) for share in np.mean(shares, axis=0)),
        exact=float(np.mean(exact)),
    )
