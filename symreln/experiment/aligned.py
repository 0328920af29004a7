"""Trained maps beside the modes that were predicted for each pathway.

Silent alignment, measured: do a network's singular vectors agree with the predicted modes.

Source: the assumption is 2.1.2 of [Jarvis2025]; measured are cosines of principal angles between
singular subspaces, mode by mode and over time, and the share of the map outside the predicted span.
Pure numpy; nothing here is used by a derivation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.claims.narrow import narrow_pathways
from symreln.claims.probes import mode_bases, probe_bases
from symreln.laws.choice import plateau

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation
    from symreln.laws.law import Regime
    from symreln.train.run import TrainingRun


@record(eq=False)
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
    return _alignments(derivation, gdln.snapshots["maps"][:, -1])


def _alignments(derivation: Derivation, maps: np.ndarray) -> tuple[PathwayAlignment, ...]:
    """Compare maps of shape (seeds, pathways, n_y, n_x) with the pathways that have modes."""
    found = [_pathway_alignment(derivation, p, maps[:, p]) for p in range(maps.shape[1])]
    return tuple(each for each in found if each is not None)


def _pathway_alignment(derivation: Derivation, p: int, maps: np.ndarray) -> PathwayAlignment | None:
    """Compare maps of shape (seeds, n_y, n_x) with a pathway's modes; None where it has none."""
    pathway = derivation.pathways[p]
    u, v, labels = probe_bases(pathway)
    if not labels:
        return None
    names = list(dict.fromkeys(labels))
    groups = [[place for place, found in enumerate(labels) if found == name] for name in names]
    own = maps[:, :, list(pathway.effective.pathway.inputs)]
    learned = zip(own, _learned(derivation, pathway, maps, names, groups), strict=True)
    cosines = np.array([_cosines(each, (u, v), groups, counts) for each, counts in learned])
    seen = np.array([not np.isnan(group).all() for group in cosines.swapaxes(0, 1)])
    left, right = np.nanmean(cosines[:, seen], axis=0).T.tolist()
    missed, total = ((each**2).sum(axis=(1, 2)) for each in (own - u @ (u.T @ own @ v) @ v.T, own))
    return PathwayAlignment(
        pathway=pathway.name,
        left=tuple(left),
        right=tuple(right),
        outside=float(np.mean(missed / np.where(total > 0, total, 1.0))),
        modes=tuple(name for name, there in zip(names, seen, strict=True) if there),
    )


def _learned(
    derivation: Derivation,
    pathway: PathwayDerivation,
    maps: np.ndarray,
    names: list[str],
    groups: list[list[int]],
) -> list[list[int]]:
    """Return how many modes of every label each map holds; all where all are to be compared."""
    known = derivation.known
    narrow = any(one.pathway.name == pathway.name for one in derivation.ask(narrow_pathways))
    if not known.lowers_plateaus and not narrow:
        return [[len(group) for group in groups]] * len(maps)
    held = [_held_modes(pathway, each, names, known) for each in maps]
    return [[each[name] for name in names] for each in held]


@record
class SplitNetwork:
    """ReLU networks seen as pathways: means over seeds."""

    alignment: tuple[PathwayAlignment, ...]
    shares: tuple[float, ...]
    exact: float

    @classmethod
    def of(cls, derivation: Derivation, network: TrainingRun) -> SplitNetwork:
        """Split trained ReLU networks into pathways by the nearest gate and compare their maps."""
        inputs = derivation.spec.dataset.inputs.to_numpy()
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
            active = w1 @ inputs > 0
            differ = np.array([np.nansum(np.abs(active - gate), axis=1) for gate in gates])
            index, distance = differ.argmin(axis=0), differ.min(axis=0)
            total = float(size.sum()) or 1.0  # nothing contributes: every share is 0 of 1
            exact.append(float(size[distance == 0].sum()) / total)
            shares.append(np.bincount(index, weights=size, minlength=len(gates)) / total)
            for p in range(len(gates)):
                chosen = index == p
                maps[seed, p] = w2[:, chosen] @ w1[chosen] / derivation.known.slower
        return cls(
            alignment=_alignments(derivation, maps),
            shares=tuple(float(share) for share in np.mean(shares, axis=0)),
            exact=float(np.mean(exact)),
        )


def _cosines(
    map_: np.ndarray,
    bases: tuple[np.ndarray, np.ndarray],
    groups: Sequence[Sequence[int]],
    counts: Sequence[int],
) -> np.ndarray:
    """Return the smallest cosines of each group's output and input vectors, shape (G, 2).

    A group is a set of modes of equal s and d: only their span is predicted. It is compared with as
    many of the map's singular vectors as it has modes there; the groups take these in the order of
    their strength in the map, the strongest group the vectors of the largest singular values. The
    cosine is that of the largest principal angle: 0 also where the map has no such singular value,
    and NaN of a group with no mode there.

    Args:
        map_: Shape (n_y, n_x).
        bases: Predicted output and input vectors, orthonormal columns, (n_y, R) and (n_x, R).
        groups: Partition of the modes 0 … R − 1.
        counts: How many of its modes each group has in the map.
    """
    u, v = bases
    left, _, right = np.linalg.svd(map_, full_matrices=False)
    rank = np.linalg.matrix_rank(map_)  # rounding noise is not a direction
    core = u.T @ map_ @ v
    # Root mean square: a group that is not learned yet has no direction to be judged by.
    strengths = [
        np.linalg.norm(np.linalg.svd(core[np.ix_(group, group)], compute_uv=False)[:count])
        / max(count, 1) ** 0.5
        for group, count in zip(groups, counts, strict=True)
    ]
    found, first = np.zeros((len(groups), 2)), 0
    for place in np.argsort(-np.array(strengths), kind="stable"):
        group, count = groups[place], counts[place]
        own = slice(first, first + count)
        first += count
        if not count:
            found[place] = np.nan
        elif first <= rank:
            found[place] = _cosine(u[:, group], left[:, own]), _cosine(v[:, group], right[own].T)
    return found


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(min(np.linalg.svd(one.T @ other, compute_uv=False)[-1], 1.0))


# -- narrow pathways -------------------------------------------------------------------------------


@record
class NarrowOutcome:
    """What the trained networks hold of one pathway's modes at the last step.

    Attributes:
        pathway: Its name.
        first: How many equal modes of every entry are predicted to be learned first, by label.
        least: How many are predicted to be there in the end.
        held: How many every network holds, by label: those above half of their height.
    """

    pathway: str
    first: dict[str, int]
    least: dict[str, int]
    held: tuple[dict[str, int], ...]

    def sentence(self) -> str:
        """Return how many networks hold what was predicted."""
        text = (
            f"narrow pathway '{self.pathway}': {self.held.count(self.first)} of {len(self.held)} "
            "networks have learned the modes that are predicted to be first"
        )
        if self.least == self.first:
            return text
        return f"{text}, {self.held.count(self.least)} those that are predicted for the end"


def narrow_outcomes(derivation: Derivation, gdln: TrainingRun) -> tuple[NarrowOutcome, ...]:
    """Return what trained narrow pathways hold, of those for which it is predicted.

    Args:
        derivation: Without free parameters.
        gdln: The trained gated networks, with their maps.
    """
    names = [pathway.name for pathway in derivation.pathways]
    found = []
    for one in derivation.ask(narrow_pathways):
        if one.found is not None and one.found.plateau is not None:
            labels = [entry.label for entry in one.found.modes]
            final = gdln.snapshots["maps"][:, -1, names.index(one.pathway.name)]
            found.append(
                NarrowOutcome(
                    pathway=one.pathway.name,
                    first=dict(zip(labels, one.found.plateau, strict=True)),
                    least=dict(zip(labels, one.found.least, strict=True)),
                    held=tuple(
                        _held_modes(one.pathway, each, labels, derivation.known) for each in final
                    ),
                )
            )
    return tuple(found)


def _held_modes(
    pathway: PathwayDerivation, map_: np.ndarray, labels: Sequence[str], known: Regime
) -> dict[str, int]:
    """Return how many equal modes of every label a map holds: those above half of their height.

    Args:
        pathway: With its modes.
        map_: Shape (n_y, n_x).
        labels: Of modes that learn something.
        known: What is known of the modes.
    """
    bases, own = mode_bases(pathway), map_[:, list(pathway.effective.pathway.inputs)]
    modes = {mode.label: mode for mode in pathway.modes}
    found = {}
    for label in labels:
        (u, v), d = bases[label], modes[label].d
        assert d is not None
        height = plateau(known, modes[label].s.to_float(), d.to_float())
        # Equal modes may be learned in any rotation of their space.
        strengths = np.linalg.svd(u.T @ own @ v, compute_uv=False)
        found[label] = int((strengths > height / 2).sum()) if height > 0 else 0
    return found
