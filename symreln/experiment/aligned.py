"""Trained maps beside the modes that were predicted for each pathway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.probes import probe_bases
from symreln.claims.widths import narrow_pathways
from symreln.experiment.alignment import NeuronAssignment, assign_neurons, measure_alignment
from symreln.experiment.narrow import held_modes

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation
    from symreln.train.run import TrainingRun


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class PathwayAlignment:
    """Alignment of one pathway's map with its predicted modes at the last step.

    Of a pathway with fewer hidden units than modes, and with weight decay, only modes that are
    learned have directions: those above half of their height, network by network.

    Attributes:
        pathway: Its name.
        left: Mean over seeds of the smallest cosine of output vectors, one an entry of modes, those
            that some network learned.
        right: The same of input vectors.
        outside: Mean over seeds of the share of ‖W2W1‖² outside the predicted span.
        modes: Labels of the entries.
    """

    pathway: str
    left: tuple[float, ...]
    right: tuple[float, ...]
    outside: float
    modes: tuple[str, ...] = ()


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
    names = list(dict.fromkeys(labels))
    groups = [[place for place, found in enumerate(labels) if found == name] for name in names]
    own = maps[:, :, list(pathway.effective.pathway.inputs)]
    found = [
        measure_alignment(each, u, v, groups, counts)
        for each, counts in zip(own, _learned(derivation, pathway, maps, names), strict=True)
    ]
    left, right = (np.array([getattr(one, side) for one in found]) for side in ("left", "right"))
    seen = [not bool(np.isnan(column).all()) for column in left.T]
    return PathwayAlignment(
        pathway=pathway.name,
        left=tuple(np.nanmean(left[:, seen], axis=0).tolist()),
        right=tuple(np.nanmean(right[:, seen], axis=0).tolist()),
        outside=float(np.mean([one.outside for one in found])),
        modes=tuple(name for name, there in zip(names, seen, strict=True) if there),
    )


def _learned(
    derivation: Derivation, pathway: PathwayDerivation, maps: np.ndarray, names: list[str]
) -> list[list[int] | None]:
    """Return how many modes of every label each map holds; None where all are to be compared."""
    known = derivation.known
    narrow = any(one.pathway.name == pathway.name for one in derivation.ask(narrow_pathways))
    if not known.lowers_plateaus and not narrow:
        return [None] * len(maps)
    held = [held_modes(pathway, each, names, known) for each in maps]
    return [[each[name] for name in names] for each in held]


@short_repr
@dataclass(frozen=True, kw_only=True)
class SplitNetwork:
    """ReLU networks seen as pathways: means over seeds."""

    alignment: tuple[PathwayAlignment, ...]
    shares: tuple[float, ...]
    exact: float


def split_network(derivation: Derivation, network: TrainingRun, inputs: np.ndarray) -> SplitNetwork:
    """Split trained ReLU networks into pathways by the nearest gate and compare their maps."""
    # Gates of 0 and 1: a network is trained for no others.
    gates = np.array([p.effective.pathway.gate for p in derivation.pathways], dtype=float)
    for own, pathway in zip(gates, derivation.pathways, strict=True):
        own[list(pathway.effective.pathway.boundary)] = np.nan
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
