"""Which modes trained narrow pathways hold, beside those that were predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.prediction import probe_bases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.derivation import Derivation
    from symreln.train.network import TrainingRun
    from symreln.widths import NarrowPathway


@dataclass(frozen=True, kw_only=True)
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
        count = len(self.held)
        first = sum(held == self.first for held in self.held)
        text = (
            f"narrow pathway '{self.pathway}': {first} of {count} networks hold the modes that are "
            "predicted to be learned first"
        )
        if self.least == self.first:
            return text
        least = sum(held == self.least for held in self.held)
        return f"{text}, {least} those that are predicted to be there in the end"


def narrow_outcomes(derivation: Derivation, gdln: TrainingRun) -> tuple[NarrowOutcome, ...]:
    """Return what trained narrow pathways hold, of those for which it is predicted.

    Args:
        derivation: Without free parameters.
        gdln: The trained gated networks, with their maps.
    """
    final = gdln.snapshots["maps"][:, -1]
    names = [pathway.name for pathway in derivation.pathways]
    return tuple(
        _outcome(one, final[:, names.index(one.pathway.name)])
        for one in derivation.narrow
        if one.found is not None and one.found.plateau is not None
    )


def _outcome(one: NarrowPathway, maps: np.ndarray) -> NarrowOutcome:
    """Count the modes in maps of shape (seeds, n_y, n_x)."""
    assert one.found is not None
    labels = [entry.mode.label for entry in one.found.modes]
    return NarrowOutcome(
        pathway=one.pathway.name,
        first=dict(zip(labels, one.found.plateau or (), strict=True)),
        least=dict(zip(labels, one.found.least, strict=True)),
        held=tuple(_held(one, labels, each) for each in maps),
    )


def _held(one: NarrowPathway, labels: Sequence[str], map_: np.ndarray) -> dict[str, int]:
    u, v, owners = probe_bases(one.pathway)
    seen = map_[:, list(one.pathway.effective.pathway.inputs)]
    found = {}
    for label in labels:
        own = [place for place, owner in enumerate(owners) if owner == label]
        mode = next(mode for mode in one.pathway.modes if mode.label == label)
        assert mode.d is not None
        height = mode.s.to_float() / mode.d.to_float()
        # Equal modes may be learned in any rotation of their space.
        strengths = np.linalg.svd(u[:, own].T @ seen @ v[:, own], compute_uv=False)
        found[label] = int((strengths > height / 2).sum())
    return found
