"""Which modes trained narrow pathways hold, beside those that were predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.claims.probes import probe_bases
from symreln.claims.widths import narrow_pathways
from symreln.laws.choice import plateau

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.derivation import Derivation, PathwayDerivation
    from symreln.laws.law import Regime
    from symreln.train.run import TrainingRun


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
                        held_modes(one.pathway, each, labels, derivation.known) for each in final
                    ),
                )
            )
    return tuple(found)


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
    u, v, owners = probe_bases(pathway)
    core = u.T @ map_[:, list(pathway.effective.pathway.inputs)] @ v
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
