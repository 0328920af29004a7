"""Which modes trained narrow pathways hold, beside those that were predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.probes import probe_bases
from symreln.claims.widths import narrow_pathways
from symreln.laws.choice import plateau

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.derivation import Derivation, PathwayDerivation
    from symreln.claims.narrow_law import NarrowLaw
    from symreln.claims.widths import NarrowPathway
    from symreln.laws.law import Regime
    from symreln.train.run import TrainingRun


@short_repr
@dataclass(frozen=True, kw_only=True)
class NarrowOutcome:
    """What the trained networks hold of one pathway's modes at the last step.

    Attributes:
        pathway: Its name.
        first: How many equal modes of every entry are predicted to be learned first, by label.
        least: How many are predicted to be there in the end.
        held: How many every network holds, by label: those above half of their height.
        share_first: Share of the networks drawn from the law that hold ``first`` at the last step;
            None where none were drawn.
        share_least: The same of ``least``.
    """

    pathway: str
    first: dict[str, int]
    least: dict[str, int]
    held: tuple[dict[str, int], ...]
    share_first: float | None = None
    share_least: float | None = None


def narrow_outcomes(
    derivation: Derivation, gdln: TrainingRun, drawn: NarrowLaw | None = None
) -> tuple[NarrowOutcome, ...]:
    """Return what trained narrow pathways hold, of those for which it is predicted.

    Args:
        derivation: Without free parameters.
        gdln: The trained gated networks, with their maps.
        drawn: The networks whose mean was predicted.
    """
    names = [pathway.name for pathway in derivation.pathways]
    found = []
    for one in derivation.ask(narrow_pathways):
        if one.found is not None and one.found.plateau is not None:
            place = names.index(one.pathway.name)
            inside = None if drawn is None else drawn.pathways[place].maps
            final = gdln.snapshots["maps"][:, -1, place]
            found.append(_outcome(derivation.known, one, final, inside))
    return tuple(found)


def _outcome(
    known: Regime, one: NarrowPathway, maps: np.ndarray, drawn: np.ndarray | None
) -> NarrowOutcome:
    """Count the modes in maps of shape (seeds, n_y, n_x), and in Uᵀ W V of drawn networks."""
    assert one.found is not None
    labels = [entry.label for entry in one.found.modes]
    first = dict(zip(labels, one.found.plateau or (), strict=True))
    least = dict(zip(labels, one.found.least, strict=True))
    there = (
        None if drawn is None else [_in_modes(one.pathway, core, labels, known) for core in drawn]
    )
    return NarrowOutcome(
        pathway=one.pathway.name,
        first=first,
        least=least,
        held=tuple(held_modes(one.pathway, each, labels, known) for each in maps),
        share_first=None if there is None else float(np.mean([held == first for held in there])),
        share_least=None if there is None else float(np.mean([held == least for held in there])),
    )


def held_modes(
    pathway: PathwayDerivation, map_: np.ndarray, labels: Sequence[str], known: Regime
) -> dict[str, int]:
    """Return how many equal modes of every label a map holds: those above half of their height.

    Args:
        pathway: With its modes.
        map_: Shape (n_y, n_x).
        labels: Of modes that learn something.
        known: What is known of the modes.
    """
    u, v, _ = probe_bases(pathway)
    seen = map_[:, list(pathway.effective.pathway.inputs)]
    return _in_modes(pathway, u.T @ seen @ v, labels, known)


def _in_modes(
    pathway: PathwayDerivation, core: np.ndarray, labels: Sequence[str], known: Regime
) -> dict[str, int]:
    owners = probe_bases(pathway)[2]
    modes = {mode.label: mode for mode in pathway.modes}
    found = {}
    for label in labels:
        own = [place for place, owner in enumerate(owners) if owner == label]
        d = modes[label].d
        assert d is not None
        height = plateau(known, modes[label].s.to_float(), d.to_float())
        # Equal modes may be learned in any rotation of their space.
        strengths = np.linalg.svd(core[np.ix_(own, own)], compute_uv=False)
        found[label] = int((strengths > height / 2).sum()) if height > 0 else 0
    return found
